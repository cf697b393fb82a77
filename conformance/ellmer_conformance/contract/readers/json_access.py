"""Taking JSON of any shape apart without ever raising: what is not there, or not right, is empty."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import unquote_to_bytes

from ..exchange import Json, Media
from .read_cache import read_once

__all__ = [
    "decoded",
    "elements",
    "inline",
    "items_of",
    "kind_of",
    "linked",
    "object_of",
    "parsed",
    "text_of",
    "words",
]

_DATA_URL = re.compile(r"data:(?P<type>[^;,]*)(?P<more>[^,]*),(?P<data>.*)", re.DOTALL | re.IGNORECASE)
_TO_STANDARD = str.maketrans("-_", "+/", " \t\r\n")


def object_of(value: Any) -> Json:
    """Returns the value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(value: Any) -> str:
    """Returns the value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


@read_once
def elements(value: Any, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the objects of a list, each with its pointer; the elements that are none are left out."""
    for i, element in enumerate(items_of(value)):
        if isinstance(element, dict):
            yield f"{pointer}/{i}", element


def items_of(value: Any) -> list[Any]:
    """Returns the value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def words(text: str) -> tuple[str, ...]:
    """Returns a long list of names, written as one text."""
    return tuple(text.split())


def parsed(arguments: Any) -> Any:
    """Returns a tool call's arguments: parsed where they are JSON text, else as they came (`""` means none:
    `{}`).
    """
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def decoded(text: str) -> bytes | None:
    """Base64 in either alphabet, padded or not; None where it is neither."""
    text = text.translate(_TO_STANDARD).rstrip("=")
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (Error, ValueError):
        return None


def inline(type: str, data: Any, filename: str = "") -> Media:
    """Media sent as base64. What does not decode keeps its text as `url`, so that it is not taken for empty."""
    text = text_of(data)
    found = decoded(text)
    return (
        Media(type, found, filename=filename)
        if found is not None
        else Media(type, url=text, filename=filename)
    )


def linked(url: Any, type: str = "", filename: str = "") -> Media:
    """Media behind a URL or a file id; a `data:` URL is decoded."""
    url = text_of(url)
    match = _DATA_URL.fullmatch(url)
    if not match:
        return Media(type, url=url, filename=filename)
    type = match["type"] or type
    if ";base64" in match["more"].lower():
        return inline(type, match["data"], filename)
    return Media(type, unquote_to_bytes(match["data"]), filename=filename)


def kind_of(media: Media) -> Literal["image", "document", "other"]:
    """Returns what a reader calls media of this type; sound and video are `other`."""
    main = media.type.partition("/")[0].lower()
    if main == "image":
        return "image"
    return "other" if main in {"audio", "video"} else "document"
