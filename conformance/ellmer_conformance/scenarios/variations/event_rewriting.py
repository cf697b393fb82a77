"""Parses, changes and writes the events of a stream. A whole body counts as one event.

The formats are server-sent events, newline-delimited JSON and AWS's binary frames, with the harness's readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ellmer_harness.format import aws_event_stream, sse_and_ndjson

from .variation import VariedAnswer

Event = dict[str, Any]  # the harness's form of an event
Events = Callable[[str, list[Event]], Sequence[Event] | None]


def changed(travelling: VariedAnswer, change: Events) -> VariedAnswer:
    """Returns the answer with the events of `change(wire, events)`, each as a write. `None` leaves the answer
    unchanged.
    """
    found = change(travelling.wire, _read(travelling))
    if found is None:
        return travelling
    headers = {name: value for name, value in travelling.headers.items() if name != "content-length"}
    return replace(travelling, headers=headers, writes=tuple(_written(travelling, found)))


def each(travelling: VariedAnswer, change: Callable[[Any], Any]) -> VariedAnswer:
    """Returns the answer with the data of every event changed."""

    def all_of_them(_: str, events: list[Event]) -> list[Event]:
        return [e | {_key(e): change(deepcopy(e[_key(e)]))} if _key(e) else e for e in events]

    return changed(travelling, all_of_them)


def event(like: Event, name: str, data: Any) -> Event:
    """Returns an event with another name, in the form of an existing one."""
    if "headers" in like:
        return {"headers": like["headers"] | {":event-type": name}, "json": data}
    return ({"event": name} if "event" in like else {}) | {"data": data}


def everywhere(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Returns a JSON value with every object in it changed, innermost first."""
    if isinstance(value, list):
        return [everywhere(item, change) for item in value]
    if isinstance(value, dict):
        return change({key: everywhere(item, change) for key, item in value.items()})
    return value


def sizes(travelling: VariedAnswer) -> list[int]:
    """Returns the size of each event in bytes."""
    body = travelling.body
    if "amazon" in travelling.content_type:
        return [len(frame) for frame in aws_event_stream.frames(body)]
    if "event-stream" in travelling.content_type:
        return [len(block) for block in sse_and_ndjson.split_events(body.decode("latin-1"))]
    return [len(line) for line in body.splitlines(keepends=True)] if travelling.streams else [len(body)]


def _key(event: Event) -> str:
    """Returns the key of an event's JSON, or `""` if it has none."""
    return next((key for key in ("data", "json") if key in event), "")


def _read(travelling: VariedAnswer) -> list[Event]:
    body = travelling.body
    if "amazon" in travelling.content_type:
        return list((aws_event_stream.parse(body) or {})["eventstream"])
    if "event-stream" in travelling.content_type:
        return list((sse_and_ndjson.parse(body) or {})["sse"])
    lines = body.splitlines() if travelling.streams else [body]
    return [{"data": json.loads(line)} for line in lines if line.strip()]


def _written(travelling: VariedAnswer, events: Sequence[Event]) -> Iterator[bytes]:
    for event in events:
        if "amazon" in travelling.content_type:
            yield aws_event_stream.write({"eventstream": [event]})
        elif "event-stream" in travelling.content_type:
            yield sse_and_ndjson.write(
                {"sse": [{k: v for k, v in event.items() if k not in {"pad", "style"}}]}
            )
        else:
            text = json.dumps(event["data"], ensure_ascii=False, separators=(",", ":"))
            yield text.encode() + (b"\n" if travelling.streams else b"")
