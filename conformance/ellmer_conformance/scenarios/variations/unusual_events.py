"""Equivalent or unusual events that a client must handle: unknown fields and events, calls with interleaved, late or
missing arguments, missing counts, new stop reasons.

Unknown fields and events are named `brand_new`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import chain, zip_longest
from typing import Any

from ..script import REDACTED
from .event_rewriting import Event, changed, each, event, everywhere
from .variation import Variation, VariedAnswer

_CHAT = frozenset({"openai-chat"})
_INDEXED = frozenset({"openai-chat", "openai-responses", "anthropic"})
_MARKED = frozenset({"openai-chat", "openai-responses", "anthropic", "ollama", "mistral", "cohere"})
_STOPS = {"finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"}
_COUNTS = {"usage", "usageMetadata", "prompt_eval_count", "eval_count"}
_ARGUMENTS = {"arguments", "partial_json", "input", "args"}

_NEWS: dict[str, tuple[str, Any]] = {
    "anthropic": ("brand_new", {"type": "brand_new", "index": 0, "brand_new": {"text": "?"}}),
    "openai-responses": (
        "response.brand_new.delta",
        {"type": "response.brand_new.delta", "sequence_number": 1, "delta": "?"},
    ),
    "openai-chat": ("", {"object": "brand.new", "choices": [{"index": 0, "delta": {"brand_new": "?"}}]}),
    "mistral": ("", {"object": "brand.new", "choices": [{"index": 0, "delta": {"brand_new": "?"}}]}),
    "gemini": ("", {"brandNew": {"text": "?"}}),
    "bedrock": ("brandNew", {"brandNew": {"text": "?"}}),
    "ollama": ("", {"brand_new": "?", "message": {"role": "assistant", "content": ""}, "done": False}),
    "cohere": ("brand-new", {"type": "brand-new", "delta": {"text": "?"}}),
}
#: Events after the end of the answer.
_GHOSTS: dict[str, tuple[str, Any]] = {
    "anthropic": (
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "GHOST"}},
    ),
    "openai-responses": (
        "response.output_text.delta",
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "GHOST"},
    ),
    "openai-chat": ("", {"choices": [{"index": 0, "delta": {"content": "GHOST"}}]}),
    "mistral": ("", {"choices": [{"index": 0, "delta": {"content": "GHOST"}}]}),
    "ollama": ("", {"message": {"role": "assistant", "content": "GHOST"}, "done": False}),
    "cohere": (
        "content-delta",
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "GHOST"}}}},
    ),
}
_AZURE = {
    "id": "",
    "object": "",
    "created": 0,
    "model": "",
    "choices": [],
    "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
}


def _unknown_events(wire: str, events: list[Event]) -> Sequence[Event]:
    news = event(events[0], *_NEWS[wire])
    return [*events[:1], news, *chain.from_iterable((chunk, news) for chunk in events[1:-1]), *events[-1:]]


def _redacted_of_bedrock(events: list[Event]) -> Sequence[Event]:
    """Replaces the reasoning of Converse by opaque data, which a stream sends in one event."""
    found: list[Event] = []
    last: Any = None
    for old in events:
        new = deepcopy(old)
        data = new.get("json", new.get("data")) or {}
        for block in ((data.get("output") or {}).get("message") or {}).get("content") or ():
            if "reasoningContent" in block:
                block["reasoningContent"] = {"redactedContent": REDACTED}
        delta = data.get("delta") or {}
        if "reasoningContent" in delta:
            if data.get("contentBlockIndex") == last:
                continue
            last, delta["reasoningContent"] = data.get("contentBlockIndex"), {"redactedContent": REDACTED}
        found.append(new)
    return found


def _redacted(wire: str, events: list[Event]) -> Sequence[Event]:
    """Replaces the thoughts of Anthropic and Bedrock by redacted blocks of opaque data."""
    if wire == "bedrock":
        return _redacted_of_bedrock(events)
    found: list[Event] = []
    for old in events:
        data = deepcopy(old.get("data") or {})
        for block in (data.get("content_block"), *(data.get("content") or ())):
            if isinstance(block, dict) and block.get("type") == "thinking":
                block.clear()
                block |= {"type": "redacted_thinking", "data": REDACTED}
        thinks = isinstance(data.get("delta"), dict) and data["delta"].get("type") in {
            "thinking_delta",
            "signature_delta",
        }
        found += [] if thinks else [old | {"data": data} if data else old]
    return found


def _unknown_fields(it: VariedAnswer) -> VariedAnswer:
    return each(it, lambda data: data | {"brand_new": {"a": [1, None]}} if isinstance(data, dict) else data)


def _ghost(wire: str, events: list[Event]) -> Sequence[Event]:
    return [*events, event(events[0], *_GHOSTS[wire])]


def _empty_choices(_: str, events: list[Event]) -> Sequence[Event]:
    usage_only = {"data": _AZURE | {"usage": None, "prompt_filter_results": []}}
    return [{"data": _AZURE}, *chain.from_iterable((chunk, usage_only) for chunk in events[:-1]), events[-1]]


def _stop_beside_text(_: str, events: list[Event]) -> Sequence[Event] | None:
    """Sends the last piece of the answer in the chunk that has the stop reason, and perhaps the token counts."""
    found = deepcopy(list(events))
    for at, chunk in enumerate(found):
        for choice in (chunk.get("data") or {}).get("choices") or ():
            if at and choice.get("finish_reason") and not any(choice["delta"].values()):
                pieces = found[at - 1]["data"].get("choices")
                choice["delta"] = pieces[0]["delta"] if pieces else {}
                return [*found[: at - 1], *found[at:]] if pieces else None
    return None


def _reason_throughout(it: VariedAnswer) -> VariedAnswer:
    """Gives each chunk the stop reason of the answer, as older models of Gemini and gateways do."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {"finishReason": "STOP", **o} if "content" in o and "index" in o else o

    return each(it, lambda data: everywhere(data, change))


