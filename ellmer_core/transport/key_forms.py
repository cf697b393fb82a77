"""How a key is noticed in an answer at little cost, and what two readers of keys have in common.

An answer is read as its letters and digits in lower case, of which few are compared: any form of a key has one of them.
"""

from __future__ import annotations

import re
from base64 import b32encode, b64encode, urlsafe_b64encode
from codecs import encode
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

__all__ = ["BEGINNING", "HIDDEN", "Forms", "all_forms", "prefixes", "readable"]

HIDDEN = "[key]"
BEGINNING = 4  # characters of a key at the end of an event, after which the next one is waited for
GRAM = 5  # letters of a form that are searched in answers
LONGEST = 8  # bytes that a form has at most for each character of a key

_READABLE = re.compile(r"(?:[A-Za-z]+\d{0,2}[-_.])*+")
_LOWER = bytes(range(256)).lower()
_DELETED = bytes(code for code in range(128) if not chr(code).isalnum()) + b"xX"


def _letters(data: bytes) -> bytes:
    """Returns only letters and digits, in lower case: in this form, most ways to write a key are the same. `\\x73` has an x."""
    return data.translate(_LOWER, _DELETED)


class Forms(NamedTuple):
    """What tells that an answer may have one of some keys."""

    letters: tuple[bytes, ...]  # the letters and digits of all forms
    grams: frozenset[bytes]  # all short texts in them
    step: int  # between the places of an answer that are looked at: a form that is there has a gram at one of them
    shown: tuple[bytes, ...]  # the ends of the keys
    longest: int
    split: tuple[str, ...]  # forms that are found in pieces, too
    beginnings: tuple[bytes, ...]  # how one of their first pieces ends in JSON

    def in_answer(self, data: bytes) -> bool:
        """Tells whether an answer may have a key."""
        if any(map(data.__contains__, self.shown)):
            return True
        letters = _letters(data)
        near = not self.grams.isdisjoint(
            [letters[at : at + GRAM] for at in range(0, len(letters), self.step)]
        )
        return near and any(form in letters for form in self.letters)

    def begins(self, data: bytes) -> bool:
        """Tells whether a text may end with the beginning of a key."""
        return any(map(data.__contains__, self.beginnings))


@lru_cache(64)
def all_forms(keys: tuple[str, ...]) -> Forms:
    split = tuple(form for key in keys for form in (key, key.upper(), key.lower(), *_encoded(key.encode())))
    starts = (key[:size].encode() for key in keys for size in range(1, BEGINNING))
    beginnings = {form[:BEGINNING].encode() for form in split}
    letters = tuple({_letters(form) for key in keys for form in _forms(key)})
    return Forms(
        letters,
        frozenset(form[at : at + GRAM] for form in letters for at in range(len(form) - GRAM + 1)),
        max(min(map(len, letters), default=0) - GRAM + 1, 1),
        tuple(
            end.encode() for key in keys for end in (key[: len(readable(key)) + BEGINNING], key[-BEGINNING:])
        ),
        max((len(key) * LONGEST for key in keys), default=0),
        split,
        (*sorted(beginnings), *(start + end for start in starts for end in (b'"}', b'",'))),
    )


def readable(key: str) -> str:
    """Returns the beginning of a key that says whose it is, as `sk-proj-`. It is not secret."""
    found = _READABLE.match(key)
    return found[0] if found else ""


def _forms(key: str) -> Iterator[bytes]:
    """Yields the ways to write a key, which differ in more than marks between the letters."""
    data = key.encode()
    percent = quote(key, safe="")
    yield from (
        data,
        data[::-1],
        encode(key, "rot13").encode(),
        percent.encode(),
        quote(percent, safe="").encode(),
    )
    for spelled in ("{:02x}", "0{:02x}", "u00{:02x}", "u{:02x}", "{:03o}", "0{:03o}", "{}", "{:08b}"):
        yield "".join(spelled.format(code) for code in data).encode()
    yield re.sub(rb"[^\w.-]", lambda found: b"u00%02x" % ord(found[0]), data)
    for form in (*_encoded(data), *_within(data, b32encode, 5)):
        yield form.encode()


def _encoded(data: bytes) -> Iterator[str]:
    """Yields data in hexadecimal and in Base64."""
    yield from (data.hex(), data.hex().upper())
    for encode_ in (b64encode, urlsafe_b64encode):
        yield from _within(data, encode_, 6)


def _within(data: bytes, encode_: Callable[[bytes], bytes], bits: int) -> Iterator[str]:
    """Yields what is always the same where data are encoded within others, with so many bits a letter."""
    for before in range(bits // 2 if bits == 6 else bits):
        text = encode_(b"\0" * before + data).decode().rstrip("=")
        yield text[-(-8 * before // bits) : 8 * (before + len(data)) // bits]


@lru_cache(8)
def prefixes(forms: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form[:size] for form in forms for size in range(1, len(form)))
