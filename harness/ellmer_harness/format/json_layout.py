"""JSON text for people: what fits on a line stays on one line, the rest is broken up, two spaces a level. Numbers alone
stay on one line, however many they are.

`loads(layout(value)) == value`, keys keep their order, and equal values give equal text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["layout"]

WIDTH = 110


def layout(value: Any) -> str:
    """The text, ending in a newline."""
    return "".join(_pieces(value, "", WIDTH)) + "\n"


def _pieces(value: Any, indent: str, room: int) -> Iterator[str]:
    if not value or not isinstance(value, dict | list) or _cost(value, room) <= room:
        yield json.dumps(value, ensure_ascii=False)
        return
    if _numbers(value):
        yield json.dumps(value, separators=(",", ":"))  # an embedding, coordinates: nobody reads them
        return
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    separator = f"{opening}\n{inner}"
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        label = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        yield separator + label
        yield from _pieces(item, inner, WIDTH - len(inner) - len(label) - 1)
        separator = f",\n{inner}"
    yield f"\n{indent}{closing}"


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
