"""How the events of a stream are folded into the answer they stand for, whatever servers make of the format."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.contents.turns import AssistantPartialTurn
from ellmer_core.errors import BadRequestError, EllmerError, ProviderError, RateLimitError, ServerError
from ellmer_core.wire.anthropic.request import AnthropicMessages
from ellmer_core.wire.gemini.request import Gemini
from ellmer_core.wire.openai_chat.request import OpenAIChat
from ellmer_core.wire.openai_responses.request import OpenAIResponses

CHAT, RESPONSES, ANTHROPIC, GEMINI = OpenAIChat(), OpenAIResponses(), AnthropicMessages(), Gemini()
ALL = [CHAT, RESPONSES, ANTHROPIC, GEMINI]


def folded(wire, *events):
    """The turn, whether the stream was complete, and what was shown."""
    merger, shown = wire.merger(), []
    for event in events:
        shown += merger.add(event)
    return wire.turn(merger.response()), merger.complete, shown


def delta(finish=None, /, index=0, **delta):
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def calls(*calls):
    return delta(tool_calls=list(calls))


def call(index=None, id=None, name=None, arguments=None):
    """One delta of a tool call; what is `None` is left out."""
    function = {"name": name, "arguments": arguments}
    whole = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return {k: v for k, v in whole.items() if v is not None}


def requests(turn):
    return [(r.id, r.name, r.arguments) for r in turn.tool_requests]


# Chat Completions -------------------------------------------------------------------------------------------


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


# Where a stream ends ----------------------------------------------------------------------------------------

ANTHROPIC_TEXT = [
    {
        "type": "message_start",
        "message": {"id": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
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


# Anthropic --------------------------------------------------------------------------------------------------


def block(index, start, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for kind, field, value in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: value}}
    yield {"type": "content_block_stop", "index": index}


END = ANTHROPIC_TEXT[-2:]


def test_anthropic_blocks():
    citation = {"type": "char_location", "cited_text": "x", "file_id": None, "document_index": 0}
    events = [
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            ("thinking_delta", "thinking", "h"),
            ("thinking_delta", "thinking", "m"),
            ("signature_delta", "signature", "s1"),
            ("signature_delta", "signature", "s2"),
        ),
        *block(1, {"type": "redacted_thinking", "data": "RED"}),
        *block(
            2,
            {"type": "text", "text": ""},
            ("text_delta", "text", "hi"),
            ("citations_delta", "citation", citation),
        ),
        *block(
            3,
            {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
            ("input_json_delta", "partial_json", '{"q": 1}'),
        ),
        *block(
            4,
            {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"encrypted_content": "E"}]},
        ),
        *block(
            5,
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}, "caller": {"type": "direct"}},
            ("input_json_delta", "partial_json", ""),
            ("input_json_delta", "partial_json", '{"x"'),
            ("input_json_delta", "partial_json", ": 1.50}"),
        ),
        *block(
            6,
            {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            ("input_json_delta", "partial_json", ""),
        ),
    ]
    turn, complete, shown = folded(ANTHROPIC, ANTHROPIC_TEXT[0], *events, *END)
    assert complete
    assert shown == [ContentThinking("h"), ContentThinking("m"), ContentText("hi")]
    assert requests(turn) == [("t1", "f", {"x": 1.5}), ("t2", "g", {})]
    assert turn.finish_reason == "tool_use"
    assert ANTHROPIC.message(turn) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1s2"},
                {"type": "redacted_thinking", "data": "RED"},
                {
                    "type": "text",
                    "text": "hi",
                    "citations": [{k: v for k, v in citation.items() if k != "file_id"}],
                },
                {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"q": 1}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv",
                    "content": [{"encrypted_content": "E"}],
                },
                {
                    "type": "tool_use",
                    "id": "t1",
                    "name": "f",
                    "input": {"x": 1.5},
                    "caller": {"type": "direct"},
                },
                {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            ],
        }
    ]


def test_anthropic_interleaved_blocks_and_cumulative_usage():
    a, b = (
        list(block(0, {"type": "text", "text": ""}, ("text_delta", "text", "a"))),
        list(block(1, {"type": "text", "text": ""}, ("text_delta", "text", "b"))),
    )
    usage = {
        "type": "message_delta",
        "delta": {"stop_reason": "max_tokens"},
        "usage": {"output_tokens": 9, "input_tokens": None, "cache_read_input_tokens": 4},
    }
    turn, *_ = folded(ANTHROPIC, ANTHROPIC_TEXT[0], a[0], b[0], b[1], a[1], usage, {"type": "message_stop"})
    assert turn.text == "ab"
    assert (turn.tokens.input, turn.tokens.output, turn.tokens.cached) == (7, 9, 4)
    assert turn.finish_reason == "max_tokens"


def test_thinking_that_was_cut_before_its_signature_stays_here():
    events = block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, ("thinking_delta", "thinking", "hm")
    )
    turn, *_ = folded(ANTHROPIC, ANTHROPIC_TEXT[0], *events, *END)
    assert turn.contents[0].thinking == "hm"
    assert ANTHROPIC.message(turn) == []


# Gemini -----------------------------------------------------------------------------------------------------


def parts(*parts, finish=None, **rest):
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}],
        **rest,
    }


def test_gemini_joins_plain_text_and_keeps_signed_parts_apart():
    turn, _, shown = folded(
        GEMINI,
        parts({"text": "h", "thought": True}, modelVersion="g-3"),
        parts({"text": "m", "thought": True}, usageMetadata={"promptTokenCount": 5, "thoughtsTokenCount": 2}),
        parts({"text": "a"}),
        parts({"text": "b"}),
        parts({"text": "", "thoughtSignature": "S=="}),
        parts({"text": ""}, finish="STOP", usageMetadata={"candidatesTokenCount": 3}),
    )
    assert [type(c) for c in turn.contents] == [ContentThinking, ContentText, ContentThinking]
    assert (turn.contents[0].thinking, turn.text, turn.contents[2].thinking) == ("hm", "ab", "")
    assert (turn.tokens.input, turn.tokens.output, turn.tokens.reasoning) == (5, 5, 2)
    assert len(shown) == 4
    assert turn.json["modelVersion"] == "g-3"
    assert GEMINI.message(turn)[0]["parts"] == [{"text": "ab"}, {"text": "", "thoughtSignature": "S=="}]


def test_gemini_calls_keep_their_ids_and_signatures():
    first = {"functionCall": {"id": "abc", "name": "f", "args": {"x": 1}}, "thoughtSignature": "S=="}
    second = {"functionCall": {"name": "f", "args": {"x": 1}}}
    turn, *_ = folded(GEMINI, parts(first), parts(second), parts(second, finish="STOP"))
    assert turn.tool_requests[0].id == "abc"
    assert len({r.id for r in turn.tool_requests}) == 3
    assert turn.finish_reason == "tool_use"
    assert GEMINI.message(turn)[0]["parts"] == [first, second, second]


def test_gemini_calls_with_streamed_arguments_never_count_as_whole():
    turn, *_ = folded(
        GEMINI, parts({"functionCall": {"name": "f", "partialArgs": [], "willContinue": True}}, finish="STOP")
    )
    assert turn.tool_requests[0].problem


def test_gemini_keeps_what_it_does_not_know():
    odd = [
        {"executableCode": {"code": "1", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OK"}, "thoughtSignature": "S"},
    ]
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}, "thoughtSignature": "T"}
    turn, *_ = folded(GEMINI, parts(*odd), parts(picture, finish="STOP", groundingMetadata={}))
    assert GEMINI.message(turn)[0]["parts"] == [*odd, picture]


# Responses --------------------------------------------------------------------------------------------------

ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "p1"}, {"type": "summary_text", "text": "p2"}], "encrypted_content": "ENC"},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary", "content": [
        {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation", "url": "u"}], "logprobs": [{"token": "a"}]},
        {"type": "output_text", "text": "b", "annotations": []},
    ]},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{"x": 1.50}', "status": "completed"},
]  # fmt: skip


def test_responses_items_go_back_as_they_came():
    turn, complete, _ = folded(
        RESPONSES,
        *(
            {"type": "response.output_item.done", "output_index": n, "item": item}
            for n, item in enumerate(ITEMS)
        ),
        {
            "type": "response.completed",
            "response": {"status": "completed", "output": ITEMS, "usage": {"input_tokens": 1}},
        },
    )
    assert complete
    assert turn == RESPONSES.turn({"status": "completed", "output": ITEMS, "usage": {"input_tokens": 1}})
    assert (turn.text, turn.contents[0].thinking) == ("ab", "p1\n\np2")
    assert requests(turn) == [("call_1", "f", {"x": 1.5})]
    back = RESPONSES.message(turn)
    del ITEMS[1]["content"][0]["logprobs"]
    assert back == ITEMS


def test_responses_of_which_something_is_missing_go_back_without_ids():
    turn = RESPONSES.turn({"status": "completed", "output": ITEMS})
    edited = type(turn)([c for c in turn.contents if not isinstance(c, ContentText)])
    back = RESPONSES.message(edited)
    assert [item["type"] for item in back] == ["web_search_call", "function_call"]
    assert "id" not in back[-1]


def test_responses_show_paragraphs_and_take_done_over_deltas():
    item = {"type": "reasoning", "id": "rs", "summary": [{"text": "one"}, {"text": "two!"}]}
    turn, _, shown = folded(
        RESPONSES,
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs", "summary": []},
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 0,
            "delta": "one",
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "output_index": 0,
            "summary_index": 1,
            "delta": "two",
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.mystery", "output_index": 0, "sequence_number": 9},
    )
    assert "".join(c.thinking for c in shown) == "one\n\ntwo"
    assert turn.contents[0].thinking == "one\n\ntwo!"


def test_responses_partial_items_come_from_their_deltas():
    turn, complete, _ = folded(
        RESPONSES,
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"x'},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "hi"},
    )
    assert (turn.text, complete, turn.finish_reason) == ("hi", False, None)
    assert turn.tool_requests[0].problem
    assert turn.tool_requests[0].arguments == {}


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


@given(st.lists(st.dictionaries(WORDS, JSON, max_size=5), max_size=4), st.sampled_from(ALL))
def test_no_events_crash_it(events, wire):
    with suppress(EllmerError):
        wire.message(folded(wire, *events)[0])


@given(st.dictionaries(WORDS, JSON, max_size=5), st.sampled_from(ALL))
def test_no_answer_crashes_it(answer, wire):
    with suppress(EllmerError):
        wire.message(wire.turn(answer))
