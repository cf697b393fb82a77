"""How similar an error text is to the refusals of rules: what both say, by their words, and how much each word tells."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import Match as Block
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from math import log
from operator import mul
from typing import NamedTuple

from ..rule import Rule, verdict
from ..rulebook import RuleBook
from .other_causes import SAYS_NOTHING, other_cause

#: The least similarity of two texts, from 0 to 1, and the greatest distance from the best match.
LEAST, BEHIND = 0.55, 0.05
COMPARED = 4000  # characters of the beginning and the end of a text that are compared
#: Words that a part of a text and a sentence must have, the similarity of two whole texts, and the weight of a part.
_ENOUGH, _SENTENCE, WHOLE, _PART = 5, 4, 0.9, 0.85
_TELLING = 2  # words of a part that are not in any sentence
_NAMED = 0.95  # the weight of a similarity that names have made
_LEFT_OUT = 0.5  # how much a word counts against a text that leaves it out
_LESS = 0.2  # how much less a sentence counts that is a small part of the text, and the least that is left of shared words
#: What Bedrock puts before an error of the model's provider. It says nothing of the error.
PASSED_ON = re.compile(r"The model returned the following errors:? ?")
_LONGEST = 20_000  # characters that are read as what Python prints
_ANY = 0.1  # the weight of a name, path or number
_NOT_ALIKE = (0.0, 0.0)  # what is said of two texts without a common word
_DIGITS = 6  # of a similarity: the order of its sums decides nothing
SHORT = 0.76  # the least similarity of texts of a few words
_LITTLE = 0.6  # the weight of a word that any sentence may have
_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "cannot",
        "for",
        "from",
        "has",
        "have",
        "if",
        "in",
        "is",
        "it",
        "its",
        "must",
        "no",
        "not",
        "of",
        "on",
        "or",
        "so",
        "than",
        "that",
        "the",
        "this",
        "to",
        "was",
        "were",
        "will",
        "with",
        "you",
        "your",
    ]
)
_FAULT = re.compile(
    r"""['"]type['"]: ?['"](\w+)['"],\s*(?:['"]msg['"]: ?(?:"[^"]*"|'[^']*'),\s*)?['"]loc['"]: ?[\[(]([^\[\]()]*)(?:[\])]|$)"""
)
#: A message in JSON or in what Python prints, in a body that is not whole.
_MESSAGE = re.compile(
    r"""['"](?:message|errorMessage|error_message|error|detail|msg)['"]: ?(?:"([^"{}]{8,})"?|'([^'{}]{8,})'?)"""
)
_PART_OF_PLACE = re.compile(r"\w+")
#: What stands before a body and says no more than its status: "Error: 400", "API Error: 400", "Error code: 400 -".
_LABEL = re.compile(r"[\w. ]{0,40}[:(]? ?[45]\d\d\)?:?(?: -)?\s*")
#: What pydantic says of a kind of fault.
_FAULTS = {"extra_forbidden": "Extra inputs are not permitted", "missing": "Field required"}
ESCAPED = re.compile(r"(?<!\\)\\+(?=['\"])")
_END = re.compile(r"(?<=[.!?:;])\s+|\n+|\s[·|•]\s")
_LINK = re.compile(r"https?://")
#: Where to read more, as any refusal may say.
_MORE = re.compile(r"(?:\b\w+(?: \w+){0,2}: ?)?https?://[^\s\"'}]+")
_NAME = re.compile(r"[^\W_]+")
#: A place in a template, a quoted name or value, a number, a path. What is longer is no value: the quotation mark is one of something else.
_VALUE = re.compile(
    r"\{\w*\}|'[^']{0,80}'|\"[^\"]{0,80}\"|`[^`]{0,80}`|\b\w*\d[\w.-]*|[\w$]++(?>(?:[.\[][\w\].$\[]++)+)"
)
WORD = re.compile(r"[^\W\d_]+|\*")


class Match(NamedTuple):
    """A rule of a book with the similarity of its refusal to the text, from 0 to 1: without names, and with them. `covered` is the share of
    the text's sentences that the rule's refusals have.
    """

    alike: float
    named: float
    covered: float
    book: RuleBook
    rule: Rule


