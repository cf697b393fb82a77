"""What is known of a model from another one: the same model under another name, or a model of the same family."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

from .cell import Cell, Evidence, family_of
from .features import FEATURES

ModelKey = tuple[str, str, str]
Spot = tuple[ModelKey, str]  # with the name of a feature


#: Features that are about the form of a conversation. A model has no say in them, unless a rule says otherwise.
_FORMAL = {feature.id for feature in FEATURES if feature.group in {"order", "ids"}}
#: Features without which a model refuses a form of conversation.
_BASIS = ("tools", "system")
_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d|0613|0125)$")
_ALIAS = re.compile(r"-(latest|0)$")


def from_related(
    known: Mapping[tuple[str, str, str, str], Cell], spots: Iterable[Spot], names: Mapping[str, str]
) -> dict[tuple[str, str, str, str], Cell]:
    """Returns what is known of a model because it is recorded with the same model under another name (`gpt-5` and
    `gpt-5-2025-08-07`, see `one_model`), or because it is about the form of a conversation and most models of its family accept
    it at the provider.
    """
    named: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
    formal: dict[tuple[str, str, str, str], list[Cell]] = defaultdict(list)
    for cell in known.values():
        if cell.answer != "unknown":
            named[cell.wire, cell.provider, names[cell.model], cell.feature].append(cell)
            if cell.answer != "no" or not _without_basis(cell, known):
                formal[cell.wire, cell.provider, cell.family, cell.feature].append(cell)
    found = {}
    for (wire, provider, model), feature in spots:
        same = named[wire, provider, names[model], feature]
        others = formal[wire, provider, family_of(model), feature] if feature in _FORMAL else []
        if inferred := _as_the_same(same, model) or _as_the_format(others, model):
            found[inferred.place] = inferred
    return found


def with_related(spots: Iterable[Spot], names: Mapping[str, str], places: Iterable[ModelKey]) -> list[Spot]:
    """Adds the places that `from_related` reads: those of other names of the model and, for the form of a request, of models of its family."""
    named: dict[ModelKey, list[ModelKey]] = defaultdict(list)
    families: dict[ModelKey, list[ModelKey]] = defaultdict(list)
    for place in places:
        named[*place[:2], names[place[2]]].append(place)
        families[*place[:2], family_of(place[2])].append(place)
    found: dict[Spot, None] = {}
    for place, feature in spots:
        found |= dict.fromkeys(product(named[*place[:2], names[place[2]]], (feature,)))
        if feature in _FORMAL:
            found |= dict.fromkeys(product(families[*place[:2], family_of(place[2])], (feature, *_BASIS)))
    return list(found)


def one_model(places: Iterable[ModelKey]) -> dict[str, str]:
    """Returns for each model the name without a day, if there is one day only, and its own name otherwise: `gpt-4o` had several."""
    dated: dict[str, set[str]] = defaultdict(set)
    for _, _, model in places:
        dated[_plain_name(model)] |= {model} if _DATED.search(model) else set()
    plain = {model: _plain_name(model) for _, _, model in places}
    return {model: name if len(dated[name]) == 1 else model for model, name in plain.items()}


def _plain_name(model: str) -> str:
    return _ALIAS.sub("", _DATED.sub("", model))


def _without_basis(cell: Cell, known: Mapping[tuple[str, str, str, str], Cell]) -> bool:
    """Tells whether a model refuses a form only because it has no tools or no system prompt at all."""
    basis = [known.get((*cell.place[:3], feature)) for feature in _BASIS]
    rules = {each.place for base in basis if base and base.answer == "no" for each in base.evidence}
    return any(each.place in rules for each in cell.evidence)


def _as_the_same(same: list[Cell], model: str) -> Cell | None:
    """Returns the cell of the same model under another name, if all its names have the same answer."""
    if len({cell.answer for cell in same}) != 1:
        return None
    cell = max(same, key=lambda cell: cell.last_seen)
    note = f"It is known of {cell.model}, which is the same model under another name."
    return replace(cell, model=model, evidence=_elsewhere(cell), note=note)


def _as_the_format(others: list[Cell], model: str) -> Cell | None:
    """Returns a cell about the form of a conversation, if other models of the family accept it and no more are known to refuse it."""
    recorded = [cell for cell in others if cell.evidence[0].kind == "accepted"]
    refused = [cell for cell in others if cell.answer == "no"]
    if not recorded or len(refused) > len(recorded):
        return None
    cell = max(recorded, key=lambda cell: (cell.last_seen, cell.model))
    more = f" and {len(recorded) - 1} more models of the family" if recorded[1:] else ""
    note = f"It was accepted with {cell.model}{more}, and the format is the same."
    return replace(cell, model=model, evidence=_elsewhere(cell), note=note, inferred=True)


def _elsewhere(cell: Cell) -> tuple[Evidence, ...]:
    recorded = {"accepted", "refused"}
    return tuple(replace(each, kind="elsewhere") if each.kind in recorded else each for each in cell.evidence)
