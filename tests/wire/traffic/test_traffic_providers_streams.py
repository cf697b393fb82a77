"""Every recorded stream of the other wire formats and of providers, split into chunks and truncated."""

import pytest
from traffic.of_providers import ANSWERS, NATIVE, answered, decoded, is_error, stream_of, wire_of
from traffic.recorded import absent, by_family, judge

STREAMED = [(name, this) for name, this in ANSWERS if stream_of(this)]


@absent
@pytest.mark.parametrize("streams", by_family(STREAMED))
def test_a_stream_may_be_cut_into_chunks_anywhere(streams):
    judge(streams, may_be_cut)


def may_be_cut(interaction):
    whole = decoded(interaction, 10_000_000)
    assert whole
    assert decoded(interaction, 1) == decoded(interaction, 7) == whole


@absent
@pytest.mark.parametrize("streams", by_family([case for case in STREAMED if not is_error(case[1])]))
def test_a_stream_cut_before_its_end_is_not_complete(streams):
    judge(streams, is_not_complete_before_its_end)


def is_not_complete_before_its_end(interaction):
    """Checks at every event that the content so far begins the whole answer, and that no finish reason is made up."""
    turn, _ = answered(interaction)
    merger = wire_of(interaction).merger()
    for event in decoded(interaction, 10_000_000):
        if merger.complete:
            break
        cut = wire_of(interaction).turn(merger.response()) if interaction["protocol"] in NATIVE else None
        assert cut is None or (cut.finish_reason is None and turn.text.startswith(cut.text))
        merger.add(event)
    assert merger.complete
