"""Reads the conversation of a span in the messages of the GenAI conventions, for every instrumentation.

The current form is `gen_ai.input.messages`. Until version 1.36, it was an event for each message, with the fields of
Chat Completions; before that, it was one JSON text, or an attribute for each field (`gen_ai.prompt.0.role`).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ellmer_core.base.budget import RECORDING
from ellmer_harness.recordings.untrusted_files import bounded_json, plain_bytes

from ..contract import readers
from ..contract.observed.exchange import Json, Request
from ..contract.readers.gen_ai_span import WIRE
from ..contract.readers.json_access import items_of, object_of, text_of
from ..contract.rule import Finding, Kind, Level, broken, met
from ..contract.rulebook import RuleBook
from ..contract.rules.common import enter
from ..scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn

# --- The conversation of a span --------------------------------------------------------------------------


_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_FIELD = re.compile(r"gen_ai\.prompt\.(\d+)\.(\w+)(?:(?<=\.tool_calls)\.(\d+)\.(\w+))?")


def conversation(attributes: Mapping[str, Any], events: Iterable[tuple[str, Json]]) -> list[Json] | None:
    """Returns the sent messages, or `None` if none were captured."""
    asked = _list(attributes.get("gen_ai.input.messages"))
    if asked is None:
        asked = _of_events(events) or _of_events(_logged(attributes)) or _of_fields(attributes) or None
    system = _list(attributes.get("gen_ai.system_instructions"))
    if asked is None:
        return None
    before = [{"role": "system", "parts": system}] if system else []
    return [*before, *(_message(object_of(each)) for each in asked)]


def _of_events(events: Iterable[tuple[str, Json]]) -> list[Json]:
    """Returns the messages of events: one message in each event, or all in one."""
    found: list[Json] = []
    for name, fields in events:
        if match := _EVENT.fullmatch(name):
            found.append({"role": match[1], **{key: _parsed(value) for key, value in fields.items()}})
        elif name == "gen_ai.content.prompt":
            found += _list(fields.get("gen_ai.prompt")) or []
    return found


def _logged(attributes: Mapping[str, Any]) -> list[tuple[str, Json]]:
    """Returns events that are JSON in an attribute, as in pydantic-ai."""
    events = (object_of(each) for each in _list(attributes.get("events")) or [])
    return [(text_of(each.get("event.name")), each) for each in events]


def _of_fields(attributes: Mapping[str, Any]) -> list[Json]:
    """Returns the messages of attributes for each field, as in OpenLLMetry."""
    found: dict[int, Json] = {}
    calls: dict[int, dict[int, Json]] = {}
    for name, value in attributes.items():
        if match := _FIELD.fullmatch(name):
            number, field, call, inner = match.groups()
            message = found.setdefault(int(number), {})
            if call is None:
                message[field] = _parsed(value)
            else:
                calls.setdefault(int(number), {}).setdefault(int(call), {})[inner] = value
    for number, by_number in calls.items():
        found[number]["tool_calls"] = [by_number[i] for i in sorted(by_number)]
    return [found[i] for i in sorted(found)]


def _message(value: Json) -> Json:
    """Returns a message with parts. A message of Chat Completions is converted."""
    if "parts" in value:
        return value
    role, content = text_of(value.get("role")) or "user", value.get("content")
    if role == "tool":
        id = value.get("tool_call_id") or value.get("id")
        response = {"response": content} if "content" in value else {}
        return {"role": role, "parts": [{"type": "tool_call_response", "id": id, **response}]}
    texts = [content] if isinstance(content, str) and content else items_of(content)
    calls = [_call(object_of(each)) for each in items_of(value.get("tool_calls"))]
    return {"role": role, "parts": [*map(_part, texts), *calls]}


def _part(value: Any) -> Json:
    if isinstance(value, str):
        return {"type": "text", "content": value}
    part = object_of(value)
    if "text" in part:
        return {"type": "text", "content": part["text"]}
    image = part.get("image_url")
    url = object_of(image).get("url") if isinstance(image, dict) else image
    return {"type": "uri", "modality": "image", "uri": url} if url else part


def _call(value: Json) -> Json:
    function = object_of(value.get("function")) or value
    fields = {"name": function.get("name"), "arguments": function.get("arguments")}
    return {"type": "tool_call", "id": value.get("id"), **fields}


def _list(value: Any) -> list[Any] | None:
    value = _parsed(value)
    return value if isinstance(value, list) else None


def _parsed(value: Any) -> Any:
    """Parses lists and objects that were written as text."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in {"[", "{"} else value
    except ValueError:
        return value


# --- Reading spans ---------------------------------------------------------------------------------------


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
        attributes = self.attributes
        provider = attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system") or "unknown"
        model = str(attributes.get("gen_ai.request.model") or attributes.get("gen_ai.response.model") or "")
        return Request(WIRE, str(provider), {"messages": self.messages or []}, model=model)


def read(path: Path, most: int = RECORDING.unpacked) -> list[Span] | None:
    """Returns the model calls in a file of spans, or `None` if there are none.

    Raises ValueError if it is not JSON, or if it has more than `most` bytes, and OSError if it cannot be read.
    """
    data = plain_bytes(path, most)
    if _MARK not in data:
        return None
    try:
        documents = list(_documents(bounded_json(data).decode("utf-8-sig")))
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


# --- Rules -----------------------------------------------------------------------------------------------


BOOK = RuleBook(WIRE)
_SOURCE = "https://github.com/open-telemetry/semantic-conventions-genai"


def span_body(turns: Sequence[Turn]) -> Json:
    """Returns a body in the form of `spans`."""
    return {
        "messages": [
            {"role": turn.role, "parts": [_written_part(part) for part in turn.parts]} for turn in turns
        ]
    }


def _written_part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "content": text}
        case ToolCall(id, name, arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": dict(arguments)}
        case ToolResult(id, value):
            return {"type": "tool_call_response", "id": id, "response": value}
        case Image(data, type):
            content = b64encode(data).decode()
            return {"type": "blob", "modality": "image", "mime_type": type, "content": content}
        case _:
            raise TypeError(f"no rule of spans has an example with {part!r}")


_ASK, _CALL, _RESULT = (
    Turn("user", (Text("Add."),)),
    Turn("assistant", (ToolCall("a", "add"),)),
    ToolResult("a", "5"),
)
_FINE = span_body([_ASK, _CALL, Turn("user", (_RESULT,))])


@BOOK.rule(
    "PAIR-001",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[span_body([_ASK, _CALL, _ASK])],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every call has a result before the conversation goes on.

    Why: most APIs refuse the request, and otherwise the model lacks the result. Fix: send a result that says why
    there is none.
    """
    items = readers.read(request)
    answered = {item.id for item in items if item.kind == "result"}
    for item in items:
        if item.kind == "call" and item.id:
            fine = item.id in answered
            yield met(item.pointer) if fine else broken(item.pointer, f"there is no result for {item.id!r}")


@BOOK.rule(
    "PAIR-002",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[span_body([_ASK, Turn("user", (_RESULT,))])],
)
def results_answer_calls(request: Request) -> Iterator[Finding]:
    """A result answers a call that comes before it.

    Why: a history that was truncated between the two is refused. Fix: drop or keep both.
    """
    called: set[str] = set()
    for item in readers.read(request):
        if item.kind == "call":
            called.add(item.id)
        elif item.kind == "result" and item.id:
            fine = item.id in called
            yield (
                met(item.pointer) if fine else broken(item.pointer, f"there is no call {item.id!r} before it")
            )


@BOOK.rule(
    "ORD-002",
    Level.SHOULD,
    Kind.LOSS,
    source=_SOURCE,
    examples=[_FINE],
    counterexamples=[span_body([_ASK, _CALL, Turn("user", (Text("Well?"), _RESULT))])],
)
def results_follow_their_calls(request: Request) -> Iterator[Finding]:
    """The results come directly after the calls, without other content between them.

    Why: Chat Completions and Anthropic refuse content between a call and its result. Fix: send the results first.
    """
    waiting: set[str] = set()
    between = False
    for item in readers.read(request):
        if item.kind == "call":
            waiting, between = waiting | {item.id}, False
        elif item.kind == "result" and item.id in waiting:
            yield (
                broken(item.pointer, "something is said before this result") if between else met(item.pointer)
            )
            waiting.discard(item.id)
        elif waiting and item.role == "user":
            between = True


enter(BOOK, span_body)
BOOK.rules |= {id: replace(rule, level=Level.SHOULD) for id, rule in BOOK.rules.items()}
