"""Structured output: requests, values, and values that do not match."""

import asyncio
import json

import pytest
from chats.answers import Book, answer, calls, f

from ellmer_core.errors import ConversionError, IncompleteResponseError
from ellmer_core.providers.google_gemini import chat_google_gemini
from ellmer_core.schemas.type_functions import (
    type_array,
    type_from_schema,
    type_integer,
    type_object,
    type_string,
)


def test_structured_data(server, reply, make):
    chat = make()
    server.answers(*[reply([answer('{"title": "It", "pages": 1138}')])] * 4)
    kind = type_object("A book.", title=type_string(), pages=type_integer())
    assert chat.chat_structured("Which?", type=kind) == {"title": "It", "pages": 1138}
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    assert chat.chat_structured("Which?", type=Book, convert=False) == {"title": "It", "pages": 1138}
    assert asyncio.run(chat.chat_structured_async("Which?", type=Book)) == Book("It", 1138)
    schema = server.asked[0].json["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["title", "pages"]


def test_structured_data_that_is_no_object_travels_in_one(server, reply, make):
    chat = make()
    server.answers(reply([answer('{"wrapper": [1, 2]}')]), reply([answer('```json\n{"wrapper": "x"}\n```')]))
    assert chat.chat_structured("Which?", type=type_array(items=type_integer())) == [1, 2]
    assert chat.chat_structured("Which?", type=str) == "x"
    assert list(server.asked[0].json["response_format"]["json_schema"]["schema"]["properties"]) == ["wrapper"]


def test_a_schema_of_the_callers_is_sent_as_it_is(server, reply, make):
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    server.answers(reply([answer('{"a": 1}')]), reply([answer("[1]")]))
    assert make().chat_structured("Which?", type=type_from_schema(json.dumps(schema))) == {"a": 1}
    assert (
        server.asked[0].json["response_format"]["json_schema"]["schema"]["properties"] == schema["properties"]
    )
    with pytest.raises(ConversionError, match="must be an integer"):
        make().chat_structured("Which?", type=int, max_retries=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sorry", "not JSON"),
        ('{"title": "It"}', "pages"),
        ('{"title": "It", "pages": "many"}', "pages"),
    ],
)
def test_structured_data_of_another_shape_is_an_error(server, reply, make, text, words):
    server.answers(reply([answer(text)]))
    with pytest.raises(ConversionError, match=words):
        make().chat_structured("Which?", type=Book, max_retries=0)


def test_structured_data_that_was_cut_is_an_error(server, reply, make):
    server.answers(reply([answer('{"title": "I', "length")]))
    chat = make()
    with pytest.raises(IncompleteResponseError, match="max_tokens"):
        chat.chat_structured("Which?", type=Book)
    assert chat.get_turns() == []


def test_what_is_said_before_the_data_is_not_part_of_them(server, reply, make):
    said = [
        {"type": "text", "text": "I look."},
        {"type": "odd"},
        {"type": "text", "text": '{"title": "It", "pages": 1}'},
    ]
    server.answers(reply([answer(said)]))
    assert make().chat_structured("Which?", type=Book) == Book("It", 1)


def test_gemini_before_3_gives_data_by_a_call_where_there_are_tools(server, reply):
    """`Function calling with a response mime type: 'application/json' is unsupported`"""

    def say(*parts):
        return reply(
            [json.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}).encode()]
        )

    def call(name, **args):
        return {"functionCall": {"name": name, "args": args}}

    data = call("give_structured_data", title="It", pages=1138)
    server.answers(say(call("f")), say({"text": "So."}, data), say({"text": '{"title": "Oz", "pages": 1}'}))
    chat = chat_google_gemini(base_url=server.url, api_key="k", model="gemini-2.5-flash", echo="none")
    chat.register_tool(f)

    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
    assert chat.last_turn("assistant").finish_reason == "success"
    chat.set_tools([])
    assert chat.chat_structured("And?", type=Book) == Book("Oz", 1)

    first, second, third = (asked.json for asked in server.asked)
    names = [one["name"] for one in first["tools"][0]["functionDeclarations"]]
    assert names == ["f", "give_structured_data"]
    assert first["toolConfig"] == second["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert "generationConfig" not in first
    assert third["generationConfig"]["responseMimeType"] == "application/json"
    assert third["contents"][3] == {
        "role": "model",
        "parts": [{"text": "So."}, {"text": '{"title":"It","pages":1138}'}],
    }


def test_structured_data_with_tools(server, reply, make):
    chat = make()
    chat.register_tool(f)
    server.answers(reply([calls("a")]), reply([answer('{"title": "It", "pages": 1138}')]))
    assert chat.chat_structured("Which?", type=Book) == Book("It", 1138)
