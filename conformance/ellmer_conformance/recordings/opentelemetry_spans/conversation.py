"""Reads the conversation of a span in the messages of the GenAI conventions, for every instrumentation.

The current form is `gen_ai.input.messages`. Until version 1.36, it was an event for each message, with the fields of
Chat Completions; before that, it was one JSON text, or an attribute for each field (`gen_ai.prompt.0.role`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...contract.exchange import Json
from ...contract.readers.json_access import items_of, object_of, text_of

__all__ = ["conversation"]

_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_FIELD = re.compile(r"gen_ai\.prompt\.(\d+)\.(\w+)(?:(?<=\.tool_calls)\.(\d+)\.(\w+))?")


def conversation(attributes: Mapping[str, Any], events: Iterable[tuple[str, Json]]) -> list[Json] | None:
    """Returns the sent messages, or `None` if none were captured."""
    asked = _list(attributes.get("gen_ai.input.messages"))
    if asked is None:
        asked = _of_events(events) or _of_events(_logged(attributes)) or _of_fields(attributes) or None
    system = _list(attributes.get("gen_ai.system_instructions"))
    if asked is None:
        return None
    before = [{"role": "system", "parts": system}] if system else []
    return [*before, *(_message(object_of(each)) for each in asked)]


def _of_events(events: Iterable[tuple[str, Json]]) -> list[Json]:
    """Returns the messages of events: one message in each event, or all in one."""
    found: list[Json] = []
    for name, fields in events:
        if match := _EVENT.fullmatch(name):
            found.append({"role": match[1], **{key: _parsed(value) for key, value in fields.items()}})
        elif name == "gen_ai.content.prompt":
            found += _list(fields.get("gen_ai.prompt")) or []
    return found


def _logged(attributes: Mapping[str, Any]) -> list[tuple[str, Json]]:
    """Returns events that are JSON in an attribute, as in pydantic-ai."""
    events = (object_of(each) for each in _list(attributes.get("events")) or [])
    return [(text_of(each.get("event.name")), each) for each in events]


def _of_fields(attributes: Mapping[str, Any]) -> list[Json]:
    """Returns the messages of attributes for each field, as in OpenLLMetry."""
    found: dict[int, Json] = {}
    calls: dict[int, dict[int, Json]] = {}
    for name, value in attributes.items():
        if match := _FIELD.fullmatch(name):
            number, field, call, inner = match.groups()
            message = found.setdefault(int(number), {})
            if call is None:
                message[field] = _parsed(value)
            else:
                calls.setdefault(int(number), {}).setdefault(int(call), {})[inner] = value
    for number, made in calls.items():
        found[number]["tool_calls"] = [made[i] for i in sorted(made)]
    return [found[i] for i in sorted(found)]


def _message(given: Json) -> Json:
    """Returns a message with parts. A message of Chat Completions is converted."""
    if "parts" in given:
        return given
    role, content = text_of(given.get("role")) or "user", given.get("content")
    if role == "tool":
        id = given.get("tool_call_id") or given.get("id")
        said = {"response": content} if "content" in given else {}
        return {"role": role, "parts": [{"type": "tool_call_response", "id": id, **said}]}
    texts = [content] if isinstance(content, str) and content else items_of(content)
    calls = [_call(object_of(each)) for each in items_of(given.get("tool_calls"))]
    return {"role": role, "parts": [*map(_part, texts), *calls]}


def _part(given: Any) -> Json:
    if isinstance(given, str):
        return {"type": "text", "content": given}
    part = object_of(given)
    if "text" in part:
        return {"type": "text", "content": part["text"]}
    image = part.get("image_url")
    url = object_of(image).get("url") if isinstance(image, dict) else image
    return {"type": "uri", "modality": "image", "uri": url} if url else part


def _call(given: Json) -> Json:
    function = object_of(given.get("function")) or given
    known = {"name": function.get("name"), "arguments": function.get("arguments")}
    return {"type": "tool_call", "id": given.get("id"), **known}


def _list(value: Any) -> list[Any] | None:
    value = _parsed(value)
    return value if isinstance(value, list) else None


def _parsed(value: Any) -> Any:
    """Parses lists and objects that were written as text."""
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in {"[", "{"} else value
    except ValueError:
        return value