def _calls_beside_the_end(_: str, events: list[Event]) -> Sequence[Event] | None:
    """Sends the calls of the answer in the line that ends it, as Ollama does for some models."""
    found = deepcopy(list(events))
    calls = [call for line in found[:-1] for call in line["data"]["message"].pop("tool_calls", [])]
    if not calls:
        return None
    found[-1]["data"]["message"]["tool_calls"] = calls
    return found


def _no_calls_beside_text(it: VariedAnswer) -> VariedAnswer:
    """Adds an empty list of calls to each piece of text, as vLLM does."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {"tool_calls": [], **o} if o.get("content") and "role" not in o else o

    return each(it, lambda data: everywhere(data, change))


def _null_delta(_: str, events: list[Event]) -> Sequence[Event]:
    """Replaces each delta that says nothing by null, and adds a chunk that has none, as Azure does beside the results of its filter."""
    found: list[Event] = []
    for old in events:
        new = deepcopy(old)
        for choice in (new.get("data") or {}).get("choices") or ():
            if "delta" in choice and not any(choice["delta"].values()):
                choice["delta"] = None
        found.append(new)
    filtered: dict[str, Any] = {"index": 0, "finish_reason": None, "content_filter_results": {}}
    return [*found[:1], {"data": _AZURE | {"choices": [filtered]}}, *found[1:]]


def _null_events(_: str, events: list[Event]) -> Sequence[Event]:
    """Adds an event that is null after each event but the last two, as compatible servers do to keep a connection."""
    waiting = [each for chunk in events[:-2] for each in (chunk, {"data": None})]
    return [*waiting, *events[-2:]]


#: Fields that compatible servers send as null where OpenAI leaves them out.
_NULLS: dict[str, Any] = dict.fromkeys(
    ("tool_calls", "function_call", "reasoning_content", "refusal", "audio")
)


def _null_fields(it: VariedAnswer) -> VariedAnswer:
    """Sends null for each field that a message does not have."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        says = "content" in o or o.get("role") == "assistant"
        return _NULLS | o if says and "type" not in o else o

    return each(it, lambda data: everywhere(data, change))


