"""Mistral's models, batches and code completions. The other endpoints are as OpenAI's.

https://docs.mistral.ai/api/#tag/models
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of, parsed, text_of
from ...contract.rule import Refusal
from ..chat_apis.base import ALNUM, compact, utf8
from ..http.messages import Reply, plain
from . import openai
from .service_request import Asked, Batch, File, ServiceRequest

_MODELS = ("mistral-small-latest", "mistral-medium-latest", "mistral-large-latest", "codestral-latest")


def models(service: ServiceRequest) -> Reply:
    """Returns the list of models."""
    return service.reply({"object": "list", "data": [_model(name) for name in _MODELS]})


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if service.api.no_model(name):
        return service.refuse(Refusal(f"Invalid model: {name}", 404, "invalid_model"))
    return service.reply(_model(name))


def _model(name: str) -> Json:
    able = dict.fromkeys(("completion_chat", "function_calling", "vision"), True)
    return {
        "id": name,
        "object": "model",
        "created": 1_744_316_542,
        "owned_by": "mistralai",
        "capabilities": able | dict.fromkeys(("completion_fim", "fine_tuning", "classification"), False),
        "name": name,
        "description": "A model of the strict server.",
        "max_context_length": 131_072,
        "aliases": [],
        "deprecation": None,
        "default_model_temperature": 0.3,
        "type": "base",
    }


def url(service: ServiceRequest) -> Reply:
    """Returns an address of a file, for a time."""
    if service.names["id"] not in service.stored.files:
        return service.refuse(Refusal("No file matches the given query.", 404))
    return service.reply({"url": f"http://{service.http.host}/v1/files/{service.names['id']}/content"})


def fill(service: ServiceRequest) -> Reply:
    """Completes code between a prompt and a suffix, as a chat with one message."""
    body = service.body
    named: Json = {
        name: body[name] for name in ("model", "max_tokens", "stop", "temperature", "top_p") if name in body
    }
    messages = [{"role": "user", "content": body.get("prompt") or ""}]
    found = service.ask("fill", "/v1/chat/completions", {**named, "messages": messages})
    return plain(found.status, service.api.headers(stream=False), utf8(compact(found.body)))


def classify_chat(service: ServiceRequest) -> Reply:
    """Returns the moderation of a conversation: of its last message."""
    source = service.body.get("input")
    turns = source if source and isinstance(source[0], list) else [source or []]
    texts = [text_of(object_of(turn[-1]).get("content")) if turn else "" for turn in turns]
    body = utf8(compact({"model": service.body.get("model"), "input": texts}))
    return moderations(replace(service, http=service.http._replace(body=body)))


#: The categories of Mistral, each with those of OpenAI that it covers: https://docs.mistral.ai/capabilities/guardrailing
_CATEGORIES = {
    "sexual": {"sexual"},
    "hate_and_discrimination": {"hate", "harassment"},
    "violence_and_threats": {"violence"},
    "dangerous_and_criminal_content": {"illicit"},
    "selfharm": {"self-harm"},
    "health": set[str](),
    "financial": set[str](),
    "law": set[str](),
    "pii": set[str](),
}


def moderations(service: ServiceRequest) -> Reply:
    """Returns Mistral's categories of each text."""
    source = service.body.get("input")
    texts = [text_of(each) for each in (source if isinstance(source, list) else [source])]
    if not any(texts):
        return service.missing("input")
    found = [openai.flagged(text) for text in texts]
    categories = [{name: bool(own & flags) for name, own in _CATEGORIES.items()} for flags in found]
    results = [
        {
            "categories": each,
            "category_scores": {name: 0.98 if flag else 0.0001 for name, flag in each.items()},
        }
        for each in categories
    ]
    id = f"mod-{service.fresh('moderation', 24, ALNUM)}"
    return service.reply({"id": id, "model": service.body.get("model"), "results": results})


# batches: https://docs.mistral.ai/api/#tag/batch -------------------------------------------------------


def submit(service: ServiceRequest) -> Reply:
    """Accepts a batch: the lines of files, or requests in the body."""
    body = service.body
    files = [service.stored.files.get(str(id)) for id in items_of(body.get("input_files"))]
    lines = [line for file in files if file for line in file.data.splitlines() if line.strip()]
    requests = [*items_of(body.get("requests")), *(parsed(line.decode("utf-8", "replace")) for line in lines)]
    if not requests or None in files or not body.get("endpoint"):
        return service.refuse(Refusal("The batch needs an endpoint and files or requests.", 400))
    path, model = text_of(body["endpoint"]), {"model": body["model"]} if body.get("model") else {}
    asked = [
        service.ask(str(each.get("custom_id", number)), path, {**model, **object_of(each.get("body"))})
        for number, each in enumerate(map(object_of, requests))
    ]
    batch = Batch(service.api.ticket.uuid(f"batch {len(service.stored.batches)}"), asked, body)
    service.stored.batches[batch.id] = batch
    return service.reply(_job(service, batch))


