"""How Ollama's /api/chat refuses a request: the body of the error; the book of its rules, and helpers for the bodies of their examples."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from ....scenarios.messages import Image, Text, Turn
from ...observed.exchange import Json
from ...rule import Kind, Level, Refusal
from ...rulebook import RuleBook
from .._samples import FUNCTION, QUESTION, messages_of

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

SERVER = "https://github.com/ollama/ollama (server/routes.go)"


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns an error body: one sentence under `error`."""
    body = json.dumps({"error": refusal.message}, separators=(",", ":"), ensure_ascii=False)
    return {"content-type": "application/json; charset=utf-8"}, body.encode("utf-8", "backslashreplace")


book = RuleBook("ollama", "ollama", error_body)

TOOL = FUNCTION
ASK = QUESTION


def body(*messages: Any, **more: Any) -> Json:
    """Returns a request with these messages."""
    return {"model": "qwen3:4b", "messages": list(messages), **more}


def shown(*pictures: str, text: str = "What is this?") -> Json:
    """Returns a user message with images."""
    return {"role": "user", "content": text, "images": list(pictures)}


def call(*ids: str) -> Json:
    """Returns an assistant message that calls `add` once for each id."""
    calls = [{"id": id, "function": {"name": "add", "arguments": {"x": 2, "y": 3}}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(id: str, content: str = "5", **more: Any) -> Json:
    """Returns a tool message."""
    return {"role": "tool", "content": content, "tool_name": "add", "tool_call_id": id, **more}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    return body(*messages_of(turns, call, result, _message_with_images))


def _message_with_images(role: str, parts: Sequence[Text | Image]) -> list[Json]:
    """Returns a message with texts and images. Images are a field of the user's message."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    images = [b64encode(part.data).decode() for part in parts if isinstance(part, Image)]
    if images:
        return [shown(*images, text=text)]
    return [{"role": role, "content": text}] if text else []
