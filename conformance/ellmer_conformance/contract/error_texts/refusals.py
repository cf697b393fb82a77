"""The refusals of the rules of some books: what each says, and how much a word of them tells. They are read once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import log

from ..rule import Rule, verdict
from ..rulebook import RuleBook
from .other_causes import SAYS_NOTHING, other_cause
from .sentences import FUNCTION_WORDS, Said, said, sentences, texts_in, words

__all__ = ["Refusals", "Weights", "known_texts", "refusals_of", "texts_of"]

_ANY = 0.1  # the weight of a name, path or number
#: The beginning of a sentence that any refusal may have: it says what to do, and not what is wrong.
_ADVICE = re.compile(
    r"(?:Please |Or )?(?:(?:check|try again|retry|see|refer|consult|contact)\b|remove \S+ and try again)",
    re.IGNORECASE,
)
_LITTLE = 0.6  # the weight of a word that any sentence may have


class Refusals:
    """The refusing rules of some books with what their texts say. Most refuse as another provider's do: they are of one group."""

    def __init__(self, books: Iterable[RuleBook]) -> None:
        self.books = [*books]
        refusing = {
            (book.wire, id(rule)): (book, rule)
            for book in self.books
            for rule in book.rules.values()
            if rule.refusals
        }
        told = [(book, rule, texts_of(book, rule)) for book, rule in refusing.values()]
        self.texts = {each.text: each for *_, texts in told for each in texts}
        self.weigh = Weights(each for *_, texts in told for each in texts[:1])
        groups = {tuple(each.text for each in texts): None for *_, texts in told}
        self.groups = [*groups]
        at = {texts: index for index, texts in enumerate(groups)}
        self.rules = [(book, rule, at[tuple(each.text for each in texts)]) for book, rule, texts in told]


_REFUSALS: dict[tuple[int, ...], Refusals] = {}


def refusals_of(books: Iterable[RuleBook]) -> Refusals:
    """Returns the refusals of some books. Those of the same books are made once."""
    books = [*books]
    key = tuple(map(id, books))  # which the refusals keep alive
    if key not in _REFUSALS:
        _REFUSALS[key] = Refusals(books)
    return _REFUSALS[key]


class Weights:
    """How much a word tells: little, if many refusals have it."""

    def __init__(self, refusals: Iterable[Said]) -> None:
        texts = {tuple(each.named.all): {*each.words.all, *each.named.all} for each in refusals}
        counts = Counter(word for words in texts.values() for word in words)
        most = log(len(texts) + 2)
        self._told = {word: _new(word) * (1 - log(count + 1) / most) for word, count in counts.items()}
        self._told["*"] = _ANY

    def __call__(self, words: Iterable[str]) -> float:
        """Returns the weight of words together: each has one from 0 to 1."""
        return sum(told if (told := self._told.get(word)) is not None else _new(word) for word in words)


def _new(word: str) -> float:
    """Returns the weight of a word that no refusal has."""
    return _LITTLE if word in FUNCTION_WORDS else 1.0


_READ: dict[tuple[Rule, str, str], list[Said]] = {}


def texts_of(book: RuleBook, rule: Rule) -> list[Said]:
    """Returns what the provider's texts for a refusal and their sentences say."""
    key = rule, book.wire, book.provider
    if key not in _READ:
        texts = {each.text: each for text in known_texts(book, rule) for each in _said_in(text)}
        _READ[key] = [*texts.values()]
    return _READ[key]


@cache
def _said_in(text: str) -> list[Said]:
    """Returns what a known text and its sentences say, unless it does not say what is wrong."""
    texts = [text, *(texts_in(text) if text[:1] == "[" else ())]
    told = [
        part for each in texts for part in (each, *sentences(each)) if part == each or not _ADVICE.match(part)
    ]
    known = (said(part, known=True) for part in dict.fromkeys(told) if other_cause(part) is not SAYS_NOTHING)
    return [each for each in known if {*each.words.all} - {"*"}]


_KNOWN: dict[tuple[Rule, str, str], list[str]] = {}


def known_texts(book: RuleBook, rule: Rule) -> list[str]:
    """Returns the provider's texts for a refusal: templates, and the refusals of the counterexamples."""
    key = rule, book.wire, book.provider
    if key not in _KNOWN:
        _KNOWN[key] = [*_templates_and_refusals(book, rule)]
    return _KNOWN[key]


def _templates_and_refusals(book: RuleBook, rule: Rule) -> Iterator[str]:
    for refusal in rule.refusals:
        if len(words(refusal.message)) > 1:
            yield refusal.message
    for counterexample in rule.counterexamples:
        for violation in verdict(rule, book.request(counterexample)).violations[:1]:
            if violation.refusal:
                yield violation.refusal.message
