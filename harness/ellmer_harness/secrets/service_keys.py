"""Finds the keys of services by their prefixes.

The list (`key_patterns`) has the keys of model providers and of the services that tests of such programs use most. The rule
set of the extra `secrets` has hundreds more, which the author of gitleaks and MongoDB maintain. Loading them takes ten
seconds the first time on a machine, and one second afterwards; searching a megabyte takes ten milliseconds. They are
therefore loaded only before data is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from .key_patterns import PATTERNS
from .random_values import pretended, random

# --- Keys of the list -------------------------------------------------------------------------------------


_COMPILED = [(row, row.literals.split(), re.compile(row.regex, re.ASCII)) for row in PATTERNS]
_MARKS = "-_.:/=~"


def keys(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the keys among words without spaces, each with its kind."""
    text = "\n".join(words)
    missing = {mark for mark in _MARKS if mark not in text}  # base64 has none, and is most of what is long
    for row, literals, pattern in _COMPILED:
        for literal in literals:
            if missing.isdisjoint(literal):
                found = around(text, literal, pattern, *row.before, once=row.once)
                yield from (
                    (row.what, key[0])
                    for key in found
                    if _is_drawn(key[0], literal) and not _is_in_data(text, key)
                )


def runs(data: bytes, table: bytes, least: int) -> list[bytes]:
    """Returns the runs of at least `least` bytes that have a 1 in the table. Finding them in bulk is fast."""
    find, wanted = (data.translate(table) + b"\0").find, b"\1" * least
    found: list[bytes] = []
    at = find(wanted)
    while at >= 0:
        end = find(0, at + least)
        found.append(data[at:end])
        at = find(wanted, end)
    return found


def _is_drawn(key: str, literal: str) -> bool:
    """Tells whether a key is random, as a whole or after its literal: some have small letters only."""
    return (random(key) or random(key.removeprefix(literal))) and not pretended(key)


_BESIDE = 500  # characters on each side
_DATA = re.compile(r"[\w+/-]*")
_RUN = re.compile(r"[\w-]*", re.ASCII)


_GLUED = 64  # characters before a key, without a break


def _is_in_data(text: str, key: re.Match[str]) -> bool:
    """Tells whether a match is inside of long Base64, such as that of an image, where chance makes the beginning of any key, or is the rest of
    a long reference.
    """
    before = text[max(0, key.start() - _GLUED) : key.start()]
    if len(before) == _GLUED and _RUN.fullmatch(before) and random(before):
        return True
    begin, end = key.start() - _BESIDE, key.end() + _BESIDE
    return begin >= 0 and end <= len(text) and bool(_DATA.fullmatch(text, begin, end))


def around(
    text: str, literal: str, pattern: re.Pattern[str], least: int = 0, most: int = 0, *, once: bool = False
) -> Iterator[re.Match[str]]:
    """Yields the matches that begin at the literal, or `least` to `most` characters earlier. With `once`, the literals behind one without
    a match are left out up to the end of the run of letters, `-` and `_`.
    """
    at = text.find(literal)
    while at >= 0:
        found = next(
            (
                match
                for start in range(max(0, at - most), at - least + 1)
                if (match := pattern.match(text, start))
            ),
            None,
        )
        if found:
            yield found
        end = found.end() if found else _RUN.match(text, at).end() if once else 0  # type: ignore[union-attr]  # it matches nothing, too
        at = text.find(literal, max(at + 1, end))


# --- Patterns that others maintain -----------------------------------------------------------------------


def maintained(text: bytes) -> Iterator[tuple[str, str]]:
    """Yields the findings of the rules in a text: the secret and its kind."""
    scanner = _scanner()
    for found in scanner.scan(text) if scanner else ():
        if found.visible:
            yield found.secret, f"what rule {found.rule_id} finds"


def has_rules() -> bool:
    """Tells whether the maintained rules are installed."""
    return _scanner() is not None


@cache
def _scanner() -> Any:
    try:
        from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  # an extra, and slow to load
    except ModuleNotFoundError:
        return None
    return Scanner(Rules(), base64=False)
