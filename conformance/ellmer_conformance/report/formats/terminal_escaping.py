"""Makes untrusted text safe to print: recordings, requests and answers may contain terminal control codes."""

from __future__ import annotations

import re

#: Control characters but tab and line feed, also those of 8 bits; what turns the direction of writing; half characters.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Returns the text with control codes and unprintable characters written as escapes."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """Returns a text, such as the name of a file, as one line of printable text."""
    return printable(text).replace("\n", "\\u000a").replace("\t", "\\u0009")
