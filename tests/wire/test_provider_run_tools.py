"""Calls that providers ran themselves look like calls with results everywhere, and are sent back unchanged."""

import json

import pytest
from traffic.recorded import absent, interactions
from wires.provider_runs import CASES, CLAUDE

import ellmer_core as ec
from ellmer_core.contents.content import (
    ContentProviderCall,
    ContentProviderResult,
    ContentText,
    ContentUnknown,
)
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.providers.groq import Groq
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_they_are_printed_as_calls_with_results_and_go_back_as_they_came(case):
    wire, response, blocks, said = case
    turn = wire.turn(response)
    printed = str(turn)

    assert "unknown content" not in printed
    for words in said:
        assert words.replace(",code", ", code") in printed
    sent = json.dumps(wire.request([UserTurn("Hi"), turn, UserTurn("More")]).json)
    assert all(json.dumps(block) in sent for block in blocks)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pages_and_apps_show_their_cards(case):
    wire, response, _blocks, said = case
    turn = wire.turn(response)
    html = ec.contents_html(turn)

    assert html.count("<details") == len(said) // 2
    shown = ec.contents_shinychat([turn])
    kinds = [block["type"] for message in shown for block in message.blocks]
    assert kinds == ["tool_result"] * (len(said) // 2)


def test_a_search_that_is_pending_is_a_call_without_a_result():
    turn = AnthropicMessages(model="m").turn({"content": CLAUDE[:1], "stop_reason": "pause_turn"})
    [call] = turn.contents

    assert (call.name, call.arguments, call.result) == ("web_search", {"query": "cats"}, None)
    assert str(call) == '[tool request (srvtoolu_1)]: web_search(query = "cats")'
    [message] = ec.contents_shinychat([turn])
    assert [block["type"] for block in message.blocks] == ["tool_request"]


def test_what_google_tells_beside_the_parts_is_shown_and_not_sent():
    candidate = {
        "content": {"parts": [{"text": "Cats."}]},
        "finishReason": "STOP",
        "groundingMetadata": {"webSearchQueries": ["cats"], "groundingChunks": [{"web": {"uri": "u", "title": "t"}}]},
        "urlContextMetadata": {"urlMetadata": [
            {"retrievedUrl": "https://c.test", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"}]},
    }  # fmt: skip
    wire = Gemini(model="m")
    turn = wire.turn({"candidates": [candidate]})

    assert [(c.name, c.arguments) for c in turn.contents[:2]] == [
        ("google_search", {"queries": ["cats"]}),
        ("url_context", {"urls": ["https://c.test"]}),
    ]
    assert turn.contents[1].value == {"https://c.test": "success"}
    assert turn.contents[2].citations[0].url == "u"
    body = wire.request([UserTurn("Hi"), turn, UserTurn("More")]).json
    assert body["contents"][1]["parts"] == [{"text": "Cats."}]


def test_what_groq_ran_is_shown_and_not_sent():
    tool = {"type": "python", "arguments": '{"code": "1"}', "output": "1"}
    message = {"content": "One.", "executed_tools": [tool, {"type": "search", "arguments": "{no"}]}
    wire = Groq(model="groq/compound")
    turn = wire.turn({"choices": [{"message": message, "finish_reason": "stop"}]})

    assert [(c.name, c.arguments, c.value) for c in turn.contents[:2]] == [
        ("python", {"code": "1"}, "1"),
        ("search", {"arguments": "{no"}, "done"),
    ]
    assert wire.messages([turn]) == [{"role": "assistant", "content": "One."}]


@pytest.mark.parametrize(
    "block",
    [{"type": "x_tool_result", "tool_use_id": 3}, {"type": "_call"}, {"type": "web_search_call", "action": 3},
     {"executableCode": 3}, {"toolCall": {}}, {"type": "mcp_call", "arguments": [1], "name": 3}, {"type": 3}],
    ids=str,
)  # fmt: skip
def test_blocks_that_make_no_sense_lose_no_answer(block):
    responses = OpenAIResponses(model="m").turn({"output": [block], "status": "completed"})
    gemini = Gemini(model="m").turn({"candidates": [{"content": {"parts": [block]}, "finishReason": "STOP"}]})

    assert all(isinstance(turn.contents[0], ContentUnknown) for turn in (responses, gemini))
    assert str(responses)


def test_they_are_yielded_with_the_contents_of_an_answer(server, reply):
    server.answers(
        reply(
            [
                json.dumps(
                    {"content": [*CLAUDE[:2], {"type": "text", "text": "Cats."}], "stop_reason": "end_turn"}
                ).encode()
            ]
        )
    )
    chat = ec.chat_anthropic(base_url=server.url, api_key="k", model="m", echo="none")

    shown = list(chat.stream("Hi", content="all"))
    assert [type(one) for one in shown] == [ContentProviderCall, ContentProviderResult, ec.ContentText]


@absent
def test_no_recorded_server_tool_is_unknown():
    wires = {"openai-responses": OpenAIResponses, "anthropic-messages": AnthropicMessages, "gemini": Gemini,
             "bedrock-converse": Bedrock}  # fmt: skip
    seen = set()
    for name, interaction, _ in interactions():
        wire, body = wires.get(interaction["protocol"]), interaction["response"].get("body")
        if (
            wire is None
            or not isinstance(body, dict)
            or body.get("error")
            or interaction["response"]["status"] != 200
        ):
            continue
        for content in wire(model="m").turn(body).contents:
            if isinstance(content, ContentProviderCall):
                seen.add(content.name)
            else:
                assert not (type(content) is ContentUnknown and "tool" in str(content.data.get("type"))), (
                    name,
                    content.data,
                )
    assert {"web_search", "code_execution", "file_search", "code_interpreter", "nova_grounding"} <= seen


@pytest.mark.parametrize(
    "block",
    [{"toolResult": None}, {"toolUse": None}, {"toolResult": {"toolUseId": []}}, {"toolResult": {}},
     {"toolUse": {"toolUseId": [1], "type": []}}, {"toolUse": {"toolUseId": "t1", "type": []}}],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_damaged_blocks_of_bedrock_in_a_history_are_left_out(block):
    turn = AssistantTurn([ContentProviderCall("bedrock", block), ContentText("One.")])
    sent = Bedrock(model="amazon.nova-pro").request([UserTurn("Hi"), turn, UserTurn("More")]).json
    assert sent["messages"][1]["content"] == [{"text": "One."}]
