"""JSON values as an outline. A value that fits on a line stays on one line. A text with line breaks keeps
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["outline", "shown"]

WIDTH = 100
_LONGEST = 2000  # characters of one string
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # would command the terminal


def outline(value: Any) -> Iterator[str]:
    """Yields the lines of the outline."""
    if isinstance(value, str):
        yield from shown(value).split("\n")
    elif not isinstance(value, dict | list) or (line := _line(value)) is None:
        yield from _broken(value) if isinstance(value, dict | list) and value else [json.dumps(value)]
    else:
        yield line


def shown(text: str) -> str:
    """Returns a text that is safe to print: it is shortened, and control characters are escaped."""
    seen = _UNSEEN.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
    return seen if len(seen) <= _LONGEST else f"{seen[:_LONGEST]}… ({len(text)} characters)"


def _line(value: Any) -> str | None:
    """Returns the value on one line if it is short enough, else `None`."""
    text = shown(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= WIDTH and "\\n" not in text else None


def _broken(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            first, *rest = _item(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        return
    for key, item in value.items():
        first, *rest = _item(item)
        if isinstance(item, dict | list) and rest:
            yield f"{shown(key)}:"
            yield from (f"  {line}" for line in (first, *rest))
        else:
            yield f"{shown(key)}: {first}"
            yield from (f"  {line}" for line in rest)


def _item(value: Any) -> list[str]:
    """Returns a string in quotes, unless it has several lines."""
    if isinstance(value, str):
        return ["|", *outline(value)] if "\n" in value else [shown(json.dumps(value, ensure_ascii=False))]
    return [*outline(value)]
