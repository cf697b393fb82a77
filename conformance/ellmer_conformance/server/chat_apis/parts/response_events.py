"""The events of a Responses stream, and the counts of tokens and tool uses in them."""

from __future__ import annotations

import json

from ....contract.exchange import Json
from ....scenarios.script import Answer, Search, Usage
from ..base import Frame, compact, sse
from .response_settings import NO_TOOL_USAGE

__all__ = ["added", "event", "started", "tool_usage", "usage"]


def tool_usage(answer: Answer | None) -> Json:
    """Returns the usage of the provider's own tools."""
    searches = sum(isinstance(part, Search) for part in answer.parts) if answer else 0
    return NO_TOOL_USAGE | {"web_search": {"num_requests": searches}} if searches else NO_TOOL_USAGE


def started(item: Json) -> Json:
    """Returns an item in its first event, without content."""
    empty = {"status": "in_progress", "content": [], "arguments": "", "summary": []}
    begun = item | {key: value for key, value in empty.items() if key in item}
    begun.pop("action", None)
    return begun


def added(frame: Frame) -> Json | None:
    """Returns the item that a frame adds, or `None`."""
    event, _, data = frame.data.partition(b"\ndata: ")
    item: Json | None = json.loads(data)["item"] if event.endswith(b"output_item.added") else None
    return item


def event(name: str, number: int, fields: Json) -> bytes:
    """Returns a numbered event with sorted keys."""
    fields = fields | {"sequence_number": number}
    return sse(compact({"type": name, **dict(sorted(fields.items()))}), name)


def usage(usage: Usage) -> Json:
    """Returns the token counts, which include their parts."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
