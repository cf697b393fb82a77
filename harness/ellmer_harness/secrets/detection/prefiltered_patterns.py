"""Finds patterns by a literal that all their matches contain. This is many times faster than trying them
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["around"]


def around(text: str, literal: str, pattern: re.Pattern[str], back: int = 0) -> Iterator[re.Match[str]]:
    """Yields the matches that begin at the literal, or at most `back` characters earlier."""
    at = text.find(literal)
    while at >= 0:
        found = next(
            (one for start in range(max(0, at - back), at + 1) if (one := pattern.match(text, start))), None
        )
        if found:
            yield found
        at = text.find(literal, max(at + 1, found.end() if found else 0))
