"""The sweep's sample: no request of the library is refused. The whole sweep: `nox -s sweep`."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.grid import Cell, places, sample
from sweep.judge import judged, swept


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_refused(seed):
    outcomes = [judged(cell) for cell in sample(10 * len(places()), seed)]
    assert [f"{o.cell}: {o.refused}" for o in outcomes if o.refused] == []
    assert sum(bool(o.declined) for o in outcomes) < len(outcomes) / 2


def test_a_tool_choice_goes_with_an_answer_that_is_a_call():
    anthropic = next(place for place in places() if place.name == "anthropic")
    for choice in ("tool_choice auto", "tool_choice required", "tool_choice required and thinking"):
        outcome = judged(Cell(anthropic, "claude-3-5-haiku-latest", {"params": choice, "type": "object"}))
        assert not outcome.refused, f"{choice}: {outcome.refused}"


def test_the_judge_can_refuse():
    """Without the models' profiles, the same sweep has refusals, so the profiles make the difference."""
    from unittest.mock import patch

    from ellmer_core.models import unsupported_parameters
    from ellmer_core.wire.interfaces import Profile

    with patch.object(unsupported_parameters, "profile_of", lambda _wire: Profile()):
        found = swept(sample(10 * len(places()), 0))
    assert sum(len(count.refused) for count in found.values()) > 5
