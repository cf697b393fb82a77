"""What is true of LLM APIs: which feature a model has over a wire format at a provider, with the evidence.

The cells are derived from the rules, from the profiles of models, from the days on which models are shut down, and from recordings
(`recorded.json`, which `python -m devtools.recorded_facts` writes). No cell is kept by hand.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

from ..contract.observed.exchange import Json, Request
from . import pages
from .alike import ModelKey, Spot, alike, one_model, with_alike
from .cell import Answer, Cell, Evidence, family_of
from .examples import example, foreign
from .features import FEATURES

__all__ = [
    "VERSION",
    "Cell",
    "DatedProfile",
    "Document",
    "Evidence",
    "as_data",
    "cells",
    "cells_of",
    "chosen",
    "dated_profiles",
    "disagreements",
    "documents",
    "family_of",
    "most_used",
    "names",
    "schema",
]

#: The version of the form of the data. It changes if a field is changed or removed.
VERSION = 1

_BY_NAME = {feature.id: feature for feature in FEATURES}

# --- The cells -------------------------------------------------------------------------------------------


@cache
def cells() -> tuple[Cell, ...]:
    """Returns all cells, also the unknown ones: every feature of every known model.

    Examples:
        >>> "unknown" in {cell.answer for cell in cells()}
        True
    """
    return (*_cells_at(_places(), _BY_NAME), *_retired(), *_betas())


def _cells_at(places: Iterable[ModelKey], features: Iterable[str]) -> list[Cell]:
    """Returns the cells of these models and features. Nothing else is computed but what they can be inferred from."""
    spots = sorted(product(places, features))
    told: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
    for cell in _from_all_sources(with_alike(spots, _names(), _places())):
        told[cell.place].append(_if_opened(cell))
    known = {place: _joined(each) for place, each in told.items()}
    known = {**alike(known, spots, _names()), **known}
    return [known.get((*place, feature)) or _cell(feature, place, "unknown") for place, feature in spots]


@cache
def _names() -> dict[str, str]:
    return one_model(_places())


def _from_all_sources(spots: list[Spot]) -> Iterator[Cell]:
    """Yields what each source says of these models and features, recordings first."""
    for source in (_recorded, _of_rules, _of_profiles, _without_a_field, _of_documents):
        yield from source(spots)


def _if_opened(cell: Cell) -> Cell:
    """Returns the cell, or an unknown one that says what a source claims, if nobody opened the page of that source."""
    proof = next(iter(cell.evidence), None)
    if proof is None or proof.kind not in {"rule", "profile"}:
        return cell
    if proof.kind == "rule" and proof.link in pages.pages():
        return cell
    source = f"Rule {proof.place}" if proof.kind == "rule" else "The table of the chat library"
    said = f" ({proof.words})" if proof.words else ""
    note = f"{source} says {cell.answer}{said}, but {_UNOPENED}: {proof.link}"
    return replace(cell, answer="unknown", evidence=(), since="", until="", note=note, inferred=False)


_UNOPENED = "its page was not opened"


def _cell(
    feature: str,
    place: tuple[str, str, str],
    answer: Answer,
    *evidence: Evidence,
    since: str = "",
    until: str = "",
    note: str = "",
) -> Cell:
    wire, provider, model = place
    return Cell(feature, model, family_of(model), wire, provider, answer, evidence, since, until, note)


def _joined(told: list[Cell]) -> Cell:
    """Returns one cell of those of several sources. Recordings come first; what contradicts them is a restriction.

    A recording of an accepted request does not tell whether the API did something with a field, so a document that says that it
    is ignored comes before it.
    """
    known = [cell for cell in told if cell.answer != "unknown"]
    first = min(known or told, key=lambda cell: cell.inferred)
    if first.answer == "yes":
        first = min(known, key=lambda cell: (cell.answer != "ignored", cell is not first))
    if known:
        told = [
            cell for cell in told if not (_UNOPENED in cell.note and f" says {first.answer}" in cell.note)
        ]
    same = sorted((cell for cell in told if cell.answer == first.answer), key=lambda cell: cell.inferred)
    evidence = tuple(dict.fromkeys(each for cell in same for each in sorted(cell.evidence, key=_indirect)))
    since, until = max(cell.since for cell in told), max(cell.until for cell in told)
    notes = [cell.note or _words(cell) for cell in told if cell.note or cell.answer != first.answer]
    return replace(first, evidence=evidence, since=since, until=until, note=" ".join(dict.fromkeys(notes)))


def _indirect(proof: Evidence) -> tuple[bool, bool]:
    """Sorts what says it of this very feature before the rest: a profile's page has no words, and a rule's can be about another field."""
    return proof.kind == "profile", bool(proof.quote)


def _words(cell: Cell) -> str:
    each = cell.evidence[0]
    return f"A {each.kind} says {cell.answer} of some requests: {each.words or each.link}"


@cache
def _recording_data() -> dict[str, dict[str, list[list[str]]]]:
    found: dict[str, dict[str, list[list[str]]]] = json.loads(
        files(__name__).joinpath("recorded.json").read_text("utf-8")
    )
    return found


def most_used() -> list[tuple[str, str, str, int]]:
    """Returns the places of the thirty models that most projects use in public recordings.

    Returns:
        Wire format, provider, model, and the number of projects. A model is there with each wire format that at least two
        projects use.

    Examples:
        >>> ("openai-chat", "openai", "gpt-4o-mini") in {place[:3] for place in most_used()}
        True
    """
    told = json.loads(files(__name__).joinpath("most_used.json").read_text("utf-8"))
    return [(wire, provider, model, projects) for wire, provider, model, projects in told]


@cache
def _places() -> list[ModelKey]:
    """Returns every known model with its wire format and provider."""
    recorded = {tuple(where.split(" ", 2)) for where in _recording_data()}
    return sorted((wire, provider, model) for wire, provider, model in recorded)


def _recorded(spots: list[Spot]) -> Iterator[Cell]:
    """Yields what recordings prove. A refusal counts only if no request with the feature was accepted."""
    kinds = {"yes": "accepted", "no": "refused", "limit": "refused"}
    for place, feature in spots:
        rows = _recording_data()[" ".join(place)].get(feature)
        if rows is not None:
            by = {row[0]: Evidence(kinds[row[0]], row[1], row[4], row[3], row[2]) for row in rows}
            answer: Answer = "yes" if "yes" in by else "no" if "no" in by else "unknown"
            refused = by.get("limit") or (by.get("no") if answer == "yes" else None)
            note = f"Refused in one form: {refused.words} ({refused.link})" if refused else ""
            proof = [by[answer]] if answer in by else []
            yield _cell(feature, place, answer, *proof, note=note)


# --- From rules ------------------------------------------------------------------------------------------


def _of_rules(spots: list[Spot]) -> Iterator[Cell]:
    """Yields the features that a rule refuses for a model, or says to be lost: the rule catches the example of the feature."""
    for place, feature in spots:
        for rule, words, shown in _broken(*place, feature):
            yield _ruled(feature, place, rule, words, shown)


def _ruled(feature: str, place: tuple[str, str, str], rule: Any, words: str, shown: list[str]) -> Cell:
    """Returns what a rule says of a feature: the API's words, and the links of the fact that decides, if one does."""
    days = {"since": str(rule.since or ""), "until": str(rule.until or "")}
    some = feature in _GRADED or any(not name.startswith("!") for name in rule.models)
    links = shown or _proofs(*place[:2], rule.id)
    proof, page = _opened(place, f"{rule.id} {feature}", words, links, days["since"], by_model=some)
    later = page.later if page and not proof.quote else ""
    if later and page and place[2] in page.doubted:
        return _cell(feature, place, "unknown", note=later)
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
    cell = _cell(feature, place, answer, proof, note=" ".join(filter(None, notes)), **{} if taken else days)
    return replace(cell, inferred=bool(proof.quote or author or other or later))


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
    from ..contract import rules  # noqa: PLC0415

    author = rules.book(wire).provider
    return author if provider != author and rule in rules.book(wire).rules else ""


