"""Finds many words in a text at once. The time does not depend on their number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from os.path import commonprefix

FEW = 200
"""Up to so many words, a regular expression is faster. The time to compile one grows with its words."""
_LEVELS = 8  # times that the pattern branches; each is a group in the one before
_BEGINNING = 8  # characters of a word that are looked up at each place
Spans = Iterator[tuple[int, int]]


def spans(words: Iterable[str]) -> Callable[[str], Spans]:
    """Returns a function that yields the start and the end of each word in a text. If several begin at one place, it is the
    longest. What begins within another is left out.
    """
    words = {*words}
    if len(words) > FEW:
        found = all_spans(words)
        return lambda text: _apart(found(text))
    pattern = re.compile(branches(words))
    return lambda text: (match.span() for match in pattern.finditer(text))


def all_spans(words: Iterable[str]) -> Callable[[str], Spans]:
    """Returns the same function, with the words that begin within others."""
    words = {*words}
    width = min(_BEGINNING, *map(len, words))
    lengths = defaultdict[str, set[int]](set)
    for word in words:
        lengths[word[:width]].add(len(word))
    longest_first = {start: sorted(each, reverse=True) for start, each in lengths.items()}

    def found(text: str) -> Spans:
        for at in [at for at in range(len(text)) if text[at : at + width] in longest_first]:
            for length in longest_first[text[at : at + width]]:
                if (word := text[at : at + length]) in words:
                    yield at, at + len(word)
                    break

    return found


def _apart(found: Spans) -> Spans:
    end = 0
    for span in found:
        if span[0] >= end:
            yield span
            end = span[1]


def branches(words: Iterable[str], levels: int = _LEVELS) -> str:
    """Returns a pattern of all words, the longest first, that compares few of them at each position."""
    words = sorted(set(words))
    start = commonprefix(words)  # noqa: RUF071  # of characters, not of paths
    rest = [word[len(start) :] for word in words]
    if len(rest) == 1 or levels == 0:
        found = [re.escape(word) for word in sorted(rest, key=len, reverse=True)]
    else:
        parted = {first: [*same] for first, same in groupby(rest, key=lambda word: word[:1])}
        ends = parted.pop("", [])  # a word that others begin with comes last
        found = [*(branches(same, levels - 1) for same in parted.values()), *ends]
    return f"{re.escape(start)}(?:{'|'.join(found)})"
