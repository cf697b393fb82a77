"""Streams of Chat Completions are merged, for all servers' forms of the format."""

import json

import pytest
from traffic.folded_streams import CHAT, call, calls, delta, folded, requests

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.wire.shared.tool_calls import WholeObject


def test_equal_chunks_are_not_taken_for_one():
    turn, complete, shown = folded(CHAT, delta(content="ha"), delta(content="ha"), delta("stop"))
    assert turn.text == "haha"
    assert complete
    assert shown == [ContentText("ha"), ContentText("ha")]


TWO = [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [
                call(0, "a", "f", ""),
                call(1, "b", "g"),
                call(0, arguments='{"x"'),
                call(1, arguments='{"y":'),
                call(0, arguments=": 1}"),
                call(1, arguments="2}"),
            ],
            id="interleaved by index",
        ),
        pytest.param(
            [call(0, "a", "f", '{"x": 1}'), call(0, "b", "g", '{"y": 2}')], id="one index, two ids (Ollama)"
        ),
        pytest.param([call(None, "a", "f", '{"x": 1}'), call(None, "b", "g", '{"y": 2}')], id="no index"),
        pytest.param(
            [
                call(0, arguments='{"x"'),
                call(0, "a", "f"),
                call(0, arguments=": 1}"),
                call(1, "b", "g", '{"y": 2}'),
            ],
            id="late id and name",
        ),
        pytest.param(
            [call(0, "a", "f", '{"x": '), call(0, "a", "f", "1}"), call(1, "b", "g", '{"y": 2}')],
            id="id and name repeated",
        ),
        pytest.param(
            [call(0, "a", "f", '{"x": '), call(0, "other", None, "1}"), call(1, "b", "g", '{"y": 2}')],
            id="a new id for every fragment (vLLM)",
        ),
        pytest.param(
            [call(0, "a", "f", {"x": 1}), call(1, "b", "g", '{"y": 2}')], id="arguments as an object"
        ),
        pytest.param(
            [call(0, "a", "f", "{}"), call(0, arguments='{"x": 1}'), call(1, "b", "g", '{"y": 2}')],
            id="{} as a placeholder",
        ),
    ],
)
def test_parallel_calls_are_told_apart(deltas):
    turn, complete, _ = folded(CHAT, *map(calls, deltas), delta("tool_calls"), "[DONE]")
    assert requests(turn) == TWO
    assert complete
    assert turn.finish_reason == "tool_use"


def test_calls_without_any_id_get_ids_of_their_own():
    whole = [call(None, "", "f", "{}"), call(None, "", "f", "{}"), call(None, "", "g", "")]
    turn, *_ = folded(CHAT, *map(calls, whole), delta("stop"))
    assert [(r.name, r.arguments) for r in turn.tool_requests] == [("f", {}), ("f", {}), ("g", {})]
    assert len({r.id for r in turn.tool_requests}) == 3
    assert all(r.id for r in turn.tool_requests)
    assert turn == folded(CHAT, *map(calls, whole), delta("stop"))[0]  # stable


def test_a_name_and_an_id_in_pieces():
    pieces = [call(0, "call_", "get_"), call(0, "1"), call(0, None, "weather", ""), call(0, arguments="{}")]
    turn, *_ = folded(CHAT, *map(calls, pieces), delta("tool_calls"))
    assert requests(turn) == [("call_1", "get_weather", {})]


@pytest.mark.parametrize("arguments", ["", "{}", None, "null", " "])
def test_no_arguments_have_many_forms(arguments):
    turn, *_ = folded(CHAT, calls(call(0, "a", "f", arguments)), delta("tool_calls"))
    assert requests(turn) == [("a", "f", {})]
    assert turn.tool_requests[0].problem is None
    assert not json.loads(CHAT.message(turn)[0]["tool_calls"][0]["function"]["arguments"])


def test_usage_comes_late_or_often_or_beside():
    chunks = [
        {"choices": [], "prompt_filter_results": []},
        delta(role="assistant", content="", refusal=None)
        | {"usage": {"prompt_tokens": 1, "completion_tokens": 0}},
        delta(content="a") | {"usage": None, "obfuscation": "xyz", "p": "abc"},
        delta("stop"),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
        "[DONE]",
    ]
    turn, complete, _ = folded(CHAT, *chunks)
    assert (turn.text, turn.tokens.input, turn.tokens.output, complete) == ("a", 5, 2, True)
    assert not {"p", "obfuscation"} & turn.json.keys()
    groq, *_ = folded(
        CHAT, delta("stop", content="a") | {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}}
    )
    assert (groq.tokens.input, groq.tokens.output) == (3, 4)
    moonshot = delta("stop", content="a")
    moonshot["choices"][0]["usage"] = {"prompt_tokens": 6, "completion_tokens": 7}
    assert folded(CHAT, moonshot)[0].tokens.output == 7


