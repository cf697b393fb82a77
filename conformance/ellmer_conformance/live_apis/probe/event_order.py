"""The order of a stream's events in each wire format, and the end marker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...contract.provider_answers.answer import Event
from ...contract.readers.json_access import items_of, object_of

__all__ = ["ended", "out_of_order"]

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
    kinds = [str(one.get("type")) for one in data]
    if kinds[:1] != ["response.created"]:
        yield f"the first event is {kinds[:1]}, not response.created"
    numbers = [one.get("sequence_number") for one in data]
    if numbers != list(range(len(numbers))):
        yield f"the sequence numbers do not count from 0: {numbers[:8]}"
    wrong = [
        event.name for event in events if event.data and event.name and event.name != event.data.get("type")
    ]
    if wrong:
        yield f"the event's name {wrong[0]!r} is not its type"
    for one in ("output_item", "content_part"):
        added, done = (kinds.count(f"response.{one}.{word}") for word in ("added", "done"))
        if added != done:
            yield f"{added} {one}s were added and {done} done"
    told = "".join(str(one.get("delta")) for one in data if one.get("type") == "response.output_text.delta")
    done_texts = "".join(
        str(one.get("text")) for one in data if one.get("type") == "response.output_text.done"
    )
    if told != done_texts:
        yield f"the deltas say {told[:60]!r}, and response.output_text.done says {done_texts[:60]!r}"


def _anthropic(events: Sequence[Event]) -> Iterator[str]:
    told = [event.data for event in events if event.data and event.data.get("type") != "ping"]
    kinds = [one.get("type") for one in told]
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
    for one in told:
        kind, index = one.get("type"), one.get(key)
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
    for one in told:
        if one["type"] == "contentBlockDelta" and one.get("contentBlockIndex") in closed:
            yield f"a delta comes after block {one.get('contentBlockIndex')} was closed"
        closed |= {one.get("contentBlockIndex")} if one["type"] == "contentBlockStop" else set()


def _ollama(events: Sequence[Event]) -> Iterator[str]:
    early = [place for place, event in enumerate(events[:-1]) if event.data.get("done") is not False]
    if early:
        yield f"line {early[0] + 1} of {len(events)} does not say that it is not done"


def _cohere(events: Sequence[Event]) -> Iterator[str]:
    kinds = [event.data.get("type") for event in events if event.data]
    if kinds[:1] != ["message-start"]:
        yield f"the first event is {kinds[:1]}, not message-start"
    for one in ("content", "tool-call"):
        started, stopped = kinds.count(f"{one}-start"), kinds.count(f"{one}-end")
        if started != stopped:
            yield f"{started} {one}s were started and {stopped} ended"


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
