"""Gemini's models, token counts, files, batches and stored interactions.

https://ai.google.dev/api/files, https://ai.google.dev/gemini-api/docs/batch-api
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from zlib import crc32

from ....contract.observed.exchange import Json
from ....contract.readers.gemini import get
from ....contract.readers.json_access import items_of, object_of
from ....contract.rule import Refusal
from ...chat_apis.base import HEX, compact, pretty
from ...http.messages import Reply, plain
from ..pages import google_page
from ..service_request import Asked, Batch, File, Interaction, ServiceRequest, few
from ..vectors import vector
from . import cached_contents

_MODELS = {
    "gemini-3.5-flash": "Gemini 3.5 Flash",
    "gemini-2.5-pro": "Gemini 2.5 Pro",
    "gemini-2.5-flash": "Gemini 2.5 Flash",
}
_METHODS = ["generateContent", "countTokens", "createCachedContent", "batchGenerateContent"]
_TYPES = "type.googleapis.com/google.ai.generativelanguage.v1main"


def models(service: ServiceRequest) -> Reply:
    """Returns the list of models."""
    return reply(service, google_page(service, "models", [_model(id, name) for id, name in _MODELS.items()]))


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if missing := service.api.no_model(name, "getModel"):
        return service.refuse(missing)
    return reply(service, _model(name, _MODELS.get(name, name)))


def own_model(service: ServiceRequest) -> Reply:
    """Says that a model cannot be changed or deleted, because it is not one of the client's."""
    sentence = f"models/{service.names['id']} is not a tuned model of this project."
    return service.refuse(Refusal(sentence, 403, "PERMISSION_DENIED"))