def test_reasoning_under_two_names_is_shown_once():
    chunks = [
        delta(reasoning="hm", reasoning_content="hm"),
        delta(reasoning="!", reasoning_content="!"),
        delta("stop", content="a"),
    ]
    turn, _, shown = folded(CHAT, *chunks)
    assert shown == [ContentThinking("hm"), ContentThinking("!"), ContentText("a")]
    assert turn.contents[0].thinking == "hm!"
    assert CHAT.message(turn) == [
        {"role": "assistant", "content": "a", "reasoning": "hm!", "reasoning_content": "hm!"}
    ]


def test_reasoning_details_are_put_together_by_index():
    details = [
        {"type": "reasoning.text", "text": "h", "format": "f", "index": 0},
        {"type": "reasoning.text", "text": "m", "format": "f", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "AA", "format": "f", "index": 1},
    ]
    turn, *_ = folded(CHAT, *(delta(reasoning_details=[d]) for d in details), delta("stop", content="a"))
    assert turn.contents[0].thinking == "hm"
    assert CHAT.message(turn)[0]["reasoning_details"] == [
        {"type": "reasoning.text", "text": "hm", "format": "f", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "AA", "format": "f", "index": 1},
    ]


def test_content_in_chunks():
    think = {"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}
    more = {"type": "thinking", "thinking": [{"type": "text", "text": "m"}]}
    turn, _, shown = folded(
        CHAT, delta(content=[think]), delta(content=[more]), delta(content="a"), delta("stop", content="b")
    )
    assert [type(c) for c in turn.contents] == [ContentThinking, ContentText]
    assert (turn.contents[0].thinking, turn.text) == ("hm", "ab")
    assert len(shown) == 4
    assert CHAT.message(turn)[0]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "ab"},
    ]


def test_a_call_that_is_no_list():
    whole = call(0, "a", "f", {"x": 1})
    for turn in (
        folded(CHAT, delta("stop", tool_calls=whole))[0],
        CHAT.turn({"choices": [{"message": {"tool_calls": whole}, "finish_reason": "stop"}]}),
    ):
        assert requests(turn) == [("a", "f", {"x": 1})]


def test_a_function_call_of_2023():
    turn, *_ = folded(
        CHAT,
        delta(function_call={"name": "f", "arguments": '{"x"'}),
        delta(function_call={"arguments": ":1}"}),
        delta("function_call"),
    )
    assert [(r.name, r.arguments) for r in turn.tool_requests] == [("f", {"x": 1})]


def test_other_choices_are_kept_but_not_shown():
    turn, complete, shown = folded(CHAT, delta(content="a"), delta(content="b", index=1), delta("stop"))
    assert (turn.text, complete, len(shown)) == ("a", False, 1)
    assert turn.json["choices"][1]["message"]["content"] == "b"


def test_a_message_instead_of_deltas():
    turn, complete, _ = folded(
        CHAT, {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}
    )
    assert (turn.text, complete) == ("a", True)


def test_logprobs_are_joined():
    def chunk(token):
        logprobs = {"content": [{"token": token}], "refusal": None}
        return {"choices": [{"index": 0, "delta": {"content": token}, "logprobs": logprobs}]}

    turn, *_ = folded(CHAT, chunk("a"), chunk("b"), delta("stop"))
    assert [p["token"] for p in turn.json["choices"][0]["logprobs"]["content"]] == ["a", "b"]


WHOLE = '{"a": "}\\"{", "b": [1, {"c": "\\\\"}], "d": ""}'


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_arguments_are_whole_with_their_last_bracket_wherever_they_are_cut(cut):
    pieces = [WHOLE[:cut]]
    arguments = WholeObject(pieces)
    assert not arguments.reached()

    pieces.append(WHOLE[cut:])
    assert arguments.reached()

    pieces.append(" ")
    assert arguments.reached()

    pieces.append("{}")
    assert not arguments.reached()


def test_arguments_that_come_character_by_character_are_whole_at_the_end():
    pieces = []
    arguments = WholeObject(pieces)
    for character in WHOLE[:-1]:
        pieces.append(character)
        assert not arguments.reached()

    pieces.append(WHOLE[-1])
    assert arguments.reached()


@pytest.mark.parametrize("text", ["", " ", "[]", "7", '{"a": NaN}', "}{"])
def test_what_is_no_object_is_not_whole(text):
    assert not WholeObject([text]).reached()
