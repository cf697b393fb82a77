"""The model's turn in the four wire formats: calls and their ids, signatures, thoughts, neighbours."""

import json

import pytest
from wires.four_wires import ALL, ANTHROPIC, CHAT, GEMINI, ONE, PNG, RESPONSES, TWO, every_wire, result, sent

from ellmer_core.contents.content import (
    ContentImageRemote,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentUnknown,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, UserTurn
from ellmer_core.errors import ContentError
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.gemini.to_wire import UNSIGNED, Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat


def test_an_answer_with_calls_only():
    turn = AssistantTurn([ONE, ContentToolRequest("call_2", "look", raw="{ }")])
    assert CHAT.message(turn) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "draw", "arguments": '{"n":1}'}},
                {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{ }"}},
            ],
        }
    ]
    assert RESPONSES.message(turn) == [
        {"type": "function_call", "call_id": "call_1", "name": "draw", "arguments": '{"n":1}'},
        {"type": "function_call", "call_id": "call_2", "name": "look", "arguments": "{ }"},
    ]
    assert ANTHROPIC.message(turn)[0]["content"] == [
        {"type": "tool_use", "id": "call_1", "name": "draw", "input": {"n": 1}},
        {"type": "tool_use", "id": "call_2", "name": "look", "input": {}},
    ]
    assert GEMINI.message(turn)[0]["parts"] == [
        {"functionCall": {"name": "draw", "args": {"n": 1}}},
        {"functionCall": {"name": "look", "args": {}}},
    ]


@every_wire
def test_what_another_provider_sealed_stays_here(wire):
    foreign = [
        ContentThinking(
            "hm",
            extra={
                "elsewhere": {"signature": "s"},
                wire.name: {"issuer": "Somebody Else", "fields": {"x": 1}},
            },
        ),
        ContentUnknown("elsewhere", {"type": "odd"}),
        ContentText("hi"),
    ]
    assert wire.message(AssistantTurn(foreign)) == wire.message(AssistantTurn("hi"))


@every_wire
def test_a_partial_answer_goes_back_without_its_thoughts(wire):
    thinking = ContentThinking(
        "hm", extra=wire.own(fields={"thoughtSignature": "s"}, item={"id": "rs_1"}, block={"data": "x"})
    )
    assert wire.message(AssistantPartialTurn([thinking, ContentText("hi")])) == wire.message(
        AssistantTurn("hi")
    )
    assert wire.message(AssistantPartialTurn([thinking])) == []


@every_wire
def test_media_of_another_models_answer_are_named(wire):
    [message] = wire.message(AssistantTurn([ContentImageRemote("https://x")]))
    assert "[remote image]" in json.dumps(message)


@every_wire
def test_an_answer_holds_no_results(wire):
    with pytest.raises(ContentError, match="only a user turn holds results"):
        wire.message(AssistantTurn([result("x")]))


def test_ids_of_other_providers_become_legal_on_both_sides():
    odd = ContentToolRequest("functions.Bash:0" + "x" * 60, "bash", {})
    for wire, legal in ((CHAT, 40), (RESPONSES, 64), (ANTHROPIC, 64)):
        sides = json.dumps([wire.message(AssistantTurn([odd])), sent(wire, result("ok", odd))])
        assert odd.id not in sides
        assert len(wire.call_id(odd.id)) <= legal
        assert sides.count(wire.call_id(odd.id)) == 2
    assert CHAT.call_id("call_1") == "call_1"
    assert ANTHROPIC.call_id("toolu_1") == "toolu_1"


def test_responses_puts_foreign_text_before_the_calls():
    items = RESPONSES.message(AssistantTurn([ONE, ContentText("and"), TWO]))
    assert [item.get("type", item.get("role")) for item in items] == [
        "assistant",
        "function_call",
        "function_call",
    ]


@pytest.mark.parametrize(
    "wire",
    [*ALL, Bedrock(model="us.amazon.nova-pro-v1:0"), MistralChat(model="m")],
    ids=lambda wire: wire.name,
)
def test_the_tags_around_an_image_name_the_call_as_the_request_does(wire):
    foreign = ContentToolRequest("turn 1: call/1" + "x" * 60, "draw", {})
    messages = wire.messages([UserTurn("q"), AssistantTurn([foreign]), UserTurn([result(PNG, foreign)])])
    id = (
        "draw" if wire.name == "gemini" else wire.call_id(foreign.id)
    )  # Gemini's calls have no ids on the wire
    assert f'<content tool-call-id=\\"{id}\\">' in json.dumps(messages)