def _blank_reasons(it: VariedAnswer) -> VariedAnswer:
    """Sends an empty text for the stop reason of each chunk that has none, as several compatible servers do."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return o | {"finish_reason": ""} if "delta" in o and o.get("finish_reason") is None else o

    return each(it, lambda data: everywhere(data, change))


#: A piece of a stream that has no text.
_SILENCE: dict[str, tuple[str, Any]] = {
    "anthropic": (
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}},
    ),
    "openai-chat": ("", {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}),
    "mistral": ("", {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}),
    "gemini": ("", {"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "index": 0}]}),
    "ollama": ("", {"message": {"role": "assistant", "content": ""}, "done": False}),
    "cohere": (
        "content-delta",
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": ""}}}},
    ),
}


def _is_text(wire: str, data: Any) -> bool:
    """Tells whether an event has a piece of text, in a format with blocks."""
    if wire == "anthropic":
        return (data.get("delta") or {}).get("type") == "text_delta"
    return wire != "cohere" or data.get("type") == "content-delta"


def _silences(wire: str, events: list[Event]) -> Sequence[Event]:
    """Adds a piece without text after each piece of text, and in the formats without blocks, after each event but the last."""
    found = [*events[:1]]
    last = len(events) - (1 if wire in {"gemini", "ollama"} else 2)
    for at, old in enumerate(events[1:], 1):
        found.append(old)
        data = old.get("data") or {}
        if at < last and _is_text(wire, data):
            name, silence = _SILENCE[wire]
            place = {"index": data["index"]} if "index" in data else {}
            found.append(event(events[0], name, silence | place))
    return found


def _without_item_ids(it: VariedAnswer) -> VariedAnswer:
    """Drops the ids of items with calls. The ids of the calls stay."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in o.items() if k != "id"} if o.get("type") == "function_call" else o

    return each(it, lambda data: everywhere(data, change))


def _text_in_parts(it: VariedAnswer) -> VariedAnswer:
    """Sends each text of the answer as a list of parts, as Mistral does when the model has thought: a piece of a stream as two."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        text = o.get("content")
        if not (isinstance(text, str) and text and o.get("role") in {None, "assistant"}):
            return o
        parts = (text[:1], text[1:]) if it.streams else (text,)
        return o | {"content": [{"type": "text", "text": part} for part in parts]}

    return each(it, lambda data: everywhere(data, change))


def _signed_texts(_: str, events: list[Event]) -> Sequence[Event] | None:
    """Signs each text of an answer without calls, as Gemini does with some pieces of a stream."""
    found = deepcopy(list(events))
    parts = [
        part
        for chunk in found
        for candidate in (chunk.get("data") or {}).get("candidates") or ()
        for part in (candidate.get("content") or {}).get("parts") or ()
    ]
    if any("functionCall" in part for part in parts):
        return None
    for part in parts:
        if part.get("text") and not part.get("thought"):
            part.setdefault("thoughtSignature", "c2lnbmVk")
    return found


def _calls_with_a_stop(it: VariedAnswer) -> VariedAnswer:
    """Ends an answer with calls as one without, as some compatible servers do."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return o | {"finish_reason": "stop"} if o.get("finish_reason") == "tool_calls" else o

    return each(it, lambda data: everywhere(data, change))


# parallel calls -------------------------------------------------------------------------------------------


def _call_of(wire: str, event: Event) -> int | None:
    """Returns the index of the tool call that an event is about."""
    data = event.get("data") or {}
    if wire == "openai-chat":
        calls = [c for choice in data.get("choices") or () for c in choice["delta"].get("tool_calls") or ()]
        return int(calls[0]["index"]) if len(calls) == 1 else None
    index = data.get("index" if wire == "anthropic" else "output_index")
    return index if isinstance(index, int) else None


def _crosswise(wire: str, events: list[Event]) -> Sequence[Event] | None:
    """Interleaves the events of parallel calls."""
    calls: dict[int, list[Event]] = {}
    for chunk in events:
        if (index := _call_of(wire, chunk)) is not None:
            calls.setdefault(index, []).append(chunk)
    if len(calls) < 2:
        return None
    of_calls = [chunk for group in calls.values() for chunk in group]
    first = next(i for i, chunk in enumerate(events) if chunk is of_calls[0])
    rest = [chunk for chunk in events[first:] if not any(chunk is other for other in of_calls)]
    turns = [chunk for turn in zip_longest(*calls.values()) for chunk in turn if chunk is not None]
    return _renumbered([*events[:first], *turns, *rest])


