"""The next provider, if one is overloaded or unavailable, but never after a part of an answer was shown."""

import asyncio

import pytest

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Script
from ellmer_conformance.server.strict_server import StrictServer

DOWN = Failure("overloaded")
OK = Answer((Say("Here I am."),))
CALLS = Answer((Say("I look."), Call("look", {"x": "a"})))


@ec.tool
def look(x: str) -> str:
    """Looks."""
    return f"<{x}>"


@pytest.fixture
def server():
    scripts = {
        "down": Script([DOWN]),
        "up": Script([OK]),
        "calls": Script([CALLS, OK]),
        "then-down": Script([CALLS, DOWN]),
        "half": Script([Failure("overloaded", Answer((Say("Here I"),)))]),
    }
    with StrictServer(scripts) as running:
        yield running


def anthropic(server, case, **options):
    url = f"{server.url(case, '1')}/v1"
    options = {"max_tries": 1, "model": "claude-sonnet-5"} | options
    return ec.chat_anthropic("Be brief.", base_url=url, api_key="none", echo="none", **options)


def openai(server, case, **options):
    url = f"{server.url(case, '2')}/v1"
    options = {"max_tries": 1, "model": "gpt-5"} | options
    return ec.chat_openai(base_url=url, api_key="none", echo="none", **options)


WAYS = {
    "chat": lambda chat: chat.chat("Hi"),
    "stream": lambda chat: "".join(chat.stream("Hi")),
    "chat_async": lambda chat: asyncio.run(chat.chat_async("Hi")),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_next_provider_answers_where_one_is_overloaded(server, way, caplog):
    chat = ec.chat_fallback([anthropic(server, "down"), openai(server, "up")])

    with caplog.at_level("WARNING", "ellmer_core"):
        assert WAYS[way](chat) == "Here I am."

    assert chat.get_system_prompt() == "Be brief."
    assert [turn.role for turn in chat.get_turns()] == ["user", "assistant"]
    assert "continuing with OpenAI/gpt-5" in caplog.text


def test_history_with_its_tools_is_carried_over(server):
    chat = ec.chat_fallback([anthropic(server, "then-down"), openai(server, "up")])
    chat.register_tool(look)

    assert chat.chat("Hi") == "Here I am."
    assert [r.value for t in chat.get_turns() if isinstance(t, ec.UserTurn) for r in t.tool_results] == [
        "<a>"
    ]


def test_a_provider_goes_on_with_what_it_began(server):
    chat = ec.chat_fallback([anthropic(server, "down"), openai(server, "calls")])
    chat.register_tool(look)

    assert chat.chat("Hi") == "Here I am."


def test_never_after_something_was_shown(server):
    chat = ec.chat_fallback([anthropic(server, "half"), openai(server, "up")])
    shown = []

    with pytest.raises(ec.ServerError):
        shown.extend(chat.stream("Hi"))

    assert "".join(shown) == "Here I"
    assert isinstance(chat.last_turn(), ec.AssistantPartialTurn)


def test_the_last_provider_says_what_is_wrong(server):
    chat = ec.chat_fallback([anthropic(server, "down"), openai(server, "down")])

    with pytest.raises(ec.ServerError):
        chat.chat("Hi")
    assert chat.get_turns() == []


def test_a_provider_that_cannot_be_reached_is_out_of_order(server):
    nowhere = ec.chat_anthropic(
        base_url="http://127.0.0.1:1", api_key="none", model="claude-sonnet-5", max_tries=1
    )

    assert ec.chat_fallback([nowhere, openai(server, "up")]).chat("Hi", echo="none") == "Here I am."


def test_a_fork_falls_back_too_and_each_call_begins_with_the_first(server):
    chat = ec.chat_fallback([anthropic(server, "down"), openai(server, "up")])
    fork = chat.fork()

    assert fork.chat("Hi") == "Here I am."
    assert chat.get_turns() == []
    assert fork.wire.provider == "Anthropic"


@pytest.mark.parametrize("wrong", [[], ["openai"], [None]])
def test_a_list_of_chats_is_wanted(wrong):
    with pytest.raises(ec.UsageError, match="list of chats"):
        ec.chat_fallback(wrong)


PNG = ec.ContentImageInline(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)


def deepseek(server, case):
    url = f"{server.url(case, '3')}/v1"
    return ec.chat_deepseek(model="deepseek-v4-pro", base_url=url, api_key="none", max_tries=1)


def test_a_provider_that_cannot_see_is_skipped_if_another_can(server, caplog):
    chat = ec.chat_fallback([anthropic(server, "down"), deepseek(server, "up"), openai(server, "up")])

    assert chat.chat("Look", PNG) == "Here I am."
    assert "continuing with OpenAI/gpt-5" in caplog.text


def test_if_none_can_the_next_gets_words_and_the_caller_a_warning(server):
    chat = ec.chat_fallback([anthropic(server, "down"), deepseek(server, "up")])

    with pytest.warns(ec.EllmerWarning, match=r"was not sent an image of the user \(DeepSeek's") as caught:
        assert chat.chat("Look", PNG) == "Here I am."
    assert len(caught) == 1
    assert chat.chat("And now?")


def test_a_first_provider_that_cannot_see_is_skipped_too(server, caplog):
    chat = ec.chat_fallback([deepseek(server, "up"), openai(server, "up")])

    assert chat.chat("Look", PNG) == "Here I am."
    assert "continuing with OpenAI/gpt-5" in caplog.text

    alone = ec.chat_fallback([deepseek(server, "up")])
    with pytest.raises(ec.ContentError, match="does not accept images"):
        alone.chat("Look", PNG)
