"""Parts of an answer are sent back only with their required fields; otherwise, each further request would be refused."""

import re

import pytest

from ellmer_core.contents.content import ContentProviderCall
from ellmer_core.contents.turns import UserTurn
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses
from ellmer_core.wire.shared.json_objects import Tagged, fits

CLAUDE, GOOGLE, OPENAI = AnthropicMessages(model="m"), Gemini(model="m"), OpenAIResponses(model="m")
NOVA, COMMAND, MISTRAL = Bedrock(model="m"), CohereChat(model="m"), MistralChat(model="m")
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CITED = {"start": 0, "end": 1, "text": "a", "sources": [{"type": "tool", "id": "1"}]}


def claude(*blocks):
    return {"content": [*blocks, {"type": "text", "text": "End."}], "stop_reason": "end_turn"}


def google(*parts):
    return {"candidates": [{"content": {"parts": [*parts, {"text": "End."}]}, "finishReason": "STOP"}]}


def openai(*items):
    end = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "End."}]}
    return {"output": [*items, end], "status": "completed"}


def nova(*blocks):
    return {"output": {"message": {"content": [*blocks, {"text": "End."}]}}, "stopReason": "end_turn"}


def command(*parts):
    return {"message": {"content": [*parts, {"type": "text", "text": "End."}]}, "finish_reason": "COMPLETE"}


def mistral(*parts):
    message = {"content": [*parts, {"type": "text", "text": "End."}]}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


def sent(wire, response):
    """Returns the parts of an answer that are sent back, in JSON's own types, as one string."""
    return str(wire.message(wire.turn(response)))


DAMAGED = {
    "Anthropic: no type": (CLAUDE, claude({"text": "x", "mark": 1})),
    "Anthropic: a number as a type": (CLAUDE, claude({"type": 7, "mark": 1})),
    "Anthropic: a call without a name": (CLAUDE, claude({**SEARCH, "name": None, "mark": 1})),
    "Anthropic: another's id": (CLAUDE, claude({**SEARCH, "id": "srv 1", "mark": 1})),
    "Anthropic: a page without its key": (
        CLAUDE,
        claude(SEARCH, {**FOUND, "content": [{"type": "web_search_result", "mark": 1}]}),
    ),
    "Anthropic: an exit code that is none": (
        CLAUDE,
        claude(
            {**SEARCH, "name": "code_execution"},
            {
                "type": "code_execution_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {"type": "code_execution_result", "stdout": "mark", "stderr": "", "content": []},
            },
        ),
    ),
    "Anthropic: a tool that was found, without its name": (
        CLAUDE,
        claude(
            {**SEARCH, "name": "tool_search_tool_regex"},
            {
                "type": "tool_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "mark": 1}],
                },
            },
        ),
    ),
    "Gemini: a text that is none": (GOOGLE, google({"text": 7, "mark": 1})),
    "Gemini: a call that is none": (GOOGLE, google({"functionCall": [], "mark": 1})),
    "Responses: a call without an id": (OPENAI, openai({"type": "function_call", "name": "mark"})),
    "Responses: a message without content": (
        OPENAI,
        openai({"type": "message", "content": [{"text": "mark"}]}),
    ),
    "Responses: a search without a type": (
        OPENAI,
        openai({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "mark"}}),
    ),
    "Responses: a tool that was found, without its parameters": (
        OPENAI,
        openai(
            {"type": "tool_search_output", "tools": [{"type": "function", "name": "mark", "strict": True}]}
        ),
    ),
    "Responses: a thought without a type": (
        OPENAI,
        openai({"type": "reasoning", "summary": [], "content": [{"type": 7, "text": "mark"}]}),
    ),
    "Bedrock: a call without a name": (NOVA, nova({"toolUse": {"toolUseId": "mark", "input": {}}})),
    "Bedrock: a call of a kind that nobody knows, and nobody ran": (
        NOVA,
        nova({"toolUse": {"toolUseId": "a", "name": "mark", "input": {}, "type": "new"}}),
    ),
    "Bedrock: a result that is none": (NOVA, nova({"toolResult": ["mark"]})),
    "Bedrock: a thought of Claude without its signature": (
        Bedrock(model="us.anthropic.claude-sonnet-4-5"),
        nova({"reasoningContent": {"reasoningText": {"text": "mark"}}}),
    ),
    "Bedrock: a signature that is none": (
        NOVA,
        nova({"reasoningContent": {"reasoningText": {"text": "mark", "signature": 7}}}),
    ),
    "Cohere: a text that is none": (COMMAND, command({"type": "text", "text": ["mark"]})),
    "Cohere: no type": (COMMAND, command({"text": "mark"})),
    "Cohere: an empty type": (COMMAND, command({"type": "", "text": "mark"})),
    "Mistral: a text that is none": (MISTRAL, mistral({"type": "text", "text": ["mark"]})),
    "Mistral: a thought that is none": (
        MISTRAL,
        mistral({"type": "thinking", "thinking": [{"text": "mark"}]}),
    ),
}


@pytest.mark.filterwarnings("ignore:.*It is not sent back:UserWarning")
@pytest.mark.parametrize(("wire", "response"), DAMAGED.values(), ids=DAMAGED)
def test_a_block_without_what_its_kind_needs_stays_here(wire, response):
    assert "mark" not in (back := sent(wire, response))
    assert "End." in back