def _reasoning_late(wire: str, events: list[Event]) -> Sequence[Event] | None:
    """Completes the reasoning after the item that follows it has begun, as OpenRouter does."""
    kinds = [((chunk.get("data") or {}).get("item") or {}).get("type") for chunk in events]
    return _crosswise(wire, events) if "reasoning" in kinds else None


def _renumbered(events: Sequence[Event]) -> list[Event]:
    """Returns the events in the order of their sequence numbers, if they have them."""
    found = deepcopy(list(events))
    for number, chunk in enumerate(found):
        if "sequence_number" in (chunk.get("data") or {}):
            chunk["data"]["sequence_number"] = number
    return found


def _same_index(it: VariedAnswer) -> VariedAnswer:
    return each(it, lambda data: everywhere(data, lambda o: o | {"index": 0} if "index" in o else o))


def _with_ids(it: VariedAnswer, *, empty: bool) -> VariedAnswer:
    """Gives each later piece of a call its id again, as vLLM does, or an empty one, as Qwen's servers do."""
    ids: dict[int, str] = {}

    def change(o: dict[str, Any]) -> dict[str, Any]:
        if "function" not in o or "index" not in o:
            return o
        id = ids.setdefault(o["index"], o.get("id", ""))
        return o if o.get("id") else o | {"id": "" if empty else id}

    return each(it, lambda data: everywhere(data, change))


def _without_index(it: VariedAnswer) -> VariedAnswer:
    """Drops the numbers of calls, as the OpenAI format of some servers has none: a piece without an id goes on with the last call."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in o.items() if k != "index"} if "function" in o else o

    return each(it, lambda data: everywhere(data, change))


def _null_ids(_: str, events: list[Event]) -> Sequence[Event] | None:
    """Sends each call in two pieces, of which the second has a blank name and the text null for an id, as Mistral does."""
    found: list[Event] = []
    for old in events:
        choices = (old.get("data") or {}).get("choices") or ()
        calls = [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
        if not calls:
            found.append(old)
            continue
        first, second = deepcopy(old), deepcopy(old)
        for choice in first["data"]["choices"]:
            choice["finish_reason"] = None
            for call in choice["delta"]["tool_calls"]:
                call["function"]["arguments"] = ""
        first["data"].pop("usage", None)
        for choice in second["data"]["choices"]:
            choice["delta"] = {"tool_calls": choice["delta"]["tool_calls"]}
            for call in choice["delta"]["tool_calls"]:
                call["id"], call["function"]["name"] = "null", ""
        found += [first, second]
    return found


def _late_names(_: str, events: list[Event]) -> Sequence[Event]:
    """Moves the name of a call from its first chunk, which keeps the id, to the next."""
    found: list[Event] = []
    for old in events:
        early, late = deepcopy(old), deepcopy(old)
        data = old.get("data") or {}
        calls = [c for choice in data.get("choices") or () for c in choice["delta"].get("tool_calls") or ()]
        if not any((call.get("function") or {}).get("name") for call in calls):
            found.append(old)
            continue
        for choice in early["data"]["choices"]:
            for call in choice["delta"]["tool_calls"]:
                call["function"] = {"arguments": ""}
        for choice in late["data"]["choices"]:
            choice["delta"] = {
                "tool_calls": [
                    {"index": c["index"], "function": c["function"]} for c in choice["delta"]["tool_calls"]
                ]
            }
        found += [early, late]
    return found


# calls without arguments ----------------------------------------------------------------------------------


def _arguments(value: Any) -> Any:
    """Returns a change: empty arguments are written as `value`. In formats with an object, the object is missing."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: (value if k in _ARGUMENTS and v in ("{}", "", {}) else v) for k, v in o.items()}

    return lambda it: each(it, lambda data: everywhere(data, change))


def _absent(it: VariedAnswer) -> VariedAnswer:
    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in o.items() if not (k in _ARGUMENTS and v in ("{}", "", {}))}

    return each(it, lambda data: everywhere(data, change))


