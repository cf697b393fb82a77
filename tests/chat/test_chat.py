"""`Chat` for its users. The provider is a real local server."""

import asyncio
import json

import pytest
from chats.answers import SSE, answer, f, streamed

from ellmer_core.contents.content import ContentText, ContentThinking, ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn, Tokens, UserTurn
from ellmer_core.errors import EllmerWarning, UsageError
from ellmer_core.models.prices import price_lookup
from ellmer_core.providers.openai import chat_openai

# Talking ----------------------------------------------------------------------------------------------------


def test_a_chat_remembers(server, reply, make):
    server.answers(*[reply([answer()])] * 2)
    chat = make("Be terse.")
    assert chat.chat("Hi", "there") == "Hello."
    assert isinstance(chat.chat("Again"), str)
    roles = [message["role"] for message in server.asked[1].json["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert server.asked[0].json["messages"][1]["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "text", "text": "there"},
    ]


@pytest.mark.parametrize("wrong", [1, None, ["Hi"], b"Hi", UserTurn("Hi")])
def test_wrong_inputs_are_named_at_once(make, wrong):
    chat = make()
    for say in (chat.chat, chat.stream, chat.stream_async):
        with pytest.raises(UsageError, match=type(wrong).__name__):
            say("Hi", wrong)
    with pytest.raises(UsageError, match="nothing to send"):
        chat.chat()


def test_a_stream_of_everything(server, reply, make):
    chat = make()
    chat.register_tool(f)
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    first = streamed(
        {"reasoning_content": "Hm."}, {"content": "Let me look."}, {"tool_calls": [call]}, finish="tool_calls"
    )
    second = streamed({"content": "It is "}, {"content": "done."})
    server.answers(*[reply(body, headers=SSE) for body in (first, second) * 2])

    everything = list(chat.stream("Hi", content="all"))
    text = list(chat.stream("Hi"))

    request = ContentToolRequest("a", "f", raw="{}")
    assert everything == [
        ContentThinking("Hm."),
        ContentText("Let me look."),
        request,
        ContentToolResult("done", request=request),
        ContentText("It is "),
        ContentText("done."),
    ]
    assert text == ["Let me look.", "\n\nIt is ", "done."]


def test_a_stream_sends_nothing_until_it_is_read(server, make):
    chat = make()
    chat.stream("Hi")
    chat.stream_async("Hi")
    assert server.asked == []
    assert chat.get_turns() == []


def test_wrong_options_say_what_is_right(make):
    chat = make()
    for call, words in (
        (lambda: chat.stream("Hi", content="some"), '"text", "all" or "deltas"'),
        (lambda: chat.stream_async("Hi", content="some"), '"text", "all" or "deltas"'),
        (lambda: chat.chat("Hi", echo="loud"), '"none", "output", "all"'),
        (lambda: chat.chat("Hi", tool_mode="both"), '"sequential" or "concurrent"'),
        (lambda: chat.stream("Hi", controller=1), "StreamController"),
        (lambda: chat.set_turns(["Hi"]), "UserTurn"),
        (lambda: chat.set_system_prompt(1), "must be str or None"),
        (lambda: chat.on_tool_request("f"), "function"),
    ):
        with pytest.raises(UsageError, match=words):
            call()


def test_a_chat_is_entered_once(server, reply, make):
    chat = make()
    server.answers(
        *[reply(streamed({"content": "One"}, {"content": "two"}), headers=SSE)] * 2, reply([answer()])
    )
    stream = chat.stream("Hi")
    next(stream)
    for call in (lambda: chat.chat("And"), lambda: next(chat.stream("And")), lambda: chat.set_turns([])):
        with pytest.raises(UsageError, match=r"fork|answering"):
            call()
    assert chat.get_turns()[0] == UserTurn("Hi")
    stream.close()

    async def run():
        stream = chat.stream_async("Hi")
        await anext(stream)
        with pytest.raises(UsageError, match="fork"):
            await chat.chat_async("And")
        await stream.aclose()

    asyncio.run(run())
    assert chat.chat("Now") == "Hello."


def test_an_answer_that_was_cut_at_the_limit_is_a_warning(server, reply, make):
    server.answers(*[reply([answer("Once upon", "length")])] * 2, reply([answer("", "content_filter")]))
    chat = make()
    with pytest.warns(EllmerWarning, match="max_tokens") as caught:
        assert chat.chat("A story") == "Once upon"
    assert caught[0].filename == __file__
    with pytest.warns(EllmerWarning, match="max_tokens") as caught:
        asyncio.run(chat.chat_async("A story"))
    with pytest.warns(EllmerWarning, match="content filter"):
        chat.chat("A story")


def test_nothing_to_say_is_not_sent(make):
    chat = make("s")
    for nothing in ((), ("",), ("", ContentText(""))):
        with pytest.raises(UsageError, match="nothing to send"):
            chat.chat(*nothing)
    assert chat.get_turns() == []


# Tokens and cost --------------------------------------------------------------------------------------------


def test_tokens_and_cost(server, reply, make, monkeypatch):
    monkeypatch.setattr(price_lookup, "_used", {})
    chat = make(provider=chat_openai, model="gpt-4.1")
    body = {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello."}]}],
        "usage": {"input_tokens": 1000, "output_tokens": 100, "input_tokens_details": {"cached_tokens": 400}},
    }
    server.answers(*[reply([json.dumps(body).encode()])] * 2)
    chat.chat("Hi")
    chat.chat("Again")
    one = (600 * 2.0 + 400 * 0.5 + 100 * 8.0) / 1e6
    assert chat.get_cost("last") == pytest.approx(one)
    assert chat.get_cost() == pytest.approx(2 * one)
    assert chat.get_tokens()[1] == {
        "input": 1000,
        "output": 100,
        "cached": 400,
        "cache_write": None,
        "reasoning": None,
        "cost": pytest.approx(one),
        "preview": "Again",
    }
    [row] = price_lookup.token_usage()
    assert (row["provider"], row["model"], row["input"], row["cost"]) == (
        "OpenAI",
        "gpt-4.1",
        2000,
        pytest.approx(2 * one),
    )


def test_what_nobody_knows_is_none(server, reply, make, monkeypatch):
    monkeypatch.setattr(price_lookup, "_used", {})
    chat = make()
    server.answers(reply([answer()]), reply([answer(usage={"prompt_tokens": 1, "completion_tokens": 2})]))
    assert chat.get_cost() == 0
    chat.chat("Hi")
    chat.chat("Hi")
    assert chat.get_cost() is None
    assert [row["input"] for row in chat.get_tokens()] == [None, 1]
    assert price_lookup.token_usage()[0]["cost"] is None


def test_partial_turns_have_no_row(make):
    from ellmer_core.contents.turns import AssistantPartialTurn

    chat = make()
    chat.set_turns(
        [UserTurn("a"), AssistantPartialTurn("b"), UserTurn("c"), AssistantTurn("d", tokens=Tokens(1, 2))]
    )
    assert [row["preview"] for row in chat.get_tokens()] == ["c"]


def test_a_tool_that_replaces_another_one_is_told_in_a_warning():
    def f(city: str) -> str:
        """Looks a city up."""
        return city

    chat = chat_openai(model="m", api_key="k")
    chat.register_tool(f)
    with pytest.warns(EllmerWarning, match="The tool 'f' was registered before; the new one replaces it."):
        chat.register_tool(f)


def test_a_model_that_is_no_name_is_refused_by_its_own_name():
    with pytest.raises(UsageError, match="model= is the name of a model"):
        chat_openai(model=5, api_key="k")
