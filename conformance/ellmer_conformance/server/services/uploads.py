"""Uploads in parts: their parts become one file.

https://developers.openai.com/api/reference/resources/uploads
"""

from __future__ import annotations

from ...contract.exchange import Json
from ...contract.readers.json_access import items_of
from ...contract.rule import Refusal
from ..chat_apis.base import ALNUM, HEX
from ..http.messages import Reply
from .service_request import File, ServiceRequest

_KIND, _PARTS, _BAD = "upload", "upload.part", "invalid_request_error"


def create(service: ServiceRequest) -> Reply:
    """Begins an upload."""
    body = service.body
    for name in ("filename", "purpose", "bytes", "mime_type"):
        if not body.get(name):
            sentence = f"Missing required parameter: '{name}'."
            return service.refuse(Refusal(sentence, 400, _BAD, "missing_required_parameter", name))
    id, created = f"upload_{service.fresh('upload', 32, HEX)}", service.api.ticket.created
    state = {"status": "pending", "created_at": created, "expires_at": created + 3600, "file": None}
    named = {name: body[name] for name in ("filename", "purpose", "bytes")}
    upload: Json = {"id": id, "object": "upload", **named, **state}
    service.stored.kept.setdefault(_KIND, {})[id] = upload
    return service.reply(upload)


def add(service: ServiceRequest) -> Reply:
    """Adds a part."""
    upload, (_, data) = _upload(service), service.form()
    if upload is None or data is None:
        return _missing(service)
    id = f"part_{service.fresh('part', 32, HEX)}"
    service.keep(data._replace(id=id))
    part = {"id": id, "object": _PARTS, "created_at": service.api.ticket.created, "upload_id": upload["id"]}
    return service.reply(part)


def complete(service: ServiceRequest) -> Reply:
    """Makes a file of the parts, in the order that the request says."""
    upload = _upload(service)
    parts = [service.stored.files.pop(str(id), None) for id in items_of(service.body.get("part_ids"))]
    if upload is None or not parts or None in parts:
        return _missing(service)
    data = b"".join(part.data for part in parts if part)
    if len(data) != upload["bytes"]:
        sentence = f"Expected {upload['bytes']} bytes, but the parts have {len(data)}."
        return service.refuse(Refusal(sentence, 400, _BAD))
    file = File(f"file-{service.fresh('file', 22, ALNUM)}", upload["filename"], "", data, upload["purpose"])
    service.keep(file)
    shown = {
        "id": file.id,
        "object": "file",
        "bytes": len(data),
        "filename": file.name,
        "purpose": file.purpose,
    }
    upload |= {
        "status": "completed",
        "file": {**shown, "created_at": upload["created_at"], "status": "processed"},
    }
    return service.reply(upload)


def cancel(service: ServiceRequest) -> Reply:
    """Cancels an upload."""
    upload = _upload(service)
    if upload is None:
        return _missing(service)
    upload["status"] = "cancelled"
    return service.reply(upload)


def _upload(service: ServiceRequest) -> Json | None:
    return service.stored.kept.get(_KIND, {}).get(service.names["id"])


def _missing(service: ServiceRequest) -> Reply:
    return service.refuse(Refusal(f"No upload or part found with id '{service.names['id']}'.", 404, _BAD))


ROUTES = (
    ("POST", "/uploads", create),
    ("POST", "/uploads/(?P<id>[^/]+)/parts", add),
    ("POST", "/uploads/(?P<id>[^/]+)/complete", complete),
    ("POST", "/uploads/(?P<id>[^/]+)/cancel", cancel),
)
