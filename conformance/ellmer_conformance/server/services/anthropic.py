"""Anthropic's models, token counts, files and batches.

https://platform.claude.com/docs/en/api/creating-message-batches
"""

from __future__ import annotations

import re

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ..chat_apis.base import ALNUM
from ..http.messages import Reply
from .pages import page
from .service_request import Asked, Batch, File, ServiceRequest

_MODELS = {
    "claude-opus-5": "Claude Opus 5",
    "claude-sonnet-5": "Claude Sonnet 5",
    "claude-haiku-4-5-20251001": "Claude Haiku 4.5",
}
_MISSING = Refusal("Not found", 404, "not_found_error")


def models(service: ServiceRequest) -> Reply:
    """Returns the list of models."""
    return service.reply(page(service, [_model(id, name) for id, name in _MODELS.items()]))


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if missing := service.api.no_model(name):
        return service.refuse(missing)
    return service.reply(_model(name, _MODELS.get(name, name)))


def _model(id: str, name: str) -> Json:
    facts = {"type": "model", "id": id, "display_name": name, "created_at": "2026-06-29T00:00:00Z"}
    return {**facts, "max_input_tokens": 1_000_000, "max_tokens": 128_000}


def count(service: ServiceRequest) -> Reply:
    """Returns the tokens of a request. It is a request to Messages without a token limit."""
    body = {"max_tokens": 1, **service.body}
    missing = service.api.no_model(str(body.get("model")))
    refusal = missing or service.objection("/v1/messages", body)
    return (
        service.refuse(refusal)
        if refusal
        else service.reply({"input_tokens": service.tokens("/v1/messages", body)})
    )


# files ----------------------------------------------------------------------------------------------------


def upload(service: ServiceRequest) -> Reply:
    """Stores a file."""
    _, file = service.form()
    if file is None:
        return service.refuse(Refusal("file: Field required", 400, "invalid_request_error"))
    return service.reply(
        _file(service, service.keep(file._replace(id=f"file_011C{service.fresh('file', 20, ALNUM)}")))
    )


def files(service: ServiceRequest) -> Reply:
    """Returns the list of files."""
    return service.reply(page(service, [_file(service, file) for file in service.stored.files.values()]))


def file(service: ServiceRequest) -> Reply:
    """Returns the metadata of a file."""
    found = service.stored.files.get(service.names["id"])
    return service.reply(_file(service, found)) if found else _no_file(service)


def content(service: ServiceRequest) -> Reply:
    """Returns the content of a file. Only files of the model can be downloaded."""
    if service.names["id"] not in service.stored.files:
        return _no_file(service)
    sentence = f"File '{service.names['id']}' is not downloadable"
    return service.refuse(Refusal(sentence, 400, "invalid_request_error"))


def delete(service: ServiceRequest) -> Reply:
    """Deletes a file."""
    found = service.stored.files.pop(service.names["id"], None)
    return service.reply({"id": found.id, "type": "file_deleted"}) if found else _no_file(service)


def _file(service: ServiceRequest, file: File) -> Json:
    facts = {"type": "file", "id": file.id, "size_bytes": len(file.data), "created_at": service.moment()}
    return {**facts, "filename": file.name, "mime_type": file.type, "downloadable": False}


def _no_file(service: ServiceRequest) -> Reply:
    return service.refuse(Refusal(f"File not found: {service.names['id']}", 404, "not_found_error"))


# batches --------------------------------------------------------------------------------------------------


def submit(service: ServiceRequest) -> Reply:
    """Accepts a batch of requests."""
    requests = service.body.get("requests")
    if not isinstance(requests, list) or not requests:
        return service.refuse(Refusal("requests: Field required", 400, "invalid_request_error"))
    try:
        items = [service.ask(request["custom_id"], "/v1/messages", request["params"]) for request in requests]
    except (KeyError, TypeError):
        sentence = "requests.0: custom_id and params: Field required"
        return service.refuse(Refusal(sentence, 400, "invalid_request_error"))
    batch = Batch(f"msgbatch_01{service.fresh('batch', 22, ALNUM)}", items, {})
    service.stored.batches[batch.id] = batch
    return service.reply(_batch(service, batch))


