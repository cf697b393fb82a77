"""The official SDKs, streaming, recorded from a local server and replayed without it."""

import asyncio
import json

import anthropic
import openai
import pytest

from ellmer_harness import Miss, use_cassette
from ellmer_harness.faults import Cut, Status

MESSAGES = [{"role": "user", "content": "Hi"}]


def openai_chunks():
    for content in ("Hel", "lo ☃", None):
        choice = {
            "index": 0,
            "delta": {"content": content} if content else {},
            "finish_reason": None if content else "stop",
        }
        chunk = {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [choice],
        }
        yield f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()
    yield b"data: [DONE]\n\n"


def anthropic_chunks():
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}
            for t in ("Hel", "lo ☃")
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 2},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def with_openai(**options):
    with openai.OpenAI(api_key="sk-not-a-key", **options) as client:
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
        return [chunk.choices[0].delta.content for chunk in stream if chunk.choices[0].delta.content]


def with_openai_async():
    async def main():
        async with openai.AsyncOpenAI(api_key="sk-not-a-key") as client:
            stream = await client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            return [c.choices[0].delta.content async for c in stream if c.choices[0].delta.content]

    return asyncio.run(main())


def with_anthropic(**options):
    asked = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
    with (
        anthropic.Anthropic(api_key="not-a-key", **options) as client,
        client.messages.stream(**asked) as stream,
    ):
        return list(stream.text_stream)


def with_anthropic_async():
    async def main():
        asked = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
        async with (
            anthropic.AsyncAnthropic(api_key="not-a-key") as client,
            client.messages.stream(**asked) as stream,
        ):
            return [text async for text in stream.text_stream]

    return asyncio.run(main())


SDKS = [
    ("https://api.openai.com", openai_chunks, with_openai),
    ("https://api.openai.com", openai_chunks, with_openai_async),
    ("https://api.anthropic.com", anthropic_chunks, with_anthropic),
    ("https://api.anthropic.com", anthropic_chunks, with_anthropic_async),
]


@pytest.fixture(params=SDKS, ids=lambda sdk: sdk[2].__name__)
def talk(request, server, record, tmp_path):
    """Makes a call through an SDK and records it to `tmp_path / "c.json"`."""
    url, chunks, call = request.param
    server.chunked(list(chunks()), "text/event-stream")
    with use_cassette(tmp_path / "c.json", **record | {"routes": {url: server.url}}):
        assert call() == ["Hel", "lo ☃"]
    server.listener.close()
    return call


@pytest.mark.parametrize("framing", [None, "every-byte", "random:3", "crlf", "whole"])
def test_what_was_recorded_is_replayed_in_any_framing(talk, tmp_path, framing):
    with use_cassette(tmp_path / "c.json", framing=framing) as cassette:
        assert talk() == ["Hel", "lo ☃"]
    assert cassette.sent[0].json["messages"] == MESSAGES


def test_nothing_secret_is_in_the_file(talk, tmp_path):
    text = (tmp_path / "c.json").read_text()
    assert "not-a-key" not in text
    assert '"text": "lo ☃"' in text or '"content": "lo ☃"' in text


def test_a_miss_surfaces_at_once(talk, tmp_path):
    text = (tmp_path / "c.json").read_text().replace("Hi", "Hello")
    (tmp_path / "c.json").write_text(text)
    with (
        pytest.raises(Miss, match=r"/messages/0/content: \[-Hello-\]\{\+Hi\+\}"),
        use_cassette(tmp_path / "c.json") as cassette,
    ):
        talk()
    assert len(cassette.sent) == 1, "it was retried"


@pytest.mark.parametrize("sdk", [SDKS[0], SDKS[2]], ids=["openai", "anthropic"])
def test_retries_are_tested_without_waiting(server, record, tmp_path, sdk):
    url, chunks, call = sdk
    module = call.__name__.removeprefix("with_") + "._base_client"
    server.chunked(list(chunks()), "text/event-stream")
    with use_cassette(tmp_path / "c.json", **record | {"routes": {url: server.url}}):
        call()
    busy = [Status(429, headers={"retry-after": "7"}), Status(500), Cut()]
    with use_cassette(tmp_path / "c.json", faults=busy, virtual_sleep=[module]) as cassette:
        assert call(max_retries=3) == ["Hel", "lo ☃"]
    assert [exchange.status for exchange in cassette.exchanges] == [429, 500, 0, 200]
    assert cassette.slept[0] == 7
    assert len(cassette.slept) == 3
