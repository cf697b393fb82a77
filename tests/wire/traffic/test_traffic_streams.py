"""Every recorded stream of the first four wire formats, split into chunks and truncated."""

import json

import pytest
from traffic.of_formats import STREAMED, WIRES, body_of, decoded, is_error
from traffic.recorded import absent, by_family, judge

from ellmer_core.contents.content import ContentText


@pytest.mark.slow
@absent
@pytest.mark.parametrize("streams", by_family(STREAMED))
def test_a_stream_may_be_cut_into_chunks_anywhere(streams):
    judge(streams, may_be_cut)


def may_be_cut(interaction):
    body = body_of(interaction)
    whole = decoded(body, len(body))
    assert whole
    assert decoded(body, 1) == decoded(body, 7) == whole
    crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert decoded(crlf, 3) == whole


END = (
    '"finish_reason": "',
    '"[DONE]"',
    '"message_stop"',
    '"response.completed"',
    '"response.incomplete"',
    '"finishReason": ',
)


@absent
@pytest.mark.parametrize("streams", by_family([case for case in STREAMED if not is_error(case[1])]))
def test_a_stream_cut_anywhere_is_not_an_answer(streams):
    judge(streams, is_no_answer_before_its_end)


def is_no_answer_before_its_end(interaction):
    wire, events = WIRES[interaction["protocol"]], decoded(body_of(interaction), 10_000_000)
    merger, said = wire.merger(), []
    for event in events:
        said += merger.add(event)
        turn = wire.turn(merger.response())
        assert turn.text == "".join(c.text for c in said if isinstance(c, ContentText))
        if merger.complete:
            assert any(mark in json.dumps(event) for mark in END)
            return
    pytest.fail("it never ended")
