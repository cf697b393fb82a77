"""Tools that the provider runs itself: their requests, and their blocks that are sent back unchanged."""

import json

import pytest
from traffic.recorded import absent, files

from ellmer_core import ToolBuiltIn, chat_anthropic, chat_openai, tool, tool_web_fetch, tool_web_search
from ellmer_core.contents.content import ContentToolRequest, ContentUnknown
from ellmer_core.contents.turns import UserTurn
from ellmer_core.errors import ServerError, ToolRoundsError, UsageError
from ellmer_core.tool_execution import invoke
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

ANTHROPIC, GEMINI, RESPONSES = AnthropicMessages(model="m"), Gemini(model="m"), OpenAIResponses(model="m")


def sent(wire, *tools):
    return wire.request([UserTurn("Hi")], tools).json["tools"]


@tool
def add(a: int) -> int:
    """Adds."""
    return a


def test_each_provider_gets_its_own_definition():
    search, fetch = tool_web_search(), tool_web_fetch()
    assert sent(RESPONSES, search) == [{"type": "web_search"}]
    assert sent(ANTHROPIC, search, fetch) == [
        {"type": "web_search_20250305", "name": "web_search"},
        {"type": "web_fetch_20250910", "name": "web_fetch"},
    ]
    assert sent(GEMINI, search, fetch) == [{"googleSearch": {}}, {"urlContext": {}}]


def test_with_its_options():
    place = {"city": "Köln", "country": "DE"}
    search = tool_web_search(allowed_domains=("example.com",), user_location=place)
    located = {"type": "approximate", **place}
    assert sent(RESPONSES, search) == [
        {"type": "web_search", "filters": {"allowed_domains": ["example.com"]}, "user_location": located}
    ]
    [anthropic] = sent(ANTHROPIC, search)
    assert anthropic["allowed_domains"] == ["example.com"]
    assert anthropic["user_location"] == located
    [fetch] = sent(ANTHROPIC, tool_web_fetch(max_uses=2, blocked_domains=["x.org"], citations=True))
    assert fetch == {
        "type": "web_fetch_20250910",
        "name": "web_fetch",
        "blocked_domains": ["x.org"],
        "max_uses": 2,
        "citations": {"enabled": True},
    }


@pytest.mark.parametrize(
    ("wire", "definition"),
    [
        (RESPONSES, tool_web_search(blocked_domains=["x.org"])),
        (RESPONSES, tool_web_search(max_uses=1)),
        (RESPONSES, tool_web_fetch()),
        (GEMINI, tool_web_search(allowed_domains=["x.org"])),
        (GEMINI, tool_web_fetch(max_uses=1)),
        (OpenAIChat(model="m"), tool_web_search()),
    ],
)
def test_what_a_provider_cannot_heed_it_is_not_asked(wire, definition):
    with pytest.raises(
        UsageError, match=rf"`{definition.name}`, with these options, exists for .*not for {wire.name}"
    ):
        sent(wire, definition)


def test_beside_functions_of_ours():
    assert [each.get("name") for each in sent(ANTHROPIC, add, tool_web_search())] == ["add", "web_search"]
    functions, search = sent(GEMINI, tool_web_search(), add)
    assert [each["name"] for each in functions["functionDeclarations"]] == ["add"]
    assert search == {"googleSearch": {}}


def test_any_tool_of_any_provider_goes_as_it_is():
    form = {"type": "code_interpreter", "container": {"type": "auto"}}
    interpreter = ToolBuiltIn("code", {"openai-responses": form, "openai-chat": {"type": "x"}})
    chat = chat_openai(api_key="k", model="m")
    chat.register_tool(interpreter)
    assert chat.get_tools() == {"code": interpreter}
    assert sent(RESPONSES, interpreter) == [form]
    assert sent(OpenAIChat(model="m"), interpreter) == [{"type": "x"}]
    assert repr(interpreter) == "<ToolBuiltIn code (openai-responses, openai-chat)>"


def test_it_is_not_run_here():
    result = invoke(ContentToolRequest("c1", "web_search", {}, tool=tool_web_search()))
    assert "run by the provider" in str(result.error)


# What they did ----------------------------------------------------------------------------------------------