def _asked(wire: str, provider: str, body: Json, model: str) -> Request:
    """Returns a request of the day up to which the rules know the providers."""
    from ..contract.changes.known_until import KNOWN_UNTIL  # noqa: PLC0415 - rules take a second to import

    return Request(wire, provider, body, model=model, when=KNOWN_UNTIL)


def _broken(wire: str, provider: str, model: str, feature: str) -> Iterator[tuple[Any, str, list[str]]]:
    """Yields the rules that a feature breaks, with the API's words and the links of the fact that decides, if one does."""
    from ..contract.rule import verdict  # noqa: PLC0415 - rules take a second to import

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
    body = example(_BY_NAME[feature], wire, model)
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
    from ..contract.rule import verdict  # noqa: PLC0415

    def catches(rule: Any, model: str) -> bool:
        used = _used(feature, wire, provider, model)
        return bool(used and verdict(rule, used).violations)

    most = _SAMPLE if _BY_NAME[feature].group in _OPTIONS else 1
    return [
        rule for rule, models in _scoped(wire, provider) if any(catches(rule, name) for name in models[:most])
    ]


@cache
def _scoped(wire: str, provider: str) -> list[tuple[Any, list[str]]]:
    """Returns the rules about refusals and losses, each with some models whose plain request it does not catch."""
    from ..contract import rules  # noqa: PLC0415
    from ..contract.rule import Kind, verdict  # noqa: PLC0415

    names = [place[2] for place in _places() if place[:2] == (wire, provider)]
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
    from ..contract import rules  # noqa: PLC0415
    from ..recordings.corpus.evidence import addresses, evidence_of  # noqa: PLC0415

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


