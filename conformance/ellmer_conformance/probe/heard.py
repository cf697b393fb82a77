"""What a server answered: the bytes, and what they say in neutral terms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ellmer_harness import eventstream, sse

from ..exchange import Exchange, Json
from .questions import Question

__all__ = ["Called", "Event", "Heard", "Told", "events_of"]


@dataclass(frozen=True)
class Event:
    """One event of a stream: its name, where it has one, and its data; `text` is what is no JSON object."""

    name: str
    data: Json = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class Called:
    """A tool call: `arguments` is None where its text is no JSON object."""

    id: str
    name: str
    arguments: Json | None
    text: str = ""


@dataclass(frozen=True)
class Told:
    """What an answer says. Counts are None where it has none."""

    text: str = ""
    calls: Sequence[Called] = ()
    stop: str | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None


@dataclass(frozen=True)
class Heard:
    """One question and its answer. `plain` is the answer to the same question, not streamed."""

    wire: str
    question: Question
    exchange: Exchange
    kind: str = "question"  # or what is wrong with the request: "malformed", "rule", "example"
    rule: str = ""
    able: Mapping[str, bool] = field(default_factory=dict)
    told: Told | None = None
    plain: Told | None = None
    steady: bool = False  # the server answers the same question in the same words

    @property
    def status(self) -> int:
        """HTTP's; 0 where no answer came."""
        return self.exchange.response.status if self.exchange.response else 0

    @property
    def content_type(self) -> str:
        """Of the answer, without parameters."""
        headers = self.exchange.response.headers if self.exchange.response else {}
        return headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def value(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.exchange.response.body) if self.exchange.response else None
        except ValueError:
            return None

    @cached_property
    def events(self) -> list[Event]:
        """Those of a stream."""
        return events_of(self.wire, self.exchange.response.body) if self.exchange.response else []

    @property
    def streamed(self) -> bool:
        """Whether this is a stream that was asked for and came."""
        return self.question.stream and self.kind == "question" and self.status == 200

    @property
    def answered(self) -> bool:
        """Whether it is an answer to a question."""
        return self.kind == "question" and self.status == 200


def events_of(wire: str, body: bytes) -> list[Event]:
    """The events of a stream, in its wire format's framing."""
    if wire == "bedrock":
        found = (eventstream.parse(body) or {}).get("eventstream", [])
        return [
            Event(str(e.get("headers", {}).get(":event-type", "")), _object(e.get("json"))) for e in found
        ]
    if wire == "ollama":
        return [_event("", line) for line in body.decode("utf-8", "replace").splitlines() if line.strip()]
    blocks = [_fields(block) for block in sse.split_events(body.decode("utf-8", "replace"))]
    return [_event(fields.get("event", ""), fields["data"]) for fields in blocks if "data" in fields]


def _fields(block: str) -> dict[str, str]:
    """The fields of an event, as https://html.spec.whatwg.org/multipage/server-sent-events.html has them."""
    found: dict[str, str] = {}
    for line in block.splitlines():
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
