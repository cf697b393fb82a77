"""A server's answer to a question: the answer itself, its required fields, the order of its events, and the types of the
official SDKs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from ...contract.observed.exchange import Exchange
from ...contract.provider_answers.answer import Event, Told, events_of
from ...contract.readers.json_access import items_of, object_of
from .questions import Question

# --- The answer ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """A question and its answer. `plain` is the answer to the same question without a stream."""

    wire: str
    question: Question
    exchange: Exchange
    kind: str = "question"  # or "client", or what is wrong with the request: "malformed", "rule", "example"
    rule: str = ""
    able: Mapping[str, bool] = field(default_factory=dict)
    told: Told | None = None
    plain: Told | None = None
    steady: bool = False  # the server answers the same question in the same words

    @property
    def status(self) -> int:
        """The HTTP status; 0 if no answer arrived."""
        return self.exchange.response.status if self.exchange.response else 0

    @property
    def content_type(self) -> str:
        """The content type of the answer, without parameters."""
        headers = self.exchange.response.headers if self.exchange.response else {}
        return headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def value(self) -> Any:
        """The body as JSON, or `None` if it is not JSON."""
        try:
            return json.loads(self.exchange.response.body) if self.exchange.response else None
        except ValueError:
            return None

    @cached_property
    def events(self) -> list[Event]:
        """The events of a stream."""
        return events_of(self.wire, self.exchange.response.body) if self.exchange.response else []

    @property
    def streamed(self) -> bool:
        """Whether a stream was requested and arrived."""
        return self.question.stream and self.kind == "question" and self.status == 200

    @property
    def answered(self) -> bool:
        """Whether it is an answer to a question, not an error."""
        return self.kind == "question" and self.status == 200


# --- Fields ----------------------------------------------------------------------------------------------


Shape = Any
_TEXT_OR_NONE = (str, None)
_CALL = {"id": str, "type": "function", "function": {"name": str, "arguments": str}}
_USAGE = {"prompt_tokens": int, "completion_tokens": int, "total_tokens": int}
_CHAT = {
    "id": str,
    "object": "chat.completion",
    "created": int,
    "model": str,
    "choices": [
        {
            "index": int,
            "message": {"role": "assistant", "content?": _TEXT_OR_NONE, "tool_calls?": [_CALL]},
            "finish_reason": str,
        }
    ],
    "usage": _USAGE,
}
_CHUNK = {
    "id": str,
    "object": "chat.completion.chunk",
    "created": int,
    "model": str,
    "choices": [{"index": int, "delta": dict, "finish_reason?": _TEXT_OR_NONE}],
}

#: A whole answer.
ANSWERS: Mapping[str, Shape] = {
    "openai-chat": _CHAT,
    "mistral": _CHAT,
    "openai-responses": {
        "id": str,
        "object": "response",
        "created_at": (int, float),
        "status": str,
        "model": str,
        "error?": (dict, None),
        "output": [{"type": str}],
        "tools": list,
        "parallel_tool_calls": bool,
        "usage": {"input_tokens": int, "output_tokens": int, "total_tokens": int},
    },
    "anthropic": {
        "id": str,
        "type": "message",
        "role": "assistant",
        "model": str,
        "content": [{"type": str}],
        "stop_reason": str,
        "stop_sequence": _TEXT_OR_NONE,
        "usage": {"input_tokens": int, "output_tokens": int},
    },
    "gemini": {
        "candidates": [{"content": {"parts?": [dict], "role": "model"}, "finishReason": str}],
        "usageMetadata": {"promptTokenCount": int, "candidatesTokenCount?": int, "totalTokenCount": int},
        "modelVersion": str,
        "responseId": str,
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [dict]}},
        "stopReason": str,
        "usage": {"inputTokens": int, "outputTokens": int, "totalTokens": int},
        "metrics": {"latencyMs": int},
    },
    "ollama": {
        "model": str,
        "created_at": str,
        "message": {"role": "assistant", "content": str},
        "done": True,
        "done_reason": str,
        "prompt_eval_count?": int,
        "eval_count": int,
    },
    "cohere": {
        "id": str,
        "message": {"role": "assistant"},
        "finish_reason": str,
        "usage": {"tokens": {"input_tokens": (int, float), "output_tokens": (int, float)}},
    },
}

#: An event of a stream, by its name where the format names them; `*` is every one.
CHUNKS: Mapping[str, Mapping[str, Shape]] = {
    "openai-chat": {"*": _CHUNK},
    "mistral": {"*": _CHUNK},
    "openai-responses": {
        "*": {"type": str, "sequence_number": int},
        "response.created": {"response": {"id": str, "object": "response", "status": str}},
        "response.output_text.delta": {
            "item_id": str,
            "output_index": int,
            "content_index": int,
            "delta": str,
        },
        "response.completed": {"response": {"status": "completed", "output": list, "usage": dict}},
    },
    "anthropic": {
        "*": {"type": str},
        "message_start": {"message": {"id": str, "type": "message", "role": "assistant", "usage": dict}},
        "content_block_start": {"index": int, "content_block": {"type": str}},
        "content_block_delta": {"index": int, "delta": {"type": str}},
        "content_block_stop": {"index": int},
        "message_delta": {"delta": {"stop_reason": str}, "usage": {"output_tokens": int}},
    },
    "gemini": {"*": {"candidates?": [dict], "usageMetadata?": dict}},
    "bedrock": {
        "messageStart": {"role": "assistant"},
        "contentBlockDelta": {"contentBlockIndex": int, "delta": dict},
        "messageStop": {"stopReason": str},
        "metadata": {"usage": {"inputTokens": int, "outputTokens": int}},
    },
    "ollama": {"*": {"model": str, "message": {"role": "assistant"}, "done": bool}},
    "cohere": {
        "*": {"type": str},
        "message-end": {"delta": {"finish_reason": str, "usage": dict}},
    },
}

#: The body of an error: one of these.
ERRORS: Mapping[str, tuple[Shape, ...]] = {
    "openai-chat": ({"error": {"message": str, "type": _TEXT_OR_NONE}},),
    "openai-responses": ({"error": {"message": str, "type": _TEXT_OR_NONE}},),
    "anthropic": ({"type": "error", "error": {"type": str, "message": str}},),
    "gemini": ({"error": {"code": int, "message": str, "status": str}},),
    "bedrock": ({"message": str}, {"Message": str}),
    "mistral": ({"message": (str, dict), "type": str}, {"detail": (str, list)}),
    "ollama": ({"error": str},),
    "cohere": ({"message": str},),
}

#: The stop reasons of each format.
STOPS: Mapping[str, frozenset[str]] = {
    "openai-chat": frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"}),
    "mistral": frozenset({"stop", "length", "tool_calls", "model_length", "error"}),
    "openai-responses": frozenset(
        {"completed", "incomplete", "failed", "in_progress", "queued", "cancelled"}
    ),
    "anthropic": frozenset(
        [
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        ]
    ),
    "gemini": frozenset(
        [
            "STOP",
            "MAX_TOKENS",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "OTHER",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
        ]
    ),
    "bedrock": frozenset(
        [
            "end_turn",
            "tool_use",
            "max_tokens",
            "stop_sequence",
            "guardrail_intervened",
            "content_filtered",
            "malformed_model_output",
            "malformed_tool_use",
            "model_context_window_exceeded",
        ]
    ),
    "ollama": frozenset({"stop", "length", "load", "unload"}),
    "cohere": frozenset({"COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR", "TIMEOUT"}),
}
#: Of these, the words for an answer that the token limit ended, and for one that the model ended.
LIMITS = frozenset({"length", "model_length", "incomplete", "max_tokens", "MAX_TOKENS"})
ENDS = frozenset({"stop", "completed", "end_turn", "STOP", "COMPLETE"})


def misfits(value: Any, shape: Shape, place: str = "") -> Iterator[tuple[str, str]]:
    """Yields the differences of a value from a shape, as pointers and descriptions."""
    if isinstance(shape, Mapping):
        yield from _fields(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield place, f"{_quoted(value)} is not a list"
            return
        for number, each in enumerate(value):
            yield from misfits(each, shape[0], f"{place}/{number}")
    elif isinstance(shape, str | bool):
        if value != shape:
            yield place, f"{_quoted(value)} is not {shape!r}"
    elif not _is(value, shape if isinstance(shape, tuple) else (shape,)):
        names = [
            kind.__name__ if kind else "null" for kind in (shape if isinstance(shape, tuple) else (shape,))
        ]
        yield place, f"{_quoted(value)} is not a {' or '.join(names)}"


def _fields(value: Any, shape: Mapping[str, Shape], place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield place, f"{_quoted(value)} is not an object"
        return
    for named, inner in shape.items():
        name = named.removesuffix("?")
        if name in value and not (named.endswith("?") and value[name] is None):
            yield from misfits(value[name], inner, f"{place}/{name}")
        elif not named.endswith("?"):
            yield f"{place}/{name}", f"{name} is missing"


def _is(value: Any, kinds: tuple[Any, ...]) -> bool:
    if value is None:
        return None in kinds
    found = tuple(kind for kind in kinds if kind)
    return isinstance(value, found) and not (isinstance(value, bool) and bool not in found)


def _quoted(value: Any) -> str:
    return repr(value)[:60]


# --- The order of events ---------------------------------------------------------------------------------


Order = Callable[[Sequence[Event]], Iterator[str]]


def out_of_order(wire: str, events: Sequence[Event]) -> list[str]:
    """Returns the errors in the order, as sentences."""
    return list(_ORDERS[wire](events))


def ended(wire: str, events: Sequence[Event]) -> str:
    """Returns the missing parts of the stream's end; `""` if there are none."""
    return _ENDS[wire](events)


