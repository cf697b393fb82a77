"""Objects that a client creates, reads, lists, changes and deletes, and of which nothing else depends: a table of kinds.

Their fields are those of the request, with an id, a kind and a time. What a provider computes from them is not served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ...chat_apis.base import HEX
from ...http.messages import Reply
from ..pages import page
from ..service_request import ServiceRequest

_BAD = "invalid_request_error"
_Serve = Callable[[ServiceRequest], Reply]
_VERBS = ("create", "list", "read", "change", "delete")


@dataclass(frozen=True)
class Kind:
    """A kind of objects.

    `path` is the path of their list; it may name a parent. `object` is their kind in the API's words, `prefix` the
    beginning of their ids, `fields` what they have unless the request says otherwise, `needs` the fields that a request
    must have, `verbs` what can be done with them, and `change` the method that changes one.
    """

    path: str
    object: str
    prefix: str
    fields: Json = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    verbs: tuple[str, ...] = _VERBS
    change: str = "POST"


_PARENT = "/(?P<parent>[^/]+)"
_COUNTS = {"in_progress": 0, "completed": 0, "failed": 0, "cancelled": 0, "total": 0}

#: https://developers.openai.com/api/reference/resources/vector_stores, …/containers, …/videos
KINDS = (
    Kind("/vector_stores", "vector_store", "vs_", {"status": "completed", "usage_bytes": 0, "file_counts": _COUNTS, "metadata": {}}),
    Kind(f"/vector_stores{_PARENT}/files", "vector_store.file", "file-", {"status": "completed", "usage_bytes": 0, "last_error": None}, ("file_id",)),
    Kind(f"/vector_stores{_PARENT}/file_batches", "vector_store.file_batch", "vsfb_", {"status": "completed", "file_counts": _COUNTS}, (), ("create", "read")),
    Kind("/containers", "container", "cntr_", {"status": "running", "memory_limit": "1g"}, ("name",), ("create", "list", "read", "delete")),
    Kind(f"/containers{_PARENT}/files", "container.file", "cfile_", {"source": "user", "bytes": 0, "path": "/mnt/data/file"}, (), ("create", "list", "read", "delete")),
    Kind("/videos", "video", "video_", {"status": "completed", "progress": 100, "seconds": "4", "size": "720x1280", "model": "sora-2"}, ("prompt",), ("create", "list", "read", "delete")),
)  # fmt: skip


def routes_of(kinds: tuple[Kind, ...]) -> Iterator[tuple[str, str, _Serve]]:
    """Yields method, path and service of everything that can be done with objects of these kinds."""
    for kind in kinds:
        path_of_object = f"{kind.path}/(?P<id>[^/]+)"
        methods = {
            "create": ("POST", kind.path, _create),
            "list": ("GET", kind.path, _list),
            "read": ("GET", path_of_object, _read),
            "change": (kind.change, path_of_object, _change),
            "delete": ("DELETE", path_of_object, _delete),
        }
        for verb in kind.verbs:
            method, path, serve = methods[verb]
            yield method, path, _for(kind, serve)


def _for(kind: Kind, serve: Callable[[ServiceRequest, Kind], Reply]) -> _Serve:
    return lambda service: serve(service, kind)


def _shelf(service: ServiceRequest, kind: Kind) -> dict[str, Json]:
    return service.stored.kept.setdefault(f"{kind.object} {service.names.get('parent', '')}", {})


def _create(service: ServiceRequest, kind: Kind) -> Reply:
    body: Json = {**service.form()[0], **service.body}
    missing = [name for name in kind.needs if not body.get(name)]
    if missing:
        return service.missing(missing[0])
    id = str(body.get("file_id") or f"{kind.prefix}{service.fresh(kind.object, 32, HEX)}")
    entry = {"id": id, "object": kind.object, "created_at": service.api.ticket.created, **kind.fields, **body}
    _shelf(service, kind)[id] = entry
    return service.reply(entry)


def _list(service: ServiceRequest, kind: Kind) -> Reply:
    data = list(_shelf(service, kind).values())
    return service.reply({"object": "list", **page(service, data)})


def _read(service: ServiceRequest, kind: Kind) -> Reply:
    found = _shelf(service, kind).get(service.names["id"])
    return service.reply(found) if found else _missing(service, kind)


def _change(service: ServiceRequest, kind: Kind) -> Reply:
    found = _shelf(service, kind).get(service.names["id"])
    if not found:
        return _missing(service, kind)
    found.update(service.body)
    return service.reply(found)


def _delete(service: ServiceRequest, kind: Kind) -> Reply:
    if not _shelf(service, kind).pop(service.names["id"], None):
        return _missing(service, kind)
    return service.reply({"id": service.names["id"], "object": f"{kind.object}.deleted", "deleted": True})


def _missing(service: ServiceRequest, kind: Kind) -> Reply:
    sentence = f"No {kind.object.replace('.', ' ').replace('_', ' ')} found with id '{service.names['id']}'."
    return service.refuse(Refusal(sentence, 404, _BAD))
