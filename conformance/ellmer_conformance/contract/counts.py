"""Numbers with their nouns, for messages."""

from __future__ import annotations

from collections.abc import Collection


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 call`, `2 calls`, `2,000 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def passive(number: int, noun: str, verb: str) -> str:
    """Returns what happened to a number of things: `1 call was made`, `2 calls were made`."""
    return f"{counted(number, noun)} {'was' if number == 1 else 'were'} {verb}"


def times(number: int) -> str:
    """Returns `not at all`, `once`, `twice`, `3 times`."""
    return {0: "not at all", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def listed(values: Collection[object]) -> str:
    """Returns values with commas: `a, b`, or `nothing`."""
    return ", ".join(map(str, values)) or "nothing"
