"""Cohere v2: messages of four roles. A plan is beside the calls, and results may be documents.

https://docs.cohere.com/reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Request
from . import cohere_v1
from .json_access import elements, kind_of, linked, object_of, parsed, text_of

WIRE = "cohere"
PROVIDER = "cohere"
paths = (r"/v2/chat/?$",)

_ROLES = {"system": "system", "developer": "system", "assistant": "assistant", "tool": "tool"}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    if request.provider == cohere_v1.PROVIDER:
        return cohere_v1.read(request)
    return [
        item
        for turn, (pointer, message) in enumerate(messages(request.body))
        for item in _message(message, pointer, turn)
    ]


def _message(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    role: Any = _ROLES.get(text_of(message.get("role")).lower(), "user")
    content, within = message.get("content"), None
    if role == "tool":
        within = text_of(message.get("tool_call_id"))
        yield Item("result", role, pointer, turn, text(content), id=within)
    if plan := text_of(message.get("tool_plan")):
        yield Item("text", role, f"{pointer}/tool_plan", turn, plan)
    if isinstance(content, str) and role != "tool":
        yield Item("system" if role == "system" else "text", role, f"{pointer}/content", turn, content)
    for place, part in elements(content, f"{pointer}/content"):
        yield _part(part, place, turn, role, within)
    for place, call in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
        function = object_of(call.get("function"))
        arguments, name = parsed(function.get("arguments")), text_of(function.get("name"))
        yield Item("call", role, place, turn, id=text_of(call.get("id")), name=name, arguments=arguments)


def _part(part: Json, pointer: str, turn: int, role: Any, within: str | None) -> Item:
    match part.get("type"):
        case "text":
            text_kind: Any = "system" if role == "system" else "text"
            return Item(text_kind, role, pointer, turn, text_of(part.get("text")), within=within)
        case "thinking":
            return Item("thinking", role, pointer, turn, text_of(part.get("thinking")), within=within)
        case "image_url":
            media = linked(object_of(part.get("image_url")).get("url"), "image/*")
            return Item(kind_of(media), role, pointer, turn, media=media, within=within)
        case "document":
            return Item("text", role, pointer, turn, _document(part), within=within)
        case kind:
            return Item("other", role, pointer, turn, name=text_of(kind), within=within)


def text(content: Any) -> str:
    """Returns all text of a message's content. The text of a document is its data."""
    if isinstance(content, str):
        return content
    return "".join(
        _document(part) if part.get("type") == "document" else text_of(part.get("text"))
        for _, part in elements(content, "")
    )


def _document(part: Json) -> str:
    data = object_of(part.get("document")).get("data")
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
