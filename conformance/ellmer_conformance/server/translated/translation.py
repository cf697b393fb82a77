"""A request in the format that judges it, and the way back for its reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from ...contract.changes.api_versions import versions
from ...contract.observed.exchange import Json, Request
from ...contract.readers.json_access import object_of
from ..chat_api_lookup import chat_api_of
from ..chat_apis.base import ChatApi, Ticket, compact, utf8
from ..http.messages import LENGTH, HttpRequest, Reply
from ..http.routes import Route


class Translation(NamedTuple):
    """A translated request: `request` is answered, or `refused` is the reply at once; `back` writes the reply."""

    request: HttpRequest | None
    back: Callable[[Reply], Reply]
    refused: Reply | None = None


def to_path(
    http: HttpRequest, route: Route, path: str, body: Json, headers: Mapping[str, str] = {}
) -> HttpRequest:
    """Returns a request to another path of the same conversation, with another body."""
    place = f"/c/{quote(route.case, safe='')}/{quote(route.nonce or '-', safe='')}"
    fields = {name: value for name, value in http.headers.items() if name != LENGTH}
    return HttpRequest("POST", place + path, fields | dict(headers), utf8(compact(body)))


def body_of(http: HttpRequest) -> Json:
    """Returns the JSON object of a request, or an empty one."""
    try:
        return object_of(json.loads(http.body))
    except (ValueError, RecursionError):
        return {}


def json_of(reply: Reply) -> Json:
    """Returns the JSON object of a reply, or an empty one."""
    try:
        return object_of(json.loads(reply.body))
    except ValueError:
        return {}


def sse_values(reply: Reply) -> Iterator[Json]:
    """Yields the JSON objects of a stream of events. An event that was cut is left out."""
    for event in reply.body.replace(b"\r\n", b"\n").split(b"\n\n")[:-1]:
        data = event.rpartition(b"data: ")[2]
        try:
            yield object_of(json.loads(data))
        except ValueError:
            continue


def error_sentence(reply: Reply) -> str:
    """Returns the sentence of an error in any provider's form."""
    value = json_of(reply)
    inner = value.get("error", value)
    return str(object_of(inner).get("message") or inner)


def anthropic_version(version: object, provider: str, model: str, today: date | None) -> str | None:
    """Returns Anthropic's version for that in the body of a request to a cloud, or `None` if the cloud has no such one.

    A name of the cloud's own, such as `vertex-2023-10-16`, means the version before `2026-10-21`.
    """
    if version not in versions(provider, today, model):
        return None
    return "2023-06-01" if str(version).startswith(provider) else str(version)


def without_stream(body: Json) -> Json:
    """Returns a body without its `stream`."""
    return {name: value for name, value in body.items() if name != "stream"}


def api_for(http: HttpRequest, route: Route, wire: str, provider: str, model: str = "") -> ChatApi:
    """Returns the writer of a provider's replies and refusals for a request."""
    return chat_api_of(Ticket(Request(wire, provider, {}, route.url, http.method, {}, model), route.case, 0))
