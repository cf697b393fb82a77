"""Finds the rules for an error text of a provider. Words are compared; names and numbers count less.

The text of a rule's refusal comes from its template, and from the refusals of its counterexamples. A text may be a part of
it: one of its sentences, or a line that was cut short. It may also contain more, as a log line does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .rule import Rule, verdict
from .rulebook import RuleBook

#: The least similarity of two texts, from 0 to 1, and the greatest distance from the best match.
LEAST, BEHIND = 0.6, 0.05

#: Words that a part of a text must have, the similarity of two whole texts, and the weight of a part.
_ENOUGH, _WHOLE, _PART = 5, 0.9, 0.85
_NAMED = 0.95  # the weight of a similarity that names have made
_END = re.compile(r"(?<=[.!?:;])\s+|\n+")
_NAME = re.compile(r"[^\W_]+")
_VALUE = re.compile(r"\{\w*\}|'[^']*'|\"[^\"]*\"|`[^`]*`|\b\w*\d[\w.-]*|[\w$]++(?>(?:[.\[][\w\].$\[]++)+)")
_WORD = re.compile(r"[^\W\d_]+|\*")


class Match(NamedTuple):
    """A rule of a book with the similarity of its refusal to the text, from 0 to 1: without names, and with them. `whole` is
    the part of the text that the refusal has.
    """

    alike: float
    named: float
    whole: float
    book: RuleBook
    rule: Rule


def matches(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns the rules whose refusals are most similar to the text, best first; an empty list if none is similar.

    Of rules with one text, those about calls and their results come first, because a missing result is the usual cause, and then
    those that hold for every version.
    """
    found = nearest(text, books)
    best = max((each.alike for each in found), default=0.0)
    close = [each for each in found if each.alike >= max(LEAST, best - BEHIND) and each.named]
    return sorted(close, key=_rank)


def _rank(match: Match) -> tuple[float, float, float, bool, bool, bool]:
    rule = match.rule
    limited = bool(rule.betas or rule.versions)
    return -match.named, -match.whole, -match.alike, rule.preview, rule.group != "PAIR", limited


def nearest(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns all refusing rules, the most similar first. Of equally similar ones, those come first that have the text's
    names, too.
    """
    wanted = [_said(part) for each in texts_in(text) for part in (each, *sentences(each))]
    refusing = {
        (book.wire, id(rule)): (book, rule)
        for book in books
        for rule in book.rules.values()
        if rule.refusal or rule.formerly
    }
    found = [(Match(*_best(wanted, book, rule), book, rule)) for book, rule in refusing.values()]
    return sorted(found, key=lambda each: (-each.alike, -each.named, each.rule.preview))


class _Said(NamedTuple):
    """What a text says: its words, and its words with those in names."""

    words: list[str]
    named: list[str]


def _said(text: str) -> _Said:
    return _Said(words(text), _tokens(text))


def _best(wanted: Sequence[_Said], book: RuleBook, rule: Rule) -> tuple[float, float, float]:
    """Returns the similarity of a rule's most similar text: by its words, by all that it says, and as a part."""
    pairs = [
        (_alike(ours.words, theirs.words), _alike(ours.named, theirs.named))
        for ours in wanted
        for theirs in _known(book, rule)
    ]
    alike, named = max(((max(alike, _NAMED * named), named) for alike, named in pairs), default=(0.0, 0.0))
    return alike, named, _whole(wanted[0], book, rule) if alike >= LEAST else 0.0


def _whole(text: _Said, book: RuleBook, rule: Rule) -> float:
    """Returns how much of a text, with its names, is in the most similar text of a rule: it may have more than the sentence that
    both have.
    """
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(text.named)
    covered = 0
    for known in _known(book, rule):
        matcher.set_seq1(known.named)
        covered = max(covered, sum(block.size for block in matcher.get_matching_blocks()))
    return covered / max(1, len(text.named))


_READ: dict[tuple[Rule, str, str], list[_Said]] = {}


def _known(book: RuleBook, rule: Rule) -> list[_Said]:
    """Returns what the provider's texts for a refusal and their sentences say. They are read once."""
    found = _READ.get((rule, book.wire, book.provider))
    if found is None:
        parts = dict.fromkeys(part for text in known_texts(book, rule) for part in (text, *sentences(text)))
        found = _READ[rule, book.wire, book.provider] = [_said(part) for part in parts]
    return found


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text that are long enough to be recognized, if it has several."""
    parts = [part for part in _END.split(text) if sum(word != "*" for word in words(part)) >= _ENOUGH]
    return parts if parts != [text] else []


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
    except (ValueError, RecursionError):
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


def _tokens(text: str) -> list[str]:
    """Returns the words of a text in lower case, with those in names."""
    return _NAME.findall(text.lower())


def _alike(first: list[str], second: list[str]) -> float:
    """Returns the similarity of two lists of words. A list that is almost a part of the other one is similar, too."""
    if not first or not second or len({*first} & {*second}) * 2 < min(len({*first}), len({*second})):
        return 0.0
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    ratio = matcher.ratio()
    shorter = min(len(first), len(second))
    if ratio >= _WHOLE or shorter < _ENOUGH:
        return ratio
    runs = sum(block.size for block in matcher.get_matching_blocks() if block.size > 1)
    return max(ratio, _PART * runs / shorter)
