"""What is true of LLM APIs: which feature a model has over a wire format at a provider, with the evidence.

The cells are derived from the rules, from the profiles of models, from the days on which models are shut down, and from recordings
(`recorded.json`, which `python -m devtools.facts.recorded_facts` writes). No cell is kept by hand.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from . import pages
from .cell import Cell, Evidence, cell_at, family_of
from .examples import example
from .features import BY_NAME, FEATURES
from .related_models import ModelKey, Spot, from_related, one_model, with_related
from .sources.calendars import betas, retired
from .sources.documents import Document, documents, of_documents
from .sources.profiles import DatedProfile, dated_profiles, of_profiles
from .sources.recordings import known_places, most_used, recorded
from .sources.rules import of_rules, without_a_field

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

# --- The cells -------------------------------------------------------------------------------------------


@cache
def cells() -> tuple[Cell, ...]:
    """Returns all cells, also the unknown ones: every feature of every known model.

    Examples:
        >>> "unknown" in {cell.answer for cell in cells()}
        True
    """
    return (*_cells_at(known_places(), BY_NAME), *retired(), *betas())


def _cells_at(places: Iterable[ModelKey], features: Iterable[str]) -> list[Cell]:
    """Returns the cells of these models and features. Nothing else is computed but what they can be inferred from."""
    spots = sorted(product(places, features))
    told: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
    for cell in _from_all_sources(with_related(spots, _names(), known_places())):
        told[cell.place].append(_if_opened(cell))
    known = {place: _joined(each) for place, each in told.items()}
    known = {**from_related(known, spots, _names()), **known}
    return [known.get((*place, feature)) or cell_at(feature, place, "unknown") for place, feature in spots]


@cache
def _names() -> dict[str, str]:
    return one_model(known_places())


def _from_all_sources(spots: list[Spot]) -> Iterator[Cell]:
    """Yields what each source says of these models and features, recordings first."""
    for source in (recorded, of_rules, of_profiles, without_a_field, of_documents):
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
    for cell in _from_all_sources(list(product(known_places(), BY_NAME))):
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
    found: dict[str, Any] = asdict(cell) | {"last_seen": cell.last_seen}
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
    named = [name for name in BY_NAME if fnmatchcase(name, feature or "*")]
    places = [place for place in known_places() if named and fits(place, named[0])]
    found = (*_cells_at(places, named), *retired(), *betas()) if narrow else cells()
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
    places = [place for place in known_places() if place[1:] in models]
    found = (*_cells_at(places, [name for name in BY_NAME if name in features]), *retired(), *betas())
    return [cell for cell in found if cell.place[1:3] in models and cell.feature in features]


def names(kind: str) -> set[str]:
    """Returns the names that cells have, without computing the cells.

    Args:
        kind: `"model"` (with the families), `"feature"`, `"provider"` or `"wire"`.

    Examples:
        >>> "gpt-5-mini" in names("model"), "claude" in names("model"), "temperature" in names("feature")
        (True, True, True)
    """
    found = {getattr(cell, kind) for cell in (*retired(), *betas())}
    if kind == "feature":
        return found | {*BY_NAME}
    found |= {place[("wire", "provider", "model").index(kind)] for place in known_places()}
    return found | {family_of(model) for model in found} if kind == "model" else found


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the data.

    Examples:
        >>> schema()["properties"]["version"]
        {'const': 1}
    """
    found: dict[str, Any] = json.loads(files(__name__).joinpath("facts.schema.json").read_text("utf-8"))
    return found