def _model(id: str, name: str) -> Json:
    facts = {"name": f"models/{id}", "version": "001", "displayName": name}
    limits = {"inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
    settings = {"temperature": 1, "topP": 0.95, "topK": 64, "maxTemperature": 2, "thinking": True}
    return {**facts, **limits, "supportedGenerationMethods": _METHODS, **settings}


def count(service: ServiceRequest) -> Reply:
    """Returns the tokens of a request, which may be nested."""
    name, body = service.names["id"], service.body
    if missing := service.api.no_model(name, "countTokens"):
        return service.refuse(missing)
    path, body = f"/v1beta/models/{name}:generateContent", body.get("generateContentRequest", body)
    body = {key: value for key, value in body.items() if key != "model"} if isinstance(body, dict) else {}
    if refusal := service.objection(path, body):
        return service.refuse(refusal)
    total = service.tokens(path, body)
    return reply(
        service, {"totalTokens": total, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": total}]}
    )


def compute(service: ServiceRequest) -> Reply:
    """Returns the tokens of each content: its words, as numbers and as base64."""
    found = []
    for content in items_of(service.body.get("contents")):
        parts = [object_of(part) for part in items_of(get(content, "parts"))]
        text = " ".join(str(part.get("text", "")) for part in parts)
        words = [word.encode("utf-8", "replace") for word in re.findall(r"(?<!\s)\s*\S+", text)]
        ids = [str(crc32(word) % 200_000) for word in words]
        found.append(
            {"role": "user", "tokenIds": ids, "tokens": [b64encode(word).decode() for word in words]}
        )
    return reply(service, {"tokensInfo": found})


def reply(service: ServiceRequest, value: Json) -> Reply:
    """Returns indented JSON."""
    return plain(200, service.api.headers(stream=False), pretty(value))


# embeddings: https://ai.google.dev/gemini-api/docs/embeddings ----------------------------------------------

_SIZE = 3072  # of the vectors, unless the request says otherwise


def embed(service: ServiceRequest) -> Reply:
    """Returns the vector of a content."""
    if missing := service.api.no_model(service.names["id"], "embedContent"):
        return service.refuse(missing)
    values = _values(service.body)
    if values is None:
        return service.refuse(
            Refusal("* EmbedContentRequest.content: contents is not specified", 400, "INVALID_ARGUMENT")
        )
    return reply(service, {"embedding": {"values": values}})


def embed_batch(service: ServiceRequest) -> Reply:
    """Returns the vectors of several contents."""
    if missing := service.api.no_model(service.names["id"], "embedContent"):
        return service.refuse(missing)
    found = [_values(object_of(each)) for each in few(items_of(service.body.get("requests")))]
    if not found or None in found:
        return service.refuse(
            Refusal(
                "* BatchEmbedContentsRequest.requests: requests is not specified", 400, "INVALID_ARGUMENT"
            )
        )
    return reply(service, {"embeddings": [{"values": values} for values in found]})


def _values(body: Json) -> list[float] | None:
    content, config = get(body, "content"), object_of(get(body, "embedContentConfig"))
    parts = items_of(get(content, "parts"))
    text = " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    asked = get(body, "outputDimensionality") or get(config, "outputDimensionality")
    return vector(text, asked if isinstance(asked, int) else _SIZE) if parts else None


# files: https://ai.google.dev/gemini-api/docs/files --------------------------------------------------------


def upload(service: ServiceRequest) -> Reply:
    """Handles a whole file with its metadata, the start of a resumable upload (the reply has the URL for its bytes),
    or these bytes.
    """
    if service.http.headers.get("x-goog-upload-protocol") == "multipart":
        return _multipart(service)
    started = dict(service.route.query).get("upload_id")
    if started:
        return _finish(service, started)
    if "start" not in service.http.headers.get("x-goog-upload-command", ""):
        return service.refuse(Refusal("Only resumable uploads are understood here.", 400, "INVALID_ARGUMENT"))
    id, named = service.fresh("file", 12, HEX), service.body.get("file")
    settings = named if isinstance(named, dict) else {}
    type = service.http.headers.get("x-goog-upload-header-content-type", "application/octet-stream")
    service.keep(File(id, str(settings.get("display_name") or settings.get("displayName") or ""), type, b""))
    url = f"{_origin(service)}/upload/v1beta/files?upload_id={id}&upload_protocol=resumable"
    headers = [("content-type", "text/plain; charset=utf-8"), ("x-goog-upload-status", "active")]
    return plain(200, [*headers, ("x-goog-upload-url", url), ("x-goog-upload-control-url", url)], b"")


def _multipart(service: ServiceRequest) -> Reply:
    """Returns metadata and file of one body (`multipart/related`), as Google's own client for JavaScript sends them.

    https://github.com/google-gemini/deprecated-generative-ai-js/blob/main/src/server/file-manager.ts
    """
    parts = service.related()
    if len(parts) != 2:
        return service.refuse(
            Refusal("Invalid multipart request with 0 mime parts.", 400, "INVALID_ARGUMENT")
        )
    (_, about), (type, data) = parts
    try:
        settings = json.loads(about)["file"]
        name = str(settings.get("display_name") or settings.get("displayName") or "")
    except (ValueError, LookupError, TypeError, AttributeError):
        name = ""
    file = service.keep(File(service.fresh("file", 12, HEX), name, type, data))
    return reply(service, {"file": _file(service, file)})


def _finish(service: ServiceRequest, id: str) -> Reply:
    file = service.stored.files.get(id)
    if file is None:
        return _no_file(service)
    file = service.keep(file._replace(data=file.data + service.http.body))
    final = "finalize" in service.http.headers.get("x-goog-upload-command", "finalize")
    answer = reply(service, {"file": _file(service, file)}) if final else plain(200, [], b"")
    state = ("x-goog-upload-status", "final" if final else "active")
    return replace(answer, headers=(*answer.headers, state))


def files(service: ServiceRequest) -> Reply:
    """Returns the list of files."""
    stored = [_file(service, file) for file in service.stored.files.values()]
    return reply(service, google_page(service, "files", stored))


def file(service: ServiceRequest) -> Reply:
    """Returns the metadata of a file."""
    found = service.stored.files.get(service.names["id"])
    return reply(service, _file(service, found)) if found else _no_file(service)


def delete(service: ServiceRequest) -> Reply:
    """Deletes a file."""
    return reply(service, {}) if service.stored.files.pop(service.names["id"], None) else _no_file(service)


def _file(service: ServiceRequest, file: File) -> Json:
    return {
        "name": f"files/{file.id}",
        **({"displayName": file.name} if file.name else {}),
        "mimeType": file.type,
        "sizeBytes": str(len(file.data)),
        "createTime": service.moment(),
        "updateTime": service.moment(),
        "expirationTime": service.moment(48),
        "sha256Hash": b64encode(sha256(file.data).hexdigest().encode()).decode(),
        "uri": f"https://generativelanguage.googleapis.com/v1beta/files/{file.id}",
        "state": "ACTIVE",
        "source": "UPLOADED",
    }


def _no_file(service: ServiceRequest) -> Reply:
    sentence = (
        f"You do not have permission to access the File {service.names.get('id', '')} or it may not exist."
    )
    return service.refuse(Refusal(sentence, 403, "PERMISSION_DENIED"))


def _origin(service: ServiceRequest) -> str:
    place = service.route.url.partition("127.0.0.1")[2].partition("/upload/")[0]
    return f"http://{service.http.headers.get('host', '')}{place}"


# batches --------------------------------------------------------------------------------------------------


def submit(service: ServiceRequest) -> Reply:
    """Accepts a batch with inline requests."""
    name, settings = service.names["id"], service.body.get("batch") or {}
    try:
        requests = settings["inputConfig" if "inputConfig" in settings else "input_config"]["requests"][
            "requests"
        ]
        path = f"/v1beta/models/{name}:generateContent"
        items = [service.ask(compact(each.get("metadata")), path, each["request"]) for each in requests]
    except (KeyError, TypeError, AttributeError):
        return service.refuse(Refusal("The batch has no requests in it.", 400, "INVALID_ARGUMENT"))
    batch = Batch(
        service.fresh("batch", 36, HEX), items, {"model": name, "displayName": settings.get("displayName")}
    )
    service.stored.batches[batch.id] = batch
    return reply(service, _batch(service, batch))


def poll(service: ServiceRequest) -> Reply:
    """Returns the status of a batch. A finished batch has its answers."""
    batch = service.look()
    if batch is None:
        return service.refuse(Refusal("Requested entity was not found.", 404, "NOT_FOUND"))
    return reply(service, _batch(service, batch))


def batches(service: ServiceRequest) -> Reply:
    """Returns the list of batches, the latest first."""
    found = [_batch(service, batch) for batch in reversed(service.stored.batches.values())]
    return reply(service, google_page(service, "operations", found))


def cancel(service: ServiceRequest) -> Reply:
    """Cancels a batch that is not done."""
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(Refusal("Requested entity was not found.", 404, "NOT_FOUND"))
    batch.cancelled = not batch.done
    return reply(service, {})


def delete_batch(service: ServiceRequest) -> Reply:
    """Deletes a batch."""
    if service.stored.batches.pop(service.names["id"], None) is None:
        return service.refuse(Refusal("Requested entity was not found.", 404, "NOT_FOUND"))
    return reply(service, {})


def _batch(service: ServiceRequest, batch: Batch) -> Json:
    name, total = f"batches/{batch.id}", str(len(batch.requests))
    shown = {"displayName": batch.settings["displayName"]} if batch.settings["displayName"] else {}
    times = {"createTime": service.moment(), "updateTime": service.moment()}
    facts = {
        "@type": f"{_TYPES}.GenerateContentBatch",
        "model": f"models/{batch.settings['model']}",
        **shown,
        **times,
    }
    if not batch.done:
        state = "BATCH_STATE_RUNNING" if batch.looks else "BATCH_STATE_PENDING"
        state = "BATCH_STATE_CANCELLED" if batch.cancelled else state
        stats = {"requestCount": total, "pendingRequestCount": total}
        return {"name": name, "metadata": {**facts, "batchStats": stats, "state": state, "name": name}}
    output = {"inlinedResponses": {"inlinedResponses": [_inlined(requests) for requests in batch.requests]}}
    failed = sum(requests.status >= 400 for requests in batch.requests)
    stats = {"requestCount": total, "successfulRequestCount": str(len(batch.requests) - failed)}
    stats |= {"failedRequestCount": str(failed)} if failed else {}
    ended = {
        "output": output,
        "endTime": service.moment(),
        "batchStats": stats,
        "state": "BATCH_STATE_SUCCEEDED",
    }
    response = {"@type": f"{_TYPES}.GenerateContentBatchOutput", **output}
    return {"name": name, "metadata": {**facts, **ended, "name": name}, "done": True, "response": response}


def _inlined(request: Asked) -> Json:
    body = request.body if isinstance(request.body, dict) else {}
    result = {"error": body.get("error", body)} if request.status >= 400 else {"response": body}
    return result | ({"metadata": metadata} if (metadata := json.loads(request.name)) else {})


# stored interactions, which `translated/interactions.py` makes: https://ai.google.dev/api/interactions-api --

_INTERACTION = r"/v1(?:alpha|beta)?/interactions/(?P<id>[^/:]+)"


def _of_interaction(
    serve: Callable[[ServiceRequest, Interaction], Reply],
) -> Callable[[ServiceRequest], Reply]:
    """Returns a service that looks for the interaction first."""

    def served(service: ServiceRequest) -> Reply:
        found = service.stored.interactions.get(service.names["id"])
        if found is None:
            return service.refuse(Refusal(f"Interaction {service.names['id']} not found.", 404, "NOT_FOUND"))
        return serve(service, found)

    return served


@_of_interaction
def interaction(service: ServiceRequest, found: Interaction) -> Reply:
    """Returns an interaction. Each request for a background one moves it to its next state."""
    found.looks += 1
    return service.reply(found.shown)


@_of_interaction
def delete_interaction(service: ServiceRequest, found: Interaction) -> Reply:  # noqa: ARG001 - it only has to be there
    """Deletes an interaction."""
    del service.stored.interactions[service.names["id"]]
    return service.reply({})


@_of_interaction
def cancel_interaction(service: ServiceRequest, found: Interaction) -> Reply:
    """Cancels a background interaction that runs."""
    if not found.background:
        sentence = "Only interactions in the background can be cancelled."
        return service.refuse(Refusal(sentence, 400, "FAILED_PRECONDITION"))
    found.cancelled = True
    return service.reply(found.shown)


_OWN = tuple(
    (method, re.compile(rf"/v1(?:alpha|beta)?{path}$"), serve)
    for method, path, serve in (
        ("GET", "/models", models),
        ("GET", "/models/(?P<id>[^/:]+)", model),
        ("PATCH", "/models/(?P<id>[^/:]+)", own_model),
        ("DELETE", "/models/(?P<id>[^/:]+)", own_model),
        ("POST", "/models/(?P<id>[^/:]+):countTokens", count),
        ("POST", "/models/(?P<id>[^/:]+):batchGenerateContent", submit),
        ("POST", "/models/(?P<id>[^/:]+):embedContent", embed),
        ("POST", "/models/(?P<id>[^/:]+):batchEmbedContents", embed_batch),
        ("GET", "/batches", batches),
        ("GET", "/batches/(?P<id>[^/:]+)", poll),
        ("POST", "/batches/(?P<id>[^/:]+):cancel", cancel),
        ("DELETE", "/batches/(?P<id>[^/:]+)", delete_batch),
        ("POST", "/files", upload),
        ("PUT", "/files", upload),
        ("GET", "/files", files),
        ("GET", "/files/(?P<id>[^/:]+)", file),
        ("DELETE", "/files/(?P<id>[^/:]+)", delete),
    )
)
_PUBLISHED = r"/v1(?:beta1)?/projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/publishers/google/models/(?P<id>[^/:]+)"
ROUTES: tuple[tuple[str, re.Pattern[str], Callable[[ServiceRequest], Reply]], ...] = (
    *_OWN,
    ("POST", re.compile(rf"{_PUBLISHED}:countTokens$"), count),
    ("POST", re.compile(rf"{_PUBLISHED}:computeTokens$"), compute),
    *cached_contents.ROUTES,
    ("GET", re.compile(rf"{_INTERACTION}$"), interaction),
    ("DELETE", re.compile(rf"{_INTERACTION}$"), delete_interaction),
    ("POST", re.compile(rf"{_INTERACTION}/cancel$"), cancel_interaction),
)
NOT_SERVED = (
    "/auth_tokens", "/agents", "/batchPredictionJobs", "/corpora", "/dynamic", "/environments", "/files:register",
    "/operations", "/triggers", "/tuningJobs", "/webhooks", "/fileSearchStores", "/tunedModels",
    "/models/{id}:asyncBatchEmbedContent", "/models/{id}:predict", "/models/{id}:predictLongRunning",
)  # fmt: skip
