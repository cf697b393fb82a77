"""Streams are merged into their answer: ends, truncations, errors."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traffic.folded_streams import (
    ALL,
    ANTHROPIC,
    ANTHROPIC_TEXT,
    CHAT,
    GEMINI,
    RESPONSES,
    block,
    call,
    calls,
    delta,
    folded,
)

from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.conversation.response import Pieces
from ellmer_core.errors import BadRequestError, EllmerError, ProviderError, RateLimitError, ServerError

# Where a stream ends ----------------------------------------------------------------------------------------

RESPONSES_TEXT = [
    {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "message", "id": "msg_1", "content": []},
    },
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hi"},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "hi"}]},
    },
    {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
]
STREAMS = [
    (CHAT, [delta(content="hi"), delta("stop")]),
    (CHAT, [delta(content="hi"), "[DONE]"]),
    (ANTHROPIC, ANTHROPIC_TEXT),
    (RESPONSES, RESPONSES_TEXT),
    (
        GEMINI,
        [
            {"candidates": [{"content": {"parts": [{"text": "hi"}]}}]},
            {"candidates": [{"finishReason": "STOP"}]},
        ],
    ),
]


@pytest.mark.parametrize(("wire", "events"), STREAMS)
def test_only_the_end_mark_ends_a_stream(wire, events):
    turn, complete, _ = folded(wire, *events)
    assert (turn.text, complete) == ("hi", True)
    for end in range(len(events)):
        cut, complete, _ = folded(wire, *events[:end])
        assert not complete
        assert turn.text.startswith(cut.text)
        assert cut.finish_reason in ({None, "success"} if wire is ANTHROPIC else {None, "in_progress"})


def test_done_means_nothing_in_responses():
    assert folded(RESPONSES, *RESPONSES_TEXT[:-1], "[DONE]")[1] is False


def test_a_blocked_prompt_is_an_answer():
    turn, complete, _ = folded(GEMINI, {"promptFeedback": {"blockReason": "SAFETY"}})
    assert (turn.contents, turn.finish_reason, complete) == ((), "content_filter", True)


# Cut short --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ['{"x": 1', '{"x": 1}', ""])
def test_a_call_that_a_limit_may_have_cut_is_never_whole(arguments):
    first = call(0, "a", "f", "{}")
    chat, *_ = folded(CHAT, calls(first), calls(call(1, "b", "g", arguments)), delta("length"))
    cut = {"type": "function_call", "call_id": "b", "name": "g", "arguments": arguments}
    responses = RESPONSES.turn(
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [cut | {"arguments": "{}"}, cut],
        }
    )
    limit = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}}
    events = [
        *block(0, {"type": "tool_use", "id": "a", "name": "f", "input": {}}),
        *block(
            1,
            {"type": "tool_use", "id": "b", "name": "g", "input": {}},
            ("input_json_delta", "partial_json", arguments),
        ),
    ]
    anthropic, *_ = folded(ANTHROPIC, ANTHROPIC_TEXT[0], *events, limit, {"type": "message_stop"})
    for turn in (chat, responses, anthropic):
        assert isinstance(turn, AssistantPartialTurn)
        for request in turn.tool_requests:
            assert "cut off" in request.problem
            assert request.arguments == {}
        assert turn.finish_reason == "max_tokens"


@pytest.mark.parametrize(
    "arguments", ["{", '{"x": }', "[1]", '"x"', "{'x': 1}", '{"x": NaN}', '{"x": 1e999}']
)
def test_arguments_that_are_no_object_are_a_problem(arguments):
    turn, *_ = folded(CHAT, calls(call(0, "a", "f", arguments)), delta("tool_calls"))
    [request] = turn.tool_requests
    assert request.problem
    assert (request.arguments, request.raw) == ({}, arguments)


def test_numbers_stay_exact():
    raw = '{"big": 9007199254740993, "lat": 42.346689, "neg": -0.0}'
    turn, *_ = folded(CHAT, calls(call(0, "a", "f", raw)), delta("tool_calls"))
    assert turn.tool_requests[0].arguments["big"] == 2**53 + 1
    assert CHAT.message(turn)[0]["tool_calls"][0]["function"]["arguments"] == raw


# Errors in a stream -----------------------------------------------------------------------------------------

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
LIMIT = {"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 11.054s."}


@pytest.mark.parametrize(
    ("wire", "event", "kind", "status"),
    [
        (ANTHROPIC, OVERLOADED, ServerError, 529),
        (CHAT, {"error": {"message": "x", "type": "server_error", "code": None}}, ServerError, 500),
        (CHAT, {"choices": [], "error": {"code": 502, "message": "x"}}, ServerError, 502),
        (CHAT, {"error": {"message": "x", "type": "invalid_request_error", "code": "tool_use_failed", "status_code": 400}}, BadRequestError, 400),
        (CHAT, {"choices": [{"index": 0, "error": {"code": 429, "message": "x"}}]}, RateLimitError, 429),
        (CHAT, {"choices": [{"index": 0, "error": "[object Object]", "delta": {}}]}, ServerError, None),
        (CHAT, {"error": "something broke"}, ServerError, None),
        (RESPONSES, {"type": "error", "code": "server_error", "message": "x", "param": None}, ServerError, 500),
        (RESPONSES, {"type": "response.failed", "response": {"status": "failed", "error": LIMIT}}, RateLimitError, 429),
        (GEMINI, {"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}, ServerError, 503),
    ],
)  # fmt: skip
def test_an_error_event_raises_what_it_stands_for(wire, event, kind, status):
    merger = wire.merger()
    with pytest.raises(ProviderError) as raised:
        merger.add(event)
    assert (type(raised.value), raised.value.status) == (kind, status)
    assert raised.value.message
    assert not merger.complete


def test_a_spoken_wait_is_understood():
    with pytest.raises(RateLimitError) as raised:
        RESPONSES.merger().add({"type": "response.failed", "response": {"status": "failed", "error": LIMIT}})
    assert raised.value.retry_after == 11.054


def test_errors_in_an_answer_of_200():
    for wire in ALL:
        with pytest.raises(ProviderError, match="no luck"):
            wire.turn({"error": {"message": "no luck", "code": 500}})
    with pytest.raises(ProviderError, match="no luck"):
        CHAT.turn({"choices": [{"error": {"message": "no luck"}, "message": {"content": "half"}}]})


# Anything at all --------------------------------------------------------------------------------------------

WORDS = st.sampled_from([
    "type", "index", "delta", "choices", "content", "error", "tool_calls", "function", "id", "name", "arguments", "item",
    "output_index", "response", "candidates", "parts", "text", "usage", "finish_reason", "message", "content_block",
    "response.output_item.done", "content_block_delta", "content_block_start", "message_delta", "output", "thinking",
    "reasoning_details", "functionCall", "usageMetadata", "response.completed", "function_call", "tool_use", "output_text",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.filterwarnings("ignore:.*It is not sent back:UserWarning")
@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=4), st.sampled_from(ALL))
def test_no_events_crash_it(events, wire):
    merger = wire.merger()
    pieces = Pieces(wire, merger)
    with suppress(EllmerError):
        for event in events:
            pieces.of(event)
        wire.message(wire.turn(merger.response()))


@pytest.mark.filterwarnings("ignore:.*It is not sent back:UserWarning")
@given(st.dictionaries(WORDS, JSON, max_size=5), st.sampled_from(ALL))
def test_no_answer_crashes_it(answer, wire):
    with suppress(EllmerError):
        wire.message(wire.turn(answer))
