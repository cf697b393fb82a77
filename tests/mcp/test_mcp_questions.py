"""Servers that ask the user and the model, and their resources and prompts: real servers over stdio and HTTP."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

import ellmer_core as ec
from ellmer_core.conversation.approval import deciding
from ellmer_core.errors import ApprovalRequiredError, ConnectError, UsageError

pytest.importorskip("mcp")
import httpx2
from chats.many import chat_with, provider
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata, OAuthToken
from servers.mcp import over_http

from ellmer_core.mcp import McpPrompt, McpResource, mcp_tools

PEER = [sys.executable, str(Path(__file__).with_name("asking_peer.py"))]
PNG = "iVBORw0KGgo="


@pytest.fixture(scope="module")
def where():
    with over_http(PEER) as url:
        yield url


def calling(name, arguments):
    """Returns a model that calls a tool and then says what it returned."""

    def answer(messages):
        if messages[-1]["role"] == "tool":
            return {"role": "assistant", "content": f"<{messages[-1]['content']}>"}
        if messages[0]["content"] == "You are a poet.":
            return {"role": "assistant", "content": f"{messages[-1]['content']}!"}
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}

    return answer


SEAT = {"approved": True, "arguments": {"seat": "7A"}}


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_user_is_asked_through_the_door_of_approvals(transport, request):
    where = PEER if transport == "stdio" else request.getfixturevalue("where")
    asked = []
    with provider(calling("book", {"to": "Rome"})) as url, mcp_tools(where) as tools:
        chat = chat_with(url)
        chat.register_tools(tools)
        chat.approve = lambda question: asked.append(question) or SEAT
        assert chat.chat("Book") == "<Rome: 7A, no meal>"
        assert asyncio.run(chat.chat_async("Again")) == "<Rome: 7A, no meal>"

        async def later(_question):
            return SEAT

        async def in_an_app():
            with deciding(later):
                return await chat.chat_async("And again")

        chat.approve = None
        assert asyncio.run(in_an_app()) == "<Rome: 7A, no meal>"
        refused = chat.chat("Without anybody")

    assert isinstance(asked[0], ec.ContentToolQuestion)
    assert (asked[0].name, asked[0].message, dict(asked[0].arguments)) == (
        "book",
        "Which seat to Rome?",
        {"meal": False},
    )
    assert "elicitation was decline" in refused


def test_the_answer_comes_later(where):
    with provider(calling("book", {"to": "Rome"})) as url, mcp_tools(where) as tools:
        chat = chat_with(url)
        chat.register_tools(tools)
        chat.approve = "defer"
        with pytest.raises(ApprovalRequiredError):
            chat.chat("Book")
        saved = json.loads(json.dumps(chat.record()))
        chat.restore(saved)
        [question] = chat.waiting_requests()
        assert question.message == "Which seat to Rome?"
        chat.decide({question.id: {"approved": True, "arguments": {"seat": "1B", "meal": True}}})
        assert chat.chat() == "<Rome: 1B, a meal>"


def test_servers_of_before_july_2026_ask_beside_the_call(where):
    asked = []
    with mcp_tools(where, protocol="legacy") as tools:
        with provider(calling("book_before_2026", {"to": "Rome"})) as url:
            chat = chat_with(url)
            chat.register_tools(tools)
            chat.approve = lambda _question: SEAT
            assert chat.chat("Book") == "<Rome: 7A>"
            chat.approve = lambda _question: False
            assert chat.chat("Book") == "<decline>"
        with provider(calling("pay", {})) as url:
            chat = chat_with(url)
            chat.register_tools(tools)
            chat.approve = lambda question: asked.append(question) or True
            assert chat.chat("Pay") == "<accept>"

    assert asked[0].url == "https://pay.example.com/1"
    assert asked[0].title == "Pay here. https://pay.example.com/1"


def test_the_model_is_asked_if_there_is_one_and_the_user_allows_it(where):
    with provider(calling("poem", {"about": "rain"})) as url:
        poet = chat_with(url, "Not used")
        with mcp_tools(where, sampling=poet) as tools:
            chat = chat_with(url)
            chat.register_tools(tools)
            asked = []
            chat.approve = lambda question: asked.append(question.message) or True
            assert chat.chat("Write") == "<m wrote about rain: A haiku about rain!>"
            chat.approve = lambda _question: False
            assert "did not allow" in chat.chat("Write")
        with mcp_tools(where, sampling=poet, ask_before_sampling=False) as tools:
            chat.set_tools(tools)
            chat.approve = None
            assert chat.chat("Write") == "<m wrote about rain: A haiku about rain!>"
        with mcp_tools(where) as tools:
            chat.set_tools(tools)
            assert "sampling" in chat.chat("Write")

    words = "May the server ask the model this?\nsystem: You are a poet.\nuser: A haiku about rain"
    assert asked == [words]
    assert poet.get_turns() == []


def test_resources_and_prompts(where):
    server = mcp_tools(where)
    with server:
        found = server.resources()
        assert McpResource("file:///notes.md", "notes", "The notes.", "text/markdown", "notes") in found
        assert server.read("file:///notes.md") == [ec.ContentText("# Notes")]
        assert server.read("file:///dot.png") == [ec.ContentImageInline("image/png", PNG)]
        with pytest.raises(ConnectError, match="gone"):
            server.read("file:///gone")
        assert server.prompts() == [McpPrompt("review", "review", "Reviews code.", ("code",))]
        assert server.prompt("review", code="x = 1") == [
            ec.UserTurn("You review code."),
            ec.AssistantTurn("I do."),
            ec.UserTurn("Review this: x = 1"),
        ]
        with pytest.raises(ConnectError):
            server.prompt("review")
    with pytest.raises(UsageError, match="not open"):
        server.resources()


class Stored:
    """Tokens that were stored before."""

    async def get_tokens(self):
        return OAuthToken(access_token="t0ken", expires_in=3600)

    async def set_tokens(self, tokens):
        raise AssertionError

    async def get_client_info(self):
        return None

    async def set_client_info(self, info):
        raise AssertionError


@pytest.mark.slow
def test_the_sdks_oauth_is_passed_through():
    with over_http_with_token("t0ken") as url:
        client = OAuthClientMetadata(client_name="c", redirect_uris=["http://127.0.0.1:1/callback"])
        auth = OAuthClientProvider(url, client, Stored())
        with mcp_tools(url, auth=auth) as tools:
            assert "book" in [tool.name for tool in tools]
        with pytest.raises(ConnectError):
            mcp_tools(url).__enter__()
        with pytest.raises(ConnectError):
            mcp_tools(url, auth=httpx2.BasicAuth("a", "b")).__enter__()
        with pytest.raises(UsageError, match=r"httpx2\.Auth"):
            mcp_tools(url, auth="t0ken").__enter__()


def over_http_with_token(token):
    code = f"import sys, runpy; sys.argv = ['peer', sys.argv[1], {token!r}]; runpy.run_path({PEER[1]!r}, run_name='__main__')"
    return over_http([sys.executable, "-c", code])
