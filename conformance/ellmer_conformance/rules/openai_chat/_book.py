"""The book of OpenAI Chat Completions, and the bodies that its examples are made of."""

from __future__ import annotations

from typing import Any

from ...exchange import Json
from ...rule import Kind, Level, RuleBook
from .._openai import envelope

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

book = RuleBook("openai-chat", "openai", envelope(4))

ASK: Json = {"role": "user", "content": "What is 2 + 3?"}
TOOL: Json = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers",
        "parameters": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x", "y"],
        },
    },
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


def body(*messages: Any, **more: Any) -> Json:
    """A request with these messages."""
    return {"model": "gpt-4.1-mini", "messages": list(messages), **more}


def call(*ids: str, **more: Any) -> Json:
    """An assistant message that calls `add` once for each id."""
    calls = [
        {"id": id, "type": "function", "function": {"name": "add", "arguments": '{"x": 2, "y": 3}'}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id: str, content: Any = "5") -> Json:
    """A tool message."""
    return {"role": "tool", "tool_call_id": id, "content": content}
