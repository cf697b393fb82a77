"""The messages and metadata of gRPC calls in the form of a cassette.

A message is one key: `{"protobuf": …}` with its fields by number, `{"json": …}`, `{"text": …}` or `{"base64": …}`.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import Any

from ...format import protobuf
from ...format.json_text import parse_text, spell

__all__ = ["as_written", "compact", "form", "message", "metadata", "pairs"]

Form = dict[str, Any]
Pairs = list[tuple[str, str]]
_SHORT = 33  # bytes: a longer text may be a message with one long field


def form(data: bytes) -> Form:
    """Returns the readable form of a message."""
    text = _text(data)
    plain = text is not None and len(data) <= _SHORT and text[0] >= " "
    if not plain and (fields := protobuf.parse(data)) is not None:
        return {"protobuf": fields}
    if text is None:
        return {"base64": b64encode(data).decode()}
    if text[:1] in ("{", "[") and (found := parse_text(text)):
        return {"json": found[0], "style": found[1]} if found[1] else {"json": found[0]}
    return {"text": text}


def _text(data: bytes) -> str | None:
    """Returns the text of a message without control characters, else `None`."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text and all(letter >= " " or letter in "\t\r\n" for letter in text) else None


def message(form: Form) -> bytes:
    """Returns the bytes of a message."""
    if "protobuf" in form:
        return protobuf.write(form["protobuf"])
    if "base64" in form:
        return b64decode(form["base64"], validate=True)
    text: str = spell(form["json"], form.get("style", "")) if "json" in form else form["text"]
    return text.encode()


def compact(value: Any) -> bytes:
    """Returns the bytes of a JSON value."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def pairs(given: Iterable[Any] | None) -> Pairs:
    """Returns metadata as text, with names in lower case. Binary values (names that end in `-bin`) are
    base64, as on the wire.
    """
    return [
        (str(name).lower(), b64encode(value).decode() if isinstance(value, bytes) else str(value))
        for name, value in given or ()
    ]


def metadata(saved: dict[str, list[str]]) -> list[tuple[str, str | bytes]]:
    """Returns metadata in the form that gRPC takes."""
    return [
        (name, b64decode(value) if name.endswith("-bin") else value)
        for name, values in saved.items()
        for value in values
    ]


def as_written(value: Any, serializer: Callable[[Any], bytes] | None) -> bytes:
    """Returns the bytes of a message in a stable form, because protobuf writes the entries of a map in any
    order.
    """
    data: bytes = value if serializer is None else serializer(value)
    write = getattr(getattr(value, "_pb", value), "SerializeToString", None)
    if write is None:
        return data
    again: bytes = write(deterministic=True)
    return again if len(again) == len(data) and sorted(again) == sorted(data) else data
