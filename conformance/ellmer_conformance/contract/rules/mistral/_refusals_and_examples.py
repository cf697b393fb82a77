"""How Mistral refuses a request: the body of the error; the book of its rules, and helpers for the bodies of their examples."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....scenarios.messages import Image, Text, Turn
from ...observed.exchange import Json
from ...rule import Finding, Kind, Level, Refusal, broken
from ...rulebook import RuleBook
from .._media import PNG
from .._samples import FUNCTION, QUESTION, data_url, messages_of

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

VALIDATOR = "https://github.com/mistralai/mistral-common (protocol/instruct/validator.py)"
MINISTRAL = ("ministral*",)


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns Mistral's error body. An error of its gateway has only a `detail`, or only a `message`."""
    match refusal.status:
        case 401:
            error: Json = {"detail": refusal.message}
        case 422:
            error = {"detail": json.loads(refusal.message)}
            if refusal.type:
                error = {
                    "object": "error",
                    "message": error,
                    "type": refusal.type,
                    "param": None,
                    "code": None,
                }
        case 404 | 429:
            error = {"message": refusal.message}
        case _:
            error = {"object": "error", "message": refusal.message, "type": refusal.type}
            error |= {"param": refusal.param, "code": refusal.code}
    body = json.dumps(error, separators=(",", ":"), ensure_ascii=False)
    return {"content-type": "application/json"}, body.encode("utf-8", "backslashreplace")


def misplaced(message: str) -> Refusal:
    """Returns a refusal of the order of messages."""
    return Refusal(message, type="invalid_request_message_order", code="3230")


def incapable(message: str) -> Refusal:
    """Returns a refusal of a feature that the model does not have."""
    return Refusal(message, type="invalid_request_invalid_args", code="3051")


#: Refused by the shape alone: pydantic's errors, as a list.
INVALID = Refusal("{detail}", 422)
ONCE_INVALID = Refusal("{detail}", 422, type="invalid_request_error")


def invalid(pointer: str, problem: str, *errors: Json) -> Finding:
    """Returns a finding for `INVALID`."""
    return broken(pointer, problem, detail=json.dumps(errors, separators=(",", ":"), ensure_ascii=False))


book = RuleBook("mistral", "mistral", error_body)

ASK = QUESTION
TOOL = FUNCTION
IMAGE: Json = {"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}
THOUGHT: Json = {"type": "thinking", "thinking": [{"type": "text", "text": "2 + 3 …"}]}
A, B = "a1B2c3D4e", "f5G6h7J8k"


def body(*messages: Any, model: str = "mistral-small-latest", **more: Any) -> Json:
    """Returns a request with these messages."""
    return {"model": model, "messages": list(messages), **more}


def user(*parts: Json) -> Json:
    """Returns a user message of these parts."""
    return {"role": "user", "content": list(parts)}


def says(text: Any, **more: Any) -> Json:
    """Returns an assistant message."""
    return {"role": "assistant", "content": text, **more}


def call(*ids: str, name: str = "add", **more: Any) -> Json:
    """Returns an assistant message that calls a tool once for each id."""
    function = {"name": name, "arguments": '{"x": 2, "y": 3}'}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls, **more}


def result(id: str, content: Any = "5") -> Json:
    """Returns a tool message."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def untyped(refusal: Refusal) -> Refusal:
    """Returns a refusal in the form before 2025-11, without a type."""
    return replace(refusal, type="invalid_request_error", code=None)


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    return body(
        *messages_of(
            turns,
            lambda *ids: call(*map(_nine, ids)),
            lambda id, value: result(_nine(id), value),
            lambda role, parts: [{"role": role, "content": [_part(part) for part in parts]}],
        )
    )


def _nine(id: str) -> str:
    """Returns an id with nine characters, as Mistral requires it."""
    return id * 9


def _part(part: Text | Image) -> Json:
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": data_url(part)}
    return {"type": "text", "text": re.sub(r'(?<=call-id=")\w', lambda id: _nine(id[0]), part.text)}
