"""A key: its beginning that is not secret, the ways to write it, and what is shown in its place."""

from __future__ import annotations

import re
from codecs import encode
from urllib.parse import quote

HIDDEN = "[key]"
#: Words, each in one case: letters of a secret are seldom so.
_READABLE = re.compile(r"(?>(?:(?:[A-Za-z][a-z]{0,11}|[A-Z]{1,12})\d{0,2}[-_.])*)")


class HiddenText(str):
    """A text that may have a key. What prints values, such as a tracker of errors, does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<a text that may have a key>"


def readable(key: str) -> str:
    """Returns the beginning of a key that names its service, such as `sk-proj-`. It is not secret."""
    found = _READABLE.match(key)
    return found[0] if found else ""


def written_forms(key: str) -> tuple[str, ...]:
    """Returns a key as it is, backwards, in ROT13, and percent-encoded once and twice."""
    percent = quote(key, safe="")
    return key, key[::-1], encode(key, "rot13"), percent, quote(percent, safe="")
