"""The readable form of a message of gRPC: one key, `protobuf`, `json`, `text` or `base64`."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import Any

from . import protobuf
from .json_text import parse_text, spell

Form = dict[str, Any]
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
