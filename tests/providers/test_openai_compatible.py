"""`chat_openai_compatible()` sends only common fields, and has options for the others."""

import json

from chats.answers import SSE, Book, answer, f, streamed

from ellmer_core import chat_openai_compatible


def asked(server, reply, **switches):
    server.answers(
        reply(streamed({"content": "Hello."}), headers=SSE), reply([answer('{"title": "It", "pages": 1}')])
    )
    chat = chat_openai_compatible(
        base_url=server.url, model="m", params={"max_tokens": 9}, echo="none", **switches
    )
    chat.register_tool(f)
    list(chat.stream("Hi"))
    chat.chat_structured("Which?", type=Book)
    return [one.json for one in server.asked]


def test_the_plainest_words(server, reply):
    stream, data = asked(server, reply)
    assert "strict" not in json.dumps([stream, data])
    assert stream["max_tokens"] == data["max_tokens"] == 9
    assert stream["stream_options"] == {"include_usage": True}
    assert data["response_format"]["json_schema"]["schema"]["required"] == ["title", "pages"]


def test_switches(server, reply):
    stream, data = asked(server, reply, strict=True, stream_usage=False, max_completion_tokens=True)
    assert data["tools"][0]["function"]["strict"] is data["response_format"]["json_schema"]["strict"] is True
    assert stream["max_completion_tokens"] == 9
    assert not stream.keys() & {"max_tokens", "stream_options"}