def _without_a_field(spots: list[Spot]) -> Iterator[Cell]:
    for place, feature in spots:
        for proof in _refused_field(*place[:2], feature):
            yield _lacking(feature, place, proof, _NO_FIELD)
        for proof in _refused_part(*place[:2], feature):
            yield _lacking(feature, place, proof, _NO_PART)


def _lacking(feature: str, place: tuple[str, str, str], proof: Evidence, note: str) -> Cell:
    page = pages.pages().get(proof.link)
    author = _author(*place[:2], proof.place, feature, page)
    other = _USER if page and _of_a_message(feature, page) else ""
    cell = _cell(feature, place, "no", proof, note=" ".join(filter(None, (note, author, other))))
    return replace(cell, inferred=bool(proof.quote or author or other))


_NO_PART = "The format has no part for it, and refuses the parts of other formats."
_NO_FIELD = "The format has no field for it, and refuses unknown fields."


@cache
def _refused_part(wire: str, provider: str, name: str) -> tuple[Evidence, ...]:
    """Returns what refuses the part that another format has for a feature, if this format has none for it."""
    from ..contract.rule import verdict  # noqa: PLC0415

    model = next(place[2] for place in _places() if place[:2] == (wire, provider))
    body = foreign(_BY_NAME[name], wire, model)
    for rule, _ in _scoped(wire, provider) if body else ():
        found = verdict(rule, _asked(wire, provider, body or {}, model)).violations
        if found and not rule.models and (refused := found[0].refusal):
            if (provider, rule.id) in _SPELLED:
                return ()
            links, day = _decided(found[0]) or _proofs(wire, provider, rule.id), str(rule.since or "")
            proof, _ = _opened((wire, provider, ""), f"{rule.id} {name}", refused.message, links, day)
            return (proof,) if proof.link else ()
    return ()


@cache
def _refused_field(wire: str, provider: str, name: str) -> tuple[Evidence, ...]:
    """Returns what refuses the field that other formats have for a feature, if this format has none and the refusal is certain."""
    from ..contract import rules  # noqa: PLC0415
    from ..contract.rule import verdict  # noqa: PLC0415
    from ..contract.shapes.checker import Fault, FaultKind, shape  # noqa: PLC0415
    from ..contract.shapes.facts import deciding, shape_of  # noqa: PLC0415

    feature, here = _BY_NAME[name], shape_of(wire, provider)
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


# --- From profiles ---------------------------------------------------------------------------------------


#: The names that profiles have for the providers.
_NAMES = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google/Gemini",
    "bedrock": "AWS/Bedrock",
    "azure": "Azure/OpenAI",
    "vertex": "Google/Vertex",
    "openrouter": "OpenRouter",
    "groq": "Groq",
    "mistral": "Mistral",
    "cohere": "Cohere",
    "ollama": "Ollama",
    "xai": "xAI",
    "deepseek": "DeepSeek",
    "together": "Together AI",
    "huggingface": "Hugging Face",
    "cerebras": "Cerebras",
    "cloudflare": "Cloudflare",
}
_PARAMETERS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "stop_sequences": "stop",
    "log_probs": "logprobs",
}
#: A parameter that the library does not send over a wire format, which has something else for it.
_OTHERWISE_NAMED = {("log_probs", "openai-responses")}


