"""Files of spans: OTLP in JSON, spans and log records as SDKs print them, and Jaeger's JSON, with one or several
documents.

The conversation of a call is in the attributes of its span, in its events, or in log records with its id.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...contract.exchange import Json, Request
from ...contract.readers.gen_ai_span import WIRE
from ...contract.readers.json_access import items_of, object_of, text_of
from .conversation import conversation

__all__ = ["Span", "read"]

_MARK = b"gen_ai."
_SPACE = re.compile(r"\s*")
_INSIDE = (
    *("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans"),
    *("resourceLogs", "scopeLogs", "logRecords", "data"),
)
_CALLS = {"chat", "generate_content", "text_completion"}
_DETAILS = "gen_ai.client.inference.operation.details"


@dataclass
class Span:
    """One call. `place` is its JSON pointer in the file; `messages` is `None` if none were captured."""

    place: str
    id: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, Json]] = field(default_factory=list)  # names and attributes
    messages: list[Json] | None = None

    @property
    def request(self) -> Request:
        """The captured conversation in the form for rules."""
        known = self.attributes
        provider = known.get("gen_ai.provider.name") or known.get("gen_ai.system") or "unknown"
        model = str(known.get("gen_ai.request.model") or known.get("gen_ai.response.model") or "")
        return Request(WIRE, str(provider), {"messages": self.messages or []}, model=model)


def read(path: Path) -> list[Span] | None:
    """Returns the model calls in a file of spans, or `None` if there are none.

    Raises ValueError if it is not JSON, and OSError if it cannot be read.
    """
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    if _MARK not in data:
        return None
    try:
        documents = list(_documents(data.decode("utf-8-sig")))
        alone = len(documents) == 1
        nodes = (node for line, value in documents for node in _nodes(value, "" if alone else f"line {line}"))
        return [span for span in _whole(nodes) if _is_call(span)] or None
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _documents(text: str) -> Iterator[tuple[int, Any]]:
    """Yields the JSON values of a text, each with its first line."""
    decoder, at, line = json.JSONDecoder(), 0, 1
    while True:
        start = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
        if start == len(text):
            return
        line += text.count("\n", at, start)
        value, at = decoder.raw_decode(text, start)
        yield line, value
        line += text.count("\n", start, at)


def _nodes(value: Any, place: str) -> Iterator[Span]:
    """Yields the spans and log records in a document."""
    for i, each in enumerate(items_of(value)):
        yield from _nodes(each, f"{place}/{i}")
    found = object_of(value)
    if "attributes" in found or "tags" in found:
        yield _node(found, place)
    for key in _INSIDE:
        if key in found:
            yield from _nodes(found[key], f"{place}/{key}")


def _node(found: Json, place: str) -> Span:
    attributes = _attributes(found.get("attributes", found.get("tags")))
    id = found.get("spanId") or found.get("spanID") or found.get("span_id")
    id = str(id or object_of(found.get("context")).get("span_id") or "").removeprefix("0x")
    if "body" in found:  # a log record
        name = found.get("eventName") or found.get("event_name") or attributes.get("event.name")
        return Span(place, id, {}, [(str(name), attributes | object_of(_value(found["body"])))])
    told = [object_of(each) for each in items_of(found.get("events"))]
    events = [(str(each.get("name")), _attributes(each.get("attributes"))) for each in told]
    logged = [_attributes(object_of(each).get("fields")) for each in items_of(found.get("logs"))]
    return Span(place, id, attributes, [*events, *((str(each.get("event")), each) for each in logged)])


def _whole(nodes: Iterable[Span]) -> Iterator[Span]:
    """Yields the spans, each with its log records."""
    found: dict[str, Span] = {}
    for number, node in enumerate(nodes):
        span = found.setdefault(node.id or f"#{number}", Span(node.place))
        span.attributes |= node.attributes
        span.events += node.events
    for span in found.values():
        for name, attributes in span.events:
            span.attributes |= attributes if name == _DETAILS else {}
        span.messages = conversation(span.attributes, span.events)
        yield span


def _is_call(span: Span) -> bool:
    return span.messages is not None or text_of(span.attributes.get("gen_ai.operation.name")) in _CALLS


def _attributes(value: Any) -> dict[str, Any]:
    """Returns the attributes of a mapping, or of OTLP's list of keys and values."""
    if isinstance(value, dict):
        return value
    pairs = (object_of(each) for each in items_of(value))
    return {str(each.get("key")): _value(each.get("value")) for each in pairs}


def _value(value: Any) -> Any:
    """Returns a plain value, or the value of OTLP's typed form."""
    match value:
        case {"arrayValue": array}:
            return [_value(each) for each in items_of(object_of(array).get("values"))]
        case {"kvlistValue": fields}:
            return _attributes(object_of(fields).get("values"))
        case dict() if len(value) == 1 and (key := next(iter(value))).endswith("Value"):
            return value[key]
        case _:
            return value
