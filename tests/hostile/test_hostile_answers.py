"""Answers of hostile or broken servers: errors are ours, and no chat becomes unusable."""

import asyncio
import json
import re

import httpx
import pytest
from chats.scripted import CHAT, talk

import ellmer_core as ec
from ellmer_core.base.budget import CLIENT
from ellmer_core.contents.content import ContentImageInline, ContentText
from ellmer_core.contents.turns import Tokens
from ellmer_core.conversation.response import turn_of
from ellmer_core.errors import EllmerError, UsageError
from ellmer_core.models.prices.price_lookup import cost
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.shared.endings_and_errors import error_of, in_band_error
from ellmer_core.wire.shared.json_objects import read_json

# What cannot be read ----------------------------------------------------------------------------------------

DEEP = "[" * 5000 + "]" * 5000
DEEPER = '{"a":' * 900 + "1" + "}" * 900


@pytest.mark.parametrize(
    "body", [DEEP, DEEPER, '{"choices":[{"message":' + DEEPER + "}]}", "1" * 5000, "\ud800"]
)
@pytest.mark.parametrize("status", [200, 400, 503])
def test_a_strange_body_is_an_error_of_ours(body, status):
    chat = talk(httpx.Response(status, content=body.encode("utf-8", "surrogatepass")))

    with pytest.raises(EllmerError):
        chat.chat("Hi")
    assert chat.get_turns() == []


def test_json_is_read_to_a_depth():
    assert read_json("[" * CLIENT.depth + "]" * CLIENT.depth)
    with pytest.raises(ValueError, match=f"deeper than {CLIENT.depth}"):
        read_json("[" * (CLIENT.depth + 1) + "]" * (CLIENT.depth + 1))


HINTS = ["9" * 400, "1..2", "-1", "nan", "1e400", "\u0663", "9" * 5000, "..", "."]


@pytest.mark.parametrize("hint", HINTS)
def test_a_strange_hint_when_to_come_back_is_none(hint):
    said = {"message": f"Please try again in {hint}s", "details": [{"retryDelay": f"{hint}s"}]}
    for error in (
        error_of(429, {"retry-after": hint, "retry-after-ms": hint}, json.dumps({"error": said}).encode()),
        in_band_error({"error": said}),
    ):
        assert error.retry_after is None or 0 <= error.retry_after < 1e12


@pytest.mark.parametrize("seconds", [10**400, float("inf"), float("nan"), -5, True])
def test_a_strange_number_of_seconds_is_none(seconds):
    try:
        error = in_band_error({"error": {"message": "Slow", "metadata": {"retry_after_seconds": seconds}}})
    except OverflowError:
        pytest.fail("an error of Python's own")
    assert error.retry_after in {None, 1.0}


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jan 0001 00:00:00 GMT",
        "99999999999999",
        "Thu, 99 Foo 2020",
        "\x00",
        "Sun, 06 Nov 1994 08:49:37 +9999999",
    ],
)
def test_a_strange_date_is_none(date):
    assert error_of(429, {"retry-after": date, "date": date}, b"").retry_after in {None, 0.0}


@pytest.mark.parametrize("count", [10**400, 1e308, -1, 2**60])
def test_a_strange_count_of_tokens_is_none(count):
    usage = {"prompt_tokens": count, "completion_tokens": 1}
    body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": usage}
    tokens = turn_of(CHAT, body).tokens

    assert tokens == Tokens(None, 1)
    assert cost(CHAT, tokens) is None


# Nothing stays in the history that is refused ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["rm -rf /", "a" * 65, "", "é", "a.b", "x\n"])
def test_a_name_that_no_tool_can_have_is_not_sent_back(name):
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
    answers = [
        {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]},
        {"choices": [{"message": {"content": "Oh."}, "finish_reason": "stop"}]},
    ]
    asked = []

    def answer(request):
        asked.append(json.loads(request.content))
        return httpx.Response(200, json=answers[len(asked) - 1])

    chat = talk(answer)
    assert chat.chat("Go") == "Oh."
    [sent] = asked[1]["messages"][1]["tool_calls"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sent["function"]["name"])
    assert "no tool is called" in asked[1]["messages"][2]["content"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_a_number_that_is_none_is_not_sent_back(number):
    block = f'{{"type":"tool_use","id":"a","name":"f","input":{{"x":{number}}},"caller":{{"n":{number}}}}}'
    body = f'{{"content":[{block}],"stop_reason":"tool_use"}}'
    turn = turn_of(AnthropicMessages(model="m"), read_json(body))

    json.dumps(AnthropicMessages(model="m").message(turn), allow_nan=False)


PNG = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("type", "data", "shown"),
    [
        ("image/png", PNG, ContentImageInline("image/png", PNG)),
        ("image/jpeg", PNG, ContentImageInline("image/png", PNG)),
        ("image/png", "no base64", ContentText("[image/png that cannot be shown]")),
        ("image/svg+xml", "PHN2Zz4=", ContentText("[image/svg+xml that cannot be shown]")),
        ("image/png", "JVBERi0xLjc=", ContentText("[image/png that cannot be shown]")),
    ],
)
def test_an_image_that_is_not_what_it_says_is_not_sent_back(type, data, shown):
    part = {"inlineData": {"mimeType": type, "data": data}}
    body = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}

    assert turn_of(Gemini(model="m"), body).contents == (shown,)


# Loops ------------------------------------------------------------------------------------------------------


def test_without_asyncio_an_async_chat_says_so():
    steps = talk(httpx.Response(200)).chat_async("Hi")
    with pytest.raises(UsageError, match=r"trio\.to_thread"):
        steps.send(None)


def test_a_tool_that_ends_generators_ends_nothing_else():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    bodies = iter(
        [
            [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}],
            [{"message": {"content": "Oh."}, "finish_reason": "stop"}],
        ]
    )
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"choices": next(bodies)}))
    chat = ec.Chat(CHAT, client=httpx.AsyncClient(transport=transport))

    @chat.register_tool
    def f() -> str:
        """F."""
        raise GeneratorExit

    assert asyncio.run(chat.chat_async("Hi")) == "Oh."
    chat.set_turns([])