SEARCHED = {
    chat_anthropic: {
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [{"type": "web_search_result", "url": "https://x", "title": "X", "encrypted_content": "e"}],
            },
            {"type": "text", "text": "Cats."},
        ],
        "stop_reason": "end_turn",
    },
    chat_openai: {
        "status": "completed",
        "output": [
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "cats"}},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Cats.", "annotations": [{"type": "url_citation", "url": "https://x", "title": "X", "start_index": 0, "end_index": 5}]}],
            },
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("make", SEARCHED)
def test_a_conversation_goes_on_with_what_they_did(server, reply, make):
    answer = json.dumps(SEARCHED[make]).encode()
    server.answers(reply([answer]), reply([answer]))
    chat = make(base_url=server.url, api_key="k", model="m", echo="none")
    chat.register_tool(tool_web_search())

    assert chat.chat("Search for cats.").endswith("Cats.")
    assert any(isinstance(content, ContentUnknown) for content in chat.last_turn().contents)
    chat.chat("And dogs?")

    body = server.asked[1].json
    if make is chat_anthropic:
        assert body["messages"][1]["content"] == SEARCHED[make]["content"]
    else:
        assert body["input"][1:3] == SEARCHED[make]["output"]


def searches(n):
    return {
        "type": "server_tool_use",
        "id": f"srvtoolu_{n}",
        "name": "web_search",
        "input": {"query": "cats"},
    }


def found(n):
    return {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{n}", "content": []}


def said(text):
    return {"type": "text", "text": text}


def message(*blocks, reason="end_turn"):
    usage = {"input_tokens": 1, "output_tokens": 1}
    return json.dumps({"content": list(blocks), "stop_reason": reason, "usage": usage}).encode()


def searching(server):
    chat = chat_anthropic(base_url=server.url, api_key="k", model="m", echo="none")
    chat.max_tries = 1
    chat.register_tool(tool_web_search())
    return chat


def test_an_answer_that_pauses_between_searches_is_gone_on_with(server, reply):
    first, second = [said("I look."), searches(1), found(1), searches(2)], [found(2), searches(3)]
    server.answers(
        reply([message(*first, reason="pause_turn")]),
        reply([message(*second, reason="pause_turn")]),
        reply([message(found(3), said("Cats."))]),
        reply([message(said("Dogs."))]),
    )
    chat = searching(server)

    assert chat.chat("Search.") == "Cats."
    chat.chat("And dogs?")

    roles = [turn.role for turn in chat.get_turns()]
    bodies = [asked.json["messages"] for asked in server.asked]
    assert roles == ["user", "assistant", "assistant", "assistant", "user", "assistant"]
    assert bodies[1] == [*bodies[0], {"role": "assistant", "content": first}]
    assert bodies[2] == [*bodies[0], {"role": "assistant", "content": first + second}]
    assert bodies[3][1]["content"] == [*first, *second, found(3), said("Cats.")]


def test_a_search_that_was_never_gone_on_with_stays_out(server, reply):
    server.answers(
        reply([message(searches(1), found(1), searches(2), reason="pause_turn")]),
        reply([b'{"error": {"message": "busy"}}'], 529),
        reply([message(said("Dogs."))]),
    )
    chat = searching(server)

    with pytest.raises(ServerError, match="busy"):
        chat.chat("Search.")
    assert chat.chat("Dogs, then.") == "Dogs."
    assert server.asked[2].json["messages"][1]["content"] == [searches(1), found(1)]


def test_searches_that_go_on_for_ever_are_ended(server, reply):
    server.answers(*[reply([message(searches(n), reason="pause_turn")]) for n in range(3)])
    chat = searching(server)
    chat.max_tool_rounds = 2
    with pytest.raises(ToolRoundsError):
        chat.chat("Search.")
    assert len(server.asked) == 3


def test_a_pause_without_a_search_is_an_answer(server, reply):
    server.answers(reply([message(said("Well"), reason="pause_turn")]))
    chat = searching(server)
    assert chat.chat("Search.") == "Well"
    assert chat.last_turn("assistant").finish_reason == "pause_turn"


@absent
def test_recorded_blocks_of_server_tools_go_back_as_they_came():
    checked = 0
    for path, interactions in files("anthropic-messages/*server-tools*.json"):
        for interaction in interactions:
            body = interaction["response"].get("body")
            if not isinstance(body, dict) or not body.get("content"):
                continue
            [message] = ANTHROPIC.message(ANTHROPIC.turn(body))
            for came, goes in zip(
                server_blocks(body["content"]), server_blocks(message["content"]), strict=True
            ):
                assert came == goes, path
                checked += 1
    assert checked


def server_blocks(blocks):
    return [block for block in blocks if block["type"].startswith(("server_tool", "web_", "code_", "bash_"))]
