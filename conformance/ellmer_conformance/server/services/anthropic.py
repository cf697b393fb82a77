"""Anthropic's models, token counts, files and batches.

https://platform.claude.com/docs/en/api/creating-message-batches
"""

from __future__ import annotations

import re

from ...contract.exchange import Json
from ...contract.rule import Refusal
from ..dialects.base import ALNUM
from ..http.reply import Reply
from .service_request import Asked, Batch, File, Visit

__all__ = ["ROUTES"]

_MODELS = {
    "claude-opus-5": "Claude Opus 5",
    "claude-sonnet-5": "Claude Sonnet 5",
    "claude-haiku-4-5-20251001": "Claude Haiku 4.5",
}
_MISSING = Refusal("Not found", 404, "not_found_error")


def models(visit: Visit) -> Reply:
    """The list."""
    return visit.reply(_listed([_model(id, name) for id, name in _MODELS.items()]))


def model(visit: Visit) -> Reply:
    """One of them, or any other."""
    name = visit.names["id"]
    if missing := visit.dialect.no_model(name):
        return visit.refuse(missing)
    return visit.reply(_model(name, _MODELS.get(name, name)))


def _model(id: str, name: str) -> Json:
    known = {"type": "model", "id": id, "display_name": name, "created_at": "2026-06-29T00:00:00Z"}
    return {**known, "max_input_tokens": 1_000_000, "max_tokens": 128_000}


def _listed(data: list[Json]) -> Json:
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return {"data": data, "has_more": False, **ends}


def count(visit: Visit) -> Reply:
    """The tokens of a request; it is a request to Messages, save that it limits nothing."""
    body = {"max_tokens": 1, **visit.body}
    missing = visit.dialect.no_model(str(body.get("model")))
    refusal = missing or visit.objection("/v1/messages", body)
    return (
        visit.refuse(refusal)
        if refusal
        else visit.reply({"input_tokens": visit.tokens("/v1/messages", body)})
    )


# files ----------------------------------------------------------------------------------------------------


def upload(visit: Visit) -> Reply:
    """Keeps a file."""
    _, file = visit.form()
    if file is None:
        return visit.refuse(Refusal("file: Field required", 400, "invalid_request_error"))
    return visit.reply(
        _file(visit, visit.keep(file._replace(id=f"file_011C{visit.fresh('file', 20, ALNUM)}")))
    )


def files(visit: Visit) -> Reply:
    """The list."""
    return visit.reply(_listed([_file(visit, file) for file in visit.shelf.files.values()]))


def file(visit: Visit) -> Reply:
    """What is known of one."""
    found = visit.shelf.files.get(visit.names["id"])
    return visit.reply(_file(visit, found)) if found else _no_file(visit)


def content(visit: Visit) -> Reply:
    """Only what the model made can be had back."""
    if visit.names["id"] not in visit.shelf.files:
        return _no_file(visit)
    said = f"File '{visit.names['id']}' is not downloadable"
    return visit.refuse(Refusal(said, 400, "invalid_request_error"))


def delete(visit: Visit) -> Reply:
    """Forgets it."""
    found = visit.shelf.files.pop(visit.names["id"], None)
    return visit.reply({"id": found.id, "type": "file_deleted"}) if found else _no_file(visit)


def _file(visit: Visit, file: File) -> Json:
    known = {"type": "file", "id": file.id, "size_bytes": len(file.data), "created_at": visit.moment()}
    return {**known, "filename": file.name, "mime_type": file.type, "downloadable": False}


def _no_file(visit: Visit) -> Reply:
    return visit.refuse(Refusal(f"File not found: {visit.names['id']}", 404, "not_found_error"))


# batches --------------------------------------------------------------------------------------------------


def submit(visit: Visit) -> Reply:
    """Takes a batch of requests."""
    requests = visit.body.get("requests")
    if not isinstance(requests, list) or not requests:
        return visit.refuse(Refusal("requests: Field required", 400, "invalid_request_error"))
    try:
        asked = [visit.ask(one["custom_id"], "/v1/messages", one["params"]) for one in requests]
    except (KeyError, TypeError):
        said = "requests.0: custom_id and params: Field required"
        return visit.refuse(Refusal(said, 400, "invalid_request_error"))
    batch = Batch(f"msgbatch_01{visit.fresh('batch', 22, ALNUM)}", asked, {})
    visit.shelf.batches[batch.id] = batch
    return visit.reply(_batch(visit, batch))


def poll(visit: Visit) -> Reply:
    """How far it is."""
    batch = visit.look()
    return visit.reply(_batch(visit, batch)) if batch else visit.refuse(_MISSING)


def results(visit: Visit) -> Reply:
    """The answers, a line each."""
    batch = visit.shelf.batches.get(visit.names["id"])
    if batch is None:
        return visit.refuse(_MISSING)
    if not batch.done:
        said = f"Message Batch {batch.id} has no available results."
        return visit.refuse(Refusal(said, 404, "not_found_error"))
    return visit.lines([{"custom_id": asked.name, "result": _result(asked)} for asked in batch.asked])


def _result(asked: Asked) -> Json:
    if asked.status >= 400:
        return {"type": "errored", "error": asked.body}
    return {"type": "succeeded", "message": asked.body}


def _batch(visit: Visit, batch: Batch) -> Json:
    errored = sum(asked.status >= 400 for asked in batch.asked)
    counts = {"processing": len(batch.asked), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    if batch.done:
        counts |= {"processing": 0, "succeeded": len(batch.asked) - errored, "errored": errored}
    host = visit.http.headers.get("host", "")
    place = visit.way.url.partition("/v1/")[0].partition("127.0.0.1")[2]
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.done else "in_progress",
        "request_counts": counts,
        "ended_at": visit.moment() if batch.done else None,
        "created_at": visit.moment(),
        "expires_at": visit.moment(24),
        "archived_at": None,
        "cancel_initiated_at": None,
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
        ("GET", "/messages/batches/(?P<id>[^/]+)", poll),
        ("GET", "/messages/batches/(?P<id>[^/]+)/results", results),
    )
)
