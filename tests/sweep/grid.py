"""The features that a user can request: the values of each dimension of the sweep, and their combinations."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ellmer_conformance.adapters.ellmer_core.vendors import Vendor, vendors
from ellmer_conformance.contract.rules import book
from ellmer_core.models.prices.price_lookup import known_models

from . import values

__all__ = ["Cell", "combinations", "dimensions", "models", "places", "sample", "singles"]


@dataclass(frozen=True)
class Cell:
    """One request of the sweep: its provider, its model, and its unusual values by dimension."""

    vendor: Vendor = field(repr=False)
    model: str
    asked: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.vendor.name}/{self.model} {dict(self.asked)}"


def dimensions() -> Mapping[str, Sequence[str]]:
    """Returns the names of the values of each dimension. The first is the usual one."""
    return {
        "params": list(values.PARAMS),
        "user": list(values.CONTENTS),
        "result": list(values.RESULTS),
        "schema": list(values.SCHEMAS),
        "history": list(values.HISTORIES),
        "type": ["none", "object"],
        "stream": ["no", "yes"],
    }


@cache
def places() -> tuple[Vendor, ...]:
    """Returns every provider of the library."""
    return tuple(vendor for vendor in vendors() if vendor.construct)


@cache
def models(vendor: Vendor) -> tuple[str, ...]:
    """Returns the models with prices in the library, and those in the rules of the suite."""
    wire, name = vendor.key
    ruled = (model for rule in book(wire, name).rules.values() for model in rule.models)
    named = [model.replace("*", "").strip("-.") for model in ruled if model[:1] != "!"]
    usual = vendor.wire.default_model or vendor.place.model
    priced = [model for model in known_models(vendor.wire.vendor) if not _other(vendor, model)]
    ruling = [model for model in named if len(model) > 1 and not _other(vendor, model)]
    return tuple(dict.fromkeys([usual, *priced, *ruling]))


def singles() -> Iterator[Cell]:
    """Yields every provider, every model, and every unusual value alone."""
    for vendor in places():
        for model in models(vendor):
            yield Cell(vendor, model, {})
            for dimension, names in dimensions().items():
                for name in names[1:]:
                    yield Cell(vendor, model, {dimension: name})


def combinations(count: int, seed: int) -> Iterator[Cell]:
    """Yields seeded random combinations of unusual values: `count` for each model."""
    for vendor in places():
        for model in models(vendor):
            draw = random.Random(f"{seed} {vendor.name} {model}")
            for _ in range(count):
                yield _drawn(vendor, model, draw)


def sample(count: int, seed: int) -> list[Cell]:
    """Returns a seeded sample of both, with every provider."""
    draw = random.Random(seed)
    cells = []
    for n in range(count):
        vendor = places()[n % len(places())]
        cells.append(_drawn(vendor, draw.choice(models(vendor)), draw))
    return cells


def _drawn(vendor: Vendor, model: str, draw: random.Random) -> Cell:
    chosen = draw.sample(sorted(dimensions()), draw.randint(1, 5))
    return Cell(vendor, model, {name: draw.choice(dimensions()[name]) for name in chosen})


def _other(vendor: Vendor, model: str) -> bool:
    """Tells whether a model is another provider's, has another format there, or does not chat in text."""
    google, openai = vendor.wire.vendor.startswith("Google/"), "OpenAI" in vendor.wire.vendor
    foreign = not openai and re.match(r"(gpt-(?!oss)|o\d|codex|chatgpt)", model)
    silent = re.search(
        r"embed|audio|tts|whisper|deep-research|instruct$|davinci|babbage|^(ada|curie)$|moderation|image-gen",
        model,
    )
    instruct = silent and silent[0] == "instruct" and "gpt-3.5" not in model
    others = google and not model.startswith(("gemini-", "gemma-"))
    return bool(foreign or others or (silent and not instruct) or model.endswith("-"))


def named(kind: Mapping[str, Any], cell: Cell, dimension: str) -> Any:
    """Returns the value of a dimension in a cell."""
    return kind[cell.asked.get(dimension, next(iter(kind)))]
