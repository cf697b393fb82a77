"""The structure of a body without its values: two answers of a model have the same fields and different
texts.

The structure of an object is that of its fields, and the structure of a list is that of all its items
together. null and an empty list match anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..exchange.reply import Reply
from ..format.compression import undo
from ..format.sse_and_ndjson import parse

__all__ = ["drift"]

_ANY = "anything"
_KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a text"}


def drift(recorded: Reply, live: Reply) -> Iterator[str]:
    """Yields a line for each difference between the structures of the live and the recorded answer."""
    if recorded.status != live.status:
        yield f"status: recorded {recorded.status}, now {live.status}"
        return
    kinds = [one.content_type.partition(";")[0].strip() for one in (recorded, live)]
    if kinds[0] != kinds[1]:
        yield f"content-type: recorded {kinds[0] or 'none'}, now {kinds[1] or 'none'}"
        return
    yield from _changes(_of(recorded), _of(live), "")


def _of(reply: Reply) -> Any:
    """Returns the structure of a body. For a stream, it is the structure of its events by name."""
    coding = next((value for name, value in reply.headers if name == "content-encoding"), "")
    body = undo(reply.body, coding)
    if "event-stream" in reply.content_type:
        events = (parse(body.replace(b"\r\n", b"\n")) or {"sse": []})["sse"]
        return _object([_event(event) for event in events])
    try:
        return _structure(json.loads(body))
    except (ValueError, RecursionError):
        return _KINDS[str] if body else _ANY


def _event(event: dict[str, Any]) -> dict[str, Any]:
    """Returns the structure of an event under its name, or under the type in its data."""
    data = event.get("data", event.get("text", event.get("raw")))
    own = data.get("type") if isinstance(data, dict) else None
    return {f"event {event.get('event') or own or ''}".strip(): data}


def _structure(value: Any) -> Any:
    if value is None:
        return _ANY
    if isinstance(value, dict):
        return {key: _structure(item) for key, item in value.items()}
    if isinstance(value, list):
        found = _ANY
        for item in value:
            found = _together(found, _structure(item))
        return [found]
    return _KINDS[type(value)]


def _object(values: list[dict[str, Any]]) -> Any:
    found: Any = {}
    for value in values:
        found = _together(found, _structure(value))
    return found


def _together(one: Any, other: Any) -> Any:
    """Returns the structure that matches both."""
    if _ANY in (one, other):
        return other if one == _ANY else one
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _together(one.get(key, _ANY), other.get(key, _ANY)) for key in {**one, **other}}
    if isinstance(one, list) and isinstance(other, list):
        return [_together(one[0], other[0])]
    return one if one == other else _ANY


def _changes(old: Any, new: Any, pointer: str) -> Iterator[str]:
    if _ANY in (old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            at = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in new:
                yield f"- {at}: it is missing now"
            elif key not in old:
                yield f"+ {at}: it is new"
            else:
                yield from _changes(old[key], new[key], at)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _changes(old[0], new[0], f"{pointer}/*")
    elif old != new:
        yield f"~ {pointer or '/'}: recorded {_said(old)}, now {_said(new)}"


def _said(structure: Any) -> str:
    if isinstance(structure, dict):
        return "an object"
    return "a list" if isinstance(structure, list) else str(structure)