def test_a_warning_says_what_stays_here():
    turn = CLAUDE.turn(claude({"type": 7}))
    with pytest.warns(UserWarning, match=re.escape("anthropic: a block of the answer lacks required fields")):
        CLAUDE.message(turn)


NEW = {
    "Anthropic": (CLAUDE, claude({"type": "new_block", "mark": 1})),
    "Gemini": (GOOGLE, google({"newPart": {"mark": 1}})),
    "Responses": (OPENAI, openai({"type": "new_item", "mark": 1})),
    "Bedrock": (NOVA, nova({"newBlock": {"mark": 1}})),
    "Cohere": (COMMAND, command({"type": "new_part", "mark": 1})),
    "Mistral": (MISTRAL, mistral({"type": "new_part", "mark": 1})),
}


@pytest.mark.parametrize(("wire", "response"), NEW.values(), ids=NEW)
def test_a_block_of_a_kind_that_nobody_knows_goes_back_as_it_came(wire, response):
    assert "mark" in sent(wire, response)


def test_a_result_whose_call_was_lost_stays_here_and_so_does_a_call_whose_result_was_lost():
    asked = UserTurn("Hi")
    for block in (SEARCH, FOUND):
        body = CLAUDE.request([asked, CLAUDE.turn(claude(block)), UserTurn("More")]).json
        assert [one["type"] for one in body["messages"][1]["content"]] == ["text"]
    body = CLAUDE.request([asked, CLAUDE.turn(claude(SEARCH, FOUND)), UserTurn("More")]).json
    assert body["messages"][1]["content"][:2] == [SEARCH, FOUND]
    result = {"toolResult": {"toolUseId": "t1", "content": []}}
    assert "toolResult" not in sent(NOVA, nova(result))


@pytest.mark.filterwarnings("ignore:This library does not run the `shell_call`")
def test_a_call_for_a_program_that_nobody_ran_stays_here():
    call = {"type": "shell_call", "call_id": "a", "action": {"commands": ["ls"]}}
    assert "shell_call" not in sent(OPENAI, openai(call))
    ran = {"type": "shell_call_output", "call_id": "a", "output": []}
    assert "shell_call_output" in sent(OPENAI, openai(call, ran))


def test_a_search_that_xai_ran_is_a_call_of_the_provider_and_stays_here():
    search = {"type": "custom_tool_call", "call_id": "xs_call_7", "name": "x_keyword_search"}
    turn = openai({**search, "id": "ctc_7", "input": '{"query": "rye"}', "status": "completed"})
    [call] = (c for c in OPENAI.turn(turn).contents if isinstance(c, ContentProviderCall))
    assert (call.name, call.arguments, call.error) == ("x_keyword_search", {"query": "rye"}, None)
    assert "custom_tool_call" not in sent(OPENAI, turn)


def test_a_call_of_a_kind_that_nobody_knows_is_not_ours_to_run():
    call = {"toolUseId": "a", "name": "wipe", "input": {}}
    kinds = {None: 1, "tool_use": 1, "server_tool_use": 0, "server_tool8use": 0, "": 0}
    for kind, calls in kinds.items():
        turn = NOVA.turn(nova({"toolUse": {**call, "type": kind}}))
        assert len(turn.tool_requests) == calls
    assert len(NOVA.turn(nova({"toolUse": call})).tool_requests) == 1


def test_a_delta_of_another_kind_adds_nothing_to_a_block_that_is_known():
    merger = CLAUDE.merger()
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    merger.add({"type": "content_block_start", "index": 0, "content_block": block})
    delta = {"type": "text_delta", "text": "mark"}
    merger.add({"type": "content_block_delta", "index": 0, "delta": delta})
    assert merger.response()["content"] == [block]


def test_without_its_thought_an_item_goes_back_without_its_id():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": 7}
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"}
    back = OPENAI.message(OPENAI.turn({"output": [thought, call], "status": "completed"}))
    assert back == [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]


def test_a_signature_that_is_none_and_a_citation_that_is_none_stay_here():
    assert "thoughtSignature" not in sent(GOOGLE, google({"text": "a", "thoughtSignature": -1}))
    assert "thoughtSignature" in sent(GOOGLE, google({"text": "a", "thoughtSignature": "AA=="}))
    for cited, kept in (({**CITED, "type": 7}, False), (CITED, True)):
        answer = {"content": [{"type": "text", "text": "a"}], "citations": [cited]}
        turn = COMMAND.turn({"message": answer, "finish_reason": "COMPLETE"})
        assert ("citations" in str(COMMAND.message(turn))) is kept


@pytest.mark.parametrize(
    ("value", "shape", "does"),
    [
        (1, int, True),
        (True, int, False),
        ("ab", re.compile("a"), False),
        (["a", 1], [str], False),
        (None, (str, None), True),
        ({"a": None}, {"a?": str}, True),
        ({"a": None}, {"a": str}, False),
        ({}, {"a": str}, False),
        ("a", {"a?": str}, False),
        ({"type": "new"}, Tagged({"old": {"a": str}}), True),
        ({"type": "old"}, Tagged({"old": {"a": str}}), False),
        ({"type": ["old"]}, Tagged({}), False),
    ],
)
def test_shapes(value, shape, does):
    assert fits(value, shape) is does
