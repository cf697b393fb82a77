"""Chooses the answer to a request, if it depends on the request."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from typing import Any, assert_never

from ...contract import readers
from ...contract.exchange import Json, Media, Request
from ...scenarios.script import Answer, Call, Fills, Hears, Say, Sees
from ..chat_apis.base import compact

__all__ = ["chosen", "visible"]

_DEAF = Answer((Say("I did not understand."),))
_TOOL_NAME = re.compile(r'"name": "([^"]+)"')


def chosen(step: Answer | Fills | Hears | Sees, request: Request) -> Answer:
    """Chooses the answer to a request by its content, by the last message of the user, or by what it requires."""
    match step:
        case Answer():
            return step
        case Sees(media, then, otherwise):
            return then if tuple(seen.sha256 for seen in visible(request)) == media else otherwise
        case Hears(answers):
            return answers.get(_heard(request), _DEAF)
        case Fills(value, usage):
            return Answer((_filled(request.body, value),), usage=usage)
    assert_never(step)


def visible(request: Request) -> list[Media]:
    """Returns the images, documents and audio that the request adds after the model's last message, in order."""
    news = takewhile(lambda item: item.role != "assistant", reversed(readers.read(request)))
    return [item.media for item in news if item.media and item.kind in {"image", "document", "other"}][::-1]


def _filled(body: Json, value: Any) -> Say | Call:
    """Returns the value as text, or as arguments of a tool if the request forces its call."""
    if re.search(r'"(any|tool|function|required)"', _choice(body).lower()):
        return Call(_tool_for(body, value), value)
    return Say(compact(value))


def _tool_for(body: Json, value: Any) -> str:
    """Returns the name of the forced tool, or else of the first with the value's properties, or of the last."""
    declared = _declared(body)
    taking = [*(tool for tool in declared if _takes(tool, value)), *declared[::-1]]
    found: list[str] = _TOOL_NAME.findall(_choice(body)) or _TOOL_NAME.findall(json.dumps(taking[0]))
    return found[0]


def _choice(body: Json) -> str:
    """Returns the tool choice of the request."""
    configs = [body.get(key) or {} for key in ("toolConfig", "tool_config")]
    said = [{key: value for key, value in config.items() if key != "tools"} for config in configs]
    return json.dumps([body.get("tool_choice"), *said])


def _declared(body: Json) -> list[Any]:
    """Returns all tools, in any of the request's lists."""
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []
    return [
        each
        for tool in tools
        for each in tool.get("functionDeclarations") or tool.get("function_declarations") or [tool]
    ]


def _takes(tool: Any, value: Any) -> bool:
    said = json.dumps(tool, ensure_ascii=False)
    return all(f'"{name}"' in said for name in value) if isinstance(value, dict) else True


def _heard(request: Request) -> str:
    """Returns the user's last message."""
    said = (
        item.text for item in reversed(readers.read(request)) if item.kind == "text" and item.role == "user"
    )
    return next(said, "")
