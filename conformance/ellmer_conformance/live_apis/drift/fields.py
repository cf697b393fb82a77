"""The fields of an answer: each path in its JSON with the type of its value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...contract.exchange import Response
from ...contract.provider_answers.answer import events_of

__all__ = ["fields_of"]

_NAMES = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    type(None): "null",
    list: "list",
    dict: "object",
}
#: Objects that the model writes: their keys are not fields of the API.
_THE_MODELS = {"input", "args", "arguments", "parsed"}


def fields_of(wire: str, response: Response, *, stream: bool) -> dict[str, set[str]]:
    """Returns the types at each path. For a stream, they are grouped by event."""
    found: dict[str, set[str]] = {}
    for place, kind in _stream(wire, response) if stream else _whole(response):
        found.setdefault(place, set()).add(kind)
    return found


def _whole(response: Response) -> Iterator[tuple[str, str]]:
    try:
        yield from _paths(json.loads(response.body), "")
    except ValueError:
        yield "", "no JSON"


def _stream(wire: str, response: Response) -> Iterator[tuple[str, str]]:
    for event in events_of(wire, response.body):
        name = event.name or str(event.data.get("type") or "data")
        yield from _paths(event.data, name) if event.data else [(name, "text")]


def _paths(value: Any, place: str) -> Iterator[tuple[str, str]]:
    yield place, _NAMES.get(type(value), "?")
    if isinstance(value, dict) and place.rpartition(".")[2] not in _THE_MODELS:
        for key, each in value.items():
            yield from _paths(each, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, f"{place}[]")
