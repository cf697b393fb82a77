"""Bedrock Converse: the content of its answers, and its merged streams."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wires.bedrock_samples import CLAUDE, NOVA, answer

from ellmer_core.contents.content import ContentText, ContentThinking, ContentUnknown
from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.errors import BadRequestError, ProviderError, RateLimitError, ServerError

# Answers ----------------------------------------------------------------------------------------------------

THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}}
REDACTED = {"reasoningContent": {"redactedContent": "QUJD"}}
CITED = {"citationsContent": {"content": [{"text": '"It"'}], "citations": [{"title": "my-pdf"}]}}
SERVER_CALL = {
    "toolUse": {"toolUseId": "s", "name": "nova_grounding", "input": {"q": 1}, "type": "server_tool_use"}
}
SERVER_RESULT = {"toolResult": {"toolUseId": "s", "content": [{"json": {"a": 1}}], "type": "x_result"}}
CALL = {"toolUse": {"toolUseId": "t", "name": "draw", "input": {"n": 1}}}


def test_blocks_go_back_as_they_came():
    blocks = [THOUGHT, REDACTED, {"text": "It is "}, CITED, SERVER_CALL, SERVER_RESULT, CALL]
    turn = CLAUDE.turn(answer(*blocks, stop="tool_use"))

    assert turn.text == 'It is "It"'
    assert [type(c) for c in turn.contents[:2]] == [ContentThinking, ContentThinking]
    assert [(r.id, r.name, r.arguments) for r in turn.tool_requests] == [("t", "draw", {"n": 1})]
    assert CLAUDE.message(turn) == [{"role": "assistant", "content": blocks}]


def test_reasoning_stays_in_its_family_and_out_of_partial_turns():
    turn = CLAUDE.turn(answer(THOUGHT, {"text": "a"}))

    assert NOVA.message(turn) == [{"role": "assistant", "content": [{"text": "a"}]}]
    assert CLAUDE.message(AssistantPartialTurn(turn.contents)) == NOVA.message(turn)


def test_unknown_blocks_are_kept():
    turn = CLAUDE.turn(answer({"hologram": {"x": 1}}, {"text": "a"}))

    assert turn.contents[0] == ContentUnknown("bedrock", {"hologram": {"x": 1}})
    assert CLAUDE.message(turn)[0]["content"][0] == {"hologram": {"x": 1}}


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "success"),
        ("max_tokens", "max_tokens"),
        ("stop_sequence", "stop_sequence"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("model_context_window_exceeded", "context_window"),
        ("malformed_model_output", "error"),
        ("something_new", "something_new"),
    ],
)
def test_stop_reasons(stop, reason):
    assert CLAUDE.turn(answer({"text": "a"}, stop=stop)).finish_reason == reason


@pytest.mark.parametrize("stop", ["max_tokens", "malformed_tool_use", "model_context_window_exceeded"])
def test_a_call_that_may_be_cut_is_never_run(stop):
    turn = CLAUDE.turn(answer(CALL, dict(CALL), stop=stop))

    assert [bool(request.problem) for request in turn.tool_requests] == [True, True]
    assert len({request.id for request in turn.tool_requests}) == 2


def test_tokens_count_what_the_cache_read_and_took():
    usage = {"inputTokens": 3, "outputTokens": 4, "cacheReadInputTokens": 10, "cacheWriteInputTokens": 20}
    tokens = CLAUDE.turn(answer({"text": "a"}, usage=usage)).tokens

    assert (tokens.input, tokens.output, tokens.cached, tokens.cache_write) == (33, 4, 10, 20)


def test_a_200_that_is_no_answer_is_an_error():
    with pytest.raises(ProviderError, match="nothing here"):
        CLAUDE.turn({"message": "nothing here"})


# Streams ----------------------------------------------------------------------------------------------------


def folded(*events):
    merger, shown = CLAUDE.merger(), []
    for event in events:
        shown += merger.add(event)
    return merger, shown


def streamed(block, index, cut):
    """Yields the events of a block, its texts in pieces of `cut` characters."""

    def pieces(text):
        return [text[at : at + cut] for at in range(0, len(text), cut)] or [""]

    def delta(value):
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": value, "p": "abc"}}

    match block:
        case {"text": text}:
            yield from (delta({"text": piece}) for piece in pieces(text))
        case {"reasoningContent": {"redactedContent": data}}:
            yield delta({"reasoningContent": {"redactedContent": data}})
        case {"reasoningContent": {"reasoningText": thought}}:
            for name, text in thought.items():
                yield from (delta({"reasoningContent": {name: piece}}) for piece in pieces(text))
        case {"citationsContent": cited}:
            yield from (delta({"text": piece}) for piece in pieces(cited["content"][0]["text"]))
            yield from (delta({"citation": citation}) for citation in cited["citations"])
        case {"toolUse": call}:
            start = {"toolUse": {name: value for name, value in call.items() if name != "input"}}
            yield {"contentBlockStart": {"contentBlockIndex": index, "start": start, "p": "a"}}
            text = json.dumps(call["input"]) if call["input"] else ""
            yield from (delta({"toolUse": {"input": piece}}) for piece in pieces(text))
        case {"toolResult": result}:
            start = {"toolResult": {name: value for name, value in result.items() if name != "content"}}
            yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
            yield from (delta({"toolResult": [part]}) for part in result["content"])
    yield {"contentBlockStop": {"contentBlockIndex": index, "p": ""}}


texts = st.text(min_size=1)
blocks = st.one_of(
    texts.map(lambda text: {"text": text}),
    st.builds(
        lambda text, signature: {
            "reasoningContent": {"reasoningText": {"text": text, "signature": signature}}
        },
        st.text(),
        texts,
    ),
    st.builds(
        lambda id, given: {"toolUse": {"toolUseId": id, "name": "f", "input": given}},
        texts,
        st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.booleans())),
    ),
    st.sampled_from([REDACTED, CITED, SERVER_CALL, SERVER_RESULT]),
)


@given(blocks=st.lists(blocks, max_size=6), cut=st.integers(1, 9), usage=st.booleans())
def test_a_stream_adds_up_to_the_unstreamed_answer(blocks, cut, usage):
    whole = answer(
        *blocks, stop="end_turn", **({"usage": {"inputTokens": 1, "outputTokens": 2}} if usage else {})
    )
    events = [event for index, block in enumerate(blocks) for event in streamed(block, index, cut)]
    last = [{"metadata": {"usage": whole["usage"], "p": "ab"}}] if usage else []
    merger, shown = folded(
        {"messageStart": {"role": "assistant", "p": "abc"}},
        *events,
        {"contentBlockFuture": {"x": 1}},
        {"messageStop": {"stopReason": "end_turn", "p": ""}},
        *last,
    )

    assert merger.complete
    assert merger.done is usage
    assert merger.response() == whole
    turn = CLAUDE.turn(merger.response())
    assert "".join(c.text for c in shown if isinstance(c, ContentText)) == turn.text
    thoughts = [c.thinking for c in turn.contents if isinstance(c, ContentThinking)]
    assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == "".join(thoughts)


@pytest.mark.parametrize(
    ("fragments", "wanted"),
    [
        ([{"text": "a", "later": {"x": 1}}, {"text": "b"}], ContentText("ab")),
        ([{"text": "a"}, {"later": {"x": 1}}, {"text": "b"}, {"later": {"y": 2}}], ContentText("ab")),
        ([{"later": {"x": 1}}, {"later": {"y": 2}}], ContentUnknown("bedrock", {"later": {"x": 1, "y": 2}})),
        ([{"later": "a"}, {"later": "b"}], ContentUnknown("bedrock", {"later": "ab"})),
    ],
)
def test_fragments_of_a_kind_to_come_lose_no_text(fragments, wanted):
    merger = CLAUDE.merger()
    for each in fragments:
        merger.add({"contentBlockDelta": {"contentBlockIndex": 0, "delta": each}})
    merger.add({"messageStop": {"stopReason": "end_turn"}})
    assert CLAUDE.turn(merger.response()).contents == (wanted,)


def test_a_call_cut_in_its_arguments_has_a_problem_and_no_arguments():
    merger, _ = folded(*list(streamed(CALL, 0, 3))[:-2], {"messageStop": {"stopReason": "tool_use"}})
    [request] = CLAUDE.turn(merger.response()).tool_requests

    assert "not JSON" in request.problem
    assert request.arguments == {}


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("throttlingException", RateLimitError, 429),
        ("validationException", BadRequestError, 400),
        ("modelStreamErrorException", ServerError, 424),
        ("internalServerException", ServerError, 500),
        ("serviceUnavailableException", ServerError, 503),
        ("inventedException", ServerError, None),
    ],
)
def test_an_exception_in_a_stream_is_typed(name, kind, status):
    with pytest.raises(ProviderError, match="slow down") as raised:
        folded({":exception": {"type": name, "message": "slow down"}})

    assert (type(raised.value), raised.value.status, raised.value.type) == (kind, status, name)


@pytest.mark.parametrize("body", [b'{"Message":"no"}', b'{"message":"no"}'])
def test_the_type_of_an_error_stands_in_a_header(body):
    headers = {"x-amzn-ErrorType": "AccessDeniedException:http://internal", "x-amzn-RequestId": "r1"}
    error = CLAUDE.error(403, headers, body)

    assert (error.code, error.request_id, error.message) == ("AccessDeniedException", "r1", "no")
