"""What a hostile or broken server sends: limits are met with their name, errors are ours, and no chat is poisoned."""

import asyncio
import gzip
import json
import os
import pickle
import re
import time
import tracemalloc
import zlib

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.contents.content import ContentImageInline, ContentText
from ellmer_core.contents.turns import Tokens
from ellmer_core.conversation.response_cleaning import turn_of
from ellmer_core.conversation.retry import retry_after
from ellmer_core.errors import EllmerError, ProviderError, ResponseError, UsageError
from ellmer_core.models.prices import cost
from ellmer_core.wire.anthropic.request import AnthropicMessages
from ellmer_core.wire.framing.json_text import MAX_DEPTH, read_json
from ellmer_core.wire.gemini.request import Gemini
from ellmer_core.wire.openai_chat.request import OpenAIChat
from ellmer_core.wire.shared.errors import error_of, in_band_error

CHAT = OpenAIChat(model="gpt-4.1", base_url="http://x")


def talk(answer, **options):
    """A chat whose every request is answered so."""
    transport = httpx.MockTransport(answer if callable(answer) else lambda _: answer)
    return ec.Chat(CHAT, client=httpx.Client(transport=transport), max_tries=1, **options)


class Endless(httpx.SyncByteStream):
    """Goes on for ever; fails the test where more is read than anybody should."""

    def __init__(self, chunk, most):
        self.chunk, self.left = chunk, most

    def __iter__(self):
        while True:
            self.left -= 1
            assert self.left, "nobody stops reading"
            yield self.chunk


# Limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_without_an_end_is_left_at_the_limit(kind):
    stream = Endless(b"x" * 1000, 200)
    chat = talk(
        httpx.Response(200, stream=stream, headers={"content-type": kind}), limits=ec.Limits(answer=50_000)
    )

    with pytest.raises(ResponseError, match=r"larger than 50,000 bytes \(limit: answer\)"):
        chat.chat("Hi")


def test_a_stream_of_events_without_an_end_is_left_at_the_limit():
    event = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    response = httpx.Response(200, stream=Endless(event, 200), headers={"content-type": "text/event-stream"})
    chat = talk(response, limits=ec.Limits(events=100))

    with pytest.raises(ResponseError, match=r"more than 100 events \(limit: events\)"):
        list(chat.stream("Hi"))
    assert chat.last_turn().text == "a" * 100


def test_the_body_of_an_error_is_read_so_far_and_no_further():
    chat = talk(httpx.Response(500, stream=Endless(b"x" * 1000, 200)), limits=ec.Limits(error=10_000))

    with pytest.raises(ec.ServerError, match="xxx"):
        chat.chat("Hi")


def test_a_small_answer_does_not_become_a_large_one():
    bomb = gzip.compress(b" " * 50_000_000)
    response = httpx.Response(
        200,
        stream=httpx.ByteStream(bomb),
        headers={"content-encoding": "gzip", "content-type": "application/json"},
    )
    chat = talk(response, limits=ec.Limits(answer=1_000_000))

    with pytest.raises(ResponseError, match="limit: answer"):
        chat.chat("Hi")


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate, gzip"])
def test_a_packing_that_was_not_asked_for_is_not_opened(encoding):
    body = zlib.compress(gzip.compress(b"{}"))
    response = httpx.Response(200, stream=httpx.ByteStream(body), headers={"content-encoding": encoding})

    with pytest.raises(ResponseError, match="not asked for"):
        talk(response).chat("Hi")