# orders -------------------------------------------------------------------------------------------------------


def _chat(events: Sequence[Event]) -> Iterator[str]:
    chunks = [event.data for event in events if event.data]
    if len({chunk.get("id") for chunk in chunks}) > 1:
        yield "the chunks of one answer have different ids"
    choices = [object_of(c) for chunk in chunks for c in items_of(chunk.get("choices"))]
    if choices and object_of(choices[0].get("delta")).get("role") != "assistant":
        yield "the first delta does not name the role"
    reasons = [place for place, choice in enumerate(choices) if choice.get("finish_reason")]
    if len(reasons) > 1:
        yield f"{len(reasons)} chunks have a finish_reason"
    late = (
        [c for c in choices[reasons[0] + 1 :] if object_of(c.get("delta")).get("content")] if reasons else []
    )
    if late:
        yield "content comes after the finish_reason"
    yield from _named_first(choices)


def _named_first(choices: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yields whether each call has its id and name in its first delta."""
    seen = set()
    for choice in choices:
        for call in items_of(object_of(choice.get("delta")).get("tool_calls")):
            index = object_of(call).get("index")
            if not isinstance(index, int):
                yield "a delta of a call has no index"
            if index not in seen and not (
                object_of(call).get("id") and object_of(call.get("function")).get("name")
            ):
                yield "the first delta of a call has no id or no name"
            seen.add(index)


def _responses(events: Sequence[Event]) -> Iterator[str]:
    data = [event.data for event in events if event.data]
    kinds = [str(each.get("type")) for each in data]
    if kinds[:1] != ["response.created"]:
        yield f"the first event is {kinds[:1]}, not response.created"
    numbers = [each.get("sequence_number") for each in data]
    if numbers != list(range(len(numbers))):
        yield f"the sequence numbers do not count from 0: {numbers[:8]}"
    wrong = [
        event.name for event in events if event.data and event.name and event.name != event.data.get("type")
    ]
    if wrong:
        yield f"the event's name {wrong[0]!r} is not its type"
    for part in ("output_item", "content_part"):
        added, done = (kinds.count(f"response.{part}.{word}") for word in ("added", "done"))
        if added != done:
            yield f"{added} {part}s were added and {done} done"
    told = "".join(
        str(each.get("delta")) for each in data if each.get("type") == "response.output_text.delta"
    )
    done_texts = "".join(
        str(each.get("text")) for each in data if each.get("type") == "response.output_text.done"
    )
    if told and "response.output_text.done" not in kinds:
        yield "no response.output_text.done follows the deltas of the text"
    elif told != done_texts:
        yield f"the deltas say {told[:60]!r}, and response.output_text.done says {done_texts[:60]!r}"


def _anthropic(events: Sequence[Event]) -> Iterator[str]:
    told = [event.data for event in events if event.data and event.data.get("type") != "ping"]
    kinds = [data.get("type") for data in told]
    wrong = [event.name for event in events if event.data and event.name != event.data.get("type")]
    if wrong:
        yield f"the event's name {wrong[0]!r} is not its type"
    if kinds[:1] != ["message_start"]:
        yield f"the first event is {kinds[:1]}, not message_start"
    if kinds[-2:] != ["message_delta", "message_stop"]:
        yield f"the last events are {kinds[-2:]}, not message_delta and message_stop"
    yield from _blocks(told, "content_block_start", "content_block_delta", "content_block_stop", "index")


def _blocks(
    told: Sequence[Mapping[str, object]], start: str, delta: str, stop: str, key: str
) -> Iterator[str]:
    """Checks blocks that are opened one after another. Each must be closed before the next."""
    inside, count = None, 0
    for data in told:
        kind, index = data.get("type"), data.get(key)
        if kind == start:
            if inside is not None or index != count:
                yield f"block {index} starts where block {inside if inside is not None else count} should"
            inside, count = index, count + 1
        elif kind in {delta, stop} and index != inside:
            yield f"a {kind} for block {index} comes inside of block {inside}"
        inside = None if kind == stop else inside


def _gemini(events: Sequence[Event]) -> Iterator[str]:
    reasons = [
        place
        for place, event in enumerate(events)
        for candidate in items_of(event.data.get("candidates"))
        if object_of(candidate).get("finishReason")
    ]
    if len(reasons) > 1:
        yield f"{len(reasons)} chunks have a finishReason"
    ids = {event.data.get("responseId") for event in events if event.data.get("responseId")}
    if len(ids) > 1:
        yield "the chunks of one answer have different response ids"


def _bedrock(events: Sequence[Event]) -> Iterator[str]:
    names = [event.name for event in events]
    if names[:1] != ["messageStart"]:
        yield f"the first event is {names[:1]}, not messageStart"
    if names[-2:] != ["messageStop", "metadata"]:
        yield f"the last events are {names[-2:]}, not messageStop and metadata"
    told = [{"type": event.name, **event.data} for event in events]
    closed: set[object] = set()
    for data in told:
        if data["type"] == "contentBlockDelta" and data.get("contentBlockIndex") in closed:
            yield f"a delta comes after block {data.get('contentBlockIndex')} was closed"
        closed |= {data.get("contentBlockIndex")} if data["type"] == "contentBlockStop" else set()


def _ollama(events: Sequence[Event]) -> Iterator[str]:
    early = [place for place, event in enumerate(events[:-1]) if event.data.get("done") is not False]
    if early:
        yield f"line {early[0] + 1} of {len(events)} does not say that it is not done"


def _cohere(events: Sequence[Event]) -> Iterator[str]:
    kinds = [event.data.get("type") for event in events if event.data]
    if kinds[:1] != ["message-start"]:
        yield f"the first event is {kinds[:1]}, not message-start"
    for part in ("content", "tool-call"):
        started, stopped = kinds.count(f"{part}-start"), kinds.count(f"{part}-end")
        if started != stopped:
            yield f"{started} {part}s were started and {stopped} ended"


# ends ---------------------------------------------------------------------------------------------------------


def _chat_end(events: Sequence[Event]) -> str:
    return "" if events and events[-1].text.strip() == "[DONE]" else "`data: [DONE]` does not end the stream"


def _responses_end(events: Sequence[Event]) -> str:
    kinds = [str(event.data.get("type")) for event in events if event.data]
    fine = kinds[-1:] in (["response.completed"], ["response.incomplete"], ["response.failed"])
    return "" if fine else f"the last event is {kinds[-1:]}, not response.completed"


def _gemini_end(events: Sequence[Event]) -> str:
    last = object_of(next(iter(items_of(events[-1].data.get("candidates"))), {})) if events else {}
    return "" if last.get("finishReason") else "the last chunk has no finishReason"


def _named_end(name: str) -> Callable[[Sequence[Event]], str]:
    def check(events: Sequence[Event]) -> str:
        kinds = [event.data.get("type") or event.name for event in events]
        return "" if name in kinds[-2:] else f"no {name} ends the stream"

    return check


def _ollama_end(events: Sequence[Event]) -> str:
    return "" if events and events[-1].data.get("done") is True else "no line says that it is done"


_ORDERS: Mapping[str, Order] = {
    "openai-chat": _chat,
    "mistral": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "cohere": _cohere,
}
_ENDS: Mapping[str, Callable[[Sequence[Event]], str]] = {
    "openai-chat": _chat_end,
    "mistral": _chat_end,
    "openai-responses": _responses_end,
    "anthropic": _named_end("message_stop"),
    "gemini": _gemini_end,
    "bedrock": _named_end("messageStop"),
    "ollama": _ollama_end,
    "cohere": _named_end("message-end"),
}


# --- Types of the SDKs -----------------------------------------------------------------------------------


#: By wire format: the module and the type of a whole answer.
_TYPES: Mapping[str, tuple[str, str]] = {
    "openai-chat": ("openai.types.chat", "ChatCompletion"),
    "openai-responses": ("openai.types.responses", "Response"),
    "anthropic": ("anthropic.types", "Message"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
    "mistral": ("mistralai.client.models", "ChatCompletionResponse"),
    "ollama": ("ollama", "ChatResponse"),
}


@cache
def _type(wire: str) -> Any:
    module, name = _TYPES.get(wire, ("", ""))
    try:
        return getattr(import_module(module), name) if module else None
    except (ImportError, AttributeError):
        return None


def package(wire: str) -> str:
    """Returns the SDK's package name, or `""` if none is installed."""
    return _TYPES[wire][0].partition(".types")[0] if _type(wire) else ""


def complaint(wire: str, value: Any) -> str | None:
    """Returns the first error of the SDK's type for an answer, `""` if there is none, or `None` without the SDK."""
    kind = _type(wire)
    if kind is None:
        return None
    from pydantic import ValidationError  # noqa: PLC0415 - it is there where an SDK is

    try:
        kind.model_validate(value)
    except ValidationError as error:
        # More than the type has is always allowed.
        told = [entry for entry in error.errors() if entry["type"] != "extra_forbidden"]
        return "; ".join(f"{'/'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in told)[:300]
    return ""
