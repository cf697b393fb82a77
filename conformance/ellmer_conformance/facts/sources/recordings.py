"""What recordings prove, and which models they know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from ..cell import Answer, Cell, Evidence, cell_at
from ..related_models import ModelKey, Spot


@cache
def recording_data() -> dict[str, dict[str, list[list[str]]]]:
    found: dict[str, dict[str, list[list[str]]]] = json.loads(
        files("ellmer_conformance.facts").joinpath("recorded.json").read_text("utf-8")
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
    told = json.loads(files("ellmer_conformance.facts").joinpath("most_used.json").read_text("utf-8"))
    return [(wire, provider, model, projects) for wire, provider, model, projects in told]


@cache
def known_places() -> list[ModelKey]:
    """Returns every known model with its wire format and provider."""
    recorded = {tuple(where.split(" ", 2)) for where in recording_data()}
    return sorted((wire, provider, model) for wire, provider, model in recorded)


def recorded(spots: list[Spot]) -> Iterator[Cell]:
    """Yields what recordings prove. A refusal counts only if no request with the feature was accepted."""
    kinds = {"yes": "accepted", "no": "refused", "limit": "refused"}
    for place, feature in spots:
        rows = recording_data()[" ".join(place)].get(feature)
        if rows is not None:
            by = {row[0]: Evidence(kinds[row[0]], row[1], row[4], row[3], row[2]) for row in rows}
            answer: Answer = "yes" if "yes" in by else "no" if "no" in by else "unknown"
            refused = by.get("limit") or (by.get("no") if answer == "yes" else None)
            note = f"Refused in one form: {refused.words} ({refused.link})" if refused else ""
            proof = [by[answer]] if answer in by else []
            yield cell_at(feature, place, answer, *proof, note=note)
