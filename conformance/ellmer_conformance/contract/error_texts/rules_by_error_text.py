"""Finds the rules for an error text of a provider. Words are compared; names and numbers count less, and so do words that many
refusals have.

The text of a rule's refusal comes from its template, and from the refusals of its counterexamples. A text may be a part of
it: one of its sentences, or a line that was cut short. It may also contain more, as a log line does.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from ..rule import Rule
from ..rulebook import RuleBook
from ..rules._shape_faults import IDS
from .described_faults import TYPES, Described, What, described, folded, has_field, judging
from .other_causes import other_cause
from .similarity import (
    BEHIND,
    COMPARED,
    ESCAPED,
    LEAST,
    PASSED_ON,
    SHORT,
    WHOLE,
    WORD,
    Match,
    is_sentence,
    known_texts,
    nearest,
    texts_in,
    texts_of,
    words,
)

_LONG = 15  # words of a sentence that no other rule has, whatever stands in its places
_SURE = 0.85  # the least similarity of a rule to a text that also has words of another cause
_MOSTLY = 0.65  # the share of a sentence's letters that are compared
_SPELT = 36  # the least number of letters of a sentence that are compared in a row
_IN_A_PLACE = 200  # letters that stand in a place of a template at most
_FEW = 0.3  # the least similarity with names of a rule whose text is not almost the same
#: How a server of another program lists what its own types do not fit: no provider says so.
_OF_A_VALIDATOR = re.compile(r"""(?:^|["'])\s*\d+ validation errors?(?: for [A-Z]\w+|:)\s*(?:\n|\\n)""")
_STEPS = 10  # how finely the shares of a text are told apart that refusals have
_BOOKS = 8  # books of similar texts in which a fault is judged
#: A quoted name or path, or a place for one in a template; an index in a path.
_QUOTED = re.compile(r"['\"`]([\w.\[\]{}-]+)['\"`]")
_QUOTED_PATH = re.compile(r"['\"`]([A-Za-z]\w*[.\[][\w.\[\]]*)['\"`]")
_PATH = re.compile(r"(?:^|\s)([a-z]\w*(?:\.[\w{}]+)+): ", re.MULTILINE)
_PATH_FIRST = re.compile(r"(?:^|\s)([a-z]\w*(?:\.\w+)+): ", re.MULTILINE)
_FIELD_NAME = re.compile(r"(?<![\w.'\"`/-])[a-z]+(?:_[a-z]+)+(?![\w.'\"`/\[-])")
_PLACE = re.compile(r"\{\w*\}")
#: A place for the name of any field in a template.
_ANY_FIELD = re.compile(r"\{(?:key|path|place|part|inner)\}")
_INDEX = re.compile(r"\[[^\]]*\]")
#: A parameter at the end of a sentence without quotes: `Argument not supported on this model: presencePenalty`.
_PARAMETER = re.compile(r"(?:: |parameter )([a-z]+(?:_[a-z]|[A-Z])\w*)\b(?=[\s\"'.}]*(?:$|[\"'}]))")
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
_IDENTIFIER = re.compile(r"[A-Za-z]\w+")


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
    near = [each for each in near if each.named >= _FEW or each.alike >= WHOLE]
    own = [each for each in near if fault and _has_of_its_own(plain, fault, each)]
    close = [
        each for each in near if each.alike >= best - BEHIND or each.book.provider in providers or each in own
    ]
    close = [each for each in close if each.alike >= SHORT or order.has_paths or not order.lacks(each)]
    if not cause and max((each.alike for each in close), default=0.0) < SHORT:
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
            _is_passed_on(match) and not PASSED_ON.search(text),
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
        if any(_is_spelt(said.text, letters) for said in texts_of(match.book, match.rule))
    ]


@cache
def _letters(text: str) -> str:
    return "".join(WORD.findall(text.lower())).replace("*", "")


def _is_spelt(known: str, letters: str) -> bool:
    """Tells whether letters have most of a known sentence, from its longest part's beginning."""
    longest = max(map(_letters, _PLACE.split(known)), key=len)
    least = max(_SPELT, round(len(longest) * _MOSTLY))
    return longest[:least] in letters if len(longest) >= _SPELT else False


def _is_passed_on(match: Match) -> bool:
    """Tells whether Bedrock says so with the words of the model's provider."""
    return all(map(PASSED_ON.match, _templates(match)))


def _templates(match: Match) -> list[str]:
    """Returns the texts of a rule's refusals, with their places."""
    refusals = (match.rule.refusal, *match.rule.formerly)
    return [each.message for each in refusals if each is not None]


def _providers_named(text: str, known: set[str]) -> set[str]:
    """Returns the providers that a text names, by a host or by one of the known names."""
    near = f"{text[:COMPARED]}\n{text[-COMPARED:]}".lower()
    named = {name for found in _PROVIDER.findall(near) for name in found if name}
    hosts = {name for host, name in _HOSTS.items() if host in near}
    told = {name for name in known - {"openai"} if re.search(rf"\b{re.escape(name)}\b", near)}
    return ({_ALSO.get(name, name) for name in named} - {""}) | hosts | told


def _fits(text: str, match: Match, *, wholly: bool = False, telling: bool = False) -> bool:
    """Tells whether the text contains a known text of the rule (with `wholly`: is one), with any values in its placeholders.

    With `telling`, only known texts that are sentences count.
    """
    plain = text.replace("`", "")  # a text in Markdown may have lost them
    known = (said for said in texts_of(match.book, match.rule) if not telling or is_sentence(said.words.all))
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
    return [each.text for each in texts_of(match.book, match.rule) if fault.phrase in each.text.lower()]


def _names_field(match: Match, fault: Described) -> bool:
    """Tells whether a refusal of a rule says the same of this field."""
    names = {folded(name) for text in _saying(match, fault) for name in _IDENTIFIER.findall(text)}
    return folded(fault.path[-1]) in names


def _raised(text: str) -> str:
    """Returns the last line of a Python traceback, which names the exception, or another text as it is."""
    return text.rstrip().rpartition("\n")[2] if text.lstrip().startswith("Traceback (") else text


def _paths(text: str) -> list[list[str]]:
    """Returns the paths of fields that a text names, each as names: `input`, `arguments` for `'input[4].arguments'`."""
    plain = ESCAPED.sub("", text)
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
        names = {name for said in texts_of(match.book, match.rule) for name in _IDENTIFIER.findall(said.text)}
        return bool(self._fields) and {*map(folded, self._fields)}.isdisjoint(map(folded, names))

    @staticmethod
    def _theirs(match: Match) -> list[list[str]]:
        return [path for said in texts_of(match.book, match.rule) for path in _known_paths(said.text)]


def _field_names(text: str) -> list[str]:
    """Returns the names with `_` that a text has outside of quotes and paths: `response_format`."""
    return _FIELD_NAME.findall(ESCAPED.sub("", text))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _distance(text: str, match: Match) -> int:
    """Tells how far the parameters that a rule's refusals quote are from those that the text quotes: `'input[4].query'`.

    A rule about any parameter is nearer than one whose refusals quote others, and the nearest of those is made of a shape.
    """
    plain = ESCAPED.sub("", text)
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
        for template in {PASSED_ON.sub("", each) for each in _templates(match)}:
            if is_sentence(words(template)) and _has(text.replace("`", ""), template, wholly=False):
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
