"""A text that matches a pattern of a schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from re import _constants as code  # type: ignore[attr-defined]  # the standard library's own reader of patterns
from re import _parser as parser  # type: ignore[attr-defined]  # re has no public parser
from typing import Any

_CATEGORIES = {code.CATEGORY_DIGIT: "1", code.CATEGORY_WORD: "a", code.CATEGORY_SPACE: " "}
_LONGEST_PATTERN = 200  # characters of a pattern that is read, and times that a part is repeated
_LONGEST_TEXT = 2000
_PROPERTIES = ((re.compile(r"\\p\{L[ul]?\}"), r"\\w"), (re.compile(r"\\p\{Nd?\}"), r"\\d"))
_ADDED = ("", "1", "a", "A", "A1", "a1A!")  # what a condition such as `(?=.*\d)` may ask for
_repeats: ContextVar[int] = ContextVar("_repeats", default=1)  # how often a part that may be repeated is


def matching(pattern: str, candidates: Iterable[str], least: int = 0, most: int = _LONGEST_TEXT) -> str:
    """Returns the first candidate that matches a pattern, or else the shortest text that is easy to make.

    Args:
        pattern: A regular expression as JSON Schema has it.
        candidates: Texts that are preferred.
        least: The smallest number of characters.
        most: The greatest number of characters.
    """
    for found, plain in _PROPERTIES:
        pattern = found.sub(plain, pattern)
    try:
        if len(pattern) > _LONGEST_PATTERN:
            return next(iter(candidates), "")
        matches, tree = re.compile(pattern).search, parser.parse(pattern)
        shortest = _made(tree, 1)
    except (re.error, OverflowError, RecursionError):
        return next(iter(candidates), "")
    if _repeats_within_repeats(pattern):
        return shortest  # such a pattern may take years to compare with a long text
    texts = (*candidates, *_variants(tree, shortest, least))
    fits = (text for text in texts if text and least <= len(text) <= most)
    return next((text for text in fits if len(text) <= _LONGEST_PATTERN and matches(text)), shortest)


def _variants(tree: Any, shortest: str, least: int) -> Iterator[str]:
    """Yields the shortest text, longer ones, and ones with other kinds of characters."""
    for added in _ADDED:
        yield from (shortest + added, added + shortest)
    for count in {least, -(-least // 2), 2, 3} if least > len(shortest) else ():
        yield _made(tree, min(count, _LONGEST_PATTERN))


def _made(tree: Any, repeats: int) -> str:
    token = _repeats.set(repeats)
    try:
        return _text(tree)
    finally:
        _repeats.reset(token)


def _repeats_within_repeats(pattern: str) -> bool:
    return re.search(r"[*+}]\)?[*+{]", pattern) is not None


def _text(parts: Any) -> str:
    return "".join(_part(operation, argument) for operation, argument in parts)


def _part(operation: Any, argument: Any) -> str:
    if operation in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        least, most, part = argument
        count: int = min(max(least, min(_repeats.get(), most)), _LONGEST_PATTERN)
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