def poll(service: ServiceRequest) -> Reply:
    """Returns the status of a batch."""
    batch = service.look()
    return service.reply(_batch(service, batch)) if batch else service.refuse(_MISSING)


def batches(service: ServiceRequest) -> Reply:
    """Returns the list of batches, the latest first."""
    return service.reply(
        page(service, [_batch(service, batch) for batch in reversed(service.stored.batches.values())])
    )


def cancel(service: ServiceRequest) -> Reply:
    """Cancels a batch that is not done."""
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(_MISSING)
    batch.cancelled = not batch.done
    return service.reply(_batch(service, batch))


def delete_batch(service: ServiceRequest) -> Reply:
    """Deletes a batch. One that is in progress must be cancelled first; the sentence is UNVERIFIED.

    https://platform.claude.com/docs/en/api/deleting-message-batches
    """
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(_MISSING)
    if not (batch.done or batch.cancelled):
        return service.refuse(
            Refusal(
                f"Message Batch {batch.id} cannot be deleted while it is in progress.",
                400,
                "invalid_request_error",
            )
        )
    del service.stored.batches[batch.id]
    return service.reply({"id": batch.id, "type": "message_batch_deleted"})


def results(service: ServiceRequest) -> Reply:
    """Returns the answers, one on each line."""
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(_MISSING)
    if not batch.done:
        sentence = f"Message Batch {batch.id} has no available results."
        return service.refuse(Refusal(sentence, 404, "not_found_error"))
    return service.lines(
        [{"custom_id": request.name, "result": _result(request)} for request in batch.requests]
    )


def _result(request: Asked) -> Json:
    if request.expired:
        return {"type": "expired"}
    if request.status >= 400:
        return {"type": "errored", "error": request.body}
    return {"type": "succeeded", "message": request.body}


def _batch(service: ServiceRequest, batch: Batch) -> Json:
    expired = sum(request.expired for request in batch.requests)
    errored = sum(request.status >= 400 and not request.expired for request in batch.requests)
    counts = {"processing": len(batch.requests), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    if batch.done:
        succeeded = len(batch.requests) - errored - expired
        counts |= {"processing": 0, "succeeded": succeeded, "errored": errored, "expired": expired}
    host = service.http.headers.get("host", "")
    place = service.route.url.partition("/v1/")[0].partition("127.0.0.1")[2]
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "canceling" if batch.cancelled else "ended" if batch.done else "in_progress",
        "request_counts": counts,
        "ended_at": service.moment() if batch.done else None,
        "created_at": service.moment(),
        "expires_at": service.moment(24),
        "archived_at": None,
        "cancel_initiated_at": service.moment() if batch.cancelled else None,
        "results_url": f"http://{host}{place}/v1/messages/batches/{batch.id}/results" if batch.done else None,
    }


ROUTES = tuple(
    (method, re.compile(rf"(^|/v1){path}/?$"), serve)
    for method, path, serve in (
        ("GET", "/models", models),
        ("GET", "/models/(?P<id>[^/]+)", model),
        ("POST", "/messages/count_tokens", count),
        ("POST", "/files", upload),
        ("GET", "/files", files),
        ("GET", "/files/(?P<id>[^/]+)", file),
        ("GET", "/files/(?P<id>[^/]+)/content", content),
        ("DELETE", "/files/(?P<id>[^/]+)", delete),
        ("POST", "/messages/batches", submit),
        ("GET", "/messages/batches", batches),
        ("POST", "/messages/batches/(?P<id>[^/]+)/cancel", cancel),
        ("DELETE", "/messages/batches/(?P<id>[^/]+)", delete_batch),
        ("GET", "/messages/batches/(?P<id>[^/]+)", poll),
        ("GET", "/messages/batches/(?P<id>[^/]+)/results", results),
    )
)
NOT_SERVED = (
    "/v1/complete",
    "/v1/organizations",
    "/v1/skills",
    "/v1/agents",
    "/v1/sessions",
    "/v1/environments",
)
