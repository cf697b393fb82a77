"""A case as the JSON file for a driver. Schema: `conversation.schema.json`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...contract.exchange import Json
from ...scenarios.case import Ask, Case
from ...scenarios.messages import PDF, Audio, Image, Part, Text, Tool, ToolCall, ToolResult, Upload
from ...scenarios.script import Call, Delivery, Step, answers_of

__all__ = ["VERSION", "as_json"]

VERSION = 1


def as_json(case: Case) -> Json:
    """Returns the user's side of a case, and the tools' results for the calls that the model will make."""
    return {
        "version": VERSION,
        "case": case.name,
        "title": case.title,
        "system": case.system,
        "tools": [_tool(tool, case) for tool in case.tools],
        "history": [{"role": turn.role, "parts": [_part(p) for p in turn.parts]} for turn in case.history],
        "steps": [_step(ask) for ask in case.steps],
    }


def _step(ask: Ask) -> Json:
    """Returns a step. Rare fields are written only if they are set, and only for a command that declares their
    support.
    """
    more = {
        "who": ask.who,
        "schema": dict(ask.schema) if ask.schema else None,
        "cancelled": ask.cancelled,
        "reloaded": ask.reloaded,
        "options": dict(ask.options),
    }
    return {"parts": [_part(part) for part in ask.parts], **{k: v for k, v in more.items() if v}}


def _tool(tool: Tool, case: Case) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "results": [{"arguments": args, **_result(tool, args)} for args in _arguments(tool, case)],
    }


def _arguments(tool: Tool, case: Case) -> Iterator[Json]:
    """Yields the distinct arguments with which the model calls a tool."""
    seen: set[str] = set()
    for call in (call for step in case.script for call in _calls(step) if call.name == tool.name):
        key = json.dumps(dict(call.arguments), sort_keys=True)
        if call.text is None and key not in seen:
            seen.add(key)
            yield dict(call.arguments)


def _calls(step: Step) -> list[Call]:
    step = step.step if isinstance(step, Delivery) else step
    return [part for answer in answers_of(step) for part in answer.parts if isinstance(part, Call)]


def _result(tool: Tool, arguments: Mapping[str, Any]) -> Json:
    """Returns the result of a tool call: `{"value": …}`, or `{"error": message}`."""
    try:
        return {"value": _value(tool.run(**arguments))}
    except Exception as error:  # noqa: BLE001 - a tool that fails is a case
        return {"error": f"{type(error).__name__}: {error}"}


def _value(value: Any) -> Any:
    """Returns a tool's value, with media as `{"$media": type, "data": base64}`, or `{"$media": type, "url": …}`."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, Image) and value.url:
        return {"$media": value.type, "url": value.url}
    if isinstance(value, Image):
        return {"$media": value.type, "data": _base64(value.data)}
    if isinstance(value, PDF):
        return {"$media": "application/pdf", "data": _base64(value.data), "filename": value.filename}
    return value


def _part(part: Part) -> Json:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(data, media_type, url):
            inline = {"media_type": media_type, "data": _base64(data)}
            return {"type": "image", **({"url": url} if url else inline)}
        case PDF(data, filename):
            return {"type": "pdf", "filename": filename, "data": _base64(data)}
        case Audio(data, media_type):
            return {"type": "audio", "media_type": media_type, "data": _base64(data)}
        case ToolCall(id, name, arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": dict(arguments)}
        case Upload():
            raise NotImplementedError("a command cannot upload files")
        case ToolResult(id, value):
            return {"type": "tool_result", "id": id, "value": _value(value)}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