def _of_profiles(spots: list[Spot]) -> Iterator[Cell]:
    for place, feature in spots:
        for name, answer, source in _profiled(*place):
            if name == feature:
                yield _cell(name, place, answer, Evidence("profile", source))


@cache
def _profiled(*place: str) -> tuple[tuple[str, Answer, str], ...]:
    return tuple(_said_outright(*place))


def _said_outright(wire: str, provider: str, model: str) -> Iterator[tuple[str, Answer, str]]:
    """Yields what the rows of the profiles say outright: feature, answer and source. The last row has priority."""
    values: dict[str, tuple[Any, str]] = {}
    for row in _rows(_NAMES[provider]) if provider in _NAMES else ():
        here = row.get("format", wire) == wire and not row.get("version")
        if here and re.search(row["model"], model, re.IGNORECASE):
            values |= {key: (value, row["source"]) for key, value in row.items()}
    for name in values.get("refuses", ((), ""))[0]:
        if name in _PARAMETERS and (name, wire) not in _OTHERWISE_NAMED:
            yield _PARAMETERS[name], "no", values["refuses"][1]
    for key, feature in {"images": "image_in_user", "pdfs": "pdf_in_user", "audio": "audio_in_user"}.items():
        if key in values and values[key][0] is not None:
            yield feature, "yes" if values[key][0] else "no", values[key][1]
    for key, feature in {"tools": "tools", "system": "system", "forced": "forced_call"}.items():
        if key in values:
            yield feature, "yes" if values[key][0] else "no", values[key][1]
    if "structured" in values:
        yield (
            "structured_output",
            "yes" if values["structured"][0] == "schema" else "no",
            values["structured"][1],
        )


#: The keys of a row that say where and when it holds; the others are capabilities.
_SCOPE = {"provider", "format", "model", "version", "since", "until", "source"}


class DatedProfile(NamedTuple):
    """A row of the chat library's tables that holds from a day, or until one: what it says of which models, and its source.

    Examples:
        >>> DatedProfile(("OpenAI",), "gpt-6", {"efforts": ["low"]}, "https://example.com").until is None
        True
    """

    providers: tuple[str, ...]
    models: str
    facts: dict[str, Any]
    source: str
    since: date | None = None
    until: date | None = None


def dated_profiles() -> Iterator[DatedProfile]:
    """Yields the rows with a day of the chat library's tables of models.

    Yields:
        The rows, in the order of the tables.

    Examples:
        >>> all(each.since or each.until for each in dated_profiles())
        True
    """
    for row in _rows(""):
        if "since" in row or "until" in row:
            told = {key: value for key, value in row.items() if key not in _SCOPE}
            days = (row.get("since"), row.get("until"))
            yield DatedProfile(tuple(row["provider"]), row["model"], told, row["source"], *days)


@cache
def _rows(name: str) -> tuple[dict[str, Any], ...]:
    from ellmer_core.models.profiles import rows  # noqa: PLC0415

    return rows(name)


# --- From documents --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Document:
    """What a provider's own document says of features.

    Args:
        link: The page, or the line of a published file.
        words: What it says.
        day: The day on which the words were read, on the page or in a stored copy of it.
        at: The places that it is about: regular expressions for `"wire provider model"`.
        yes: The features that the API has.
        no: The features that it does not have.
        ignored: The features that it accepts and does nothing with.
        note: A restriction in words.
        inferred: Whether it is about the same models at another provider. Default: False.

    Examples:
        >>> Document("https://example.com", "It does.", "2026-11-27", ("gemini google .*",), ("seed",)).no
        ()
    """

    link: str
    words: str
    day: str
    at: tuple[str, ...]
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    note: str = ""
    inferred: bool = False

    @property
    def places(self) -> list[tuple[str, str, str]]:
        """The known models that it is about, each with its wire format and provider."""
        about = re.compile("|".join(self.at))
        return [place for place in _places() if about.fullmatch(" ".join(place))]

    def cells(self) -> Iterator[Cell]:
        """Yields what the document says of each model and feature."""
        proof = Evidence("document", self.link, self.words, self.day)
        told: tuple[tuple[Answer, tuple[str, ...]], ...] = (
            ("yes", self.yes),
            ("no", self.no),
            ("ignored", self.ignored),
        )
        for place in self.places:
            for answer, features in told:
                for each in features:
                    cell = _cell(each, place, answer, proof, note=self.note)
                    yield replace(cell, inferred=self.inferred or self._about_another(place[1]))

    def _about_another(self, provider: str) -> bool:
        """Tells whether it is a page of the Gemini API, which Vertex AI has beside it with the same models."""
        return provider == "vertex" and self.link.startswith("https://ai.google.dev/")


