"""Converts the value of a tool to text and media, in the forms that libraries require."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...contract.exchange import Json
from ...scenarios.messages import PDF, Audio, Image, Part, Text, Tool, ToolCall, Turn

__all__ = [
    "CUT",
    "CUT_OFF",
    "NOT_RUN",
    "answered",
    "base64_of",
    "call_of",
    "calls_in",
    "data_url",
    "hoisted",
    "media_type",
    "open_calls",
    "parameters",
    "text_of",
]

NOT_RUN = "Error: the call was not run."
CUT_OFF = "The token limit cut your tool call off, and it was not run. Please try again."
CUT = "(cut off)"
_SEEN = {"image/png", "image/jpeg", "image/gif", "image/webp"}  # by every provider


def base64_of(part: Audio | Image | PDF) -> str:
    """Returns the bytes as base64."""
    return base64.b64encode(part.data).decode("ascii")


def media_type(part: Audio | Image | PDF) -> str:
    """Returns the media type, for example `image/png`."""
    return "application/pdf" if isinstance(part, PDF) else part.type


def data_url(part: Image | PDF) -> str:
    """Returns a URL with the bytes, or the image's own URL."""
    if isinstance(part, Image) and part.url:
        return part.url
    return f"data:{media_type(part)};base64,{base64_of(part)}"


def text_of(value: Any) -> str:
    """Returns a tool's value without media, as the text of a result."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def hoisted(id: str, value: Any) -> tuple[str, list[Part]]:
    """Returns the text of a result, with `[see below]` for media, and the media, each between tags with the id of the
    call.
    """
    items = value if isinstance(value, list) else [value]
    media = [item for item in items if isinstance(item, Image | PDF)]
    if not media:
        return text_of(value), []
    places = [f"[see below: item {n}]" if item in media else item for n, item in enumerate(items, 1)]
    parts: list[Part] = []
    for item in media:
        parts += [Text(f'<content tool-call-id="{id}">'), item, Text("</content>")]
    return (text_of(places) if isinstance(value, list) else "[see below]"), parts


def parameters(tool: Tool) -> Json:
    """Returns the JSON Schema of a tool's arguments, as a copy."""
    copied: Json = json.loads(json.dumps(tool.parameters, default=dict))
    return copied


def call_of(part: Part) -> ToolCall:
    """Returns the call of a part of an assistant turn, or nothing for text."""
    if isinstance(part, ToolCall):
        return part
    raise TypeError(f"{type(part).__name__} is not supported in an assistant turn")


def calls_in(history: Sequence[Turn]) -> dict[str, ToolCall]:
    """Returns every call in a history, by id."""
    return {part.id: part for turn in history for part in turn.parts if isinstance(part, ToolCall)}


def open_calls(history: Sequence[Turn]) -> dict[str, ToolCall]:
    """Returns the unanswered calls at the end of a history, by id."""
    last = history[-1].parts if history and history[-1].role == "assistant" else ()
    return {part.id: part for part in last if isinstance(part, ToolCall)}


def answered(tools: Mapping[str, Tool], name: str, arguments: Any) -> tuple[Any, bool]:
    """Returns the result of a call: the value, or a sentence and True if it failed."""
    if name not in tools:
        return f"Error: there is no tool {name}.", True
    try:
        value = tools[name].run(
            **(json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {})
        )
        deep = list(_nested(value))
        unseen = _unseen(value)
    except Exception as error:  # noqa: BLE001 - every error of a tool is reported to the model
        return f"Error: {type(error).__name__}: {error}", True
    if deep:
        return f"Error: {name} returned media in {deep[0]}: return them one level higher.", True
    if unseen:
        return f"Error: {name} returned an image of the type {unseen[0]}, which models do not see.", True
    return value, False


def _unseen(value: Any) -> list[str]:
    """Returns the types of its images that no provider accepts."""
    items = value if isinstance(value, list) else [value]
    return [item.type for item in items if isinstance(item, Image) and item.type not in _SEEN]


def _nested(value: Any, place: str = "value", depth: int = 0) -> Iterator[str]:
    """Yields the places of media that are nested too deeply."""
    if isinstance(value, Image | PDF) and depth > 1:
        yield place
    elif isinstance(value, list | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _nested(item, f"{place}[{key}]", depth + 1)
