"""Sanitized answers: unusual values, half characters, and parts that must not enter a history."""

import json

import pytest

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.contents.turns import Tokens
from ellmer_core.conversation.response import Pieces, turn_of
from ellmer_core.errors import ResponseError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.framing import decoder
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

CHAT = OpenAIChat(model="m")


def answer(content="Hi", finish="stop", usage=None, **message):
    message = {"role": "assistant", "content": content, **message}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def call(arguments="{}", name="draw", id="c"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


# Values of the wrong kind -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "response", "named"),
    [
        (CHAT, answer(tool_calls=[call(name=1)]), "ContentToolRequest.name is int, not str"),
        (CHAT, answer(refusal=[1]), "ContentText.text is list, not str"),
        (CHAT, answer(finish={"a": 1}), "is a string"),
        (
            AnthropicMessages(model="m"),
            {"content": [{"type": "thinking", "thinking": 1.5}]},
            "thinking is float",
        ),
        (
            Bedrock(model="m"),
            {"stopReason": "end_turn", "output": {"message": {"content": ["x"]}}},
            "data is str",
        ),
        (
            OpenAIResponses(model="m"),
            {"output": [], "status": "incomplete", "incomplete_details": {"reason": 1}},
            "1",
        ),
    ],
)
def test_what_is_not_of_its_kind_does_not_get_into_a_history(wire, response, named):
    with pytest.raises(ResponseError, match=named):
        turn_of(wire, response)


@pytest.mark.parametrize(
    ("count", "known"), [(7, 7), (7.0, 7), ("7", None), ([], None), (True, None), (7.5, None), (None, None)]
)
def test_a_strange_count_is_no_count_and_no_reason_to_lose_an_answer(count, known):
    turn = turn_of(CHAT, answer(usage={"prompt_tokens": count, "completion_tokens": 2}))
    assert (turn.text, turn.tokens) == ("Hi", Tokens(input=known, output=2))


@pytest.mark.parametrize("framing", ["sse", "ndjson", "json"])
def test_what_is_no_json_number_does_not_come_back_in_a_request(framing):
    body = b'{"args": {"x": NaN, "y": [-Infinity, 1.5]}}\n'
    fresh = decoder(framing)
    events = [*fresh.feed(b"data: " + body + b"\n" if framing == "sse" else body), *fresh.flush()]
    assert events == [{"args": {"x": None, "y": [None, 1.5]}}]


# Halves of characters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came", "read"), [("a\ud83d\ude00b", "a😀b"), ("a\ud83d b", "a� b"), ("é😀", "é😀"), ("\ude00", "�")]
)
def test_text_can_be_written_anywhere(came, read):
    arguments = json.dumps({came: [came, {"x": came}]}, ensure_ascii=False)
    turn = turn_of(CHAT, answer(came, reasoning=came, tool_calls=[call(arguments)], finish="tool_calls"))

    thought, text, request = turn.contents
    assert (thought.thinking, text.text) == (read, read)
    assert request.arguments == {read: [read, {"x": read}]}
    assert json.loads(request.raw.encode()) == request.arguments


class Merger:
    """Events are pieces."""

    def add(self, event):
        return [event]


def shown(*pieces):
    of = Pieces(CHAT, Merger())
    return [piece for event in pieces for piece in of.of(event)]


def test_a_character_cut_in_two_is_shown_in_one():
    assert shown(ContentText("a\ud83d"), ContentText("\ude00b")) == [ContentText("a"), ContentText("😀b")]
    assert shown(ContentText("\ud83d"), ContentText("\ude00")) == [ContentText("😀")]


def test_a_half_that_stays_one_is_shown_as_such_and_in_its_own_kind():
    pieces = [ContentText("a\ud83d"), ContentThinking("hm"), ContentText("b"), ContentText("\ude00")]
    assert shown(*pieces) == [ContentText("a"), ContentThinking("hm"), ContentText("�b"), ContentText("�")]


def test_pieces_that_say_nothing_are_not_shown():
    assert shown(ContentText(""), ContentThinking(""), ContentText("日")) == [ContentText("日")]


def test_a_piece_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="text is int, not str"):
        shown(ContentText(1))
