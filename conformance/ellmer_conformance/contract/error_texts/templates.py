"""Tells whether an error text has a template of a refusal, with anything in the template's places, or its letters alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from ..rule import Rule
from ..rulebook import RuleBook
from .refusals import Refusals
from .sentences import FUNCTION_WORDS, WORD, words

__all__ = ["PLACE", "alone", "containing", "has", "reordered", "spelt"]

PLACE = re.compile(r"\{\w*\}")
_IN_A_PLACE = 200  # letters that stand in a place of a template at most
_MOSTLY = 0.65  # the share of a sentence's letters that are compared
_WHOLE = 18  # the least number of letters of a known text that a text has whole
_FEWEST = 3  # words of a refusal that stands alone
_MANY = 5  # words of a shortened text whose words are all in a refusal
_BETWEEN = re.compile(r": |[\n\"'`{}]")
_SPELT = 36  # the least number of letters of a sentence that are compared in a row


def has(text: str, known: str, *, wholly: bool) -> bool:
    """Tells whether a text has, or wholly is, a known text with anything in its places. It costs as much as each part's search."""
    parts, after = _parts(known)
    if not all(part in text for _, part in parts):
        return False
    ends, free = [0], not wholly
    for gap, part in parts:
        starts = _starts(text, part)
        ends = [at + len(part) for at in starts if free or _reaches(ends, at - gap, at)]
        free = False
    return bool(ends) and (not wholly or ends[-1] >= len(text) - after)


def _starts(text: str, part: str) -> Iterator[int]:
    """Yields where a part of a known text begins in a text."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _reaches(ends: Sequence[int], first: int, last: int) -> bool:
    """Tells whether one of the ascending places is between two others."""
    nearest = bisect_left(ends, first)
    return nearest < len(ends) and ends[nearest] <= last


@cache
def _parts(known: str) -> tuple[list[tuple[int, str]], int]:
    """Returns the parts of a known text between its places, each with the most letters before it, and the most letters at the end."""
    found, gap = list[tuple[int, str]](), 0
    for part in PLACE.split(known.replace("`", "")):
        if plain := " ".join(part.split()):
            found.append((gap, plain))
            gap = 0
        gap += _IN_A_PLACE
    return found, gap - _IN_A_PLACE


def containing(text: str, refusals: Refusals) -> list[tuple[RuleBook, Rule]]:
    """Returns the rules with a known text that a text has whole, however short it is beside the rest."""
    plain = text.replace("`", "")
    whole = {known for known in refusals.texts if _told(known) >= _WHOLE and has(plain, known, wholly=False)}
    groups = [not whole.isdisjoint(texts) for texts in refusals.groups]
    return [(book, rule) for book, rule, at in refusals.rules if groups[at]]


def alone(text: str, refusals: Refusals) -> list[tuple[RuleBook, Rule]]:
    """Returns the rules whose whole refusal, of a few words, stands between a colon, a quotation mark or the end of a line and the next one."""
    parts = {part.strip(" .,") for part in _BETWEEN.split(text.lower())}
    return [
        (book, rule)
        for book, rule, _ in refusals.rules
        for each in rule.refusals
        if len(words(each.message)) >= _FEWEST and each.message.lower().strip(" .") in parts
    ]


def reordered(text: str, refusals: Refusals) -> list[tuple[RuleBook, Rule]]:
    """Returns the rules with a known text that has all words of a text, some of them in a row: people shorten a refusal and say the field first."""
    row = words(text)
    told = {*row} - FUNCTION_WORDS - {"*"}
    if not _MANY <= len(told) <= 2 * _MANY:
        return []
    runs = {*_runs(row)}
    known = {
        each for each in refusals.texts if told <= {*words(each)} and not runs.isdisjoint(_runs(words(each)))
    }
    groups = [not known.isdisjoint(texts) for texts in refusals.groups]
    return [(book, rule) for book, rule, at in refusals.rules if groups[at]]


def _runs(row: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the words in a row of a text, three at a time, without values."""
    return [run for run in zip(row, row[1:], row[2:], strict=False) if "*" not in run]


@cache
def _told(known: str) -> int:
    """Returns how many letters a known text has beside its places."""
    return len(_letters(PLACE.sub("", known)))


def spelt(text: str, refusals: Refusals) -> list[tuple[RuleBook, Rule]]:
    """Returns the rules with a sentence whose letters the text has in a row, whatever stands between them: a text that was read from a
    picture or quoted twice has other spaces and quotation marks.
    """
    letters = _letters(text)
    found = {
        (id(book), rule.id): (book, rule)
        for row, rules in _rows(refusals).items()
        if row in letters
        for book, rule in rules
    }
    return [*found.values()]


@cache
def _rows(refusals: Refusals) -> dict[str, list[tuple[RuleBook, Rule]]]:
    """Returns the letters by which a known sentence is found, with the rules that have it."""
    found = defaultdict[str, list[tuple[RuleBook, Rule]]](list)
    rows = [{_row(known) for known in texts} - {""} for texts in refusals.groups]
    for book, rule, at in refusals.rules:
        for row in rows[at]:
            found[row].append((book, rule))
    return found


def _row(known: str) -> str:
    """Returns most of the letters of a sentence's longest part, from its beginning, or none if there are too few."""
    longest = max(map(_letters, PLACE.split(known)), key=len)
    least = max(_SPELT, round(len(longest) * _MOSTLY))
    return longest[:least] if len(longest) >= _SPELT else ""


def _letters(text: str) -> str:
    return "".join(WORD.findall(text.lower())).replace("*", "")
