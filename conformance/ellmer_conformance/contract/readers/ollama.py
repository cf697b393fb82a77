"""Ollama /api/chat: text messages with images in a separate field. Arguments are objects, and ids are optional.

A request streams unless it says `"stream": false`.
https://github.com/ollama/ollama/blob/main/docs/api.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Request
from .json_access import elements, inline, object_of, parsed, text_of

WIRE = "ollama"
PROVIDER = "ollama"
paths = (r"/api/chat/?$",)

_ROLES = {"user": "user", "system": "system", "assistant": "assistant", "tool": "tool"}


def messages(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the messages with their pointers."""
    return elements(body.get("messages"), "/messages")


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order. The server reads a message's images before its text."""
    return [
        item
        for turn, (pointer, message) in enumerate(messages(request.body))
        for item in _message(message, pointer, turn)
    ]


def _message(message: Json, pointer: str, turn: int) -> Iterator[Item]:
    role: Any = _ROLES.get(text_of(message.get("role", "user")).lower())
    if role is None:
        return  # a template leaves out what nobody said
    text, within = text_of(message.get("content")), None
    if role == "tool":
        within, name = text_of(message.get("tool_call_id")), text_of(message.get("tool_name"))
        yield Item("result", role, pointer, turn, text, id=within, name=name)
    if thought := text_of(message.get("thinking")):
        yield Item("thinking", role, f"{pointer}/thinking", turn, thought)
    pictures = message.get("images")
    for i, picture in enumerate(pictures if isinstance(pictures, list) else []):
        media = inline("image/*", picture)
        yield Item("image", role, f"{pointer}/images/{i}", turn, media=media, within=within)
    if text and role != "tool":
        yield Item("system" if role == "system" else "text", role, f"{pointer}/content", turn, text)
    for place, call in elements(message.get("tool_calls"), f"{pointer}/tool_calls"):
        function = object_of(call.get("function"))
        arguments, name = parsed(function.get("arguments")), text_of(function.get("name"))
        yield Item("call", role, place, turn, id=text_of(call.get("id")), name=name, arguments=arguments)
