"""Gemini generateContent, at the Gemini API and at Vertex AI: user and model contents, each a list of parts.

Keys may be in camelCase or snake_case, and an object may replace a list, because protobuf's JSON accepts all of
these. https://ai.google.dev/api/generate-content
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

from ..observed.exchange import Item, Json, Media, Request
from . import gemini_interactions
from .json_access import inline, kind_of, linked, object_of, read_once, text_of

WIRE = "gemini"
PROVIDER = "google"
paths = (r"/(models|tunedModels|endpoints)/[^/:]+:(streamG|g)enerateContent$",)

Role = Literal["user", "assistant"]


@cache
def snake(key: str) -> str:
    """Returns `inline_data` for `inlineData`."""
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", key)


def key_of(value: Any, key: str) -> str:
    """Returns the spelling of a key that an object uses: camelCase, unless it has only snake_case."""
    other = snake(key)
    return other if isinstance(value, dict) and key not in value and other in value else key


def get(value: Any, key: str) -> Any:
    """Returns a field in either spelling, or `None` if it is missing."""
    return value.get(key_of(value, key)) if isinstance(value, dict) else None


@read_once
def repeated(value: Any, key: str, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the objects of a repeated field with their pointers."""
    found, place = get(value, key), f"{pointer}/{key_of(value, key)}"
    if isinstance(found, dict):
        yield place, found
    elif isinstance(found, list):
        yield from ((f"{place}/{i}", each) for i, each in enumerate(found) if isinstance(each, dict))


def contents(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the contents with their pointers."""
    return repeated(body, "contents", "")


def parts(content: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields a content's parts with their pointers."""
    return repeated(content, "parts", pointer)


def declarations(body: Json) -> Iterator[tuple[str, Json]]:
    """Yields the function declarations of all tools, with their pointers."""
    for place, tool in repeated(body, "tools", ""):
        yield from repeated(tool, "functionDeclarations", place)


def read(request: Request) -> list[Item]:
    """Returns the content of the request in order."""
    if request.provider == gemini_interactions.PROVIDER:
        return gemini_interactions.read(request)
    found = list(_system(request.body))
    for turn, (pointer, content) in enumerate(contents(request.body)):
        role: Role = "assistant" if content.get("role") == "model" else "user"
        for place, part in parts(content, pointer):
            found += _part(part, place, turn, role)
    return found


def _system(body: Json) -> Iterator[Item]:
    key = key_of(body, "systemInstruction")
    if isinstance(body.get(key), str):
        yield Item("system", "system", f"/{key}", -1, body[key])
    for pointer, part in parts(object_of(body.get(key)), f"/{key}"):
        yield Item("system", "system", pointer, -1, text_of(part.get("text")))


def _part(part: Json, pointer: str, turn: int, role: Role) -> Iterator[Item]:
    if isinstance(part.get("text"), str):
        kind: Any = "thinking" if part.get("thought") is True else "text"
        yield Item(kind, role, pointer, turn, part["text"])
    elif isinstance(call := get(part, "functionCall"), dict):
        id, name = text_of(call.get("id")), text_of(call.get("name"))
        yield Item("call", role, pointer, turn, id=id, name=name, arguments=call.get("args") or {})
    elif isinstance(answer := get(part, "functionResponse"), dict):
        place = f"{pointer}/{key_of(part, 'functionResponse')}"
        yield from _result(answer, pointer, place, turn, role)
    elif media := media_of(part):
        yield Item(kind_of(media), role, pointer, turn, media=media)
    else:
        yield Item("other", role, pointer, turn, name=next(iter(part), ""))


def _result(answer: Json, pointer: str, place: str, turn: int, role: Role) -> Iterator[Item]:
    id, name, response = text_of(answer.get("id")), text_of(answer.get("name")), answer.get("response")
    error = isinstance(response, dict) and "error" in response
    yield Item("result", role, pointer, turn, _text(response), id=id, name=name, error=error)
    for nested, part in parts(answer, place):
        if media := media_of(part):
            yield Item(kind_of(media), role, nested, turn, media=media, within=id)


def media_of(part: Json) -> Media | None:
    """Returns the media of an `inlineData` or `fileData` part."""
    if isinstance(blob := get(part, "inlineData"), dict):
        return inline(text_of(get(blob, "mimeType")), blob.get("data"), text_of(get(blob, "displayName")))
    if isinstance(file := get(part, "fileData"), dict):
        return linked(get(file, "fileUri"), text_of(get(file, "mimeType")), text_of(get(file, "displayName")))
    return None


def _text(response: Any) -> str:
    """Returns the string of a response with one value, or else its JSON."""
    if isinstance(response, dict) and len(response) == 1:
        (only,) = response.values()
        if isinstance(only, str):
            return only
    return "" if response is None else json.dumps(response, ensure_ascii=False)
