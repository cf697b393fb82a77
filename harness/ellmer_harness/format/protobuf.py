"""Protobuf messages without their schema: `{"1": "Paris", "2": {"1": 48.8}}`. Fields have numbers instead of
names.

A repeated field is a list. A number is a varint; `{"double": 0.5}`, `{"float": 0.5}`, `{"fixed64": 7}` and
`{"fixed32": 7}` are numbers of a fixed size. `{"base64": "…"}` holds bytes that are neither text nor a
message. It is not known whether bytes are a text or a message, but both restore the same bytes.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from math import isfinite
from struct import pack, unpack
from typing import Any

Form = dict[str, Any]
_DEEPEST = 30  # levels
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {
    "double": (_FIXED64, "<d"),
    "float": (_FIXED32, "<f"),
    "fixed64": (_FIXED64, "<Q"),
    "fixed32": (_FIXED32, "<I"),
}


def parse(data: bytes, depth: int = 0) -> Form | None:
    """Returns the fields of a message, or `None` if the bytes are not a message or cannot be restored."""
    found: dict[str, list[Any]] = {}
    try:
        for number, value in _fields(data, depth):
            found.setdefault(str(number), []).append(value)
    except (IndexError, ValueError):
        return None
    form = {name: values if len(values) > 1 else values[0] for name, values in found.items()}
    return form if write(form) == data else None


def write(form: Form) -> bytes:
    """Returns the bytes of a message."""
    found = bytearray()
    for number, values in form.items():
        for value in values if isinstance(values, list) else [values]:
            found += _field(int(number), value)
    return bytes(found)


def _fields(data: bytes, depth: int) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
        elif kind == _BYTES:
            size, at = _varint(data, at)
            if not number or at + size > len(data):
                raise ValueError("the field is not complete")
            yield number, _read(data[at : at + size], depth)
            at += size
        else:
            size = {_FIXED64: 8, _FIXED32: 4}[kind] if kind in (_FIXED64, _FIXED32) else len(data) + 1
            yield number, _number(data[at : at + size], size)
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number has ten bytes at most")


def _read(data: bytes, depth: int) -> Any:
    """Returns text, a message or bytes. Text seldom begins with the bytes of a message's first field."""
    text = _text(data)
    if text is not None and (not text or text[0] >= " "):
        return text
    found = parse(data, depth + 1) if depth < _DEEPEST else None
    if found is not None:
        return found
    return text if text is not None else {"base64": b64encode(data).decode()}


def _text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(letter >= " " or letter in "\t\r\n" for letter in text) else None


def _number(data: bytes, size: int) -> Form:
    if len(data) != size:
        raise ValueError("the field is not complete")
    name, form, plain = ("double", "<d", "<Q") if size == 8 else ("float", "<f", "<I")
    value = unpack(form, data)[0]
    if isfinite(value) and (value == 0 or 1e-10 < abs(value) < 1e16) and pack(form, value) == data:
        return {name: value}
    return {f"fixed{size * 8}": unpack(plain, data)[0]}


def _field(number: int, value: Any) -> bytes:
    if isinstance(value, int):
        return _as_varint(number << 3) + _as_varint(value)
    if isinstance(value, dict) and (name := next(iter(value), "")) in _FIXED:
        kind, form = _FIXED[name]
        return _as_varint(number << 3 | kind) + pack(form, value[name])
    data = _as_bytes(value)
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(data)) + data


def _as_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return b64decode(value["base64"]) if "base64" in value else write(value)


def _as_varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
