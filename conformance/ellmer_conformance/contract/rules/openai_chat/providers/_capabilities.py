"""What models of other makers accept at a host: `capabilities.jsonl`, one line for each host, model and feature.

A cell has a recording of an accepted request, of a refused one, or of both (then it changed, or depends on more). The
rules of the hosts take the models that they are about from here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Cell:
    """What one model accepts at one host.

    Args:
        host: The name of the provider, or its host name.
        model: The name of the model.
        feature: `images`, `audio`, `video`, `documents`, `tools`, `logprobs`, `json_schema` or `json_object`.
        accepted: The recording of an accepted request; empty if there is none.
        refused: The recording of a refused request; empty if there is none.
        status: The status of the refusal.
        words: The beginning of the refusal's text.
    """

    host: str
    model: str
    feature: str
    accepted: str = ""
    refused: str = ""
    status: int = 0
    words: str = ""


@cache
def cells() -> tuple[Cell, ...]:
    """Returns all cells of `capabilities.jsonl`."""
    lines = (
        (files("ellmer_conformance.contract.rules.openai_chat.providers") / "capabilities.jsonl")
        .read_text("utf-8")
        .splitlines()
    )
    return tuple(Cell(**json.loads(line)) for line in lines)


def refusing_models(host: str, feature: str, words: str) -> tuple[str, ...]:
    """Returns the models that refuse a feature at a host with these words, and are not recorded to accept it."""
    return tuple(each.model for each in _refusing(host, feature, words))


def recordings(host: str, feature: str, words: str) -> tuple[str, ...]:
    """Returns the recordings of these refusals."""
    return tuple(each.refused for each in _refusing(host, feature, words))


def _refusing(host: str, feature: str, words: str) -> list[Cell]:
    of = [each for each in cells() if (each.host, each.feature) == (host, feature)]
    return [each for each in of if words in each.words and each.refused and not each.accepted]
