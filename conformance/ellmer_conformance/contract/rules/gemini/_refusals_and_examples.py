"""How Gemini generateContent refuses a request: the body of the error; the book of its rules, and helpers for the bodies of their examples."""

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
from .._samples import ADD

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns Google's error body, indented."""
    error = {"code": refusal.status, "message": refusal.message, "status": refusal.type}
    body = json.dumps({"error": error}, indent=2, ensure_ascii=False)
    return {"content-type": "application/json; charset=UTF-8"}, body.encode(
        "utf-8", "backslashreplace"
    ) + b"\n"


def refused(message: str) -> Refusal:
    """Returns a refusal with the status of all request errors of Google."""
    return Refusal(message, type="INVALID_ARGUMENT")


book = RuleBook("gemini", "google", error_body)

TOOLS: list[Json] = [{"functionDeclarations": [ADD]}]
IMAGE: Json = {"inlineData": {"mimeType": "image/png", "data": PNG}}
SIGNED = {"thoughtSignature": "CiQB4/H/XnM="}


def text(content: str) -> Json:
    """Returns a text part."""
    return {"text": content}


def user(*parts: Json) -> Json:
    """Returns a user content."""
    return {"role": "user", "parts": list(parts)}


def model(*parts: Json) -> Json:
    """Returns a content of the model."""
    return {"role": "model", "parts": list(parts)}


def call(name: str = "add", **more: Any) -> Json:
    """Returns a call."""
    return {"functionCall": {"name": name, "args": {"x": 2, "y": 3}}, **more}


def answer(name: str = "add", **more: Any) -> Json:
    """Returns a response to a call."""
    return {"functionResponse": {"name": name, "response": {"output": 5}, **more}}


ASK = user(text("What is 2 + 3?"))


def body(*contents: Any, named: str = "gemini-2.5-flash", **more: Any) -> Json:
    """Returns a request with these contents. (The model is in the URL; the message has a field for it, too.)"""
    return {"model": f"models/{named}", "contents": list(contents), **more}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    roles = {"user": user, "assistant": model}
    return body(*(roles[turn.role](*map(_part, turn.parts)) for turn in turns))


def _part(part: Part) -> Json:
    match part:
        case Text(content):
            return text(content)
        case ToolCall(id, name, arguments):
            return {"functionCall": {"id": id, "name": name, "args": dict(arguments)}}
        case ToolResult(id, value):
            return {"functionResponse": {"id": id, "name": "add", "response": {"output": value}}}
        case Image(data, type):
            return {"inlineData": {"mimeType": type, "data": b64encode(data).decode()}}
    raise TypeError(part)
