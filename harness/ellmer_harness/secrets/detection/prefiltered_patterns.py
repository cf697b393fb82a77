"""Patterns found by a piece of text that all of their matches have: many times as quick as trying them everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["around"]


def around(text: str, literal: str, pattern: re.Pattern[str], back: int = 0) -> Iterator[re.Match[str]]:
    """Yields the matches that begin at the literal, or at most so many characters before it."""
    at = text.find(literal)
    while at >= 0:
        found = next(
            (one for start in range(max(0, at - back), at + 1) if (one := pattern.match(text, start))), None
        )
        if found:
            yield found
        at = text.find(literal, max(at + 1, found.end() if found else 0))
