"""Text of others, made safe for a terminal and for a person who decides."""

from __future__ import annotations

import json
import re
from unicodedata import category

__all__ = ["printable", "revealed"]


def printable(text: str) -> str:
    """Returns the text with terminal control characters and lone surrogates as escapes."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        # Those of 8 bits, too, but neither tab nor the ends of lines.
        text = re.sub(
            "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]|\\r(?!\\n)",
            lambda found: f"\\x{ord(found[0]):02x}",
            text,
        )
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


#: Letters that show nothing, though they are no control characters. Those that choose the form of another letter can hide any text.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    *(map(chr, codes) for codes in (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)))
)


def revealed(text: str, *, line: bool = False) -> str:
    """Returns a text for a person who decides: all that is invisible or turns the direction of writing is an escape, as in
    JSON. In a `line`, tabs and line ends are escapes, too.
    """
    visible = "" if line else "\n\t"
    return "".join(_escape(c) if c not in visible and _hides(c) else c for c in text)


def _hides(letter: str) -> bool:
    return letter in _BLANK or category(letter)[0] == "C" or category(letter) in {"Zl", "Zp"}


def _escape(letter: str) -> str:
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"
