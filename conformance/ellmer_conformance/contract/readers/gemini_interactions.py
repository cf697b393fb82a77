"""Gemini's Interactions: steps of the user and the model, each with contents. The provider stores the earlier steps.

https://ai.google.dev/gemini-api/docs/interactions
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Request
from .json_access import elements, inline, kind_of, linked, object_of, text_of

PROVIDER = "gemini-interactions"
_MODEL = {"model_output", "function_call", "thought"}
_MEDIA = {"image", "document", "audio", "video"}


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    return list(_items(request.body))


def _items(body: Json) -> Iterator[Item]:
    if instruction := text_of(body.get("system_instruction")):
        yield Item("system", "system", "/system_instruction", -1, instruction)
    value = body.get("input")
    if isinstance(value, str):
        yield Item("text", "user", "/input", 0, value)
    if isinstance(value, dict):
        yield _content(value, "/input", 0, "user")
    for turn, (pointer, step) in enumerate(elements(value, "/input")):
        yield from _step(step, pointer, turn)


def _step(step: Json, pointer: str, turn: int) -> Iterator[Item]:
    """Yields a step, or a separate content."""
    kind = text_of(step.get("type"))
    role: Any = "assistant" if kind in _MODEL or step.get("role") == "model" else "user"
    content = step.get("content")
    if isinstance(content, str):
        yield Item("text", role, f"{pointer}/content", turn, content)
    elif content is None:
        yield _content(step, pointer, turn, role)
    for place, part in elements(content, f"{pointer}/content"):
        yield _content(part, place, turn, role)


def _content(part: Json, pointer: str, turn: int, role: Any) -> Item:
    match text_of(part.get("type")):
        case "text":
            return Item("text", role, pointer, turn, text_of(part.get("text")))
        case "thought":
            return Item("thinking", role, pointer, turn)
        case "function_call":
            id, name = text_of(part.get("id")), text_of(part.get("name"))
            arguments = object_of(part.get("arguments"))
            return Item("call", role, pointer, turn, id=id, name=name, arguments=arguments)
        case "function_result":
            id, name = text_of(part.get("call_id")), text_of(part.get("name"))
            return Item("result", "tool", pointer, turn, _result(part.get("result")), id=id, name=name)
        case kind if kind in _MEDIA:
            type = text_of(part.get("mime_type")) or f"{kind}/*"
            data = part.get("data")
            media = inline(type, data) if isinstance(data, str) else linked(part.get("uri"), type)
            return Item(kind_of(media), role, pointer, turn, media=media)
        case kind:
            return Item("other", role, pointer, turn, name=kind)


def _result(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
