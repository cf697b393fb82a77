"""What the rules say: a feature whose example a rule catches, and a format without a field for a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from ...contract.observed.exchange import Json, Request
from .. import pages
from ..cell import Answer, Cell, Evidence, cell_at, family_of
from ..examples import example, foreign
from ..features import BY_NAME, FEATURES
from ..related_models import Spot
from .recordings import known_places


def of_rules(spots: list[Spot]) -> Iterator[Cell]:
    """Yields the features that a rule refuses for a model, or says to be lost: the rule catches the example of the feature."""
    for place, feature in spots:
        for rule, words, shown in _broken(*place, feature):
            yield _ruled(feature, place, rule, words, shown)


def _ruled(feature: str, place: tuple[str, str, str], rule: Any, words: str, shown: list[str]) -> Cell:
    """Returns what a rule says of a feature: the API's words, and the links of the fact that decides, if one does."""
    days = {"since": str(rule.since or ""), "until": str(rule.until or "")}
    some = feature in _GRADED or _names_models(rule)
    links = shown or _proofs(*place[:2], rule.id)
    proof, page = _opened(place, f"{rule.id} {feature}", words, links, days["since"], by_model=some)
    later = page.later if page and not proof.quote else ""
    if later and page and place[2] in page.doubted:
        return cell_at(feature, place, "unknown", note=later)
    form = _OTHER_FORMS.get(feature)
    taken = form is not None and form in words
    answer: Answer = "yes" if taken else "no" if rule.refuses else "ignored"
    author = _author(*place[:2], rule.id, feature, page)
    other = f"It is on record with {page.named}." if some and page and not page.about(place[2]) else ""
    if not some and page and _of_a_message(feature, page):
        other = _USER
    if place[1] in _HOSTS and family_of(place[2]) != _HOSTS[place[1]]:
        other = "It is on record with models of OpenAI, and this one is served beside them."
    notes = (f"Not in every form: {words}" if taken else "", author, other, later)
    cell = cell_at(feature, place, answer, proof, note=" ".join(filter(None, notes)), **{} if taken else days)
    return replace(cell, inferred=bool(proof.quote or author or other or later))


def _names_models(rule: Any) -> bool:
    """Tells whether a rule is about some models only. One that leaves some out is about all others."""
    return any(not name.startswith("!") for name in rule.models)


def _of_a_message(feature: str, page: pages.Page) -> bool:
    """Tells whether a page is about a user message, and the feature about the result of a tool."""
    return feature.endswith("_in_result") and not _RESULTS.search(pages.without_list(page.words))


#: Hosts whose pages are about the models of one family. What else they have can be served in another way.
_HOSTS = {"azure": "gpt"}
_USER = "The page is about user messages, not about results of tools."
#: What a refusal of a part in the result of a tool has in its words.
_RESULTS = re.compile(r"tool|result|output|(messages|contents)\W[1-9]")


def _author(wire: str, provider: str, rule: str, feature: str, page: pages.Page | None) -> str:
    """Returns a sentence that the refusal is on record at the author of the format, if the provider has the author's rule."""
    author = _inherited(wire, provider, rule)
    if not (author and page) or page.at_rule(f"{wire} {provider} {rule} {feature}"):
        return ""
    if page.link not in _proofs(wire, author, rule) and not page.at_rule(f"{wire} {author} {rule} {feature}"):
        return ""
    return f"It is on record at {author}; {provider} has the same rule."


def _inherited(wire: str, provider: str, rule: str) -> str:
    """Returns the author of the format, if it has a provider's rule, too; an empty text otherwise."""
    from ...contract import rules  # noqa: PLC0415 - the rules are slow to import

    author = rules.book(wire).provider
    return author if provider != author and rule in rules.book(wire).rules else ""


def _asked(wire: str, provider: str, body: Json, model: str) -> Request:
    """Returns a request of `KNOWN_UNTIL`, the day as of which the rules describe the providers."""
    from ...contract.changes.known_until import KNOWN_UNTIL  # noqa: PLC0415 - rules take a second to import

    return Request(wire, provider, body, model=model, when=KNOWN_UNTIL)