def _no_deltas(_: str, events: list[Event]) -> Sequence[Event]:
    """Removes the arguments from the events of a call."""
    return [chunk for chunk in events if not _is_arguments(chunk)]


def _is_arguments(event: Event) -> bool:
    data = event.get("data") or event.get("json") or {}
    kind = str(data.get("type", ""))
    of_a_kind = kind in {"response.function_call_arguments.delta", "tool-call-delta"}
    delta = data.get("delta")
    partial = isinstance(delta, dict) and ("toolUse" in delta or delta.get("type") == "input_json_delta")
    chat = [
        c for choice in data.get("choices") or () for c in choice.get("delta", {}).get("tool_calls") or ()
    ]
    return of_a_kind or partial or bool(chat and not any(call.get("id") for call in chat))


# ends -----------------------------------------------------------------------------------------------------


def _stopping(reason: str) -> Any:
    """Returns a change of the stop reason."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: (reason if k in _STOPS and isinstance(v, str) and v else v) for k, v in o.items()}

    return lambda it: each(it, lambda data: everywhere(data, change))


def _blocked(it: VariedAnswer) -> VariedAnswer:
    """Ends the answer by a filter. Gemini then does not count what it wrote."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in o.items() if k != "candidatesTokenCount"}

    stopped: VariedAnswer = _stopping("SAFETY")(each(it, lambda data: everywhere(data, change)))
    return stopped


def _uncounted(it: VariedAnswer) -> VariedAnswer:
    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in o.items() if k not in _COUNTS}

    return each(it, lambda data: everywhere(data, change))


#: The parts of the token counts, which may be null.
_PARTS_OF_COUNTS = {
    "prompt_tokens_details",
    "completion_tokens_details",
    "cache_creation",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
}


def _null_parts(it: VariedAnswer) -> VariedAnswer:
    """Sends null for the parts of the token counts, of which none was read from a cache."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        return {key: None if key in _PARTS_OF_COUNTS else value for key, value in o.items()}

    return each(it, lambda data: everywhere(data, change))


def _counted_at_the_start(it: VariedAnswer) -> VariedAnswer:
    """Removes the input counts from Anthropic's last event, which had only the output count for years."""

    def change(data: Any) -> Any:
        if data.get("type") == "message_delta":
            data["usage"] = {name: count for name, count in data["usage"].items() if "input" not in name}
        return data

    return each(it, change)


#: How many tokens the provider's own tools take in a variation.
TOKENS_OF_TOOLS = 7


def _with_tools_of_the_provider(it: VariedAnswer) -> VariedAnswer:
    """Counts tokens of Gemini's own tools beside those of the prompt, as a part of the total."""

    def change(o: dict[str, Any]) -> dict[str, Any]:
        if "promptTokenCount" not in o or "totalTokenCount" not in o:
            return o
        total = o["totalTokenCount"] + TOKENS_OF_TOOLS
        return o | {"toolUsePromptTokenCount": TOKENS_OF_TOOLS, "totalTokenCount": total}

    return each(it, lambda data: everywhere(data, change))


def _billed_apart(it: VariedAnswer) -> VariedAnswer:
    """Counts fewer billed units than tokens, as Cohere does: it bills no template of the prompt."""
    billed = {"input_tokens": 1, "output_tokens": 1}
    return each(
        it, lambda d: everywhere(d, lambda o: o | {"billed_units": billed} if "billed_units" in o else o)
    )


def _counted_throughout(_: str, events: list[Event]) -> Sequence[Event] | None:
    """Adds the counts so far to each chunk, as several compatible servers do. The last counts stay the true ones."""
    last = next((e["data"]["usage"] for e in reversed(events) if (e.get("data") or {}).get("usage")), None)
    if not isinstance(last, dict):
        return None
    so_far = {**last, "completion_tokens": 1, "total_tokens": last["prompt_tokens"] + 1}
    return [
        {**chunk, "data": chunk["data"] | {"usage": so_far}}
        if (data := chunk.get("data") or {}).get("choices") and not data.get("usage")
        else chunk
        for chunk in events
    ]


_REASONED = frozenset({"openai-chat", "anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere"})

