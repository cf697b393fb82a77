"""Converts the messages, tools and schemas of the cases to ellmer_core."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ellmer_core as ec

from ...scenarios.messages import PDF, Audio, Image, Part, Text, Tool, ToolCall, ToolResult, Turn

__all__ = ["content", "requests", "tool_of", "turns_of", "type_of"]


def requests(turn: ec.Turn) -> Sequence[ec.ContentToolRequest]:
    return turn.tool_requests if isinstance(turn, ec.AssistantTurn) else ()


def content(part: Part) -> ec.Content:
    match part:
        case Text(text):
            return ec.ContentText(text)
        case Image(url=url) if url:
            return ec.ContentImageRemote(url)
        case Image(data, media_type):
            return ec.ContentImageInline(media_type, base64.b64encode(data).decode())
        case PDF(data, filename):
            return ec.ContentPDF("application/pdf", base64.b64encode(data).decode(), filename)
        case Audio(data, media_type):
            return ec.ContentFile(media_type, base64.b64encode(data).decode(), "sound.wav")
        case ToolCall(id, name, arguments):
            return ec.ContentToolRequest(id, name, arguments)
    raise TypeError(f"{type(part).__name__} is not supported in a turn that the caller writes")


def turns_of(history: Sequence[Turn]) -> list[ec.Turn]:
    """Returns the turns. Each result has its request."""
    made: list[ec.Turn] = []
    for turn in history:
        asked = {request.id: request for before in made for request in requests(before)}
        contents = [
            ec.ContentToolResult(p.value, request=asked[p.id]) if isinstance(p, ToolResult) else content(p)
            for p in turn.parts
        ]
        made.append((ec.UserTurn if turn.role == "user" else ec.AssistantTurn)(contents))
    return made


def type_of(schema: Mapping[str, Any]) -> Any:
    return ec.type_from_schema(json.dumps(schema))


def tool_of(tool: Tool) -> ec.ToolDef:
    def call(**arguments: Any) -> Any:
        return _value(tool.run(**arguments))

    return ec.tool(
        call,
        tool.description,
        name=tool.name,
        needs_approval=tool.needs_approval,
        arguments={
            name: replace(type_of(schema), required=name in tool.parameters["required"])
            for name, schema in tool.parameters["properties"].items()
        },
    )


def _value(value: Any) -> Any:
    if isinstance(value, Image | PDF):
        return content(value)
    return [_value(item) for item in value] if isinstance(value, list) else value
