"""Parses JSON from elsewhere: strictly, up to a depth of `MAX_DEPTH`, with only values that can be written again.

NaN, Infinity and numbers that are too large (1e999) become null, because they must not be sent back.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

__all__ = ["MAX_DEPTH", "bounded", "raw_json", "read_json"]

MAX_DEPTH = (
    100  # levels of lists and objects; what prints, copies or writes a value takes several frames for each
)

_BOM = b"\xef\xbb\xbf"


def _no_constant(_: str) -> None:
    return None


def _finite(number: str) -> float | None:
    value = float(number)
    return value if isfinite(value) else None


_decoder = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def read_json(text: str | bytes) -> Any:
    """Returns the value of a JSON text. Raises `ValueError` if it is invalid or nests too deeply."""
    if isinstance(text, bytes):
        text = text.removeprefix(_BOM).decode(json.detect_encoding(text), "replace")
    return raw_json(text.strip(" \t\n\r"))


def raw_json(text: str) -> Any:
    """Returns the value of a text without space around it. Raises `ValueError`."""
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError(f"it nests deeper than {MAX_DEPTH} levels") from None
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if text.count("[") + text.count("{") > MAX_DEPTH:
        bounded(value)
    return value


def bounded(value: Any) -> None:
    """Raises `ValueError` if a value nests deeper than `MAX_DEPTH`."""
    if not isinstance(value, dict | list):
        return
    level = [value]
    for _ in range(MAX_DEPTH):
        inside = (item for one in level for item in (one.values() if isinstance(one, dict) else one))
        level = [item for item in inside if isinstance(item, dict | list)]
        if not level:
            return
    raise ValueError(f"it nests deeper than {MAX_DEPTH} levels")