def _broken(wire: str, provider: str, model: str, feature: str) -> Iterator[tuple[Any, str, list[str]]]:
    """Yields the rules that a feature breaks, with the API's words and the links of the fact that decides, if one does."""
    from ...contract.rule import verdict  # noqa: PLC0415 - rules take a second to import

    catching = _about(wire, provider, feature)
    if feature in _GRADED:  # such a rule says different things of models, without a scope
        catching = [rule for rule, _ in _scoped(wire, provider) if rule.models == () or rule in catching]
    about = [
        rule for rule in catching if rule.scope.about(provider, model) and (provider, rule.id) not in _SPELLED
    ]
    request = _used(feature, wire, provider, model) if about else None
    for rule in about if request else ():
        found = verdict(rule, request).violations
        if found:
            words = found[0].refusal.message if found[0].refusal else found[0].message
            yield rule, words, _decided(found[0])


def _opened(
    place: tuple[str, str, str],
    about: str,
    words: str,
    links: Iterable[str],
    day: str = "",
    *,
    by_model: bool = False,
) -> tuple[Evidence, pages.Page | None]:
    """Returns the evidence of a refusal by a rule, and what was read on its page. A rule about some models needs a page about them."""
    model, rule = place[2] if by_model else "", about.split(" ", maxsplit=1)[0]
    link, page = pages.best(links, f"{place[0]} {place[1]} {about}", words, model)
    if page is None and (author := _inherited(*place[:2], rule)):
        link, page = pages.best(links, f"{place[0]} {author} {about}", words, model)
    shown = page is None or (
        page.shows(words) and (not page.features or about.rsplit(" ", maxsplit=1)[-1] in page.features)
    )
    quote = page.words if page and not shown else ""
    return Evidence("rule", link, words, day, rule, quote), page


def _decided(violation: Any) -> list[str]:
    """Returns the links of the fact that decides a violation of a rule about shapes."""
    return re.findall(r"https://[^\s;]+", str(violation.facts.get("decided", "")))


@lru_cache(1_024)
def _used(feature: str, wire: str, provider: str, model: str) -> Request | None:
    """Returns the request of a feature's example, which many rules look at, or `None` if no example is kept."""
    body = example(BY_NAME[feature], wire, model)
    return None if body is None else _asked(wire, provider, body, model)


#: Rules that refuse how the example is written, at a provider that has the feature in another form.
_SPELLED = {("cohere-v1", "REQ-010")}
#: What a refusal says of a model that has the feature, in another form than the example's.
_OTHER_FORMS = {"effort": "Supported values are", "prefill": "Assistant with prefix"}
#: Features whose values differ between models.
_GRADED = {"effort", "thinking_off"}


@cache
def _about(wire: str, provider: str, feature: str) -> list[Any]:
    """Returns the rules that catch the example of a feature, and not a plain request."""
    from ...contract.rule import verdict  # noqa: PLC0415 - the rules are slow to import

    def catches(rule: Any, model: str) -> bool:
        used = _used(feature, wire, provider, model)
        return bool(used and verdict(rule, used).violations)

    most = _SAMPLE if BY_NAME[feature].group in _OPTIONS else 1
    return [
        rule for rule, models in _scoped(wire, provider) if any(catches(rule, name) for name in models[:most])
    ]


