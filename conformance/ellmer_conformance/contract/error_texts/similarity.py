"""How similar an error text is to the refusals of rules, by their words, and by how much each word tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import Match as Block
from difflib import SequenceMatcher
from itertools import pairwise
from operator import mul
from typing import NamedTuple

from ..rule import Rule
from ..rulebook import RuleBook
from .refusals import Weights, refusals_of
from .sentences import FUNCTION_WORDS, Said, Words, said, sentences, texts_in

__all__ = ["BEHIND", "COMPARED", "LEAST", "SHORT", "WHOLE", "Match", "nearest"]

#: The least similarity of two texts, from 0 to 1, and the greatest distance from the best match.
LEAST, BEHIND = 0.55, 0.05
COMPARED = 4000  # characters of the beginning and the end of a text that are compared
#: Words that a part of a text must have, the similarity of two whole texts, and the weight of a part.
_ENOUGH, WHOLE, _PART = 5, 0.9, 0.85
_TELLING = 2  # words of a part that are not in any sentence
_NAMED = 0.95  # the weight of a similarity that names have made
_LEFT_OUT = 0.5  # how much a word counts against a text that leaves it out
_LESS = 0.2  # how much less a sentence counts that is a small part of the text, and the least that is left of shared words
_NOT_ALIKE = (0.0, 0.0)  # what is said of two texts without a common word
_DIGITS = 6  # of a similarity: the order of its sums decides nothing
SHORT = 0.76  # the least similarity of texts of a few words
_NO_VALUE = ~1  # the bits of all words but `*`


class Match(NamedTuple):
    """A rule of a book with the similarity of its refusal to the text, from 0 to 1: without names, and with them. `covered` is the share of
    the text's sentences that the rule's refusals have.
    """

    alike: float
    named: float
    covered: float
    book: RuleBook
    rule: Rule


def nearest(text: str, books: Iterable[RuleBook], least: float = 0.0) -> list[Match]:
    """Returns the refusing rules that are similar to a text, the most similar first. Of equally similar ones, those come first that have
    the text's names, too. Those below the least similarity are left out.
    """
    if len(text) > 2 * COMPARED:
        text = f"{text[:COMPARED]}\n{text[-COMPARED:]}"
    refusals = refusals_of(books)  # first: a text gets the bits of the words that are known by then
    parted = [(each, sentences(each)) for each in texts_in(text)]
    wanted = [said(part) for each, parts in parted for part in (each, *parts)]
    parts = _weighed(wanted, refusals.weigh)
    longer = {each for each, parts in parted if parts}
    told = [0.0 if part.text in longer else refusals.weigh(part.named.all) for part in wanted]
    telling = 0
    for part in wanted:
        telling |= part.telling
    alike = _Alike(refusals.weigh)
    scores = {
        each.text: _scores(parts, each, alike) for each in refusals.texts.values() if telling & each.telling
    }
    likeness = [
        _likeness([scores[each] for each in texts if each in scores], told) for texts in refusals.groups
    ]
    found = [
        Match(*likeness[at], book, rule)
        for book, rule, at in refusals.rules
        if likeness[at][0] > 0 and likeness[at][0] >= least
    ]
    return sorted(found, key=lambda each: (-each.alike, -each.named, each.rule.preview))


def _weighed(wanted: Sequence[Said], weigh: Weights) -> list[tuple[float, Said]]:
    """Returns the wanted text and its parts, each with what it counts: a part counts less than the whole."""
    whole = weigh(wanted[0].named.all) or 1.0
    return [(1 - _LESS * (1 - min(weigh(part.named.all) / whole, 1)), part) for part in wanted]


def _scores(wanted: Sequence[tuple[float, Said]], known: Said, alike: _Alike) -> list[tuple[float, float]]:
    """Returns the similarity of a known text to each part of the wanted one, by its words, and by all that it says."""
    found = []
    for share, ours in wanted:
        if not ours.telling & known.telling:
            found.append(_NOT_ALIKE)
            continue
        named = share * alike(ours.named, known.named)
        found.append((max(share * alike(ours.words, known.words), _NAMED * named), named))
    return found


def _likeness(
    scores: Sequence[Sequence[tuple[float, float]]], told: Sequence[float]
) -> tuple[float, float, float]:
    """Returns the similarities of a rule's texts to a text, from those to each of its parts: by words, by all that it says, and how much
    of it they cover. `told` is what each part tells.
    """
    scores = [each for each in scores if any(score is not _NOT_ALIKE for score in each)]
    if not scores:
        return 0.0, 0.0, 0.0
    alike = max(max(of_text)[0] for of_text in scores)
    named = max(with_names for of_text in scores for score, with_names in of_text if score >= alike - BEHIND)
    best = (max(map(sum, of_part)) / 2 for of_part in zip(*scores, strict=True))
    covered = sum(map(mul, told, best)) / (sum(told) or 1.0)
    return round(alike, _DIGITS), round(named, _DIGITS), covered


class _Alike:
    """Compares the words of a text with those of known texts, each once: many known texts have the same words."""

    def __init__(self, weigh: Weights) -> None:
        self._weigh = weigh
        self._weights = dict[int, float]()
        self._found = dict[tuple[int, int], float]()

    def __call__(self, one: Words, other: Words) -> float:
        """Returns the similarity of the words of two texts, from 0 to 1."""
        shared = one.bits & other.bits
        if not shared & _NO_VALUE or shared.bit_count() * 2 < min(one.different, other.different):
            return 0.0
        key = id(one), id(other)
        if key not in self._found:
            weights = self._weight(one), self._weight(other)
            self._found[key] = _alike(one.all, other, weights, self._weigh)
        return self._found[key]

    def _weight(self, words: Words) -> float:
        if id(words) not in self._weights:
            self._weights[id(words)] = self._weigh(words.all)
        return self._weights[id(words)]


#: What finds the runs of words that a text shares with known words. Known words are kept, and so are their ids.
_MATCHERS = dict[int, SequenceMatcher[str]]()


def _shared_runs(first: list[str], known: Words) -> list[Block]:
    """Returns the runs of words that a text shares with a known one."""
    if id(known) not in _MATCHERS:
        _MATCHERS[id(known)] = SequenceMatcher(None, "", known.all, autojunk=False)
    matcher = _MATCHERS[id(known)]
    matcher.set_seq1(first)
    return matcher.get_matching_blocks()


def _alike(first: list[str], known: Words, weights: tuple[float, float], weigh: Weights) -> float:
    """Returns the similarity of words that share some. Those that are almost a part of the other ones are similar, too."""
    second = known.all
    blocks = _shared_runs(first, known)
    common = sum(weigh(first[block.a : block.a + block.size]) for block in blocks)
    replaced = _replaced(first, second, blocks, weigh)
    ratio = 2 * max(common - replaced, common * _LESS) / sum(weights)
    if ratio >= WHOLE:
        return ratio
    if min(len(first), len(second)) < _ENOUGH:
        return ratio if ratio >= SHORT else ratio * LEAST
    runs = [first[block.a : block.a + block.size] for block in blocks if block.size > 1]
    told = {word for run in runs for word in run} - FUNCTION_WORDS - {"*"}
    part = (sum(map(weigh, runs)) - replaced) / min(weights) if len(told) >= _TELLING else 0.0
    return max(ratio, _PART * part)


def _replaced(first: list[str], second: list[str], blocks: Sequence[Block], weigh: Weights) -> float:
    """Returns the weight of words that stand in place of others: `history` of `all elements in history`, where a refusal has `tools`. Words
    of the refusal that the text leaves out between two others count less.

    At the end, as many words have to stand there as in the refusal, because a text may be cut short or go on.
    """
    found = 0.0
    for before, after in pairwise(blocks):
        if not before.size:
            continue
        gaps = first[before.a + before.size : after.a], second[before.b + before.size : after.b]
        told = [[word for word in gap if word not in FUNCTION_WORDS and word != "*"] for gap in gaps]
        if all(told) and (after.size or min(map(len, told)) > 1 or len(gaps[0]) == len(gaps[1])):
            found += min(map(weigh, told))
        elif told[1] and after.size:
            found += _LEFT_OUT * weigh(told[1])
    return found
