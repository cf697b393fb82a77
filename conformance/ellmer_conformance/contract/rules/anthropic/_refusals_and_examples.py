"""How Anthropic Messages refuses a request: the body of the error; the book of its rules, and helpers for the bodies of their examples."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from ....scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn
from ...observed.exchange import Json
from ...rule import Kind, Level, Refusal
from ...rulebook import RuleBook
from .._media import PNG
from .._samples import NUMBERS

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns Anthropic's error body, compact, with the id of the request, and the code of an error that has one."""
    request_id = "req_011CSHoEeqs5C35K2UUqR7Fy"
    details = {"details": {"error_code": refusal.code}} if refusal.code else {}
    body = {
        "type": "error",
        "error": {"type": refusal.type or "invalid_request_error", "message": refusal.message, **details},
        "request_id": request_id,
    }
    headers = {"content-type": "application/json", "request-id": request_id, "x-should-retry": "false"}
    return headers, json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "backslashreplace"
    )


def refused(message: str) -> Refusal:
    """Returns a refusal with the type of all request errors of Anthropic."""
    return Refusal(message, type="invalid_request_error")


book = RuleBook("anthropic", "anthropic", error_body)

TOOL: Json = {
    "name": "add",
    "description": "Adds two numbers",
    "input_schema": NUMBERS,
}
IMAGE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
THOUGHT: Json = {"type": "thinking", "thinking": "2 + 3 …", "signature": "EqQBCkYIBBgC"}


def text(content: str) -> Json:
    """Returns a text block."""
    return {"type": "text", "text": content}


def user(*blocks: Json | str) -> Json:
    """Returns a user message of these blocks (strings are text)."""
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks: Json | str) -> Json:
    """Returns an assistant message of these blocks (strings are text)."""
    return {**user(*blocks), "role": "assistant"}


def use(id: str) -> Json:
    """Returns a call of `add`."""
    return {"type": "tool_use", "id": id, "name": "add", "input": {"x": 2, "y": 3}}


def result(id: str, content: Any = "5", **more: Any) -> Json:
    """Returns a tool result."""
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


ASK = user("What is 2 + 3?")
THREAD: Json = {"type": "continue", "previous_message_id": "msg_01"}


def body(*messages: Any, **more: Any) -> Json:
    """Returns a request with these messages."""
    return {"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": list(messages), **more}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    return body(*({"role": turn.role, "content": list(map(_block, turn.parts))} for turn in turns))


def _block(part: Part) -> Json:
    match part:
        case Text(content):
            return text(content)
        case ToolCall(id):
            return use(id)
        case ToolResult(id, value):
            return result(id, value)
        case Image(data, type):
            source = {"type": "base64", "media_type": type, "data": b64encode(data).decode()}
            return {"type": "image", "source": source}
    raise TypeError(part)
