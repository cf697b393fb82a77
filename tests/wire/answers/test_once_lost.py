"""Parts of real answers that were once lost in reading."""

import pytest

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.errors import BadRequestError
from ellmer_core.providers.google_vertex import GoogleVertex
from ellmer_core.providers.snowflake import Snowflake
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.framing import SseDecoder
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat


def folded(wire, *events):
    merger = wire.merger()
    shown = [content for event in events for content in merger.add(event)]
    return wire.turn(merger.response()), shown


def content(kind, index, **piece):
    return {"type": f"content-{kind}", "index": index, "delta": {"message": {"content": piece}}}


def test_thinking_and_text_of_a_cohere_stream_may_share_an_index():
    turn, shown = folded(
        CohereChat(),
        content("start", 0, type="thinking", thinking=""),
        content("delta", 0, thinking="Hm."),
        content("start", 0, type="text", text=""),
        content("delta", 0, text="Yes"),
        content("delta", 0, text="!"),
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    )
    assert [type(c) for c in turn.contents] == [ContentThinking, ContentText]
    assert (turn.contents[0].thinking, turn.text) == ("Hm.", "Yes!")
    assert [type(c) for c in shown] == [ContentThinking, ContentText, ContentText]


EMPTY = {
    "audio": {"data": "", "transcript": ""},
    "function_call": {"arguments": "", "name": ""},
    "refusal": "",
}
CALL = {
    "id": "t1",
    "type": "function",
    "custom": {"input": "", "name": ""},
    "function": {"arguments": '{"city": "Oslo"}', "name": "weather"},
}


def test_fields_of_snowflake_with_empty_values_are_no_calls():
    turn = Snowflake().turn(
        {"choices": [{"finish_reason": "", "message": {**EMPTY, "content": "Wait.", "tool_calls": [CALL]}}]}
    )
    [call] = turn.tool_requests
    assert (call.id, call.name, call.arguments) == ("t1", "weather", {"city": "Oslo"})
    assert len(turn.contents) == 2
    assert turn.finish_reason == "tool_use"
    stopped = Snowflake().turn({"choices": [{"finish_reason": "stop", "message": {**EMPTY, "content": "4"}}]})
    assert stopped.finish_reason == "success"


def test_nor_are_they_in_a_stream():
    delta = {**EMPTY, "content": "", "tool_calls": [{"index": 0, **CALL}]}
    turn, _ = folded(Snowflake(), {"choices": [{"index": 0, "delta": delta}]}, "[DONE]")
    [call] = turn.tool_requests
    assert (call.id, call.name, call.arguments) == ("t1", "weather", {"city": "Oslo"})


def test_thoughts_that_come_as_details_alone_are_shown():
    details = [{"type": "reasoning.text", "index": 0, "text": "15 * 27"}]
    turn, shown = folded(OpenAIChat(), {"choices": [{"index": 0, "delta": {"reasoning_details": details}}]})
    assert [c.thinking for c in (*turn.contents, *shown)] == ["15 * 27", "15 * 27"]


@pytest.mark.parametrize(
    ("wire", "reason", "neutral"),
    [
        (Gemini(), 1, "success"),
        (Gemini(), 2, "max_tokens"),
        (Gemini(), 10, "error"),
        (GoogleVertex(base_url="http://x"), 10, "content_filter"),
        (Gemini(), 99, "99"),
        (Gemini(), "MODEL_ARMOR", "content_filter"),
        (Gemini(), "UNEXPECTED_TOOL_CALL", "error"),
        (Gemini(), "MALFORMED_FUNCTION_CALL", "error"),
        (Gemini(), "SOMETHING_NEW", "SOMETHING_NEW"),
    ],
)
def test_reasons_of_gemini_for_its_end(wire, reason, neutral):
    candidate = {"content": {"parts": [{"text": "Hi"}]}, "finishReason": reason}
    assert wire.turn({"candidates": [candidate]}).finish_reason == neutral


@pytest.mark.parametrize("reason", ["end_turn", "eos_token", "eos", "stop"])
def test_words_for_an_end_at_chat_completions(reason):
    assert (
        OpenAIChat().turn({"choices": [{"finish_reason": reason, "message": {}}]}).finish_reason == "success"
    )


def test_an_error_line_of_llama_cpp_is_an_error():
    events = SseDecoder().feed(b'error: {"code":400,"message":"too long","type":"invalid_request_error"}\n\n')
    with pytest.raises(BadRequestError, match="too long"):
        OpenAIChat().merger().add(events[0])
    assert SseDecoder().feed(b"error: gone\n") == [{"error": "gone"}]


def test_a_block_of_a_kind_that_nobody_knows_goes_back_as_it_came():
    turn = Bedrock().turn(
        {"output": {"message": {"content": [{"newBlock": ["odd"]}]}}, "stopReason": "end_turn"}
    )
    *_, message = Bedrock(model="m").request([turn]).json["messages"]
    assert message["content"] == [{"newBlock": ["odd"]}]
