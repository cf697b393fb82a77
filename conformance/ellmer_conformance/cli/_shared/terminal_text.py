"""Text of others as it may be printed: a terminal obeys what a recording, a request or an answer has in it."""

from __future__ import annotations

import re

__all__ = ["printable"]

#: Control characters but tab and line feed, also those of 8 bits; what turns the direction of writing; half characters.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with what a terminal would obey, or could not write, as escapes."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