@cache
def _scoped(wire: str, provider: str) -> list[tuple[Any, list[str]]]:
    """Returns the rules about refusals and losses, each with some models whose plain request it does not catch."""
    from ...contract import rules  # noqa: PLC0415 - the rules are slow to import
    from ...contract.rule import Kind, verdict  # noqa: PLC0415 - the rules are slow to import

    names = [place[2] for place in known_places() if place[:2] == (wire, provider)]
    found = []
    for rule in rules.book(wire, provider).rules.values():
        if (
            (rule.refuses or (rule.kind is Kind.LOSS and rule.models))
            and not rule.versions
            and not rule.betas
            and rule.scope.on(None)
        ):
            about = [name for name in names if rule.scope.about(provider, name)]
            some = about[:: max(1, len(about) // _SAMPLE)] if rule.models else about[:1]
            plain = {name: example(FEATURES[0], wire, name) or {} for name in some}
            fine = [
                name
                for name, body in plain.items()
                if not verdict(rule, _asked(wire, provider, body, name)).violations
            ]
            found += [(rule, fine)] if fine else []
    return found


_SAMPLE = 9  # models by which a rule for some models is tried
#: Groups of features that are one field. Other examples have more, which a rule may refuse with some models.
_OPTIONS = {"output", "sampling"}


@cache
def _proofs(wire: str, provider: str, id: str) -> list[str]:
    from ...contract import rules  # noqa: PLC0415 - the rules are slow to import
    from ...recordings.corpus.evidence import addresses, evidence_of  # noqa: PLC0415 - the rules are slow to import

    book = rules.book(wire, provider)
    proved = [each for each in evidence_of(book, book.rules[id]) if isinstance(each, str)]
    return [*proved, *addresses(book, book.rules[id])]  # a description of requests comes last


# --- From closed requests: a format without a field for a feature refuses the field of other formats ----------


#: Features that a format may have under a name of its own, which no table here lists.
_OTHERWISE = {
    "tools",
    "strict_tools",
    "parallel_switch",
    "thinking_off",
    "effort",
    "json_mode",
    "structured_output",
}


def without_a_field(spots: list[Spot]) -> Iterator[Cell]:
    for place, feature in spots:
        for proof in _refused_field(*place[:2], feature):
            yield _lacking(feature, place, proof, _NO_FIELD)
        for proof in _refused_part(*place[:2], feature):
            if _holds(proof.place, *place):
                yield _lacking(feature, place, proof, _NO_PART)


def _holds(rule: str, wire: str, provider: str, model: str) -> bool:
    from ...contract import rules  # noqa: PLC0415 - the rules are slow to import

    return rules.book(wire, provider).rules[rule].scope.about(provider, model)


def _lacking(feature: str, place: tuple[str, str, str], proof: Evidence, note: str) -> Cell:
    page = pages.pages().get(proof.link)
    author = _author(*place[:2], proof.place, feature, page)
    other = _USER if page and _of_a_message(feature, page) else ""
    cell = cell_at(feature, place, "no", proof, note=" ".join(filter(None, (note, author, other))))
    return replace(cell, inferred=bool(proof.quote or author or other))


_NO_PART = "The format has no part for it, and refuses the parts of other formats."
_NO_FIELD = "The format has no field for it, and refuses unknown fields."


@cache
def _refused_part(wire: str, provider: str, name: str) -> tuple[Evidence, ...]:
    """Returns what refuses the part that another format has for a feature, if this format has none for it."""
    from ...contract.rule import verdict  # noqa: PLC0415 - the rules are slow to import

    model = next(place[2] for place in known_places() if place[:2] == (wire, provider))
    body = foreign(BY_NAME[name], wire, model)
    for rule, _ in _scoped(wire, provider) if body else ():
        found = verdict(rule, _asked(wire, provider, body or {}, model)).violations
        if found and not _names_models(rule) and (refused := found[0].refusal):
            if (provider, rule.id) in _SPELLED:
                return ()
            links, day = _decided(found[0]) or _proofs(wire, provider, rule.id), str(rule.since or "")
            proof, _ = _opened((wire, provider, ""), f"{rule.id} {name}", refused.message, links, day)
            return (proof,) if proof.link else ()
    return ()


@cache
def _refused_field(wire: str, provider: str, name: str) -> tuple[Evidence, ...]:
    """Returns what refuses the field that other formats have for a feature, if this format has none and the refusal is certain."""
    from ...contract import rules  # noqa: PLC0415 - the rules are slow to import
    from ...contract.rule import verdict  # noqa: PLC0415 - the rules are slow to import
    from ...contract.shapes.checker import Fault, FaultKind, shape  # noqa: PLC0415 - the rules are slow to import
    from ...contract.shapes.facts import deciding, shape_of  # noqa: PLC0415 - the rules are slow to import

    feature, here = BY_NAME[name], shape_of(wire, provider)
    book = rules.book(wire, provider)
    rule = book.rules.get("REQ-101")
    spelt = [path for path, _ in feature.fields.values() if "." not in path]
    if wire in feature.fields or name in _OTHERWISE or not (here and spelt and rule and rule.refuses):
        return ()
    request = book.request(
        {**(example(FEATURES[0], wire, "") or {}), spelt[0]: dict(feature.fields.values())[spelt[0]]}
    )
    owner = shape(here)["root"]["object"]["type"]
    fact = deciding(
        here, Fault(FaultKind.UNKNOWN_FIELD, 0, key=spelt[0], owner=owner, field=spelt[0]), provider
    )
    violations = [each for each in verdict(rule, request).violations if each.pointer == f"/{spelt[0]}"]
    if fact is None or not (fact.refused and fact.evidence) or fact.models or fact.versions or fact.betas:
        return ()
    return tuple(
        _opened((wire, provider, ""), f"{rule.id} {name}", each.refusal.message, fact.evidence)[0]
        for each in violations[:1]
        if each.refusal
    )
