"""JSON text for people. A value that fits on a line stays on one line; a longer one is split, with two spaces
for each level. Lists of numbers stay on one line. If indentation would add more than `SPARE` bytes to a body,
it is written without indentation, with one item, event or line of text on each line. This keeps cassettes as
small as their traffic.

`loads(layout(value)) == value`. Keys keep their order, and equal values give equal text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

__all__ = ["layout"]

WIDTH = 110
SPARE = 1024
"""A recorder that keeps all headers of an interaction spends about twice as much on them as we do on our list."""

_spaced = json.JSONEncoder(ensure_ascii=False).encode
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def layout(value: Any) -> str:
    """Returns the text with a newline at its end."""
    return "".join(_pieces(value, "", WIDTH)) + "\n"


def _pieces(value: Any, indent: str, room: int) -> Iterator[str]:
    if not value or not isinstance(value, dict | list) or _cost(value, room) <= room:
        yield _spaced(value)
        return
    if _numbers(value):
        yield _compact(value)  # an embedding, coordinates: nobody reads them
        return
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    separator = f"\n{inner}"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        label = "" if key is None else _spaced(key) + ": "
        yield separator
        yield label
        pieces = _pieces(item, inner, WIDTH - len(inner) - len(label) - 1)
        yield from _body(item, pieces) if key == "body" and isinstance(item, dict) else pieces
        separator = f",\n{inner}"
    yield f"\n{indent}{closing}"


def _body(form: dict[str, Any], pieces: Iterator[str]) -> Iterator[str]:
    """Yields the pieces of the text, unless they need too much indentation."""
    kept, spent = [], 0
    for piece in pieces:
        kept.append(piece)
        spent += len(piece) if "\n" in piece else 0
        if spent > SPARE:
            return iter([_dense(form)])
    return iter(kept)


def _dense(form: dict[str, Any]) -> str:
    items = [f"{_spaced(key)}: {_lines(value)}" for key, value in form.items()]
    return "{" + ", ".join(items) + "}"


def _lines(value: Any) -> str:
    """Returns compact text with a line for each item of a list, or for each object in the lists of another value."""
    if isinstance(value, list) and not _numbers(value):
        return "[\n" + ",\n".join(map(_compact, value)) + "\n]"
    text = _compact(value)
    broken = text.replace('},{"', '},\n{"')
    try:
        from_json(broken)
    except ValueError:  # a string of the value ends in `},{`
        return text
    return broken


def _numbers(value: Any) -> bool:
    """Tells whether a value is a list of numbers, or a list of such lists."""
    return isinstance(value, list) and all(
        _numbers(item) if isinstance(item, list) else type(item) in (int, float) for item in value
    )


def _cost(value: Any, room: int) -> int:
    """Returns the approximate length of a value on one line. It stops counting after `room`."""
    if isinstance(value, str):
        return len(value) + 2
    if not isinstance(value, dict | list):
        return len(str(value))
    total = 2
    for key, item in value.items() if isinstance(value, dict) else (("", item) for item in value):
        total += len(key) + 4 + _cost(item, room - total)
        if total > room:
            break
    return total