def test_responses_sends_no_reasoning_that_was_cut_off_before_it_led_to_anything():
    """`Item 'rs_…' of type 'reasoning' was provided without its required following item.`"""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    said = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}

    assert RESPONSES.message(RESPONSES.turn({**cut, "output": [reasoning]})) == []
    assert RESPONSES.message(RESPONSES.turn({**cut, "output": [said, reasoning]})) == [
        {"role": "assistant", "content": "Hi"}
    ]
    remark = {**said, "phase": "commentary"}
    assert RESPONSES.message(RESPONSES.turn({**cut, "output": [remark, reasoning]})) == [
        {"role": "assistant", "phase": "commentary", "content": "Hi"}
    ]
    whole = RESPONSES.message(RESPONSES.turn({"status": "completed", "output": [reasoning, said]}))
    assert [item["id"] for item in whole] == ["rs_1", "msg_1"]


@pytest.mark.parametrize(
    ("wire", "answer"),
    [
        (
            ANTHROPIC,
            {
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "S"},
                    {"type": "text", "text": "\n"},
                ]
            },
        ),
        (
            Bedrock(model="us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            {
                "stopReason": "max_tokens",
                "output": {
                    "message": {"content": [{"reasoningContent": {"redactedContent": "eA=="}}, {"text": " "}]}
                },
            },
        ),
    ],
    ids=["anthropic", "bedrock"],
)
def test_thoughts_that_led_to_nothing_are_not_sent_back(wire, answer):
    """`The final block in an assistant message cannot be thinking`"""
    turn = wire.turn(answer)
    call = wire.message(AssistantTurn([*turn.contents, ONE]))
    assert wire.message(turn) == []
    assert len(call[0]["content"]) == 2


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ([ONE, "and"], ["and", "call_1"]),
        (["Look:", ONE, TWO, "Well?", "Wait."], ["Look:", "Well?", "Wait.", "call_1", "call_2"]),
        ([ONE, "then", TWO, "and"], ["call_1", "then", "and", "call_2"]),
        ([ONE, "then", TWO], ["call_1", "then", "call_2"]),
        (["Hi"], ["Hi"]),
    ],
)
def test_claude_gets_no_text_behind_the_last_calls(said, order):
    turn = AssistantTurn(said)

    blocks = ANTHROPIC.message(turn)[0]["content"]
    assert [block.get("text") or block["id"] for block in blocks] == order
    blocks = Bedrock(model="us.anthropic.claude-sonnet-5").message(turn)[0]["content"]
    assert [block.get("text") or block["toolUse"]["toolUseId"] for block in blocks] == order


def test_anthropic_drops_blank_text_and_joins_neighbours():
    turns = [
        UserTurn("a"),
        AssistantTurn(" \n"),
        UserTurn("b"),
        AssistantTurn("c "),
        UserTurn("d"),
        AssistantTurn("e \n"),
    ]
    assert ANTHROPIC.messages(turns) == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "c "}]},
        {"role": "user", "content": [{"type": "text", "text": "d"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "e"}]},
    ]


def test_gemini_signs_a_call_it_did_not_make_from_version_3_on():
    turns = [AssistantTurn([ContentText("so"), ONE, TWO])]
    start, model = Gemini(model="gemini-3-pro-preview").messages(turns)
    assert start == {"role": "user", "parts": [{"text": ""}]}
    assert [part.get("thoughtSignature") for part in model["parts"]] == [None, UNSIGNED, None]
    assert "thoughtSignature" not in json.dumps(Gemini(model="gemini-2.5-pro").messages(turns))
    assert Gemini(model="gemini-flash-latest").needs_signatures()


def test_gemini_joins_neighbouring_model_contents():
    contents = GEMINI.messages(
        [UserTurn("a"), AssistantTurn("b"), AssistantTurn([ONE]), UserTurn([result("x")])]
    )
    assert [(c["role"], len(c["parts"])) for c in contents] == [("user", 1), ("model", 2), ("user", 1)]
