"""Every recorded stream, split at every place and at random, in every other form, and truncated after every event.

It takes an hour; `nox -s exhaustive` runs it. Each test is one recording, so that progress is visible; `-k
anthropic`, `-k one_tool` and `-n 2` work.
"""

import re
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.contract.observed.run import Run
from ellmer_conformance.contract.rules.behaviour.answers.endings import (
    cut_answers_are_not_complete,
    cut_calls_are_not_run,
)
from ellmer_conformance.runner.replay_under_variations import Replays, differences
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_conformance.scenarios.variations import VARIATIONS, variation

CASSETTES = Path(__file__).parents[3] / "cassettes"
ADAPTER = find_adapter("ellmer-core")
RECORDED = [
    (wire, provider, case)
    for (wire, provider) in PROVIDER_ADDRESSES
    for case in all_cases().values()
    if not case.recording and (CASSETTES / wire / provider / f"{case.name}.stream.json").exists()
]
WHOLE = [place for place in RECORDED if not place[2].streamed_apart]  # the others break off by themselves
SEEDS = range(200)


def named(place):
    wire, provider, case = place
    return f"{wire}-{provider}-{case.name}"


def opened(place, steps=None):
    """A recorded stream that can be played repeatedly."""
    wire, provider, case = place
    case = replace(case, steps=case.steps[:steps])
    return Replays(ADAPTER, wire, provider, case, "stream", cassettes=CASSETTES)


def bodies(run: Run) -> list[bytes]:
    return [exchange.response.body for exchange in run.exchanges if exchange.response]


@pytest.mark.parametrize("place", RECORDED, ids=named)
def test_chunks_and_lines_do_not_matter(place):
    with opened(place) as replays:
        assert not differing(replays)


def differing(replays):
    """Returns the forms and splits of the stream that change the result."""
    plain = replays.play()
    splits = range(1, max(map(len, bodies(plain)), default=1))
    same = [
        v
        for v in VARIATIONS.values()
        if re.match(r"STR-00[1-6]", v.rule) and v.befalls(plain.wire, streamed=True)
    ]
    every = chain(
        same, (variation(f"random:{seed}") for seed in SEEDS), (variation(f"split:{n}") for n in splits)
    )

    return {varied.variation.name: differs for varied, differs in differences(replays, every) if differs}


@pytest.mark.parametrize("place", WHOLE, ids=named)
def test_a_stream_that_breaks_off_is_not_complete(place):
    with opened(place, steps=1) as replays:
        assert not unnoticed(replays)


def unnoticed(replays):
    """Returns the truncations that were not noticed."""
    plain = replays.play()
    everywhere = replace(plain, case=replace(plain.case, variations=["cut:*"])).variations
    cuts = [varied for varied, _ in differences(replays, everywhere)]

    whole = Run(plain.case, plain.wire, plain.provider, plain.mode, varied=cuts)
    rules = (cut_answers_are_not_complete, cut_calls_are_not_run)
    return [finding for rule in rules for finding in rule(whole) if finding.problem]
