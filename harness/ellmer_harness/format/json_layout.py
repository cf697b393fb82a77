"""JSON text for people: what fits on a line stays on one line, the rest is broken up, two spaces a level. Numbers alone
stay on one line, however many they are. A body that would grow by more than `SPARE` bytes is written without indentation:
one item, event or line of text a line. So a cassette stays as small as its traffic.

`loads(layout(value)) == value`, keys keep their order, and equal values give equal text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .json_text import BETWEEN, compact

__all__ = ["layout"]

WIDTH = 110
SPARE = 1024
"""A recorder that keeps all headers of an interaction spends about twice as much on them as we do on our list."""

_spaced = json.JSONEncoder(ensure_ascii=False).encode


def layout(value: Any) -> str:
    """The text, ending in a newline."""
    return "".join(_pieces(value, "", WIDTH)) + "\n"


def _pieces(value: Any, indent: str, room: int) -> Iterator[str]:
    if not value or not isinstance(value, dict | list) or _cost(value, room) <= room:
        yield _spaced(value)
        return
    if _numbers(value):
        yield compact(value)  # an embedding, coordinates: nobody reads them
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
    """The pieces, unless they spend too much on indentation."""
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
    """Compact text with each item of a list on a line of its own; in any other value, each object of its lists."""
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
    """Whether this is a list of numbers, or of such lists."""
    return isinstance(value, list) and all(
        _numbers(item) if isinstance(item, list) else type(item) in (int, float) for item in value
    )


def _cost(value: Any, room: int) -> int:
    """About how long the text of a value is on one line; stops counting past `room`."""
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
