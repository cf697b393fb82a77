"""The messages that OpenTelemetry instrumentations capture in a span, in the form of the GenAI conventions.

No provider has this path: `opentelemetry_spans.py` converts every older form to this one.
https://github.com/open-telemetry/semantic-conventions-genai
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Media, Request
from .json_access import elements, inline, kind_of, linked, parsed, text_of

WIRE = "gen-ai-span"
PROVIDER = ""
paths = ()

_ROLES = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
}
_ANY = {"image": "image/*", "audio": "audio/*", "video": "video/*"}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def read(request: Request) -> list[Item]:
    """Returns the captured content in order."""
    return [
        _part(part, place, turn, _ROLES.get(text_of(message.get("role")), "user"))
        for turn, (pointer, message) in enumerate(messages(request.body))
        for place, part in elements(message.get("parts"), f"{pointer}/parts")
    ]


def _part(part: Json, pointer: str, turn: int, role: Any) -> Item:
    id, name = text_of(part.get("id")), text_of(part.get("name"))
    match part.get("type"):
        case "text":
            kind: Any = "system" if role == "system" else "text"
            return Item(kind, role, pointer, turn, text_of(part.get("content")))
        case "reasoning" | "thinking":
            return Item("thinking", role, pointer, turn, text_of(part.get("content")))
        case "tool_call" | "function_call":
            arguments = parsed(part.get("arguments"))
            return Item("call", role, pointer, turn, id=id, name=name, arguments=arguments)
        case "tool_call_response":
            return Item("result", role, pointer, turn, _result_text(part), id=id, name=name)
        case "blob" | "uri" | "file" | "file_data":
            media = _media(part)
            return Item(kind_of(media), role, pointer, turn, media=media)
        case other:
            return Item("other", role, pointer, turn, name=text_of(other))


def _result_text(part: Json) -> str:
    value = next((part[key] for key in ("response", "result", "content") if key in part), "(not captured)")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _media(part: Json) -> Media:
    type = text_of(part.get("mime_type")) or _ANY.get(text_of(part.get("modality")), "")
    if part.get("type") == "blob":
        return inline(type, part.get("content"))
    return linked(part.get("uri") or part.get("file_id"), type)
