"""One short stream of each wire format is split at places all over it. (All places of all streams: `nox -s
exhaustive`.)
"""

from dataclasses import replace
from pathlib import Path

import pytest

from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.runner.replay_under_variations import Replays, differences
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_conformance.scenarios.variations import variation

CASSETTES = Path(__file__).parents[3] / "cassettes"
#: Longer streams are cut at every so many bytes; `nox -s exhaustive` cuts them at all.
MOST = 80
HOMES = sorted({wire: (wire, provider) for wire, provider in PROVIDER_ADDRESSES}.values())


@pytest.fixture(scope="module")
def one_word():
    """Returns the shortest stream: a question, and an answer of one word."""
    case = all_cases()["system_prompt"]
    return replace(case, steps=case.steps[:1])


@pytest.mark.parametrize(("wire", "provider"), HOMES)
def test_a_short_stream_may_be_cut_anywhere(wire, provider, one_word):
    with Replays(
        find_adapter("ellmer-core"), wire, provider, one_word, "stream", cassettes=CASSETTES
    ) as replays:
        size = len(replays.play().exchanges[0].response.body)
        places = [variation(f"split:{place}") for place in range(1, size, max(1, size // MOST))]
        found = {varied.variation.name: differs for varied, differs in differences(replays, places)}

    assert len(found) >= min(size - 1, MOST) > 60
    assert not {name: differs for name, differs in found.items() if differs}


def test_a_reader_that_forgets_is_found_out(one_word):
    adapter = find_adapter("broken_on_purpose:BROKEN.forgets_between_chunks")
    with Replays(adapter, "anthropic", "anthropic", one_word, "stream", cassettes=CASSETTES) as replays:
        body = replays.play().exchanges[0].response.body
        said = body.index(b"text_delta")
        [(_, differs)] = differences(replays, [variation(f"split:{said}")])

    assert "Paris" in differs