def test_an_answer_that_drips_is_left_after_the_whole_time(monkeypatch):
    clock = iter(range(0, 10**9, 100))
    monkeypatch.setattr("ellmer_core.transport.connection_errors.time.monotonic", lambda: next(clock))
    options = {"stream": Endless(b": \n\n", 200), "headers": {"content-type": "text/event-stream"}}
    chat = talk(httpx.Response(200, **options), timeouts=ec.Timeouts())

    with pytest.raises(ec.TimeoutError, match="timeout: total"):
        list(chat.stream("Hi"))


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
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match=f"deeper than {MAX_DEPTH}"):
        read_json("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


PAGE = 160_000
PAGES = {
    "open tags": "<html>" + "<" * PAGE,
    "open scripts": "<html>" + "<script" * (PAGE // 7),
    "scripts that end": "<html>" + "<script></script>" * (PAGE // 17),
    "a long comment": "<html><!--" + "-" * PAGE,
    "entities": "<html>" + "&#" * (PAGE // 2),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_of_an_error_is_read_in_time_that_grows_as_it_does(page):
    began = time.process_time()
    error_of(502, {"content-type": "text/html"}, page.encode())
    assert time.process_time() - began < 10  # today 60 s and more; a hundredth of a second when mended


def test_the_words_of_a_page_are_kept():
    page = b"<html><script>if (a<b) x()</script><style>p{}</style><h1>502&nbsp;Bad</h1> <p>Gateway</p></html>"
    assert error_of(502, {}, page).message == "502 Bad Gateway"


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
    retry_after(ProviderError("x"), {"retry-after": date, "date": date}, 0.0)


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


# Where requests go ------------------------------------------------------------------------------------------


def test_a_client_that_follows_redirects_takes_no_key_elsewhere():
    seen = []

    def answer(request):
        seen.append(request.url.host)
        return httpx.Response(307, headers={"location": "http://evil.example/"})

    for wire in (
        CHAT,
        AnthropicMessages(model="m", base_url="http://x"),
        Gemini(model="m", base_url="http://x"),
    ):
        client = httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True)
        with pytest.raises(ec.BadRequestError, match="No redirect is followed"):
            ec.Chat(wire, client=client, max_tries=1).chat("Hi")
    assert set(seen) == {"x"}


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://x:99999999/", "http://\x00/", "//", "http://[fe80::1%25x]/"]
)
def test_a_base_url_that_is_none_is_a_usage_error(url):
    chat = ec.Chat(OpenAIChat(model="m", base_url=url), max_tries=1, timeouts=ec.Timeouts(connect=0.5))
    with pytest.raises(EllmerError):
        chat.chat("Hi")


# Schemas ----------------------------------------------------------------------------------------------------


def test_references_to_references_are_not_written_out():
    from ellmer_core.schemas.external_tools import arguments_of

    defs = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcdefgh"}}
        for n in range(20)
    }
    defs["d20"] = {"type": "string"}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}
    tracemalloc.start()
    arguments_of(schema)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000_000


def test_a_device_or_a_pipe_is_no_image(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path, "a\x00b"):
        with pytest.raises(UsageError):
            ec.content_image_file(path)


# What is seen -----------------------------------------------------------------------------------------------

ESCAPES = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31mred\rover"


def obeyed(text):
    return set(text) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}


def test_nothing_that_a_model_says_is_obeyed_by_the_terminal(capsys):
    said = {"choices": [{"message": {"content": ESCAPES}, "finish_reason": "stop"}]}
    events = [{"choices": [{"index": 0, "delta": {"content": ESCAPES[:3]}}]}]
    events += [{"choices": [{"index": 0, "delta": {"content": ESCAPES[3:]}, "finish_reason": "stop"}]}]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)

    def answer(request):
        if json.loads(request.content).get("stream", False):
            return httpx.Response(200, text=stream, headers={"content-type": "text/event-stream"})
        return httpx.Response(200, json=said)

    for mode in ("none", "output", "all"):
        chat = talk(answer)
        chat.chat(ESCAPES, echo=mode)
        printed = capsys.readouterr()
        assert not obeyed(printed.out + printed.err)
        assert not obeyed(f"{chat}{chat.last_turn()}{chat.last_turn().contents[0]}")
        assert ESCAPES[-8:] in chat.last_turn().text  # the text itself is the model's


def test_nothing_that_a_tool_or_its_call_says_is_obeyed(capsys):
    call = {
        "id": ESCAPES,
        "type": "function",
        "function": {"name": "f", "arguments": json.dumps({"x": ESCAPES})},
    }
    bodies = iter(
        [
            [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}],
            [{"message": {"content": "."}, "finish_reason": ESCAPES}],
        ]
    )
    chat = talk(lambda _: httpx.Response(200, json={"choices": next(bodies)}))

    @chat.register_tool
    def f(x: str) -> str:
        """F."""
        raise ValueError(x)

    with pytest.warns(ec.EllmerWarning) as warned:
        chat.chat("Hi", echo="none")
    assert not obeyed(str(chat)), str(chat)
    assert not obeyed("".join(str(each.message) for each in warned))


def test_an_error_is_shown_without_what_a_terminal_obeys():
    body = {"error": {"message": ESCAPES, "type": ESCAPES}}
    error = error_of(400, {}, json.dumps(body).encode())
    assert not obeyed(str(error))
    assert error.message == ESCAPES
    assert not obeyed(str(error_of(502, {}, ESCAPES.encode())))


def test_nobody_sees_the_key(tmp_path):
    chat = ec.chat_openai(
        model="m",
        api_key="sk-canary",
        base_url="https://me:pass-canary@api.x/v1",
        api_headers={"x-key": "head-canary"},
    )
    wire = chat.wire
    for shown in (
        repr(wire),
        str(wire),
        repr(vars(wire)),
        repr(vars(wire)["credentials"]),
        repr(dict(vars(wire))),
        json.dumps(chat.record()),
        str(chat),
    ):
        assert "canary" not in shown
    with pytest.raises(TypeError, match="Keys are not pickled"):
        pickle.dumps(wire)
    assert wire.base_url == "https://api.x/v1"
    assert wire.post("u", {}, stream=False).headers["authorization"].startswith("Basic ")
    assert wire.headers()["authorization"] == "Bearer sk-canary"


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
