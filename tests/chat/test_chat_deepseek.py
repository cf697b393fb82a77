"""A chat with DeepSeek, which accepts only text."""

import json

import pytest
from chats.answers import IMAGE, Book, answer, calls, f, named_tool

from ellmer_core.errors import EllmerWarning, UsageError
from ellmer_core.providers.deepseek import chat_deepseek


def test_deepseek_is_told_about_images_of_tools_and_refuses_those_of_users(server, reply, make):
    chat = make(provider=chat_deepseek)
    chat.register_tool(named_tool(lambda: ["A cat:", IMAGE], "f"))
    server.answers(reply([calls("a")]), reply([answer()]))
    with pytest.warns(EllmerWarning, match="DeepSeek's m was not sent an image of a tool"):
        chat.chat("Draw a cat")
    told = server.asked[1].json["messages"][-1]
    assert told["role"] == "tool"
    assert "A cat:" in told["content"]
    assert "image" in told["content"]
    assert "iVBOR" not in told["content"]
    with pytest.raises(UsageError, match="does not accept images"):
        chat.chat("What is this?", IMAGE)
    assert len(server.asked) == 2
    assert len(chat.get_turns()) == 4


def test_deepseek_gets_its_reasoning_back(server, reply, make):
    chat = make(provider=chat_deepseek, params={"max_tokens": 9})
    chat.register_tool(f)
    body = json.loads(calls("a"))
    body["choices"][0]["message"]["reasoning_content"] = "Hm."
    server.answers(reply([json.dumps(body).encode()]), reply([calls("b")]), reply([answer()]))
    chat.chat("Go")
    said = [m for m in server.asked[2].json["messages"] if m["role"] == "assistant"]
    assert [m["reasoning_content"] for m in said] == ["Hm.", ""]
    assert server.asked[0].json["max_tokens"] == 9


def test_deepseek_gets_the_schema_in_words(server, reply, make):
    chat = make(provider=chat_deepseek)
    server.answers(reply([answer('{"title": "It", "pages": 1138}')]))
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    sent = server.asked[0].json
    assert sent["response_format"] == {"type": "json_object"}
    assert '"pages"' in sent["messages"][-1]["content"]
    assert len(chat.get_turns()) == 2
