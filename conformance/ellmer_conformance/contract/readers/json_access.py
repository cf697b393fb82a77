"""Reads JSON of any shape without raising: missing or wrong values are empty. What rules read from a request is kept,
because fifty rules judge the same request.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import local
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast
from urllib.parse import unquote_to_bytes
from weakref import WeakKeyDictionary

from ellmer_core.base.budget import SERVER

from ..observed.exchange import Json, Media, Request

P = ParamSpec("P")
T = TypeVar("T")


class _Memory(local):
    """The cached values, by function and identity of the argument; `None` if no request is judged."""

    read: dict[tuple[Any, int], tuple[Any, tuple[Any, ...], Sequence[Any]]] | None = None


_memory = _Memory()


@contextmanager
def reading_once() -> Iterator[None]:
    """Caches reads inside the block. No value that is read may change meanwhile."""
    outer, _memory.read = _memory.read, {}
    try:
        yield
    finally:
        _memory.read = outer


def read_once(
    function: Callable[Concatenate[Any, P], Iterable[T]],
) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """Returns the reading function with a cache for the value that is judged."""

    def reading(value: Any, *args: P.args, **rest: P.kwargs) -> Iterator[T]:
        memory = _memory.read
        if memory is None:
            return iter(function(value, *args, **rest))
        key = function, id(value)
        entry = memory.get(key)
        if entry is not None and entry[1] == args:
            return iter(entry[2])
        found = [*function(value, *args, **rest)]
        memory[key] = value, args, found
        return iter(found)

    return cast("Callable[Concatenate[Any, P], Iterator[T]]", wraps(function)(reading))


def once_per_request(function: Callable[[Request], T]) -> Callable[[Request], T]:
    """Returns the function with a cache of its result for each request."""
    results: WeakKeyDictionary[Request, T] = WeakKeyDictionary()

    @wraps(function)
    def reading(request: Request) -> T:
        try:
            return results[request]
        except KeyError:
            found = results[request] = function(request)
            return found

    return reading


_DATA_URL = re.compile(r"data:(?P<type>[^;,]*+)(?P<more>[^,]*+),(?P<data>.*)", re.DOTALL | re.IGNORECASE)
_TO_STANDARD = str.maketrans("-_", "+/", " \t\r\n")


def object_of(value: Any) -> Json:
    """Returns the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Returns the value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


@read_once
def elements(value: Any, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the objects of a list, each with its pointer. Other elements are left out."""
    for i, element in enumerate(items_of(value)):
        if isinstance(element, dict):
            yield f"{pointer}/{i}", element


def items_of(value: Any) -> list[Any]:
    """Returns the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def words(text: str) -> tuple[str, ...]:
    """Returns a list of names that is written as one text."""
    return tuple(text.split())


def parsed(arguments: Any) -> Any:
    """Returns a tool call's arguments: parsed JSON text, or the original value (`""` means none: `{}`)."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def decoded(text: str) -> bytes | None:
    """Decodes base64 in either alphabet, padded or not. Returns `None` for other text."""
    text = text.translate(_TO_STANDARD).rstrip("=")
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (Error, ValueError):
        return None


def inline(type: str, data: Any, filename: str = "") -> Media:
    """Returns media that were sent as base64. Invalid base64 is stored as `url`, so that the media are not empty."""
    text = text_of(data)
    found = decoded(text)
    return (
        Media(type, found, filename=filename)
        if found is not None
        else Media(type, url=text, filename=filename)
    )


def linked(url: Any, type: str = "", filename: str = "") -> Media:
    """Returns media behind a URL or a file id. A `data:` URL is decoded."""
    url = text_of(url)
    match = _DATA_URL.fullmatch(url)
    if not match:
        return Media(type, url=url, filename=filename)
    type = match["type"] or type
    if ";base64" in match["more"].lower():
        return inline(type, match["data"], filename)
    return Media(type, unquote_to_bytes(match["data"]), filename=filename)


def kind_of(media: Media) -> Literal["image", "document", "other"]:
    """Returns a reader's kind for media of this type. Audio and video are `other`."""
    main = media.type.partition("/")[0].lower()
    if main == "image":
        return "image"
    return "other" if main in {"audio", "video"} else "document"


def first_after(found: Sequence[T], skipped: Callable[[T], bool]) -> list[T | None]:
    """Returns for each element the first one after it that is not skipped, in linear time."""
    after: T | None = None
    following: list[T | None] = []
    for each in reversed(found):
        following.append(after)
        after = after if skipped(each) else each
    return following[::-1]


def bounded(value: Any) -> Any:
    """Returns the value. Raises `ValueError` if it nests deeper than a request may.

    Code that reads, copies or writes a value needs several frames for each level.
    """
    level = [value]
    for _ in range(SERVER.depth + 1):
        holders = [each for each in level if isinstance(each, dict | list)]
        if not holders:
            return value
        level = [item for each in holders for item in (each.values() if isinstance(each, dict) else each)]
    raise ValueError(f"it nests deeper than {SERVER.depth} levels")


def value_at(value: Any, steps: Sequence[str]) -> Any:
    """Returns the value at the steps of a JSON pointer, `None` if there is none."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(unescaped(step))
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def unescaped(step: str) -> str:
    """Returns the key that a step of a JSON pointer names."""
    return step.replace("~1", "/").replace("~0", "~")
