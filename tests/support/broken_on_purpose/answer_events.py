"""The body of an answer as JSON values, to be changed before a client reads them: a whole body, or the events of a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json

#: Changes the values of an answer in place.
Rewrite = Callable[[Sequence[Json]], object]

_DATA = re.compile(rb"^data: ?(\{.*)$", re.MULTILINE)


def rewritten(body: bytes, change: Rewrite) -> bytes:
    """Returns the body with its values changed. What is neither JSON, lines of JSON nor a stream of events stays."""
    if body.startswith(b'{"model"') and body.count(b"\n{"):
        lines = [json.loads(line) for line in body.splitlines()]
        change(lines)
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    if body[:1] == b"{":
        value = json.loads(body)
        change([value])
        return json.dumps(value).encode()
    values = [json.loads(found) for found in _DATA.findall(body)]
    change(values)
    changed = iter(values)
    return _DATA.sub(lambda _: b"data: " + json.dumps(next(changed)).encode(), body)


def objects(value: Any) -> Iterator[Json]:
    """Yields every object in a value, outermost first."""
    if isinstance(value, dict):
        yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    ):
        yield from objects(item)


def pieces(events: Sequence[Json]) -> list[tuple[Json, str]]:
    """Returns the places of the pieces of text in a stream: of Chat Completions, Messages, Gemini."""
    found = []
    for each in objects(list(events)):
        if isinstance(each.get("content"), str) and "message" not in each:
            found.append((each, "content"))
        elif each.get("type") in {"text_delta", "text", None} and isinstance(each.get("text"), str):
            found.append((each, "text"))
    return found


def without_signatures(events: Sequence[Json]) -> None:
    """Drops the signatures of an answer."""
    for found in objects(list(events)):
        found.pop("thoughtSignature", None)
        found.pop("encrypted_content", None)


def lose_late_reasoning(events: Sequence[Json]) -> None:
    """Knows one item at a time: reasoning that is complete after the next item has begun has lost its seal."""
    begun, late = [], False
    for event in events:
        if event.get("type") == "response.output_item.added":
            begun.append(event["output_index"])
        done = event.get("type") == "response.output_item.done" and event["item"].get("type") == "reasoning"
        if done and begun[-1:] != [event["output_index"]]:
            late = True
    for each in objects(list(events)) if late else ():
        each.pop("encrypted_content", None)
