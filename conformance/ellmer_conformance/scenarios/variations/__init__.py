"""Variations of an answer's transport: other chunks, other line ends, unknown fields, truncation, or errors.

Each variation is applied to recorded streams and to the strict server's answers. A client must return the same
result, or report what is missing. A variation has a name (`every-byte`, `cut:3`) and the rule that it tests.
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

VARIATIONS = {each.name: each for each in (*BYTES, *MEANING, *FAILURES)}
_MOST_EVENTS = 30
_NUMBERED: dict[str, Callable[[int], Variation]] = {
    "cut": cut,
    "random": random,
    "reset": reset,
    "split": split,
    "stall": stall,
}


def variation(name: str) -> Variation:
    """Returns the variation with a name. Names with a number are generated. Raises LookupError for an unknown name."""
    if name in VARIATIONS:
        return VARIATIONS[name]
    word, _, number = name.partition(":")
    if word not in _NUMBERED or not number.isdecimal():
        raise LookupError(f"there is no variation {name!r}; there are {', '.join(VARIATIONS)}")
    return _NUMBERED[word](int(number))


def named(names: Iterable[str]) -> list[Variation]:
    """Returns some variations by name."""
    return [variation(name) for name in names]


def possible(names: Iterable[str]) -> list[Variation]:
    """Returns the same variations, with all that `cut:*` may become for a stream of unknown length."""
    return expanded(names, _MOST_EVENTS)


def expanded(names: Iterable[str], events: int) -> list[Variation]:
    """Returns some variations by name. `cut:*` becomes a cut after each event but the last."""
    found: list[str] = []
    for name in names:
        stem, star, _ = name.partition("*")
        found += [f"{stem}{place}" for place in range(1, events)] if star else [name]
    return named(found)


def of_rules(*rules: str) -> tuple[str, ...]:
    """Returns the names of the variations that test some rules."""
    return tuple(name for name, variation in VARIATIONS.items() if variation.rule in rules)
