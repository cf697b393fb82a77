"""The values of a parsed answer: the events of a stream, and the content in neutral terms."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ellmer_harness.format import aws_event_stream, sse_and_ndjson

from ..observed.exchange import Json

_EOL = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Event:
    """An event of a stream: its name, if any, and its data; `text` is data that is not a JSON object."""

    name: str
    data: Json = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Called:
    """A tool call; `arguments` is `None` if its text is not a JSON object."""

    id: str
    name: str
    arguments: Json | None
    text: str = ""


@dataclass(frozen=True)
class Told:
    """The content of an answer. Missing counts are `None`. `messages` are its texts where it may have several messages."""

    text: str = ""
    calls: Sequence[Called] = ()
    stop: str | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None
    thinking: str = field(default="", kw_only=True)
    messages: Sequence[str] = field(default=(), kw_only=True)


def events_of(wire: str, body: bytes) -> list[Event]:
    """Returns the events of a stream, in its wire format's framing."""
    if wire == "bedrock":
        found = (aws_event_stream.parse(body) or {}).get("eventstream", [])
        return [
            Event(str(e.get("headers", {}).get(":event-type", "")), _object(e.get("json"))) for e in found
        ]
    if wire == "ollama":
        return [_event("", line.decode("utf-8", "replace")) for line in body.splitlines() if line.strip()]
    if wire == "gemini" and body.lstrip().startswith(b"["):  # without `alt=sse`, a stream is one list
        return [Event("", _object(each)) for each in _list(body)]
    blocks = [_fields(block) for block in sse_and_ndjson.split_events(body.decode("utf-8", "replace"))]
    return [_event(fields.get("event", ""), fields["data"]) for fields in blocks if "data" in fields]


def _list(body: bytes) -> list[Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _fields(block: str) -> dict[str, str]:
    """Returns the fields of an event, by https://html.spec.whatwg.org/multipage/server-sent-events.html."""
    found: dict[str, str] = {}
    for line in _EOL.split(block):  # and not where Unicode has other separators of lines
        name, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        found[name] = f"{found[name]}\n{value}" if name == "data" and name in found else value
    return found


def _event(name: str, text: str) -> Event:
    try:
        found = json.loads(text)
    except ValueError:
        return Event(name, {}, text)
    return Event(name, found) if isinstance(found, dict) else Event(name, {}, text)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
