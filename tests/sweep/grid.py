"""The features that a user can request: the values of each dimension of the sweep, and their combinations."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ellmer_conformance.adapters.ellmer_core import Provider, providers
from ellmer_conformance.contract.rules import book
from ellmer_core.models.prices.price_lookup import known_models

from . import values

__all__ = ["Cell", "combinations", "dimensions", "models", "one_of_each", "places", "sample", "singles"]


@dataclass(frozen=True)
class Cell:
    """One request of the sweep: its provider, its model, and its unusual values by dimension."""

    provider: Provider = field(repr=False)
    model: str
    asked: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model} {dict(self.asked)}"


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
def places() -> tuple[Provider, ...]:
    """Returns every provider of the library."""
    return tuple(provider for provider in providers() if provider.construct)


#: Providers whose media or messages differ from those of the first provider with their wire format.
OWN = {"openai_completions", "openai_compatible", "openrouter", "deepseek", "perplexity", "google_vertex"}


@cache
def one_of_each() -> tuple[Provider, ...]:
    """Returns one provider of each wire format, and those that differ from it."""
    first = {provider.key[0]: provider for provider in reversed(places())}.values()
    own = (provider for provider in places() if provider.name in OWN)
    return tuple({provider.name: provider for provider in (*first, *own)}.values())


@cache
def models(provider: Provider) -> tuple[str, ...]:
    """Returns the models with prices in the library, and those in the rules of the suite."""
    wire, name = provider.key
    ruled = (model for rule in book(wire, name).rules.values() for model in rule.models)
    named = [model.replace("*", "").strip("-.") for model in ruled if model[:1] != "!" and ">" not in model]
    usual = provider.wire.default_model or provider.place.model
    priced = [model for model in known_models(provider.wire.provider) if not _other(provider, model)]
    ruling = [model for model in named if len(model) > 1 and not _other(provider, model)]
    return tuple(dict.fromkeys([usual, *priced, *ruling]))


def singles() -> Iterator[Cell]:
    """Yields every provider, every model, and every unusual value alone."""
    for provider in places():
        for model in models(provider):
            yield Cell(provider, model, {})
            for dimension, names in dimensions().items():
                for name in names[1:]:
                    yield Cell(provider, model, {dimension: name})


def combinations(count: int, seed: int) -> Iterator[Cell]:
    """Yields seeded random combinations of unusual values: `count` for each model."""
    for provider in places():
        for model in models(provider):
            draw = random.Random(f"{seed} {provider.name} {model}")
            for _ in range(count):
                yield _drawn(provider, model, draw)


def sample(count: int, seed: int) -> list[Cell]:
    """Returns a seeded sample of both, with every provider."""
    draw = random.Random(seed)
    cells = []
    for n in range(count):
        provider = places()[n % len(places())]
        cells.append(_drawn(provider, draw.choice(models(provider)), draw))
    return cells


def _drawn(provider: Provider, model: str, draw: random.Random) -> Cell:
    chosen = draw.sample(sorted(dimensions()), draw.randint(1, 5))
    return Cell(provider, model, {name: draw.choice(dimensions()[name]) for name in chosen})


def _other(provider: Provider, model: str) -> bool:
    """Tells whether a model is another provider's, has another format there, or does not chat in text."""
    google, openai = provider.wire.provider.startswith("Google/"), "OpenAI" in provider.wire.provider
    # OpenAI's own API does not have its open models.
    makers = "gpt-oss" if openai else r"gpt-(?!oss)|o\d|codex|chatgpt"
    foreign = re.match(makers, model)
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
