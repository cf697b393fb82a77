"""Finds the rules for an error text of a provider. Words are compared; names and numbers count less, and so do words that many
refusals have.

The text of a rule's refusal comes from its template, and from the refusals of its counterexamples. A text may be a part of
it: one of its sentences, or a line that was cut short. It may also contain more, as a log line does.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import Match as Block
from difflib import SequenceMatcher
from functools import cache, partial
from itertools import pairwise
from math import log
from operator import mul
from typing import NamedTuple

from ..rule import Rule, verdict
from ..rulebook import RuleBook
from ..rules._shape_faults import IDS
from .described_faults import TYPES, Described, What, described, folded, has_field, judging
from .other_causes import SAYS_NOTHING, other_cause

#: The least similarity of two texts, from 0 to 1, and the greatest distance from the best match.
LEAST, BEHIND = 0.55, 0.05
_COMPARED = 4000  # characters of the beginning and the end of a text that are compared

#: Words that a part of a text and a sentence must have, the similarity of two whole texts, and the weight of a part.
_ENOUGH, _SENTENCE, _WHOLE, _PART = 5, 4, 0.9, 0.85
_LONG = 15  # words of a sentence that no other rule has, whatever stands in its places
_TELLING = 2  # words of a part that are not in any sentence
_SURE = 0.85  # the least similarity of a rule to a text that also has words of another cause
_MOSTLY = 0.65  # the share of a sentence's letters that are compared
_SPELT = 36  # the least number of letters of a sentence that are compared in a row
_IN_A_PLACE = 200  # letters that stand in a place of a template at most
_FEW = 0.3  # the least similarity with names of a rule whose text is not almost the same
_NAMED = 0.95  # the weight of a similarity that names have made
_LEFT_OUT = 0.5  # how much a word counts against a text that leaves it out
_LESS = 0.2  # how much less a sentence counts that is a small part of the text, and the least that is left of shared words
#: What Bedrock puts before an error of the model's provider. It says nothing of the error.
_PASSED_ON = re.compile(r"The model returned the following errors:? ?")
#: How a server of another program lists what its own types do not fit: no provider says so.
_OF_A_VALIDATOR = re.compile(r"""(?:^|["'])\s*\d+ validation errors?(?: for [A-Z]\w+|:)\s*(?:\n|\\n)""")
_LONGEST = 20_000  # characters that are read as what Python prints
_ANY = 0.1  # the weight of a name, path or number
_NOT_ALIKE = (0.0, 0.0)  # what is said of two texts without a common word
_DIGITS = 6  # of a similarity: the order of its sums decides nothing
_STEPS = 10  # how finely the shares of a text are told apart that refusals have
_BOOKS = 8  # books of similar texts in which a fault is judged
_SHORT = 0.76  # the least similarity of texts of a few words
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
#: A quoted name or path, or a place for one in a template; an index in a path.
_QUOTED = re.compile(r"['\"`]([\w.\[\]{}-]+)['\"`]")
_QUOTED_PATH = re.compile(r"['\"`]([A-Za-z]\w*[.\[][\w.\[\]]*)['\"`]")
_PATH = re.compile(r"(?:^|\s)([a-z]\w*(?:\.[\w{}]+)+): ", re.MULTILINE)
_PATH_FIRST = re.compile(r"(?:^|\s)([a-z]\w*(?:\.\w+)+): ", re.MULTILINE)
_FIELD_NAME = re.compile(r"(?<![\w.'\"`/-])[a-z]+(?:_[a-z]+)+(?![\w.'\"`/\[-])")
_PLACE = re.compile(r"\{\w*\}")
#: A place for the name of any field in a template.
_ANY_FIELD = re.compile(r"\{(?:key|path|place|part|inner)\}")
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
_INDEX = re.compile(r"\[[^\]]*\]")
#: A parameter at the end of a sentence without quotes: `Argument not supported on this model: presencePenalty`.
_PARAMETER = re.compile(r"(?:: |parameter )([a-z]+(?:_[a-z]|[A-Z])\w*)\b(?=[\s\"'.}]*(?:$|[\"'}]))")
_ESCAPED = re.compile(r"(?<!\\)\\+(?=['\"])")
#: What names the provider around an error: `BedrockException`, `api.deepseek.com`, `Error from provider (DeepSeek)`.
_PROVIDER = re.compile(
    r"\b([a-z]+?)(?:_?ai)?_?exception\b|\bapi\.(\w+)\.|\bprovider\W{1,3}(\w+)", re.IGNORECASE
)
#: Hosts whose name is not the provider's.
_HOSTS = {
    "bedrock-runtime.": "bedrock",
    "converse operation": "bedrock",
    "conversestream operation": "bedrock",
    "the model returned the following errors": "bedrock",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "vertex",
    ".openai.azure.com": "azure",
    "router.huggingface.co": "huggingface",
}
#: How much less similar a rule may be that a named provider decides for.
_HINT = 0.15
#: A provider by another name. OpenAI's name stands for all that are like it, so it tells nothing.
_ALSO = {"validation": "bedrock", "gemini": "google", "claude": "anthropic", "x": "xai", "openai": ""}
_OF_SHAPES = frozenset(IDS)
_END = re.compile(r"(?<=[.!?:;])\s+|\n+|\s[·|•]\s")
_IDENTIFIER = re.compile(r"[A-Za-z]\w+")
_LINK = re.compile(r"https?://")
#: Where to read more, as any refusal may say.
_MORE = re.compile(r"(?:\b\w+(?: \w+){0,2}: ?)?https?://[^\s\"'}]+")
_NAME = re.compile(r"[^\W_]+")
#: A place in a template, a quoted name or value, a number, a path. What is longer is no value: the quotation mark is one of something else.
_VALUE = re.compile(
    r"\{\w*\}|'[^']{0,80}'|\"[^\"]{0,80}\"|`[^`]{0,80}`|\b\w*\d[\w.-]*|[\w$]++(?>(?:[.\[][\w\].$\[]++)+)"
)
_WORD = re.compile(r"[^\W\d_]+|\*")


class Match(NamedTuple):
    """A rule of a book with the similarity of its refusal to the text, from 0 to 1: without names, and with them. `covered` is the share of
    the text's sentences that the rule's refusals have.
    """

    alike: float
    named: float
    covered: float
    book: RuleBook
    rule: Rule


def matches(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns the rules whose refusals are most similar to the text, best first; an empty list if none is similar.

    Of rules with one text, those about calls and their results come first, because a missing result is the usual cause, and
    those that hold for every version before others. A provider that is named anywhere in the text decides between rules that are about
    equally similar, and so does a template that has the text's own quotation marks.
    """
    cause = other_cause(_raised(text))
    if (cause and not cause.of_api) or _OF_A_VALIDATOR.search(text):
        return []
    found = nearest(text, books)
    named = [each for each in found if each.named]
    best = max((each.alike for each in named), default=0.0)
    order = _Paths("\n".join(texts_in(text)), found)
    providers = _providers_named(text, {each.book.provider for each in named if each.alike >= best - _HINT})
    said = "\n".join(texts_in(text))
    plain = " ".join(said.split())
    fault = fault_in(text)
    near = [each for each in named if each.alike >= max(LEAST, best - _HINT)]
    near = [each for each in near if each.named >= _FEW or each.alike >= _WHOLE]
    own = [each for each in near if fault and _has_of_its_own(plain, fault, each)]
    close = [
        each for each in near if each.alike >= best - BEHIND or each.book.provider in providers or each in own
    ]
    close = [each for each in close if each.alike >= _SHORT or order.has_paths or not order.lacks(each)]
    if not cause and max((each.alike for each in close), default=0.0) < _SHORT:
        close = _spelt(text, found) or close
    if cause:
        close = [each for each in close if each.alike >= _SURE or _fits(plain, each, telling=True)]
    likeliest = max((each.named for each in close), default=0.0)
    named_in = _named_in(plain, close)
    close.sort(
        key=lambda match: (
            *order(match, _distance(said, match)),
            not (match.book.provider in providers and match.named >= likeliest - _HINT),
            not _fits(plain, match, wholly=True),
            -round(match.covered * _STEPS),
            _is_passed_on(match) and not _PASSED_ON.search(text),
            *_rank(match, named_in),
            not _fits(plain, match),
        )
    )
    if fault is None:
        return close
    own.sort(key=lambda match: -match.named)
    return [*own, *(each for each in _judged(fault, close, found) if each not in own)]


def _has_of_its_own(text: str, fault: Described, match: Match) -> bool:
    """Tells whether the whole text is a template of a rule, with the name of the field in it: the rule is not about fields of any kind."""
    named = f".{fault.path[-1]}: "
    return any(named in said for said in _templates(match)) and _fits(text, match, wholly=True)


def _spelt(text: str, found: Iterable[Match]) -> list[Match]:
    """Returns the rules with a sentence whose letters the text has in a row, whatever stands between them: a text that was read from a
    picture or quoted twice has other spaces and quotation marks.
    """
    letters = _letters(text)
    return [
        match
        for match in found
        if any(_is_spelt(said.text, letters) for said in _known(match.book, match.rule))
    ]


@cache
def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.lower())).replace("*", "")


def _is_spelt(known: str, letters: str) -> bool:
    """Tells whether letters have most of a known sentence, from its longest part's beginning."""
    longest = max(map(_letters, _PLACE.split(known)), key=len)
    least = max(_SPELT, round(len(longest) * _MOSTLY))
    return longest[:least] in letters if len(longest) >= _SPELT else False


def _is_passed_on(match: Match) -> bool:
    """Tells whether Bedrock says so with the words of the model's provider."""
    return all(map(_PASSED_ON.match, _templates(match)))


def _templates(match: Match) -> list[str]:
    """Returns the texts of a rule's refusals, with their places."""
    refusals = (match.rule.refusal, *match.rule.formerly)
    return [each.message for each in refusals if each is not None]


def _providers_named(text: str, known: set[str]) -> set[str]:
    """Returns the providers that a text names, by a host or by one of the known names."""
    near = f"{text[:_COMPARED]}\n{text[-_COMPARED:]}".lower()
    named = {name for found in _PROVIDER.findall(near) for name in found if name}
    hosts = {name for host, name in _HOSTS.items() if host in near}
    told = {name for name in known - {"openai"} if re.search(rf"\b{re.escape(name)}\b", near)}
    return ({_ALSO.get(name, name) for name in named} - {""}) | hosts | told


def _fits(text: str, match: Match, *, wholly: bool = False, telling: bool = False) -> bool:
    """Tells whether the text contains a known text of the rule (with `wholly`: is one), with any values in its placeholders.

    With `telling`, only known texts that are sentences count.
    """
    plain = text.replace("`", "")  # a text in Markdown may have lost them
    known = (said for said in _known(match.book, match.rule) if not telling or _is_sentence(said.words.all))
    return any(_has(plain, said.text, wholly=wholly) for said in known)


def _has(text: str, known: str, *, wholly: bool) -> bool:
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
    for part in _PLACE.split(known.replace("`", "")):
        if plain := " ".join(part.split()):
            found.append((gap, plain))
            gap = 0
        gap += _IN_A_PLACE
    return found, gap - _IN_A_PLACE


def fault_in(text: str) -> Described | None:
    """Returns the fault of a field that a text or an error body describes, if it does."""
    return next((fault for each in texts_in(text) if (fault := described(each))), None)


def _judged(fault: Described, close: list[Match], found: Sequence[Match]) -> list[Match]:
    """Returns the similar rules with those first that refuse the fault that the text describes, or a field of any name. If no rule does, only those are left whose refusal says the same of this field, or of any."""
    said = [each for each in close if _says(each, fault)]
    naming = [each for each in said if _names_field(each, fault)]
    any_field = [each for each in close if any(map(_ANY_FIELD.search, _saying(each, fault)))]
    likely = [*{id(each.book): each.book for each in said or any_field or close}.values()][:_BOOKS]
    if len(fault.path) == 1:  # any wire format has a place for it, so no rule counts whose words differ
        first = (
            naming
            or _refusing(fault, close, likely)
            or _refusing(fault.unnamed(), any_field, likely)
            or said
            or any_field
        )
        if not first and not close:
            first = _of_only_book(fault, found)
        return [*first, *(each for each in close if each not in first)] if first else []
    judged = [(book, *judging(book, fault)) for book in likely]
    if not any(placed for _, placed, _ in judged) and not naming:
        judged = [(book, *judging(book, fault)) for book in _only_book(fault, found)]
    if not any(rules for _, _, rules in judged) and not said and fault.what is What.UNKNOWN:
        judged = [
            (book, *judging(book, wider)) for wider in _wider(fault) for book in _only_book(wider, found)
        ][:1]
    refusing = [(id(book), rule.id) for book, _, rules in judged for rule in rules]
    if refusing:
        of = {(id(each.book), each.rule.id): each for each in (*found, *close)}
        first = [each for each in close if (id(each.book), each.rule.id) in refusing] or [of[refusing[0]]]
        return [*first, *(each for each in close if each not in first)]
    return said or any_field


def _wider(fault: Described) -> Iterator[Described]:
    """Yields the fault of a field that no API has, beside the unknown one and then beside each object that it is in: an unknown object is
    told with its field.
    """
    path = fault.path
    while len(path) > 1:
        yield fault._replace(path=path).unnamed()
        path = path[:-1]


def _refusing(fault: Described, close: Sequence[Match], books: Sequence[RuleBook]) -> list[Match]:
    """Returns the similar rules that refuse a fault, of the first wire format of books."""
    rules = {
        (id(book), rule.id)
        for book in books
        if book.wire == books[0].wire
        for rule in judging(book, fault)[1]
    }
    return [each for each in close if (id(each.book), each.rule.id) in rules]


def _of_only_book(fault: Described, found: Sequence[Match]) -> list[Match]:
    """Returns the rules that refuse a wrong value of a field that only one wire format has."""
    books = {each.book.wire: each.book for each in found if not each.book.author}
    having = [book for book in books.values() if fault.what is What.WRONG and has_field(book, fault)]
    return _refusing(fault, found, having) if len(having) == 1 else []


def _only_book(fault: Described, found: Sequence[Match]) -> list[RuleBook]:
    """Returns the book of the one wire format whose examples have a place for the fault, or none if there are several."""
    books = {each.book.wire: each.book for each in found if not each.book.author and len(fault.path) > 1}
    placing = [book for book in books.values() if judging(book, fault)[0]]
    return placing if len(placing) == 1 else []


def _says(match: Match, fault: Described) -> bool:
    """Tells whether a refusal of a rule says the same of the field that a text describes, or of any field.

    A template has a place for any field. It is about those that the rule's refusals name, unless they name several.
    """
    said = _saying(match, fault)
    if not said or _names_field(match, fault):
        return bool(said)
    told = {its.path[-1] for each in said if not _PLACE.search(each) and (its := _described(each))}
    of_any = not told or len(told) >= _SEVERAL
    return match.rule.id in _OF_SHAPES or (of_any and any(map(_ANY_FIELD.search, said)))


#: The faults in the known texts of rules, which are read once.
_described = cache(described)


def _saying(match: Match, fault: Described) -> list[str]:
    """Returns the known texts of a rule with the phrase of a fault."""
    return [each.text for each in _known(match.book, match.rule) if fault.phrase in each.text.lower()]


def _names_field(match: Match, fault: Described) -> bool:
    """Tells whether a refusal of a rule says the same of this field."""
    names = {folded(name) for text in _saying(match, fault) for name in _IDENTIFIER.findall(text)}
    return folded(fault.path[-1]) in names


def _raised(text: str) -> str:
    """Returns the last line of a Python traceback, which names the exception, or another text as it is."""
    return text.rstrip().rpartition("\n")[2] if text.lstrip().startswith("Traceback (") else text


def _paths(text: str) -> list[list[str]]:
    """Returns the paths of fields that a text names, each as names: `input`, `arguments` for `'input[4].arguments'`."""
    plain = _ESCAPED.sub("", text)
    found = [*_QUOTED_PATH.findall(plain), *_PATH.findall(plain)]
    return [
        [name for name in _IDENTIFIER.findall(_PLACE.sub("", path)) if name not in TYPES] for path in found
    ]


#: The paths in the known texts of rules, which are read once.
_known_paths = cache(_paths)


class _Paths:
    """Compares the paths of fields in a text with those in the known texts of rules."""

    def __init__(self, text: str, every: Iterable[Match]) -> None:
        self._ours = [path for path in _paths(text) if path]
        self.has_paths = bool(self._ours)
        self._fields = {*_field_names(text)}
        self._roots = defaultdict[str, set[str]](set)
        for match in every if self._ours else ():
            self._roots[match.book.wire] |= {path[0] for path in self._theirs(match) if path}

    def __call__(self, match: Match, distance: int) -> tuple[bool, bool, bool, int, int]:
        """Tells whether no path is one of the rule's wire format, whether the rule is about other fields, whether it has none of the
        fields that the text names without quotes, how many names of a path no known path begins with, and the distance of the quoted names.
        """
        roots = {path[0] for path in self._ours}
        anywhere = not roots or match.book.wire == "*"
        foreign = not anywhere and roots.isdisjoint(self._roots[match.book.wire])
        theirs = [[], *self._theirs(match)]
        left = [len(path) - max(_shared(path, known) for known in theirs) for path in self._ours]
        return foreign, distance == _OTHERS, self.lacks(match), min(left, default=0), distance

    def lacks(self, match: Match) -> bool:
        """Tells whether the text names fields without quotes, and the rule none of them."""
        names = {name for said in _known(match.book, match.rule) for name in _IDENTIFIER.findall(said.text)}
        return bool(self._fields) and {*map(folded, self._fields)}.isdisjoint(map(folded, names))

    @staticmethod
    def _theirs(match: Match) -> list[list[str]]:
        return [path for said in _known(match.book, match.rule) for path in _known_paths(said.text)]


def _field_names(text: str) -> list[str]:
    """Returns the names with `_` that a text has outside of quotes and paths: `response_format`."""
    return _FIELD_NAME.findall(_ESCAPED.sub("", text))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _distance(text: str, match: Match) -> int:
    """Tells how far the parameters that a rule's refusals quote are from those that the text quotes: `'input[4].query'`.

    A rule about any parameter is nearer than one whose refusals quote others, and the nearest of those is made of a shape.
    """
    plain = _ESCAPED.sub("", text)
    known = [*known_texts(match.book, match.rule)]
    ours = {_last(name) for name in _names(plain)} - {""} or {*_PARAMETER.findall(plain)}
    theirs = [name for each in known for name in (*_names(each), *_PARAMETER.findall(each))]
    fixed = {last for name in theirs if _IDENTIFIER.fullmatch(last := _last(name))}
    quotes = any(_QUOTED.search(each) for each in known)
    if (
        not ours and quotes and fixed and not any("{" in name for name in theirs)
    ):  # it quotes nothing: what do its words name?
        return int(fixed.isdisjoint(_IDENTIFIER.findall(plain)))
    if not ours or not theirs or not ours.isdisjoint(map(_last, theirs)):
        return 0
    any_name = any(name.startswith("{") and name.endswith("}") for name in theirs) or len(fixed) >= _SEVERAL
    if any_name and any(
        len(words(each)) >= _LONG and _has(" ".join(plain.split()), each, wholly=False) for each in known
    ):
        return 0  # the name stands in a place of the rule's own sentence
    return 1 if match.rule.id in _OF_SHAPES else 2 if any_name else _OTHERS


def _names(text: str) -> list[str]:
    """Returns the names that a text quotes, or the path that it begins with."""
    return _QUOTED.findall(text) or _PATH_FIRST.findall(text)


#: The distance of a rule that is about other names, and the number of names of a rule that may be about any.
_OTHERS, _SEVERAL = 3, 4


def _last(path: str) -> str:
    """Returns the last name of a path: `id` of `input[3].id`, and nothing of `messages.0`."""
    name = _INDEX.sub("", path).rpartition(".")[2]
    return "" if name.isdigit() else name


def _named_in(text: str, close: Iterable[Match]) -> dict[Rule, tuple[float, float]]:
    """Returns the similarities of each rule, with names and without them. Rules of a wire format that refuse in the same words, which the text has,
    have the same ones, because the names in their examples tell nothing.
    """
    found = {each.rule: (each.named, each.alike) for each in close}
    sharing = defaultdict[tuple[str, str], list[Rule]](list)
    for match in close:
        for template in {_PASSED_ON.sub("", each) for each in _templates(match)}:
            if _is_sentence(words(template)) and _has(text.replace("`", ""), template, wholly=False):
                sharing[match.book.wire, template].append(match.rule)
    for rules in sharing.values():
        best = max(found[rule] for rule in rules)
        found |= dict.fromkeys(rules, best)
    return found


def _rank(
    match: Match, named_in: Mapping[Rule, tuple[float, float]]
) -> tuple[float, float, bool, bool, bool]:
    rule = match.rule
    named, alike = named_in[rule]
    limited = bool(rule.betas or rule.versions or rule.until)
    return -named, -alike, rule.preview, rule.group != "PAIR", limited


def nearest(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns all refusing rules, the most similar first. Of equally similar ones, those come first that have the text's
    names, too.
    """
    if len(text) > 2 * _COMPARED:
        text = f"{text[:_COMPARED]}\n{text[-_COMPARED:]}"
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
        told = [(book, rule, _known(book, rule)) for book, rule in refusing]
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
    if tuple(refusing) not in _REFUSALS:
        _REFUSALS[tuple(refusing)] = _Refusals(refusing.values())
    return _REFUSALS[tuple(refusing)]


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
    told = _MORE.sub(" ", _PASSED_ON.sub(" ", text))
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


def _known(book: RuleBook, rule: Rule) -> list[_Said]:
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
    parts = [part for part in parts if _is_sentence(words(part))]
    return parts if parts != [text] else []


def _is_sentence(words: Iterable[str]) -> bool:
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
    return [*inner, *([] if is_whole and found else [_ESCAPED.sub("", around)])]


def _around(text: str) -> str:
    """Returns a text without the body in it, whose keys are no words of the error."""
    return text[: text.find("{")] + text[text.rfind("}") + 1 :]


def _faults_in(text: str) -> list[str]:
    """Returns what a body that was cut short says: the faults that a validator lists, with their places, or else its messages."""
    plain = _ESCAPED.sub("", text)
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
    return _WORD.findall(_VALUE.sub(" * ", text).lower())


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
    if ratio >= _WHOLE:
        return ratio
    if min(len(first), len(second)) < _ENOUGH:
        return ratio if ratio >= _SHORT else ratio * LEAST
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