def poll(service: ServiceRequest) -> Reply:
    """Returns the status of a batch. The answers of a finished batch are a file."""
    batch = service.look()
    if batch is None:
        return service.refuse(Refusal("Batch job not found", 404))
    if batch.just_done:
        text = "".join(f"{compact(_line(asked))}\n" for asked in batch.requests)
        service.keep(File(_output(batch), "output.jsonl", "", utf8(text), "batch"))
    return service.reply(_job(service, batch))


def jobs(service: ServiceRequest) -> Reply:
    """Returns the list of batches, the latest first."""
    data = [_job(service, batch) for batch in reversed(service.stored.batches.values())]
    return service.reply({"object": "list", "data": data, "total": len(data)})


def cancel(service: ServiceRequest) -> Reply:
    """Cancels a batch that is not done; with DELETE, forgets it."""
    batch = service.stored.batches.get(service.names["id"])
    if batch is None:
        return service.refuse(Refusal("Batch job not found", 404))
    if service.http.method == "DELETE":
        del service.stored.batches[batch.id]
        return service.reply({"id": batch.id, "object": "batch", "deleted": True})
    batch.cancelled = not batch.done
    return service.reply(_job(service, batch))


def _line(asked: Asked) -> Json:
    response = {"status_code": asked.status, "body": asked.body}
    return {"id": f"batch-{asked.name}", "custom_id": asked.name, "response": response, "error": None}


def _output(batch: Batch) -> str:
    return f"{batch.id[:-1]}0"


def _job(service: ServiceRequest, batch: Batch) -> Json:
    failed = sum(asked.status >= 400 for asked in batch.requests) if batch.done else 0
    running = "RUNNING" if batch.looks else "QUEUED"
    return {
        "id": batch.id,
        "object": "batch",
        "input_files": batch.settings.get("input_files") or [],
        "endpoint": batch.settings.get("endpoint"),
        "model": batch.settings.get("model"),
        "metadata": batch.settings.get("metadata"),
        "output_file": _output(batch) if batch.done else None,
        "error_file": None,
        "errors": [],
        "status": "CANCELLED" if batch.cancelled else "SUCCESS" if batch.done else running,
        "created_at": service.api.ticket.created,
        "total_requests": len(batch.requests),
        "completed_requests": len(batch.requests) if batch.done else 0,
        "succeeded_requests": len(batch.requests) - failed if batch.done else 0,
        "failed_requests": failed,
        "started_at": None,
        "completed_at": None,
    }


_SAME = "embeddings|files|audio/(speech|transcriptions)"
ROUTES = (
    ("GET", re.compile(r"/v1/files/(?P<id>[^/]+)/url$"), url),
    ("POST", re.compile(r"/v1/fim/completions$"), fill),
    ("POST", re.compile(r"/v1/chat/moderations$"), classify_chat),
    ("POST", re.compile(r"/v1/moderations$"), moderations),
    ("POST", re.compile(r"/v1/batch/jobs$"), submit),
    ("GET", re.compile(r"/v1/batch/jobs$"), jobs),
    ("GET", re.compile(r"/v1/batch/jobs/(?P<id>[^/]+)$"), poll),
    ("POST", re.compile(r"/v1/batch/jobs/(?P<id>[^/]+)/cancel$"), cancel),
    ("DELETE", re.compile(r"/v1/batch/jobs/(?P<id>[^/]+)$"), cancel),
    ("DELETE", re.compile(r"/v1/models/(?P<id>[^/]+)$"), openai.delete_model),
    ("GET", re.compile(r"/v1/models/?$"), models),
    ("GET", re.compile(r"/v1/models/(?P<id>[^/]+)$"), model),
    *(
        route
        for route in openai.ROUTES
        if re.search(_SAME, route[1].pattern) and "parent" not in route[1].pattern
    ),
)
NOT_SERVED = (
    "/v1/agents", "/v1/audio", "/v1/chat/classifications", "/v1/classifications", "/v1/connectors", "/v1/context",
    "/v1/conversations", "/v1/fine_tuning", "/v1/observability", "/v1/rag", "/v1/workflows", "/v2/prompts", "/v2/skills", "/v1/libraries", "/v1/ocr",
)  # fmt: skip