def nearest(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns all refusing rules, the most similar first. Of equally similar ones, those come first that have the text's
    names, too.
    """
    if len(text) > 2 * COMPARED:
        text = f"{text[:COMPARED]}\n{text[-COMPARED:]}"
    parted = [(each, sentences(each)) for each in texts_in(text)]
    wanted = [_text_and_words(part) for each, parts in parted for part in (each, *parts)]
    refusals = _refusals_of(books)
    parts = _weighed(wanted, refusals.weigh)
    scores = {said.text: _scores(parts, said, refusals.weigh) for said in refusals.sharing(wanted)}
    longer = {each for each, parts in parted if parts}
    told = [0.0 if part.text in longer else refusals.weigh(part.named.all) for part in wanted]
    likeness = {
        texts: _likeness([scores[each] for each in texts if each in scores], told)
        for texts in {texts for *_, texts in refusals.known}
    }
    found = [Match(*likeness[texts], book, rule) for book, rule, texts in refusals.known]
    return sorted(found, key=lambda each: (-each.alike, -each.named, each.rule.preview))


class _Refusals:
    """The refusing rules of some books with what their texts say, by the words that tell something."""

    def __init__(self, refusing: Iterable[tuple[RuleBook, Rule]]) -> None:
        told = [(book, rule, texts_of(book, rule)) for book, rule in refusing]
        self.known = [(book, rule, tuple(said.text for said in texts)) for book, rule, texts in told]
        self.weigh = _Weights(said for _, _, texts in told for said in texts[:1])
        self._having = defaultdict[str, dict[str, _Said]](dict)  # most are the text of several providers
        for said in (said for _, _, texts in told for said in texts):
            for word in said.telling:
                self._having[word][said.text] = said

    def sharing(self, wanted: Iterable[_Said]) -> Iterable[_Said]:
        """Returns the texts that share a word with one of the wanted ones."""
        words = {word for part in wanted for word in part.telling}
        found: dict[str, _Said] = {}
        for word in words & self._having.keys():
            found |= self._having[word]
        return found.values()


_REFUSALS: dict[tuple[tuple[str, int], ...], _Refusals] = {}


def _refusals_of(books: Iterable[RuleBook]) -> _Refusals:
    """Returns the refusing rules of the books. Those of the same rules are made once."""
    refusing = {
        (book.wire, id(rule)): (book, rule)
        for book in books
        for rule in book.rules.values()
        if rule.refusal or rule.formerly
    }
    key = tuple(refusing)
    if key not in _REFUSALS:
        _REFUSALS[key] = _Refusals(refusing.values())
    return _REFUSALS[key]


class _Weights:
    """How much a word tells: little, if many refusals have it."""

    def __init__(self, refusals: Iterable[_Said]) -> None:
        texts = {tuple(said.named.all): said.words.each | said.named.each for said in refusals}
        counts = Counter(word for words in texts.values() for word in words)
        most = log(len(texts) + 2)
        self._told = {word: _new(word) * (1 - log(count + 1) / most) for word, count in counts.items()}
        self._told["*"] = _ANY

    def __call__(self, words: Iterable[str]) -> float:
        """Returns the weight of words together: each has one from 0 to 1."""
        return sum(told if (told := self._told.get(word)) is not None else _new(word) for word in words)


def _new(word: str) -> float:
    """Returns the weight of a word that no refusal has."""
    return _LITTLE if word in _FUNCTION_WORDS else 1.0


class _Words(NamedTuple):
    """The words of a text in their order, and each once."""

    all: list[str]
    each: frozenset[str]


class _Said(NamedTuple):
    """What a text says: its words, its words with those in names, and those of them that tell something."""

    text: str
    words: _Words
    named: _Words
    telling: frozenset[str]


def _text_and_words(text: str) -> _Said:
    told = _MORE.sub(" ", PASSED_ON.sub(" ", text))
    plain, tokens = words(told), _tokens(told)
    named = _Words(tokens, frozenset(tokens))
    return _Said(text, _Words(plain, frozenset(plain)), named, named.each - _FUNCTION_WORDS)


def _weighed(wanted: Sequence[_Said], weigh: _Weights) -> list[tuple[float, _Said]]:
    """Returns the wanted text and its parts, each with what it counts: a part counts less than the whole."""
    whole = weigh(wanted[0].named.all) or 1.0
    return [(1 - _LESS * (1 - min(weigh(part.named.all) / whole, 1)), part) for part in wanted]


def _scores(
    wanted: Sequence[tuple[float, _Said]], known: _Said, weigh: _Weights
) -> list[tuple[float, float]]:
    """Returns the similarity of a known text to each part of the wanted one, by its words, and by all that it says."""
    found = []
    for share, ours in wanted:
        if ours.telling.isdisjoint(known.telling):
            found.append(_NOT_ALIKE)
            continue
        named = share * _alike(ours.named, known.named, weigh)
        found.append((max(share * _alike(ours.words, known.words, weigh), _NAMED * named), named))
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


_READ: dict[tuple[Rule, str, str], list[_Said]] = {}


def texts_of(book: RuleBook, rule: Rule) -> list[_Said]:
    """Returns what the provider's texts for a refusal and their sentences say. They are read once."""
    found = _READ.get((rule, book.wire, book.provider))
    if found is None:
        texts = [
            each
            for text in known_texts(book, rule)
            for each in (text, *(texts_in(text) if text[:1] == "[" else ()))
        ]
        texts = [each for each in texts if other_cause(each) is not SAYS_NOTHING]
        parts = dict.fromkeys(part for text in texts for part in (text, *sentences(text)))
        found = _READ[rule, book.wire, book.provider] = [_text_and_words(part) for part in parts]
    return found


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text that are long enough to be recognized, if it has several."""
    parts = [
        each for each in _END.split(text) if not _LINK.search(each)
    ]  # any refusal may say where to read more
    parts = [part for part in parts if is_sentence(words(part))]
    return parts if parts != [text] else []


def is_sentence(words: Iterable[str]) -> bool:
    """Tells whether there are enough words beside names for a sentence."""
    return sum(word != "*" for word in words) >= _SENTENCE


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
    """Returns the strings in an error body, and in those that its strings quote. A text around a body comes last, as that of a
    gateway or a client does, and a text without a body is returned alone.
    """
    value = _object_in(text)
    found = [each for each in _strings(value) if " " in each] if value is not None else _faults_in(text)
    inner = [each for string in found for each in texts_in(string)]
    is_whole = text.strip()[:1] in {"{", "["} or _LABEL.fullmatch(text.strip().partition("{")[0])
    around = text if value is None else _around(text)
    return [*inner, *([] if is_whole and found else [ESCAPED.sub("", around)])]


def _around(text: str) -> str:
    """Returns a text without the body in it, whose keys are no words of the error."""
    return text[: text.find("{")] + text[text.rfind("}") + 1 :]


def _faults_in(text: str) -> list[str]:
    """Returns what a body that was cut short says: the faults that a validator lists, with their places, or else its messages."""
    plain = ESCAPED.sub("", text)
    faults = [
        f"{'.'.join(_PART_OF_PLACE.findall(place))}: {_FAULTS[kind]}"
        for kind, place in _FAULT.findall(plain)
        if kind in _FAULTS
    ]
    return faults or [told for found in _MESSAGE.findall(plain) for told in found if " " in told]


def _object_in(text: str) -> object:
    """Returns the value in JSON that a text is or has, or what Python prints of one. It is `None` if there is none."""
    start, end = text.find("{"), text.rfind("}") + 1
    inside = text[start:end] if 0 <= start < end else ""
    lenient = partial(json.loads, strict=False)  # a terminal breaks lines within strings
    for told, read in ((text, lenient), (inside, lenient), (inside[:_LONGEST], literal_eval)):
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return read(told) if told else None
    return None


def _strings(value: object) -> Iterator[str]:
    match value:
        case {"loc": [*names], "msg": str(said)}:
            yield f"{'.'.join(map(str, names))}: {said}"
        case {"message": str(said), "param": str(place)} if place[:1] == "/":
            yield f"{place[1:].replace('/', '.')}: {said}"
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
    return WORD.findall(_VALUE.sub(" * ", text).lower())


def _tokens(text: str) -> list[str]:
    """Returns the words of a text in lower case, with those in names."""
    return _NAME.findall(text.lower())


def _alike(one: _Words, other: _Words, weigh: _Weights) -> float:
    """Returns the similarity of the words of two texts. Those that are almost a part of the other ones are similar, too."""
    shared = one.each & other.each
    if not shared - {"*"} or len(shared) * 2 < min(len(one.each), len(other.each)):
        return 0.0
    first, second = one.all, other.all
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    weights = weigh(first), weigh(second)
    common = sum(weigh(first[block.a : block.a + block.size]) for block in blocks)
    replaced = _replaced(first, second, blocks, weigh)
    ratio = 2 * max(common - replaced, common * _LESS) / sum(weights)
    if ratio >= WHOLE:
        return ratio
    if min(len(first), len(second)) < _ENOUGH:
        return ratio if ratio >= SHORT else ratio * LEAST
    runs = [first[block.a : block.a + block.size] for block in blocks if block.size > 1]
    told = {word for run in runs for word in run} - _FUNCTION_WORDS - {"*"}
    part = (sum(map(weigh, runs)) - replaced) / min(weights) if len(told) >= _TELLING else 0.0
    return max(ratio, _PART * part)


def _replaced(first: list[str], second: list[str], blocks: Sequence[Block], weigh: _Weights) -> float:
    """Returns the weight of words that stand in place of others: `history` of `all elements in history`, where a refusal has `tools`. Words
    of the refusal that the text leaves out between two others count less.

    At the end, as many words have to stand there as in the refusal, because a text may be cut short or go on.
    """
    found = 0.0
    for before, after in pairwise(blocks):
        if not before.size:
            continue
        gaps = first[before.a + before.size : after.a], second[before.b + before.size : after.b]
        told = [[word for word in gap if word not in _FUNCTION_WORDS and word != "*"] for gap in gaps]
        if all(told) and (after.size or min(map(len, told)) > 1 or len(gaps[0]) == len(gaps[1])):
            found += min(map(weigh, told))
        elif told[1] and after.size:
            found += _LEFT_OUT * weigh(told[1])
    return found
