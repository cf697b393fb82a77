"""Cohere v1: the user's message is beside the history, and results contain the calls that they answer.

https://docs.cohere.com/v1/reference/chat
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..observed.exchange import Item, Json, Request
from .json_access import elements, object_of, text_of

PROVIDER = "cohere-v1"
_ROLES = {"CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    return list(_items(request.body))


def _items(body: Json) -> Iterator[Item]:
    if preamble := text_of(body.get("preamble")):
        yield Item("system", "system", "/preamble", -1, preamble)
    turn = -1
    for turn, (pointer, entry) in enumerate(elements(body.get("chat_history"), "/chat_history")):
        role: Any = _ROLES.get(text_of(entry.get("role")).upper(), "user")
        yield from _items_of_entry(entry, pointer, role, turn)
    now = {key: body.get(key) for key in ("message", "tool_results")}
    yield from _items_of_entry(now, "", "user", turn + 1)


def _items_of_entry(entry: Json, pointer: str, role: Any, turn: int) -> Iterator[Item]:
    if text := text_of(entry.get("message")):
        yield Item("system" if role == "system" else "text", role, f"{pointer}/message", turn, text)
    for place, call in elements(entry.get("tool_calls"), f"{pointer}/tool_calls"):
        name, arguments = text_of(call.get("name")), object_of(call.get("parameters"))
        yield Item("call", "assistant", place, turn, name=name, arguments=arguments)
    for place, result in elements(entry.get("tool_results"), f"{pointer}/tool_results"):
        name, outputs = text_of(object_of(result.get("call")).get("name")), result.get("outputs")
        yield Item("result", "tool", place, turn, json.dumps(outputs, ensure_ascii=False), name=name)