@cache
def documents() -> tuple[Document, ...]:
    """Returns the documents of the providers that `documents.toml` lists.

    Examples:
        >>> all(each.words for each in documents())
        True
    """
    import tomllib  # noqa: PLC0415

    told = tomllib.loads(files(__name__).joinpath("documents.toml").read_text("utf-8"))["document"]
    return tuple(_document(each) for each in told)


def _document(told: dict[str, Any]) -> Document:
    lists = {name: tuple(told.get(name, ())) for name in ("at", "yes", "no", "ignored")}
    day, note, inferred = told["read"].isoformat(), told.get("note", ""), told.get("inferred", False)
    return Document(told["link"], told["words"], day, note=note, inferred=inferred, **lists)


def _of_documents(spots: list[Spot]) -> Iterator[Cell]:
    wanted = {(*place, feature) for place, feature in spots}
    for document in documents():
        yield from (cell for cell in document.cells() if cell.place in wanted)


# --- From calendars --------------------------------------------------------------------------------------


def _retired() -> Iterator[Cell]:
    """Yields the days on which models are shut down. Until then, the cell `available` says yes."""
    from ..contract.changes.retired_models import SCHEDULES  # noqa: PLC0415
    from ..contract.readers import provider_of  # noqa: PLC0415

    for host, schedule in SCHEDULES.items():
        for day, names in schedule.days.items():
            gone = date.fromisoformat(day) <= date.today()  # noqa: DTZ011 - a provider's day has no time zone here
            for model in names.split():
                words = f"The table of the page has the day {day} for it."
                proof = Evidence("document", schedule.source, words, schedule.read.isoformat())
                place = ("*", provider_of(host), model)
                yield _cell(
                    "available", place, "no" if gone else "yes", proof, **{"since" if gone else "until": day}
                )


def _betas() -> Iterator[Cell]:
    """Yields Anthropic's beta features, by the name that a header has for each."""
    import tomllib  # noqa: PLC0415

    text = files("ellmer_conformance.contract.rules.anthropic").joinpath("betas.toml").read_text("utf-8")
    told = tomllib.loads(text)
    for name, facts in told["beta"].items():
        words = facts.get("model") or ", ".join(facts.get("unlocks", ()))
        note = f"It needs no header any more: {words}" if facts.get("ended") else words
        day = "-".join(found.groups()) if (found := _DAY.search(name)) else ""
        listed = name not in told["unlisted"]
        proof = Evidence("document", told["list"] if listed else told["source"], name if listed else "", day)
        place = ("anthropic", "anthropic", "claude*")
        unread = "" if listed else f"No page that was opened lists {name}. "
        yield _cell(
            f"beta:{name}", place, "yes" if listed else "unknown", proof, note=f"{unread}{note}".strip()
        )


_DAY = re.compile(r"-(20\d\d)-?(\d\d)-?(\d\d)$")


# --- Checks ----------------------------------------------------------------------------------------------


def disagreements() -> list[str]:
    """Returns a sentence for each place at which recordings, rules, profiles and documents say different things.

    A recording of an accepted request agrees with a source that says that the API ignores the field, and so does a refusal for
    another reason.

    Examples:
        >>> len(disagreements()) < 20
        True
    """
    told: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
    for cell in _from_all_sources(list(product(_places(), _BY_NAME))):
        if cell.answer != "unknown":
            told[cell.place].append(cell)
    return [
        f"{' '.join(place)}: "
        + "; ".join(f"{c.evidence[0].kind} {c.evidence[0].place}: {c.answer}" for c in each)
        for place, each in sorted(told.items())
        if len({cell.answer for cell in each if not _agrees(cell, each)}) > 1
    ]


def _agrees(cell: Cell, others: list[Cell]) -> bool:
    """Tells whether a cell fits a source that says that the API ignores the feature."""
    ignored = any(other.answer == "ignored" for other in others)
    return ignored and (cell.evidence[0].kind == "accepted" or cell.answer == "no")


