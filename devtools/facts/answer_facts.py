"""What a recorded answer shows of a model: whether arguments come in pieces, and whether thinking is in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def shown(wire: str, answer: bytes) -> set[str]:
    """Returns the features that an answer shows: `streamed_arguments` and `thinking_shown`.

    Args:
        wire: Name of the wire format.
        answer: The decoded bytes, as JSON or as server-sent events.
    """
    found = set()
    events, streamed = _events(answer)
    if streamed and max(Counter(_pieces(wire, events)).values(), default=0) > 1:
        found.add("streamed_arguments")
    if any(_thinks(wire, event) for event in events):
        found.add("thinking_shown")
    return found


def _events(answer: bytes) -> tuple[list[Json], bool]:
    """Returns the events of a stream, or the one body; and whether it is a stream."""
    text = answer.decode("utf-8", "replace").lstrip()
    if text.startswith(("{", "[")):
        told = _parsed(text)
        return [
            each for each in (told if isinstance(told, list) else [told]) if isinstance(each, dict)
        ], False
    lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    return [event for line in lines if isinstance(event := _parsed(line), dict)], True


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _pieces(wire: str, events: list[Json]) -> Iterator[Any]:
    """Yields which call each piece of arguments belongs to."""
    for event in events:
        if wire == "anthropic":
            if (event.get("delta") or {}).get("partial_json"):
                yield event.get("index")
        elif wire == "openai-responses":
            if event.get("type") == "response.function_call_arguments.delta" and event.get("delta"):
                yield event.get("output_index")
        else:
            yield from _chat_pieces(event)


def _chat_pieces(event: Json) -> Iterator[Any]:
    for choice in event.get("choices") or ():
        for call in (choice.get("delta") or {}).get("tool_calls") or ():
            if (call.get("function") or {}).get("arguments"):
                yield call.get("index")


def _thinks(wire: str, event: Json) -> bool:
    """Tells whether an event or a body has a text of thinking."""
    if wire == "anthropic":
        blocks = [*(event.get("content") or ()), event.get("delta") or {}]
        return any(isinstance(each, dict) and bool(each.get("thinking")) for each in blocks)
    if wire == "gemini":
        parts = [
            p
            for each in event.get("candidates") or ()
            for p in (each.get("content") or {}).get("parts") or ()
        ]
        return any(part.get("thought") is True and bool(part.get("text")) for part in parts)
    if wire == "openai-responses":
        output = event.get("output")
        items = [each for each in output if isinstance(each, dict)] if isinstance(output, list) else []
        summed = any(each.get("type") == "reasoning" and each.get("summary") for each in items)
        return summed or event.get("type") == "response.reasoning_summary_text.delta"
    return any(_chat_thinks(choice) for choice in event.get("choices") or ())


def _chat_thinks(choice: Json) -> bool:
    said = choice.get("message") or choice.get("delta") or {}
    content = said.get("content")
    parts = content if isinstance(content, list) else []
    beside = bool(said.get("reasoning_content") or said.get("reasoning"))
    return beside or any(part.get("type") == "thinking" for part in parts if isinstance(part, dict))
