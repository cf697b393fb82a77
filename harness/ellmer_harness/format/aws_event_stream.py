"""The binary event stream of AWS (`application/vnd.amazon.eventstream`), one frame per entry.

A frame consists of two lengths, a checksum, headers, a payload and a checksum; see
https://smithy.io/2.0/aws/amazon-eventstream.html. An entry is `{"headers": {…}, "json": …}`. It has `"text"`
for a payload that is not JSON, and `"base64"` for a frame that cannot be rebuilt from its parts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from struct import pack, unpack
from typing import Any
from zlib import crc32

from .json_text import parse_text, spell

Form = dict[str, Any]
_STRING = 7


def frames(body: bytes) -> list[bytes]:
    """Returns the frames of a body. An incomplete frame comes last."""
    found, at = [], 0
    while at < len(body):
        size = unpack(">I", body[at : at + 4])[0] if len(body) >= at + 4 else 0
        end = at + size if size >= 16 else len(body)
        found.append(body[at:end])
        at = end
    return found


def parse(body: bytes) -> Form | None:
    """Returns the form of a binary event stream, or `None` if no frame can be read."""
    entries, style = [], ""
    for frame in frames(body):
        entry, style = _entry(frame, style)
        entries.append(entry)
    if all("base64" in entry for entry in entries):
        return None
    proven = [
        entry if _frame(entry, style) == frame else {"base64": b64encode(frame).decode()}
        for entry, frame in zip(entries, frames(body), strict=True)
    ]
    return {"eventstream": proven, "style": style} if style else {"eventstream": proven}


def write(form: Form) -> bytes:
    """Returns the bytes of a binary event stream."""
    return b"".join(_frame(entry, form.get("style", "")) for entry in form["eventstream"])


def _entry(frame: bytes, hint: str) -> tuple[Form, str]:
    raw: Form = {"base64": b64encode(frame).decode()}
    if len(frame) < 16:
        return raw, hint
    size = unpack(">I", frame[4:8])[0]
    try:
        headers = dict(_headers(frame[12 : 12 + size]))
        payload = frame[12 + size : -4].decode()
    except (ValueError, IndexError):
        return raw, hint
    if found := parse_text(payload, hint):
        return {"headers": headers, "json": found[0]}, found[1]
    return {"headers": headers, "text": payload}, hint


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        name, at = data[at + 1 : at + 1 + data[at]].decode(), at + 1 + data[at]
        if data[at] != _STRING:
            raise ValueError("only text headers have a readable form")
        size = int.from_bytes(data[at + 1 : at + 3])
        yield name, data[at + 3 : at + 3 + size].decode()
        at += 3 + size


def _frame(entry: Form, style: str) -> bytes:
    if "base64" in entry:
        return b64decode(entry["base64"])
    payload = (spell(entry["json"], style) if "json" in entry else entry["text"]).encode()
    pairs = [(name.encode(), value.encode()) for name, value in entry["headers"].items()]
    headers = b"".join(
        bytes([len(name)]) + name + bytes([_STRING]) + pack(">H", len(value)) + value for name, value in pairs
    )
    prelude = pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + pack(">I", crc32(prelude)) + headers + payload
    return message + pack(">I", crc32(message))
