"""How Cohere v2 refuses a request: the body of the error; the book of its rules, and helpers for the bodies of their examples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ....scenarios.messages import Image, Turn
from ...observed.exchange import Json
from ...rule import Kind, Level, Refusal
from ...rulebook import RuleBook
from .._media import PNG
from .._samples import FUNCTION, NUMBERS, QUESTION, messages_of, said_in_parts

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns an id and a sentence, with the type first if there is one."""
    error = {"error_type": refusal.type} if refusal.type else {}
    error |= {"id": "2da0d1db-941a-4db3-ba16-436533566b78", "message": refusal.message}
    body = json.dumps(error, separators=(",", ":"), ensure_ascii=False)
    return {"content-type": "application/json"}, body.encode("utf-8", "backslashreplace")


#: The provider's page with examples of its errors.
ERRORS = "https://docs.cohere.com/reference/errors"


def refused(message: str) -> Refusal:
    """Returns a refusal in Cohere's form."""
    return Refusal(f"invalid request: {message}")


book = RuleBook("cohere", "cohere", error_body)

ASK = QUESTION
SCHEMA = NUMBERS
TOOL = FUNCTION
IMAGE: Json = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


def body(*messages: Any, model: str = "command-a-03-2025", **more: Any) -> Json:
    """Returns a request with these messages."""
    return {"model": model, "messages": list(messages), **more}


def user(*parts: Json) -> Json:
    """Returns a user message of these parts."""
    return {"role": "user", "content": list(parts)}


def call(*ids: str, arguments: Any = '{"x": 2, "y": 3}') -> Json:
    """Returns an assistant message that calls `add` once for each id."""
    function = {"name": "add", "arguments": arguments}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "tool_plan": "I will add them.", "tool_calls": calls}


def result(id: str, content: Any = "5") -> Json:
    """Returns a tool message."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms. Only a vision model sees images, and it uses no tools."""
    messages = messages_of(turns, call, result, said_in_parts)
    seen = any(isinstance(part, Image) for turn in turns for part in turn.parts)
    return body(*messages, model="command-a-vision-07-2025") if seen else body(*messages)
