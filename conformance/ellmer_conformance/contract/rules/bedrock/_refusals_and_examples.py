"""How Bedrock Converse refuses a request: the body of the error; the book of its rules, the families of its models, and helpers for
the bodies of examples.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from ....scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn
from ...observed.exchange import Json
from ...rule import Finding, Kind, Level, Refusal, broken
from ...rulebook import RuleBook
from .._media import PNG
from .._samples import NUMBERS

MUST, SHOULD = Level.MUST, Level.SHOULD
REJECT, LOSS = Kind.REJECT, Kind.LOSS

# Models are named `us.anthropic.claude-…-v1:0`; an application inference profile hides which one it is.
CLAUDE = ("*anthropic.claude*",)
NOVA = ("*amazon.nova*",)
TITAN = ("*amazon.titan*",)
LLAMA = ("*meta.llama*",)
MISTRAL = ("*mistral.*",)

SPEC = "botocore, service model of bedrock-runtime (2023-09-30)"
#: The text that Bedrock adds before an error of the model's provider.
PASSED_ON = "The model returned the following errors: "

#: Refused before the request reaches the service.
_GATE = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnknownOperationException",
    "UnrecognizedClientException",
}


def error_body(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns a plain message. The type is in a header, with the name of the service."""
    type = refusal.type or "ValidationException"
    service = "com.amazon.coral.service" if type in _GATE else "com.amazon.bedrock"
    headers = {
        "content-type": "application/json",
        "x-amzn-errortype": f"{type}:http://internal.amazon.com/coral/{service}/",
    }
    return headers, json.dumps(
        {"message": refusal.message}, separators=(",", ":"), ensure_ascii=False
    ).encode("utf-8", "backslashreplace")


def refused(message: str) -> Refusal:
    """Returns a refusal with the type of all request errors of Bedrock."""
    return Refusal(message, type="ValidationException")


#: Refused before any model is asked: a value breaks a constraint of the service model.
CONSTRAINT = refused(
    "1 validation error detected: Value{shown} at '{place}' failed to satisfy constraint: Member must {must}"
)


def unfit(pointer: str, problem: str, must: str, value: Any = None) -> Finding:
    """Returns a finding for `CONSTRAINT`. The content of messages is not repeated; other values are."""
    place = re.sub(r"/(\d+)", lambda match: f".{int(match[1]) + 1}.member", pointer)
    shown = "" if pointer.startswith("/messages") else f" '{value}'"
    return broken(pointer, problem, shown=shown, place=place.strip("/").replace("/", "."), must=must)


def dotted(pointer: str) -> str:
    """Returns `messages.1.content.0` for `/messages/1/content/0`."""
    return pointer.strip("/").replace("/", ".")


book = RuleBook("bedrock", "bedrock", error_body)

SCHEMA = NUMBERS
TOOL: Json = {"toolSpec": {"name": "add", "description": "Adds two numbers", "inputSchema": {"json": SCHEMA}}}
TOOLS: Json = {"tools": [TOOL]}
IMAGE: Json = {"image": {"format": "png", "source": {"bytes": PNG}}}
PDF: Json = {"document": {"format": "pdf", "name": "report", "source": {"bytes": "JVBERi0xLjQ="}}}
VIDEO: Json = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}}
THOUGHT: Json = {"reasoningContent": {"reasoningText": {"text": "2 + 3 …", "signature": "EqQBCkYIBBgC"}}}

SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA_LITE = "us.amazon.nova-2-lite-v1:0"
MAVERICK = "us.meta.llama4-maverick-17b-instruct-v1:0"


def user(*blocks: Json | str) -> Json:
    """Returns a user message of these blocks (strings are text)."""
    return {"role": "user", "content": [{"text": b} if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks: Json | str) -> Json:
    """Returns an assistant message of these blocks (strings are text)."""
    return {**user(*blocks), "role": "assistant"}


def use(id: str, **more: Any) -> Json:
    """Returns a call of `add`."""
    return {"toolUse": {"toolUseId": id, "name": "add", "input": {"x": 2, "y": 3}, **more}}


def result(id: str, *content: Json, **more: Any) -> Json:
    """Returns a tool result."""
    return {"toolResult": {"toolUseId": id, "content": list(content) or [{"text": "5"}], **more}}


ASK = user("What is 2 + 3?")


def body(*messages: Any, model: str = SONNET, **more: Any) -> Json:
    """Returns a request with these messages. (In HTTP, the model is in the URL.)"""
    return {"model": model, "messages": list(messages), **more}


def loop(*answer: Json | str, calls: tuple[str, ...] = ("a",), **more: Any) -> Json:
    """Returns a request in which these blocks answer calls of `add`."""
    return body(ASK, assistant(*map(use, calls)), user(*answer), **{"toolConfig": TOOLS, **more})


def spec(**more: Any) -> Json:
    """Returns a `toolConfig` with one tool, changed."""
    return {"tools": [{"toolSpec": {**TOOL["toolSpec"], **more}}]}


def conversation(turns: Sequence[Turn]) -> Json:
    """Returns a request with a conversation in neutral terms."""
    called = any(isinstance(part, ToolCall) for turn in turns for part in turn.parts)
    messages = [{"role": turn.role, "content": [_block(part) for part in turn.parts]} for turn in turns]
    return body(*messages, toolConfig=TOOLS) if called else body(*messages)


def _block(part: Part) -> Json:
    match part:
        case ToolCall():
            return use(part.id)
        case ToolResult():
            return result(part.id, {"text": part.value})
        case Image():
            source = {"bytes": b64encode(part.data).decode()}
            return {"image": {"format": part.type.removeprefix("image/"), "source": source}}
    assert isinstance(part, Text), part
    return {"text": part.text}