# --- As data ---------------------------------------------------------------------------------------------


def as_data(chosen: Iterable[Cell]) -> dict[str, Any]:
    """Returns cells as JSON, in the form that `facts.schema.json` describes. A model's feature without a cell is unknown.

    Args:
        chosen: The cells.

    Examples:
        >>> as_data([])["version"]
        1
    """
    listed = list(chosen)
    titles = {feature.id: {"title": feature.title, "group": feature.group} for feature in FEATURES}
    return {
        "version": VERSION,
        "features": titles,
        "examples": _examples({cell.wire for cell in listed} - {"*"}),
        "models": sorted({(cell.wire, cell.provider, cell.model, cell.family) for cell in listed}),
        "cells": [_plain(cell) for cell in listed if cell.answer != "unknown" or cell.note],
    }


def _examples(wires: Iterable[str]) -> dict[str, Any]:
    shown = {wire: {each.id: example(each, wire, "MODEL") for each in FEATURES} for wire in sorted(wires)}
    return {wire: {name: body for name, body in each.items() if body} for wire, each in shown.items()}


def _plain(cell: Cell) -> dict[str, Any]:
    """Returns a cell without empty fields."""
    found = asdict(cell) | {"last_seen": cell.last_seen}
    found["evidence"] = [{k: v for k, v in each.items() if v} for each in found["evidence"]]
    return {key: value for key, value in found.items() if value or key == "evidence"}


def chosen(
    model: str = "", feature: str = "", provider: str = "", wire: str = "", answer: str = ""
) -> list[Cell]:
    """Returns the cells that fit all given names. A name may be a pattern; a model may also be a family.

    Args:
        model: The model, such as `"gpt-5*"`, or a family.
        feature: The feature.
        provider: The provider.
        wire: The wire format.
        answer: The answer.

    Examples:
        >>> {cell.answer for cell in chosen(model="gpt-5-mini", feature="temperature", provider="openai")}
        {'no'}
    """

    def fits(at: ModelKey, name: str) -> bool:
        of_model = fnmatchcase(at[2], model or "*") or family_of(at[2]) == model
        of_wire = fnmatchcase(at[0], wire or "*") or at[0] == "*"
        return (
            of_model and of_wire and fnmatchcase(at[1], provider or "*") and fnmatchcase(name, feature or "*")
        )

    narrow = bool(model or feature or provider or wire)
    named = [name for name in _BY_NAME if fnmatchcase(name, feature or "*")]
    places = [place for place in _places() if named and fits(place, named[0])]
    found = (*_cells_at(places, named), *_retired(), *_betas()) if narrow else cells()
    return [each for each in found if fits(each.place[:3], each.feature) and answer in {"", each.answer}]


def cells_of(models: Collection[tuple[str, str]], features: Collection[str]) -> list[Cell]:
    """Returns the cells of some models, without computing the others.

    Args:
        models: The provider and the name of each model.
        features: The features.

    Examples:
        >>> [cell.answer for cell in cells_of({("openai", "gpt-5-mini")}, {"temperature"}) if cell.wire == "openai-chat"]
        ['no']
    """
    places = [place for place in _places() if place[1:] in models]
    found = (*_cells_at(places, [name for name in _BY_NAME if name in features]), *_retired(), *_betas())
    return [cell for cell in found if cell.place[1:3] in models and cell.feature in features]


def names(kind: str) -> set[str]:
    """Returns the names that cells have, without computing the cells.

    Args:
        kind: `"model"` (with the families), `"feature"`, `"provider"` or `"wire"`.

    Examples:
        >>> "gpt-5-mini" in names("model"), "claude" in names("model"), "temperature" in names("feature")
        (True, True, True)
    """
    found = {getattr(cell, kind) for cell in (*_retired(), *_betas())}
    if kind == "feature":
        return found | {*_BY_NAME}
    found |= {place[("wire", "provider", "model").index(kind)] for place in _places()}
    return found | {family_of(model) for model in found} if kind == "model" else found


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the data.

    Examples:
        >>> schema()["properties"]["version"]
        {'const': 1}
    """
    found: dict[str, Any] = json.loads(files(__name__).joinpath("facts.schema.json").read_text("utf-8"))
    return found
