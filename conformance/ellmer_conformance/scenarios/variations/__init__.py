"""Other ways for the same answer to travel: in other chunks, with other line ends, with news in it, cut, or broken.

A recorded stream is played again under each of them, and so is the strict server's answer; a client must give the
same result, or notice what is missing. A variation has a name (`every-byte`, `cut:3`) and the rule that it tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .bytes_and_chunks import BYTES, random, split
from .interrupted_answers import FAILURES, cut, reset, stall
from .unusual_events import MEANING
from .variation import Variation, VariedAnswer

__all__ = [
    "VARIATIONS",
    "Variation",
    "VariedAnswer",
    "expanded",
    "named",
    "of_rules",
    "possible",
    "variation",
]

VARIATIONS = {one.name: one for one in (*BYTES, *MEANING, *FAILURES)}
_MOST_EVENTS = 30
_NUMBERED: dict[str, Callable[[int], Variation]] = {
    "cut": cut,
    "random": random,
    "reset": reset,
    "split": split,
    "stall": stall,
}


def variation(name: str) -> Variation:
    """Returns the variation of a name; those with a number are made. Raises LookupError for none."""
    if name in VARIATIONS:
        return VARIATIONS[name]
    word, _, number = name.partition(":")
    if word not in _NUMBERED or not number.isdecimal():
        raise LookupError(f"there is no variation {name!r}; there are {', '.join(VARIATIONS)}")
    return _NUMBERED[word](int(number))


def named(names: Iterable[str]) -> list[Variation]:
    """Some variations, by name."""
    return [variation(name) for name in names]


def possible(names: Iterable[str]) -> list[Variation]:
    """Returns the same, with every variation that `cut:*` may stand for, without knowing how long the stream
    is.
    """
    return expanded(names, _MOST_EVENTS)


def expanded(names: Iterable[str], events: int) -> list[Variation]:
    """Some variations, by name; `cut:*` stands for a cut after each event of so many but the last."""
    found: list[str] = []
    for name in names:
        stem, star, _ = name.partition("*")
        found += [f"{stem}{place}" for place in range(1, events)] if star else [name]
    return named(found)


def of_rules(*rules: str) -> tuple[str, ...]:
    """Returns the names of those that test some rules."""
    return tuple(name for name, one in VARIATIONS.items() if one.rule in rules)
