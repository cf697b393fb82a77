"""Calls and answers in the forms of 2026: streamed arguments, calls of programs and custom tools, spoken answers."""

import warnings

import pytest
from traffic.folded_streams import CHAT, GEMINI, RESPONSES, delta, folded

from ellmer_core import ContentToolRequest, ContentToolResult, ContentUnknown, ResponseError, UserTurn
from ellmer_core.conversation.response import Pieces
from ellmer_core.providers.deepseek import DeepSeek
from ellmer_core.providers.huggingface import HuggingFace
from ellmer_core.wire.bedrock.to_wire import Bedrock


def gemini_calls(*calls, finish="STOP"):
    events = [{"candidates": [{"content": {"parts": [{"functionCall": call}]}}]} for call in calls]
    return [*events, {"candidates": [{"finishReason": finish}]}]


PIECES = [
    {"name": "order", "willContinue": True},
    {
        "partialArgs": [{"jsonPath": "$.city", "stringValue": "Bos", "willContinue": True}],
        "willContinue": True,
    },
    {"partialArgs": [{"jsonPath": "$.city", "stringValue": "ton"}], "willContinue": True},
    {"partialArgs": [{"jsonPath": "$.lines[0].id", "stringValue": "a"}], "willContinue": True},
    {"partialArgs": [{"jsonPath": "$.lines[0].price", "numberValue": 0.5}], "willContinue": True},
    {"partialArgs": [{"jsonPath": "$.lines[1]['on sale']", "boolValue": True}], "willContinue": True},
]
ORDER = {"city": "Boston", "lines": [{"id": "a", "price": 0.5}, {"on sale": True}]}


@pytest.mark.parametrize(
    "last", [{}, {"partialArgs": [{"jsonPath": "$.gift", "nullValue": "NULL_VALUE"}]}], ids=["empty", "value"]
)
def test_streamed_arguments_are_one_call(last):
    turn, complete, _ = folded(GEMINI, *gemini_calls(*PIECES, last, {"name": "pay", "args": {"sum": 3}}))

    order, pay = turn.tool_requests
    assert complete
    assert (order.name, order.problem) == ("order", None)
    assert order.arguments == ORDER | ({"gift": None} if last else {})
    assert (pay.name, pay.arguments) == ("pay", {"sum": 3})
    assert turn.finish_reason == "tool_use"


def test_streamed_arguments_that_never_end_are_cut():
    turn, _, _ = folded(GEMINI, *gemini_calls(*PIECES))

    [order] = turn.tool_requests
    assert "cut off" in order.problem


@pytest.mark.parametrize("path", ["", "city", "$", "$.a[5]", "$.lines[1", "$" + ".a" * 200])
def test_an_impossible_path_is_an_error_of_the_answer(path):
    calls = [{"name": "f", "willContinue": True}, {"partialArgs": [{"jsonPath": path, "stringValue": "x"}]}]

    pieces = Pieces(GEMINI, GEMINI.merger())
    with pytest.raises(ResponseError):
        [*map(pieces.of, gemini_calls(*calls))]


def completed(*output):
    return {"id": "resp_1", "status": "completed", "output": list(output)}


CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "weather",
    "arguments": '{"city":"Köln"}',
}


def test_a_call_of_a_program_in_a_completed_response_is_complete():
    program = {"caller": {"type": "program", "caller_id": "prog_1"}, "status": "in_progress"}
    turn = RESPONSES.turn(completed({**CALL, **program}))

    [call] = turn.tool_requests
    assert (call.arguments, call.problem) == ({"city": "Köln"}, None)
    assert RESPONSES.message(turn) == [{**CALL, **program}]


@pytest.mark.parametrize("changes", [{"status": "incomplete"}, {"status": "in_progress", "arguments": ""}])
def test_an_incomplete_call_is_cut(changes):
    [call] = RESPONSES.turn(completed({**CALL, **changes})).tool_requests

    assert "cut off" in call.problem


def test_an_incomplete_response_cuts_its_calls():
    response = completed({**CALL, "status": "in_progress"}) | {"status": "incomplete"}

    assert "cut off" in RESPONSES.turn(response).tool_requests[0].problem


def test_a_custom_tool_is_called_with_a_text_and_answered_in_its_form():
    item = {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_9",
        "name": "sql",
        "input": "select 1;",
    }
    turn = RESPONSES.turn(completed({**item, "status": "completed"}))

    [call] = turn.tool_requests
    assert (call.name, call.arguments, call.raw) == ("sql", {"input": "select 1;"}, "select 1;")
    assert turn.finish_reason == "tool_use"
    assert RESPONSES.message(turn) == [{**item, "status": "completed"}]
    assert RESPONSES.message(UserTurn(ContentToolResult("1", request=call))) == [
        {"type": "custom_tool_call_output", "call_id": "call_9", "output": "1"}
    ]


@pytest.mark.parametrize(
    "item",
    [
        {
            "type": "shell_call",
            "id": "sh_1",
            "call_id": "c",
            "action": {"commands": ["ls"]},
            "status": "completed",
        },
        {
            "type": "apply_patch_call",
            "id": "ap_1",
            "call_id": "c",
            "operation": {"type": "x"},
            "status": "completed",
        },
        {
            "type": "computer_call",
            "id": "cu_1",
            "call_id": "c",
            "pending_safety_checks": [],
            "status": "completed",
        },
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}", "server_label": "s"},
    ],
    ids=lambda item: item["type"],
)
def test_an_item_that_waits_for_the_program_is_told_and_kept(item):
    with pytest.warns(UserWarning, match=f"This library does not run the `{item['type']}` of the answer"):
        turn = RESPONSES.turn(completed(item))

    [content] = turn.contents
    assert isinstance(content, ContentUnknown)
    assert content.data == item


def test_a_command_that_ran_at_the_provider_waits_for_nobody():
    ran = {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}}
    result = {"type": "shell_call_output", "id": "sho_1", "call_id": "c", "output": []}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turn = RESPONSES.turn(completed(ran, result))

    assert [content.data for content in turn.contents] == [ran, result]


def test_a_spoken_answer_ends_with_done():
    turn, complete, _ = folded(
        CHAT, delta(audio={"id": "a", "data": "UklG"}), delta(audio={"transcript": "Hi"}), "[DONE]"
    )

    assert (complete, turn.finish_reason, turn.text) == (True, "success", "Hi")


def test_a_written_answer_without_a_reason_is_cut():
    turn, _, _ = folded(CHAT, delta(content="Hi"), "[DONE]")

    assert turn.finish_reason is None
    assert not isinstance(turn.contents[0], ContentToolRequest)


@pytest.mark.parametrize(
    ("wire", "id", "same"),
    [
        (DeepSeek(model="m"), "c" * 46, True),
        (DeepSeek(model="m"), "c" * 47, False),
        (HuggingFace(model="m"), "c" * 46, True),
        (CHAT, "c" * 41, False),
        (Bedrock(model="moonshotai.kimi-k2.5"), "functions.name:0", True),
        (Bedrock(model="us.anthropic.claude-sonnet-5"), "functions.name:0", False),
    ],
    ids=lambda value: getattr(value, "provider", value),
)
def test_an_id_is_rewritten_only_where_the_provider_refuses_it(wire, id, same):
    assert (wire.call_id(id) == id) is same
