"""Makes a text that matches a regular expression of a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from re import _constants as code  # type: ignore[attr-defined]  # the standard library's own reader of patterns
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["matching"]

_CATEGORIES = {code.CATEGORY_DIGIT: "1", code.CATEGORY_WORD: "a", code.CATEGORY_SPACE: " "}
_LONGEST = 200  # characters of a pattern that is read, and times that a part is repeated


def matching(pattern: str, candidates: Iterable[str]) -> str:
    """Returns the first candidate that matches a pattern, or else the shortest text that is easy to make."""
    try:
        matches = re.compile(pattern).search if len(pattern) <= _LONGEST else None
        if matches is None:
            return next(iter(candidates), "")
        made = _text(parser.parse(pattern))
    except (re.error, OverflowError, RecursionError):
        return next(iter(candidates), "")
    if _repeats_within_repeats(pattern):
        return made  # such a pattern may take years to compare with a long text
    return next((text for text in candidates if text and len(text) <= _LONGEST and matches(text)), made)


def _repeats_within_repeats(pattern: str) -> bool:
    return re.search(r"[*+}]\)?[*+{]", pattern) is not None


def _text(parts: Any) -> str:
    return "".join(_part(operation, argument) for operation, argument in parts)


def _part(operation: Any, argument: Any) -> str:
    if operation in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        least, most, part = argument
        count: int = min(max(least, min(1, most)), _LONGEST)
        return _text(part) * count
    make = _PARTS.get(operation)
    return make(argument) if make else ""


def _member(members: Any) -> str:
    """Returns a character of a class."""
    if members[0][0] is code.NEGATE:
        excluded = re.compile("|".join(re.escape(_member([each])) for each in members[1:]) or "(?!)")
        return next(letter for letter in "a1 _-" if not excluded.match(letter))
    operation, argument = members[0]
    if operation is code.RANGE:
        return chr(argument[0])
    if operation is code.CATEGORY:
        return _CATEGORIES.get(argument, "-")
    return chr(argument)


_PARTS: dict[Any, Callable[[Any], str]] = {
    code.LITERAL: chr,
    code.NOT_LITERAL: lambda letter: "a" if letter != ord("a") else "b",
    code.ANY: lambda _: "a",
    code.IN: _member,
    code.SUBPATTERN: lambda group: _text(group[-1]),
    code.BRANCH: lambda branches: _text(branches[1][0]),
}
