"""Cohere v1 chat: one message with a history, answers with the whole history, and streams of JSON lines.

https://docs.cohere.com/v1/reference/chat
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of, text_of
from ...scenarios.script import Say
from ..chat_apis.base import compact, utf8, words
from ..http.messages import HttpRequest, Reply, plain
from ..http.routes import Route
from ..services.service_request import StoredObjects
from .translation import Translation, body_of, json_of, to_path

_PATH = re.compile(r"/v1/chat/?$")
_ROLES = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system"}
_SAME = (
    "max_tokens",
    "temperature",
    "k",
    "p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "stop_sequences",
    "response_format",
)
_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}
PATHS = (("cohere", "POST", "/v1/chat"),)


def translation(
    http: HttpRequest,
    route: Route,
    stored: StoredObjects,  # noqa: ARG001 - all translations get it
    today: date | None,  # noqa: ARG001 - all translations get it
) -> Translation | None:
    """Returns the request as one to v2, or `None` if the path is not `/v1/chat`."""
    if not _PATH.search(route.path):
        return None
    body = body_of(http)
    asked: Json = {
        "model": body.get("model") or "command-a-03-2025",
        "messages": list(_messages(body)),
        "stream": False,
    }
    asked |= {name: body[name] for name in _SAME if name in body}
    if body.get("tools"):
        asked["tools"] = [_tool(object_of(tool)) for tool in items_of(body["tools"])]
    if body.get("documents"):
        asked["documents"] = [{"data": document} for document in items_of(body["documents"])]
    return Translation(to_path(http, route, "/v2/chat", asked), partial(_back, body))


def _messages(body: Json) -> Iterator[Json]:
    """Yields the preamble, the history, the message, and the results of tools with their calls."""
    if body.get("preamble"):
        yield {"role": "system", "content": body["preamble"]}
    for turn in map(object_of, items_of(body.get("chat_history"))):
        role = _ROLES.get(text_of(turn.get("role")).upper(), "user")
        calls = [
            _call(number, object_of(call)) for number, call in enumerate(items_of(turn.get("tool_calls")))
        ]
        yield {
            "role": role,
            "content": text_of(turn.get("message")),
            **({"tool_calls": calls} if calls else {}),
        }
        yield from _results(items_of(turn.get("tool_results")))
    if body.get("message") or not body.get("tool_results"):
        yield {"role": "user", "content": text_of(body.get("message"))}
    results = items_of(body.get("tool_results"))
    if results:
        calls = [_call(number, object_of(object_of(each).get("call"))) for number, each in enumerate(results)]
        yield {"role": "assistant", "tool_calls": calls}
        yield from _results(results)


def _call(number: int, call: Json) -> Json:
    function = {"name": text_of(call.get("name")), "arguments": compact(object_of(call.get("parameters")))}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _results(results: list[object]) -> Iterator[Json]:
    for number, result in enumerate(results):
        yield {
            "role": "tool",
            "tool_call_id": f"call_{number}",
            "content": compact(object_of(result).get("outputs")),
        }


def _tool(tool: Json) -> Json:
    parameters = object_of(tool.get("parameter_definitions"))
    schema = {
        "type": "object",
        "properties": {name: _property(object_of(value)) for name, value in parameters.items()},
        "required": [name for name, value in parameters.items() if object_of(value).get("required")],
    }
    named = {"name": tool.get("name"), "description": tool.get("description"), "parameters": schema}
    return {"type": "function", "function": named}


def _property(value: Json) -> Json:
    kind = text_of(value.get("type")).lower().partition("[")[0]
    described = {"description": value["description"]} if value.get("description") else {}
    return {"type": _TYPES.get(kind, kind or "string"), **described}


def _back(body: Json, reply: Reply) -> Reply:
    if reply.status >= 400:
        return reply
    answer = _answer(body, json_of(reply))
    if body.get("stream") is True:
        lines = [utf8(f"{compact(event)}\n") for event in _events(answer)]
        headers = [("content-type", "application/stream+json"), *reply.headers[1:]]
        return replace(reply, headers=headers, writes=lines, length=None)
    return replace(plain(200, reply.headers, utf8(compact(answer))), ending=reply.ending)


def _answer(body: Json, value: Json) -> Json:
    message, usage = object_of(value.get("message")), object_of(value.get("usage"))
    content = map(object_of, items_of(message.get("content")))
    text = "".join(text_of(part.get("text")) for part in content) or text_of(message.get("tool_plan"))
    calls = [
        _called(object_of(object_of(call).get("function"))) for call in items_of(message.get("tool_calls"))
    ]
    message_of_bot = {"role": "CHATBOT", "message": text, **({"tool_calls": calls} if calls else {})}
    history = [
        *items_of(body.get("chat_history")),
        {"role": "USER", "message": body.get("message")},
        message_of_bot,
    ]
    id = text_of(value.get("id"))
    return {
        "response_id": id,
        "text": text,
        "generation_id": id[::-1],
        "chat_history": history,
        "finish_reason": "COMPLETE" if calls else value.get("finish_reason"),
        "meta": {
            "api_version": {"version": "1"},
            **{name: usage.get(name) for name in ("billed_units", "tokens")},
        },
        **({"tool_calls": calls} if calls else {}),
    }


def _called(function: Json) -> Json:
    return {
        "name": function.get("name"),
        "parameters": json.loads(text_of(function.get("arguments")) or "{}"),
    }


def _events(answer: Json) -> Iterator[Json]:
    on = {"is_finished": False}
    yield {**on, "event_type": "stream-start", "generation_id": answer["generation_id"]}
    for piece in words(Say(answer["text"])):
        yield {**on, "event_type": "text-generation", "text": piece}
    if calls := answer.get("tool_calls"):
        yield {**on, "event_type": "tool-calls-generation", "text": answer["text"], "tool_calls": calls}
    ended = {"event_type": "stream-end", "finish_reason": answer["finish_reason"], "response": answer}
    yield {"is_finished": True, **ended}