MEANING = (
    Variation(
        "redacted",
        "THK-002",
        lambda it: changed(it, _redacted),
        wires=frozenset({"anthropic", "bedrock"}),
        streamed=None,
        first=True,
        description="the model's thoughts are redacted",
    ),
    Variation(
        "unknown-events",
        "STR-006",
        lambda it: changed(it, _unknown_events),
        description="events of an unknown type stand between the others",
    ),
    Variation(
        "unknown-fields",
        "STR-006",
        _unknown_fields,
        streamed=None,
        description="each object has an unknown field",
    ),
    Variation(
        "crosswise",
        "STR-012",
        lambda it: changed(it, _crosswise),
        wires=_INDEXED,
        description="the events of parallel calls are interleaved",
    ),
    Variation(
        "reasoning-late",
        "STR-027",
        lambda it: changed(it, _reasoning_late),
        wires=frozenset({"openai-responses"}),
        description="reasoning is complete after the next item has begun",
    ),
    Variation(
        "same-index",
        "STR-013",
        _same_index,
        wires=_CHAT,
        description="parallel calls have one index, and each has its own id",
    ),
    Variation(
        "ids-again",
        "STR-013",
        lambda it: _with_ids(it, empty=False),
        wires=_CHAT,
        description="each piece of a call has the id of the call",
    ),
    Variation(
        "ids-empty",
        "STR-013",
        lambda it: _with_ids(it, empty=True),
        wires=_CHAT,
        description="each piece of a call but the first has an empty id",
    ),
    Variation(
        "no-index",
        "STR-013",
        _without_index,
        wires=_CHAT,
        description="the pieces of calls have no index",
    ),
    Variation(
        "ids-null",
        "STR-013",
        lambda it: changed(it, _null_ids),
        wires=frozenset({"mistral"}),
        description="the second piece of a call has the text null for an id",
    ),
    Variation(
        "arguments-empty",
        "STR-014",
        _arguments(""),
        wires=_CHAT | {"openai-responses"},
        streamed=None,
        description="the arguments of a call without any are an empty text",
    ),
    Variation(
        "arguments-null",
        "STR-014",
        _arguments(None),
        wires=_CHAT | {"gemini", "ollama"},
        streamed=None,
        description="the arguments of a call without any are null",
    ),
    Variation(
        "arguments-absent",
        "STR-014",
        _absent,
        wires=_CHAT | {"gemini", "ollama"},
        streamed=None,
        description="a call without arguments has no field for them",
    ),
    Variation(
        "no-arguments-at-all",
        "STR-014",
        lambda it: changed(it, _no_deltas),
        wires=frozenset({"openai-chat", "anthropic", "bedrock", "cohere"}),
        description="no event has arguments of the call",
    ),
    Variation(
        "empty-choices",
        "STR-015",
        lambda it: changed(it, _empty_choices),
        wires=_CHAT,
        description="chunks without a choice stand between the others",
    ),
    Variation(
        "empty-calls",
        "STR-015",
        _no_calls_beside_text,
        wires=_CHAT,
        description="each piece of text has an empty list of calls beside it",
    ),
    Variation(
        "null-deltas",
        "STR-030",
        lambda it: changed(it, _null_delta),
        wires=_CHAT,
        description="a delta that says nothing is null, or missing",
    ),
    Variation(
        "null-events",
        "STR-030",
        lambda it: changed(it, _null_events),
        wires=_CHAT,
        description="events that are null stand between the others",
    ),
    Variation(
        "null-fields",
        "STR-015",
        _null_fields,
        wires=_CHAT,
        streamed=None,
        description="fields that an answer does not have are null",
    ),
    Variation(
        "blank-reasons",
        "STR-015",
        _blank_reasons,
        wires=_CHAT,
        description="chunks without a stop reason have an empty one",
    ),
    Variation(
        "silences",
        "STR-028",
        lambda it: changed(it, _silences),
        wires=frozenset(_SILENCE),
        description="pieces without text stand between the others",
    ),
    Variation(
        "stop-beside-text",
        "STR-023",
        lambda it: changed(it, _stop_beside_text),
        wires=_CHAT,
        description="the last text is in the chunk that has the stop reason",
    ),
    Variation(
        "reason-throughout",
        "STR-023",
        _reason_throughout,
        wires=frozenset({"gemini"}),
        description="each chunk has the stop reason",
    ),
    Variation(
        "calls-beside-the-end",
        "STR-023",
        lambda it: changed(it, _calls_beside_the_end),
        wires=frozenset({"ollama"}),
        description="the calls are in the line that ends the answer",
    ),
    Variation(
        "no-item-ids",
        "STR-026",
        _without_item_ids,
        wires=frozenset({"openai-responses"}),
        streamed=None,
        on_server=True,
        description="items with calls have no ids of their own",
    ),
    Variation(
        "text-in-parts",
        "STR-025",
        _text_in_parts,
        wires=frozenset({"mistral"}),
        streamed=None,
        description="texts are lists of parts",
    ),
    Variation(
        "signed-texts",
        "STR-025",
        lambda it: changed(it, _signed_texts),
        wires=frozenset({"gemini"}),
        description="each text of the last answer has a signature",
    ),
    Variation(
        "calls-with-a-stop",
        "STP-008",
        _calls_with_a_stop,
        wires=_CHAT | {"mistral"},
        streamed=None,
        description="the stop reason of an answer with calls is stop",
    ),
    Variation(
        "after-the-end",
        "STR-019",
        lambda it: changed(it, _ghost),
        wires=_MARKED,
        description="an event follows the end of the answer",
    ),
    Variation(
        "late-names",
        "STR-020",
        lambda it: changed(it, _late_names),
        wires=_CHAT,
        description="the name of a call arrives after its id",
    ),
    Variation(
        "unknown-stop",
        "STP-002",
        _stopping("brand_new"),
        "other-stop",
        wires=_REASONED,
        streamed=None,
        description="the stop reason is brand_new",
    ),
    Variation(
        "blocked-uncounted",
        "STP-002",
        _blocked,
        "other-stop",
        wires=frozenset({"gemini"}),
        streamed=None,
        description="a filter ended the answer, and its tokens are not counted",
    ),
    *(
        Variation(
            f"stop:{reason}",
            "STP-003",
            _stopping(reason),
            "other-stop",
            wires=wires,
            streamed=None,
            description=f"the stop reason is {reason}",
        )
        for reason, wires in {
            "pause_turn": frozenset({"anthropic"}),
            "model_context_window_exceeded": frozenset({"anthropic", "bedrock"}),
            "malformed_model_output": frozenset({"bedrock"}),
            "malformed_tool_use": frozenset({"bedrock"}),
            "ERROR": frozenset({"cohere"}),
            "TIMEOUT": frozenset({"cohere"}),
            "BLOCKLIST": frozenset({"gemini"}),
            "PROHIBITED_CONTENT": frozenset({"gemini"}),
            "SPII": frozenset({"gemini"}),
            "OTHER": frozenset({"gemini"}),
            "model_length": frozenset({"mistral"}),
        }.items()
    ),
    # not Ollama: its server leaves out what is 0
    Variation(
        "uncounted",
        "USG-005",
        _uncounted,
        "uncounted",
        wires=_REASONED - {"ollama"},
        streamed=None,
        description="the answer has no token counts",
    ),
    Variation(
        "null-parts",
        "USG-008",
        _null_parts,
        wires=_CHAT | {"anthropic"},
        streamed=None,
        description="the parts of the token counts are null",
    ),
    Variation(
        "counted-at-the-start",
        "USG-002",
        _counted_at_the_start,
        wires=frozenset({"anthropic"}),
        description="the input is counted in the first event alone",
    ),
    Variation(
        "tokens-of-tools",
        "USG-007",
        _with_tools_of_the_provider,
        "uncounted",
        wires=frozenset({"gemini"}),
        streamed=None,
        description="the provider's own tools took tokens, too",
    ),
    Variation(
        "billed-apart",
        "USG-002",
        _billed_apart,
        wires=frozenset({"cohere"}),
        streamed=None,
        description="fewer units are billed than there are tokens",
    ),
    Variation(
        "counted-throughout",
        "USG-002",
        lambda it: changed(it, _counted_throughout),
        wires=_CHAT,
        description="each chunk has the counts so far",
    ),
)
