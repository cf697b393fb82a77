"""JSON text for people. A value that fits on a line stays on one line; a longer one is split, with two spaces
for each level. Lists of numbers stay on one line. If indentation would add more than `SPARE` bytes to a body,
it is written without indentation, with one item, event or line of text on each line. This keeps cassettes as
small as their traffic.

`loads(layout(value)) == value`. Keys keep their order, and equal values give equal text.
"""

from __future__ import annotations

import json
from math import inf
from typing import Any

from .json_text import BETWEEN, compact

__all__ = ["layout"]

WIDTH = 110
SPARE = 1024
"""A recorder that keeps all headers of an interaction spends about twice as much on them as we do on our list."""

_spaced = json.JSONEncoder(ensure_ascii=False).encode


def layout(value: Any) -> str:
    """Returns the text with a newline at its end."""
    text: list[str] = []
    _add(text, value, "", WIDTH, inf)
    return "".join(text) + "\n"


class _TooMuchIndentation(Exception):
    pass


def _add(text: list[str], value: Any, indent: str, room: int, spare: float) -> float:
    """Adds the pieces of a value. Returns the remaining bytes for indentation."""
    if not value or not isinstance(value, dict | list) or _cost(value, room) <= room:
        text.append(_spaced(value))
        return spare
    if _numbers(value):
        text.append(compact(value))  # numbers such as an embedding, which people do not read
        return spare
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    text.append(opening)
    separator = f"\n{inner}"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        label = "" if key is None else _spaced(key) + ": "
        text += (separator, label)
        spare = _spent(separator, spare)
        room = WIDTH - len(inner) - len(label) - 1
        if key == "body" and isinstance(item, dict):
            _add_body(text, item, inner, room)
        else:
            spare = _add(text, item, inner, room, spare)
        separator = f",\n{inner}"
    text.append(end := f"\n{indent}{closing}")
    return _spent(end, spare)


def _spent(piece: str, spare: float) -> float:
    if len(piece) > spare:
        raise _TooMuchIndentation
    return spare - len(piece)


def _add_body(text: list[str], form: dict[str, Any], indent: str, room: int) -> None:
    """Adds a body: densely, if indentation takes too much."""
    before = len(text)
    try:
        _add(text, form, indent, room, SPARE)
    except _TooMuchIndentation:
        text[before:] = [_dense(form)]


def _dense(form: dict[str, Any]) -> str:
    items = [f"{_spaced(key)}: {_lines(value)}" for key, value in form.items()]
    return "{" + ", ".join(items) + "}"


def _lines(value: Any) -> str:
    """Returns compact text with a line for each item of a list, or for each object in the lists of another value."""
    if isinstance(value, list) and not _numbers(value):
        return "[\n" + _items(value) + "\n]"
    text = compact(value)
    in_a_string = any(f'}},{{"{after}' in text for after in ",:]}") or text.endswith('},{"')
    return text if in_a_string else text.replace('},{"', '},\n{"')


def _items(values: list[Any]) -> str:
    text = compact([part for value in values for part in (value, BETWEEN)])
    if text.count(BETWEEN) != len(values):
        return ",\n".join(map(compact, values))
    return text[1 : -len(f',"{BETWEEN}"]')].replace(f',"{BETWEEN}",', ",\n")


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
