"""Replaces many values in one pass. The time does not depend on the number of values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import groupby
from os.path import commonprefix
from urllib.parse import quote, quote_plus

__all__ = ["Replacer"]

_LEVELS = 8  # times that the pattern branches; each is a group in the one before


class Replacer:
    """Finds some values, in any escaped form, and replaces each by another text. If two values begin alike,
    the longer one is replaced.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        forms = {form: new for value, new in values.items() for form in _forms(value)}
        self._texts = {form: new for form, new in (forms | dict(values)).items() if form}
        self._bytes = {_as_bytes(form): _as_bytes(new) for form, new in self._texts.items()}
        self._in_texts, self._in_bytes = (
            re.compile(_branches(each)) if each else None for each in (self._texts, self._bytes)
        )

    def text(self, text: str) -> str:
        """Returns the text with every value replaced."""
        pattern = self._in_texts
        return pattern.sub(lambda found: self._texts[found[0]], text) if pattern else text

    def body(self, body: bytes, sizes: list[int] | None = None) -> bytes:
        """Returns the body with every value replaced. The chunk sizes in `sizes` are corrected."""
        if self._in_bytes is None:
            return body
        text, parts, end, grown = body.decode("latin-1"), [], 0, 0
        for found in self._in_bytes.finditer(text):
            new = self._bytes[found[0]]
            parts += [text[end : found.start()], new]
            if sizes is not None:
                _resize(sizes, found.start() + grown, len(found[0]), len(new))
            end, grown = found.end(), grown + len(new) - len(found[0])
        return "".join([*parts, text[end:]]).encode("latin-1") if parts else body


def _branches(words: Iterable[str], levels: int = _LEVELS) -> str:
    """Returns a pattern of all words, the longest first, that compares few of them at each position."""
    words = sorted(set(words))
    start = commonprefix(words)  # noqa: RUF071  # of characters, not of paths
    rest = [word[len(start) :] for word in words]
    if len(rest) == 1 or levels == 0:
        found = [re.escape(word) for word in sorted(rest, key=len, reverse=True)]
    else:
        parted = {first: [*same] for first, same in groupby(rest, key=lambda word: word[:1])}
        ends = parted.pop("", [])  # a word that others begin with comes last
        found = [*(_branches(same, levels - 1) for same in parted.values()), *ends]
    return f"{re.escape(start)}(?:{'|'.join(found)})"


def _as_bytes(text: str) -> str:
    """Returns text with one character for each byte."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


@lru_cache(maxsize=256)
def _forms(value: str) -> tuple[str, ...]:
    """Returns the value in plain form, in URL and form encoding, and in JSON."""
    escaped = [json.dumps(value, ensure_ascii=plain)[1:-1] for plain in (True, False)]
    urls = [quote(value, safe="", errors="replace"), quote_plus(value, errors="replace")]
    return tuple(dict.fromkeys((value, *urls, *escaped, *(each.replace("/", r"\/") for each in escaped))))


def _resize(sizes: list[int], start: int, old: int, new: int) -> None:
    """Corrects chunk sizes after `old` bytes at `start` became `new` bytes. The first chunk that is touched
    takes the change.
    """
    at, owner = 0, None
    for index, size in enumerate(sizes):
        overlap = min(at + size, start + old) - max(at, start)
        if overlap > 0:
            owner = index if owner is None else owner
            sizes[index] -= overlap
        at += size
    if owner is not None:
        sizes[owner] += new
