"""Finds the rules for an error text of a provider. Words are compared; names and numbers count less, and so do words that many
refusals have.

The text of a rule's refusal comes from its template, and from the refusals of its counterexamples. A text may be a part of
it: one of its sentences, or a line that was cut short. It may also contain more, as a log line does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from .. import scope
from ..rule import Rule
from ..rulebook import RuleBook
from ..rules._shape_faults import IDS
from .described_faults import Described, What, described, folded, has_field, judging
from .listed_values import listed_values
from .named_fields import IDENTIFIER, SEVERAL, NamedFields, with_last_names
from .other_causes import NOT_STARTED_WITH, SAYS_NOTHING, OtherCause, other_cause
from .refusals import Refusals, refusals_of, texts_of
from .sentences import FUNCTION_WORDS, PASSED_ON, WORD, is_sentence, messages_in, texts_in, words
from .similarity import BEHIND, COMPARED, LEAST, SHORT, WHOLE, Match, nearest
from .templates import PLACE, alone, containing, has, reordered, spelt

_SHORT_TEXT = 5  # telling words of a refusal that is not similar without its last one
_SHORTEST_TEXT = 3  # those of a refusal that is not similar without each of them
_SURE = 0.85  # the least similarity of a rule to a text that also has words of another cause
_FEW = 0.3  # the least similarity with names of a rule whose text is not almost the same
#: How a server of another program lists what its own types do not fit: no provider says so. A single fault is told as a field's.
_OF_A_VALIDATOR = re.compile(
    r"""(?:^|["'])\s*(?:\d+ validation errors?(?: for [A-Z]\w+)|\d+ validation errors:)\s*(?:\n|\\n)"""
)
_STEPS = 10  # how finely the shares of a text are told apart that refusals have
_BOOKS = 8  # books of similar texts in which a fault is judged
#: A place for the name of any field in a template.
_ANY_FIELD = re.compile(r"\{(?:key|path|place|part|inner)\}")
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
#: What may be the name of a model: `gpt-5.4`, `claude-opus-4-7`.
_MODEL = re.compile(r"\b[a-z][a-z\d]*-[\w.-]*\w")
#: How much less similar a rule may be that a named provider decides for.
_HINT = 0.15
#: A provider by another name. OpenAI's name stands for all that are like it, so it tells nothing.
_ALSO = {"validation": "bedrock", "gemini": "google", "claude": "anthropic", "x": "xai", "openai": ""}


class _Read(NamedTuple):
    """An error text, with what is known of it before a rule is compared."""

    raw: str
    said: str  # its messages, each on lines of its own
    plain: str  # the same on one line
    cause: OtherCause | None
    fault: Described | None
    fields: NamedFields
    refusals: Refusals
    providers: set[str]


def matches(text: str, books: Iterable[RuleBook]) -> list[Match]:
    """Returns the rules whose refusals are most similar to the text, best first; an empty list if none is similar.

    Of rules with one text, those about calls and their results come first, because a missing result is the usual cause, and
    those that hold for every version before others. A provider that is named anywhere in the text decides between rules that are about
    equally similar, and so does a template that has the text's own quotation marks.
    """
    cause = other_cause(_raised(text))
    if (cause and not cause.of_api) or _OF_A_VALIDATOR.search(text) or says_nothing(text):
        return []
    refusals = refusals_of(books)
    named = nearest(text, refusals.books, LEAST)
    best = max((each.alike for each in named), default=0.0)
    near = [each for each in named if each.alike >= best - _HINT]
    said, providers = "\n".join(texts_in(text)), _providers_named(text, {each.book.provider for each in near})
    plain, fields = " ".join(said.split()), NamedFields(said, refusals)
    read = _Read(text, said, plain, cause, fault_in(text), fields, refusals, providers)
    near = [each for each in near if each.named >= _FEW or each.alike >= WHOLE]
    own = [
        each for each in (*near, *_passed_on(read)) if read.fault and _has_of_its_own(plain, read.fault, each)
    ]
    close = [
        each for each in near if each.alike >= best - BEHIND or each.book.provider in providers or each in own
    ]
    close = _ordered(read, _likely(read, close))
    if read.fault is None:
        return _of_listed_values(read, close)
    own.sort(key=lambda match: -match.named)
    judged = _judged(read.fault, close, refusals) or [each for each in close if _has_template(plain, each)]
    if not own and not judged:
        judged = _of_its_format(read.fault, named, refusals)
    return [*own, *(each for each in judged if each not in own)]


def _of_listed_values(read: _Read, close: list[Match]) -> list[Match]:
    """Returns the rules with those first that refuse the value of the field whose right values the text lists. If the error names a field
    of the body, and no rule refuses such a value of it, there are none.
    """
    told = listed_values(read.plain, read.raw)
    for listed in told:
        books = [book for book in _formats(read.refusals) if not listed.wires or book.wire in listed.wires]
        refusing = [each for book in books for each in _judging(listed.fault, book)]
        refusing.sort(key=lambda match: not _saying(match, listed.fault))
        if first := _among(close, refusing) or refusing[:1]:
            return [*first, *(each for each in close if each not in first)]
    is_of_body = any(len(listed.fault.path) == 1 and not listed.wires for listed in told)
    return [] if is_of_body else close


def _likely(read: _Read, close: list[Match]) -> list[Match]:
    """Returns the similar rules that say the same as the text. If there are none, these are rules with a part of the text, word for word."""
    told = {*WORD.findall(read.said.lower())}
    close = [each for each in close if _is_close(read, each, told)]
    if not read.cause and max((each.alike for each in close), default=0.0) < SHORT:
        close = _spelt(read.raw, read.refusals) or close
    if not read.cause and not close:
        found = (
            containing(read.plain, read.refusals)
            or alone(read.said, read.refusals)
            or reordered(read.said, read.refusals)
        )
        close = [Match(0.0, 0.0, 0.0, book, rule) for book, rule in found]
    close = [each for each in close if each.alike >= WHOLE or not read.fields.is_of_others(each)]
    if read.fault and read.fault.what is What.WRONG and len(read.fault.path) > 1:
        close = [each for each in close if not read.fields.foreign(each, {read.fault.path[0]})]
    if read.cause:
        close = [each for each in close if each.alike >= _SURE or _fits(read.plain, each, telling=True)]
    if read.cause is NOT_STARTED_WITH:
        close = [each for each in close if each.book.provider in read.providers]
    return close


def _is_close(read: _Read, match: Match, told: set[str]) -> bool:
    """Tells whether the text says what a similar rule says: what is wrong, and of which field."""
    if match.alike >= WHOLE:
        return True
    if match.alike < SHORT and (
        (not read.fields.has_paths and read.fields.lacks(match)) or not _has_an_end(told, match)
    ):
        return False
    return not read.fields.omits(match)


def _ordered(read: _Read, close: list[Match]) -> list[Match]:
    """Returns the rules, the best first."""
    likeliest = max((each.named for each in close), default=0.0)
    named_in, models = _named_in(read.plain, close), {*_MODEL.findall(read.plain)}

    def rank(match: Match) -> tuple[Any, ...]:
        return (
            *read.fields(match),
            not (match.book.provider in read.providers and match.named >= likeliest - _HINT),
            not _fits(read.plain, match, wholly=True),
            not _about_one_of(models, match.rule),
            -round(match.covered * _STEPS),
            _is_passed_on(match) and not PASSED_ON.search(read.raw),
            *_rank(match, named_in),
            not _fits(read.plain, match),
        )

    return sorted(close, key=rank)


def says_nothing(text: str) -> bool:
    """Tells whether no message of an error body names a cause."""
    said = messages_in(text)
    return bool(said) and all(other_cause(each) is SAYS_NOTHING for each in said)


def _has_an_end(told: set[str], match: Match) -> bool:
    """Tells whether a rule has a longer text, or one of a few words whose last one is in the text: it says what is wrong, as `found` of
    `tool_call_id is not found` does. Of the fewest words, all are.
    """
    known = [
        [word for word in said.words.all if word not in FUNCTION_WORDS and word != "*"]
        for said in texts_of(match.book, match.rule)
    ]
    return any(
        len(row) > _SHORT_TEXT or told.issuperset(row if len(row) <= _SHORTEST_TEXT else row[-1:])
        for row in known
    )


def _has_of_its_own(text: str, fault: Described, match: Match) -> bool:
    """Tells whether the whole text, or all that Bedrock passes on, is a template of a rule, with the name of the field in it: the rule is not
    about fields of any kind.
    """
    named, told = f".{fault.path[-1]}: ", text[found.start() :] if (found := PASSED_ON.search(text)) else text
    return any(named in said for said in _templates(match)) and _fits(told, match, wholly=True)


def _passed_on(read: _Read) -> list[Match]:
    """Returns the rules whose text the text has whole, if Bedrock says both with the words of the model's provider."""
    rules = containing(read.plain, read.refusals) if PASSED_ON.search(read.plain) else []
    found = [Match(0.0, 0.0, 0.0, book, rule) for book, rule in rules]
    return [each for each in found if _is_passed_on(each)]


def _spelt(text: str, refusals: Refusals) -> list[Match]:
    """Returns the rules with a sentence whose letters the text has in a row."""
    rules = spelt(text, refusals)
    similar = nearest(text, refusals.books) if rules else []
    of = {(id(each.book), each.rule.id): each for each in similar}
    return [of.get((id(book), rule.id)) or Match(0.0, 0.0, 0.0, book, rule) for book, rule in rules]


def _is_passed_on(match: Match) -> bool:
    """Tells whether Bedrock says so with the words of the model's provider."""
    return all(map(PASSED_ON.match, _templates(match)))


def _templates(match: Match) -> list[str]:
    """Returns the texts of a rule's refusals, with their places."""
    return [each.message for each in match.rule.refusals]


def _providers_named(text: str, known: set[str]) -> set[str]:
    """Returns the providers that a text names, by a host or by one of the known names."""
    near = f"{text[:COMPARED]}\n{text[-COMPARED:]}".lower()
    named: set[str] = {name for found in _PROVIDER.findall(near) for name in found if name}
    hosts = {name for host, name in _HOSTS.items() if host in near}
    told = {name for name in known - {"openai"} if re.search(rf"\b{re.escape(name)}\b", near)}
    return ({_ALSO.get(name, name) for name in named} - {""}) | hosts | told


def _about_one_of(models: Iterable[str], rule: Rule) -> bool:
    """Tells whether a rule is about one of some models, and not about all of a provider."""
    return any(scope.matches(model, pattern) for model in models for pattern in rule.models)


def _fits(text: str, match: Match, *, wholly: bool = False, telling: bool = False) -> bool:
    """Tells whether the text contains a known text of the rule (with `wholly`: is one), with any values in its placeholders.

    With `telling`, only known texts that are sentences count.
    """
    plain = text.replace("`", "")  # a text in Markdown may have lost them
    known = (said for said in texts_of(match.book, match.rule) if not telling or is_sentence(said.words.all))
    return any(has(plain, said.text, wholly=wholly) for said in known)


def _has_template(text: str, match: Match) -> bool:
    """Tells whether the text contains a whole template of a rule."""
    return any(has(text.replace("`", ""), each, wholly=False) for each in _templates(match))


def fault_in(text: str) -> Described | None:
    """Returns the fault of a field that a text or an error body describes, if it does. Of those at one place and inside of it, the innermost
    tells most: a validator says of each place around it, too, what it might have been.
    """
    told = [fault for each in texts_in(text) if (fault := described(" ".join(each.split())))]
    inner = [each for each in told if each.path[: len(told[0].path)] == told[0].path]
    return max(inner, key=lambda fault: len(fault.path), default=None)


def _judged(fault: Described, close: list[Match], refusals: Refusals) -> list[Match]:
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
        if not first:
            first = _of_this_field(fault, refusals)
        if not first and not close:
            first = (
                _of_only_book(fault, refusals) or _naming(fault, refusals) or _of_any_field(fault, refusals)
            )
        return [*first, *(each for each in close if each not in first)] if first else []
    judged = [(book, *judging(book, fault)) for book in likely]
    if not any(placed for _, placed, _ in judged) and not naming:
        judged = [(book, *judging(book, fault)) for book in _only_book(fault, refusals)]
    if not any(rules for _, _, rules in judged) and not said and fault.what is What.UNKNOWN:
        judged = [
            (book, *judging(book, wider)) for wider in _wider(fault) for book in _only_book(wider, refusals)
        ][:1]
    refusing = [Match(0.0, 0.0, 0.0, book, rule) for book, _, rules in judged for rule in rules]
    if refusing:
        first = _among(close, refusing) or refusing[:1]
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
    return _among(
        close, [each for book in books if book.wire == books[0].wire for each in _judging(fault, book)]
    )


def _judging(fault: Described, book: RuleBook) -> list[Match]:
    """Returns the rules of a book that refuse a fault, whatever their refusals say."""
    return [Match(0.0, 0.0, 0.0, book, rule) for rule in judging(book, fault)[1]]


def _among(close: Sequence[Match], others: Sequence[Match]) -> list[Match]:
    """Returns the similar rules that are among other ones."""
    ids = {(id(each.book), each.rule.id) for each in others}
    return [each for each in close if (id(each.book), each.rule.id) in ids]


def _of_only_book(fault: Described, refusals: Refusals) -> list[Match]:
    """Returns the rules that refuse a wrong value of a field that only one wire format has."""
    having = [book for book in _formats(refusals) if fault.what is What.WRONG and has_field(book, fault)]
    return _judging(fault, *having) if len(having) == 1 else []


def _of_this_field(fault: Described, refusals: Refusals) -> list[Match]:
    """Returns the rules that say the same, and refuse this unknown field and not any one: it has another name in their wire format."""
    if fault.what is not What.UNKNOWN:
        return []
    found = []
    for book in _formats(refusals):
        of_any = judging(book, fault.unnamed())[1]
        found += [each for each in _judging(fault, book) if each.rule not in of_any]
    return [each for each in found if _saying(each, fault)]


def _naming(fault: Described, refusals: Refusals) -> list[Match]:
    """Returns the rules whose refusals say the same of this field, however little the text says beside it."""
    found = [Match(0.0, 0.0, 0.0, book, rule) for book, rule, _ in refusals.rules]
    return [each for each in found if _names_field(each, fault)]


def _of_any_field(fault: Described, refusals: Refusals) -> list[Match]:
    """Returns the rules that say the same of any field, and refuse this one."""
    if fault.what is not What.UNKNOWN:
        return []
    found = [each for book in _formats(refusals) for each in _judging(fault.unnamed(), book)]
    return [each for each in found if any(map(_ANY_FIELD.search, _saying(each, fault)))]


def _of_its_format(fault: Described, named: Sequence[Match], refusals: Refusals) -> list[Match]:
    """Returns the rules of a wire format that refuse a fault, if all texts in the same words are of its providers. A server in Rust names
    only the list element around the object in which a field is missing.
    """
    wires = {each.book.wire for each in named if each.alike >= max(SHORT, named[0].alike - BEHIND)}
    books = [
        book
        for book in _formats(refusals)
        if wires == {book.wire} and (len(fault.path) > 1 or has_field(book, fault))
    ]
    found = (_judging(each, book) for book in books for each in (fault, fault.deeper()))
    return next((each for each in found if each), [])[:1]


def _only_book(fault: Described, refusals: Refusals) -> list[RuleBook]:
    """Returns the book of the one wire format whose examples have a place for the fault, or none if there are several. If the beginning of the
    path is not known, its rules refuse the fault, too.
    """
    judged = [(book, *judging(book, fault)) for book in _formats(refusals)] if len(fault.path) > 1 else []
    placing = [(book, rules) for book, placed, rules in judged if placed and (rules or not fault.is_cut)]
    if len(placing) > 1 and fault.what is What.WRONG:
        placing = [(book, rules) for book, rules in placing if rules][:1]
    return [book for book, _ in placing] if len(placing) == 1 else []


def _formats(refusals: Refusals) -> Iterable[RuleBook]:
    """Returns the first book of each wire format."""
    first = dict[str, RuleBook]()
    for book in refusals.books:
        if not book.author:
            first.setdefault(book.wire, book)
    return first.values()


def _says(match: Match, fault: Described) -> bool:
    """Tells whether a refusal of a rule says the same of the field that a text describes, or of any field.

    A template has a place for any field. It is about those that the rule's refusals name, unless they name several.
    """
    said = _saying(match, fault)
    if not said or _names_field(match, fault):
        return bool(said)
    told = {its.path[-1] for each in said if not PLACE.search(each) and (its := _described(each))}
    of_any = not told or len(told) >= SEVERAL
    return match.rule.id in IDS or (of_any and any(map(_ANY_FIELD.search, said)))


#: The faults in the known texts of rules, which are read once.
_described = cache(described)


def _saying(match: Match, fault: Described) -> list[str]:
    """Returns the known texts of a rule with the phrase of a fault."""
    return [each.text for each in texts_of(match.book, match.rule) if fault.phrase in each.text.lower()]


def _names_field(match: Match, fault: Described) -> bool:
    """Tells whether a refusal of a rule says the same of this field."""
    names = {
        folded(name) for text in _saying(match, fault) for name in IDENTIFIER.findall(with_last_names(text))
    }
    return folded(fault.path[-1]) in names


def _raised(text: str) -> str:
    """Returns the last line of a Python traceback, which names the exception, or another text as it is."""
    return text.rstrip().rpartition("\n")[2] if text.lstrip().startswith("Traceback (") else text


def _named_in(text: str, close: Iterable[Match]) -> dict[Rule, tuple[float, float]]:
    """Returns the similarities of each rule, with names and without them. Rules of a wire format that refuse in the same words, which the text has,
    have the same ones, because the names in their examples tell nothing.
    """
    found = {each.rule: (each.named, each.alike) for each in close}
    sharing = defaultdict[tuple[str, str], list[Rule]](list)
    for match in close:
        for template in {PASSED_ON.sub("", each) for each in _templates(match)}:
            if is_sentence(words(template)) and has(text.replace("`", ""), template, wholly=False):
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
