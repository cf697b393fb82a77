"""Letters that a text writes as numbers: `[115, 107]`, `CHR(115)||CHR(107)`, `115107`, `U+0073`, `0x736b`, a dump of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

__all__ = ["Letters", "in_numbers"]

LEAST = 10  # letters that are searched
LONGEST = 8  # digits of a number that is a letter
FAR = 40  # characters between two numbers that do not belong together

#: A number, without the beginning of `0x73` and `0o163`.
_NUMBER = re.compile(r"(?!0[box])\d+", re.ASCII | re.IGNORECASE)
#: Letters as digits without anything between them: the base, the digits of each letter, and ten letters or more.
_JOINED = (
    (10, 3, re.compile(r"(?:0(?:4[5-9]|[5-9]\d)|1[01]\d|12[0-2]){10,}", re.ASCII)),
    (8, 3, re.compile(r"(?:0[5-7][0-7]|1[0-7]{2}){10,}")),
    (2, 8, re.compile(r"(?:0[01]{7}){10,}")),
)
#: Bytes in hexadecimal: alone, or behind the letter with which a language begins an escape.
_BYTES = re.compile(r"(?:(?<![0-9A-Za-z])|(?<=[hHuUxX]))(?>(?:[0-9a-fA-F]{2})+)(?![0-9a-fA-F])")
#: A line end, as it is or escaped, and what is before the first number of the next line.
_LINE_BEGINNING = re.compile(r"(?:\A|\n|\\n)[^\w\n]{0,8}+(?:0[xX])?")


class Letters(NamedTuple):
    """Letters, and where the number of each begins and ends in the text."""

    text: str
    starts: list[int]
    ends: list[int]


def in_numbers(text: str) -> Iterator[Letters]:
    """Yields the letters that the numbers of a text say, in each base: ten or more, one behind the other. A number that says no letter
    ends them, because any long text has some numbers that do.
    """
    numbers = [found.span() for found in _NUMBER.finditer(text)]
    for base in (10, 8, 2) if len(numbers) >= LEAST else ():
        for places in _readings(text, numbers):
            yield from _said(text, places, base)
    long = [span for span in numbers if span[1] - span[0] >= 3 * LEAST]
    for base, width, joined in _JOINED if long else ():
        runs = [found.span() for start, end in long for found in joined.finditer(text, start, end)]
        yield from _said(text, _apart(runs, width), base)
    for places in _readings(text, [found.span() for found in _BYTES.finditer(text)]):
        yield from _said(text, _apart(places, 2), 16)


def _readings(text: str, numbers: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yields all numbers of a text; each second one, as in `"0": 115, "1": 107`, `115u8, 107u8` and `115.0, 107.0`; and those behind the
    first one of each line, which is the address in a dump of bytes.
    """
    yield numbers
    if len(numbers) >= 2 * LEAST:
        yield numbers[::2]
        yield numbers[1::2]
    first = {found.end() for found in _LINE_BEGINNING.finditer(text)}
    if not first.isdisjoint([start for start, _ in numbers]):
        yield [span for span in numbers if span[0] not in first]


def _apart(runs: list[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    """Returns the places of the numbers in runs of digits, each of which has so many digits."""
    starts = chain.from_iterable(range(start, stop, width) for start, stop in runs)
    return [(start, start + width) for start in starts]


def _said(text: str, places: list[tuple[int, int]], base: int) -> Iterator[Letters]:
    """Yields the letters that numbers say in a base, as long as they follow one another."""
    numbers = [text[start:end] for start, end in places]
    letters = {each: _letter(each, base) for each in set(numbers)}
    begin = 0
    for at in range(len(numbers) + 1):
        said = at < len(numbers) and letters[numbers[at]]
        if said and (at == begin or places[at][0] - places[at - 1][1] <= FAR):
            continue
        if at - begin >= LEAST:
            starts, ends = zip(*places[begin:at], strict=True)
            yield Letters("".join([letters[each] for each in numbers[begin:at]]), [*starts], [*ends])
        begin = at if said else at + 1


@lru_cache(4096)
def _letter(number: str, base: int) -> str:
    """Returns the printable letter of ASCII that a number says, or nothing. Of two bytes for a letter, one is zero."""
    if len(number) > LONGEST or number.strip("0123456789"[:base] if base < 16 else "0123456789abcdefABCDEF"):
        return ""
    code = int(number, base)
    return chr(code) if 32 < code < 127 or (code == 0 and base == 16) else ""
