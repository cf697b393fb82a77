"""Finds the rules for an error text of a provider. Words are compared; names and numbers are ignored.

The text of a rule's refusal comes from its template, and from the refusals of its counterexamples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from .rule import Rule
from .rulebook import RuleBook
from .verdict import verdict

__all__ = ["Match", "known_texts", "matches", "texts_in"]

#: The least similarity of two texts, from 0 to 1, and the greatest distance from the best match.
LEAST, BEHIND = 0.6, 0.05

_VALUE = re.compile(r"\{\w*\}|'[^']*'|\"[^\"]*\"|`[^`]*`|\b\w*\d[\w.-]*|[\w$]+(?:[.\[][\w\].$\[]+)+")
_WORD = re.compile(r"[^\W\d_]+|\*")


class Match(NamedTuple):
    """A rule of a book with the similarity of its refusal to the text, from 0 to 1."""

    alike: float
    book: RuleBook
    rule: Rule


def matches(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns the rules whose refusals are most similar to the text, best first."""
    wanted = [words(each) for each in texts_in(text)]
    refusing = {
        (book.wire, id(rule)): (book, rule) for book in books for rule in book.rules.values() if rule.refusal
    }
    found = [
        Match(
            max((_alike(one, known) for one in wanted for known in _known(book, rule)), default=0.0),
            book,
            rule,
        )
        for book, rule in refusing.values()
    ]
    best = max((each.alike for each in found), default=0.0)
    close = [each for each in found if each.alike >= max(LEAST, best - BEHIND)]
    return sorted(close, key=lambda each: (-each.alike, each.rule.preview))


def _known(book: RuleBook, rule: Rule) -> list[list[str]]:
    return [words(text) for text in dict.fromkeys(known_texts(book, rule))]


def known_texts(book: RuleBook, rule: Rule) -> Iterator[str]:
    """Yields the provider's texts for a refusal: templates, and the refusals of the counterexamples."""
    for refusal in (rule.refusal, *rule.formerly):
        if refusal and len(words(refusal.message)) > 1:
            yield refusal.message
    for counterexample in rule.counterexamples:
        for violation in verdict(rule, book.request(counterexample)).violations[:1]:
            if violation.refusal:
                yield violation.refusal.message


def texts_in(text: str) -> list[str]:
    """Returns the text, or the strings in it if it is an error body in JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return [text]
    return [each for each in _strings(value) if " " in each] or [text]


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _strings(each)
        case list():
            for each in value:
                yield from _strings(each)
        case _:
            pass


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case. A name, path or number becomes `*`."""
    return _WORD.findall(_VALUE.sub(" * ", text).lower())


def _alike(one: list[str], other: list[str]) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= LEAST else 0.0
