"""Each method that streams asks the API for a stream, in each wire format; each method that does not stream asks for none.

An answer without a stream is read by the streaming methods, too, so their results would not show the difference.
"""

import asyncio
import inspect

import pytest
from chats.answers import Book

import ellmer_core
from ellmer_core import Chat

STREAMING = [name for name, _ in inspect.getmembers(Chat, inspect.isfunction) if name.startswith("stream")]
WHOLE = ["chat", "chat_async", "chat_structured", "chat_structured_async"]
#: A model of each wire format.
MODELS = {
    "openai-chat": "openai_compatible/m",
    "openai-responses": "openai/gpt-4.1",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "google_gemini/gemini-2.5-flash",
    "bedrock": "aws_bedrock/us.amazon.nova-lite-v1:0",
    "ollama": "ollama/qwen3",
    "mistral": "mistral/mistral-small-latest",
    "cohere": "cohere/command-a-03-2025",
}
#: The ends of the paths that ask for a stream; the other formats have a field for it.
PATHS = {"gemini": ":streamGenerateContent?alt=sse", "bedrock": "/converse-stream"}


def test_the_methods_are_found():
    assert STREAMING == ["stream", "stream_async", "stream_structured", "stream_structured_async"]


def called(chat, name):
    """Calls a method and reads its stream to the end."""
    options = {"type": Book} if "structured" in name else {}
    if not name.endswith("_async"):
        return list(getattr(chat, name)("Which?", **options))

    async def last():
        result = getattr(chat, name)("Which?", **options)
        return [piece async for piece in result] if hasattr(result, "__aiter__") else await result

    return asyncio.run(last())


def streams(asked, wire):
    """Tells whether a request asks for a stream."""
    if wire in PATHS:
        return asked.path.endswith(PATHS[wire])
    return asked.json.get("stream", wire == "ollama") is True  # Ollama streams unless it is told not to


@pytest.fixture
def asked(server, reply, monkeypatch):
    """`asked(wire, method)` returns the request of a method."""
    keys = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "k", "AWS_REGION": "eu-west-1"}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)

    def ask(wire, method):
        server.answers(reply([b'{"message": "no", "error": {"message": "no"}}'], status=400))
        key = {} if wire in {"bedrock", "ollama"} else {"api_key": "k"}
        chat = ellmer_core.chat(MODELS[wire], base_url=server.url, echo="none", max_tries=1, **key)
        with chat, pytest.raises(ellmer_core.ProviderError):
            called(chat, method)
        (request,) = server.asked
        return request

    return ask


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("method", STREAMING)
def test_a_method_that_streams_asks_for_a_stream(asked, wire, method):
    assert streams(asked(wire, method), wire)


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("method", WHOLE)
def test_a_method_that_returns_the_whole_asks_for_no_stream(asked, wire, method):
    assert not streams(asked(wire, method), wire)
