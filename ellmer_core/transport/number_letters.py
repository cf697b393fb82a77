"""Letters that a text writes as numbers: `[115, 107]`, `CHR(115)||CHR(107)`, `115107`, `U+0073`, `0x736b`, a dump of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

__all__ = ["Letters", "in_numbers"]

LEAST = 10  # letters that are searched
LONGEST = 8  # digits of a number that is a letter

_NUMBER = re.compile(r"\d+", re.ASCII)
#: Letters as digits without anything between them: the base, the digits of each letter, and ten letters or more.
_JOINED = (
    (10, 3, re.compile(r"(?:0(?:4[5-9]|[5-9]\d)|1[01]\d|12[0-2]){10,}", re.ASCII)),
    (8, 3, re.compile(r"(?:0[5-7][0-7]|1[0-7]{2}){10,}")),
    (2, 8, re.compile(r"(?:0[01]{7}){10,}")),
)
#: Bytes in hexadecimal: alone, or behind the letter with which a language begins an escape.
_BYTES = re.compile(r"(?:(?<![0-9A-Za-z])|(?<=[hHuUxX]))(?>(?:[0-9a-fA-F]{2})+)(?![0-9a-fA-F])")
_ASCII = bytes(range(128)) + b" " * 128


class Letters(NamedTuple):
    """Letters, and where the number of each begins and ends in the text."""

    text: str
    starts: list[int]
    ends: list[int]


def in_numbers(text: str) -> Iterator[Letters]:
    """Yields the letters that the numbers of a text say, in each base, and a space for what says no letter of ASCII."""
    numbers = [found.span() for found in _NUMBER.finditer(text)]
    if len(numbers) >= LEAST:
        starts, ends = [start for start, _ in numbers], [end for _, end in numbers]
        yield from (Letters(_said(text, starts, ends, base), starts, ends) for base in (10, 8, 2))
    long = [span for span in numbers if span[1] - span[0] >= 3 * LEAST]
    for base, width, joined in _JOINED if long else ():
        runs = [found.span() for start, end in long for found in joined.finditer(text, start, end)]
        starts, ends = _apart(runs, width)
        if starts:
            yield Letters(_said(text, starts, ends, base), starts, ends)
    runs = [found.span() for found in _BYTES.finditer(text)]
    said = bytes.fromhex("".join([text[slice(*run)] for run in runs])).translate(_ASCII).decode("ascii")
    if len(said) >= LEAST:
        yield Letters(said, *_apart(runs, 2))


def _apart(runs: list[tuple[int, int]], width: int) -> tuple[list[int], list[int]]:
    """Returns where the letters in runs of digits begin and end, each of which has so many digits."""
    starts = [*chain.from_iterable(range(start, stop, width) for start, stop in runs)]
    return starts, [start + width for start in starts]


def _said(text: str, starts: list[int], ends: list[int], base: int) -> str:
    numbers = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    letters = {each: _letter(each, base) for each in set(numbers)}
    return "".join([letters[each] for each in numbers])


def _letter(number: str, base: int) -> str:
    """Returns the letter of ASCII that a number says, or a space."""
    if len(number) > LONGEST or number.strip("0123456789"[:base]):
        return " "
    code = int(number, base)
    return chr(code) if code < 128 else " "
