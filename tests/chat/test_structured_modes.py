"""The modes of structured output, their values, and repeated requests."""

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest
from chats.answers import Book, answer, calls, f
from pydantic import BaseModel

from ellmer_core import chat_anthropic, chat_openai_completions
from ellmer_core.errors import ConversionError, UsageError
from ellmer_core.models.profiles import profile_of
from ellmer_core.providers.anthropic import Anthropic
from ellmer_core.providers.cerebras import Cerebras
from ellmer_core.providers.cohere import Cohere
from ellmer_core.providers.deepseek import DeepSeek
from ellmer_core.providers.google_gemini import GoogleGemini
from ellmer_core.providers.groq import Groq
from ellmer_core.providers.openai import OpenAI
from ellmer_core.providers.perplexity import Perplexity
from ellmer_core.schemas.type_functions import type_from_schema, type_object, type_of, type_string
from ellmer_core.tools.definition import tool
from ellmer_core.tools.provider_tools import tool_web_search


def fitted(wire):
    return replace(wire, profile=profile_of(wire))


BOOK = type_of(Book)
MANY = type_object(**{f"p{n}": type_string(required=False) for n in range(25)})
F = tool(f)
GOOD = '{"title": "It", "pages": 1138}'


@dataclass
class Node:
    value: int
    children: list["Node"] = field(default_factory=list)


class Chain(BaseModel):
    needed: list["Chain"]


DICT = type_of(dict[str, int])


@pytest.mark.parametrize(
    ("wire", "type", "tools", "mode"),
    [
        (OpenAI(model="gpt-5.6-terra"), BOOK, [], "native"),
        (OpenAI(model="gpt-5.6-terra"), type_of(Node), [F], "native"),
        (OpenAI(model="gpt-4-turbo"), BOOK, [], "tool"),
        (Anthropic(model="claude-sonnet-5"), BOOK, [F], "native"),
        (Anthropic(model="claude-sonnet-5"), type_of(Node), [], "tool"),
        (Anthropic(model="claude-sonnet-5"), DICT, [], "tool"),
        (Anthropic(model="claude-sonnet-5"), MANY, [], "tool"),
        (Anthropic(model="claude-sonnet-4-20250514"), BOOK, [], "tool"),
        (Anthropic(model="claude-sonnet-5"), type_object(é=DICT), [], "prompt"),
        (GoogleGemini(model="gemini-3.5-flash"), type_of(Node), [F], "native"),
        (GoogleGemini(model="gemini-3.5-flash"), type_of(Chain), [], "tool"),
        (GoogleGemini(model="gemini-2.5-flash"), BOOK, [], "native"),
        (GoogleGemini(model="gemini-2.5-flash"), BOOK, [F], "tool"),
        (GoogleGemini(model="gemini-2.5-flash"), BOOK, [tool_web_search()], "prompt"),
        (Cohere(model="command-a-03-2025"), BOOK, [F], "tool"),
        (Cohere(model="c4ai-aya-vision-8b"), BOOK, [], "prompt"),
        (Groq(model="openai/gpt-oss-120b"), BOOK, [F], "tool"),
        (DeepSeek(model="deepseek-v4-flash"), type_of(Node), [], "native"),
        (Perplexity(model="perplexity/sonar"), BOOK, [], "native"),
    ],
)
def test_the_first_mode_that_works_is_taken(wire, type, tools, mode):
    assert fitted(wire).structured_mode(type, tools) == mode


@pytest.mark.parametrize(
    ("wire", "type", "mode", "words"),
    [
        (Anthropic(model="claude-sonnet-5"), type_of(Node), "native", "refers to itself"),
        (Anthropic(model="claude-sonnet-5"), DICT, "native", "other properties"),
        (Anthropic(model="claude-sonnet-5"), MANY, "native", "25 properties are optional, and 24 may be"),
        (OpenAI(model="m"), BOOK, "words", 'mode must be "native", "tool" or "prompt"'),
    ],
)
def test_a_mode_that_does_not_work_is_an_error_beforehand(wire, type, mode, words):
    with pytest.raises(UsageError, match=words):
        fitted(wire).asking([], type=type, mode=mode)


def test_a_call_is_forced_only_where_the_model_allows_it():
    forced = Anthropic(model="claude-sonnet-5").asking([], type=DICT).json
    assert forced["tool_choice"] == {"type": "tool", "name": "give_structured_data"}
    assert Anthropic(model="claude-sonnet-5").asking([], [F], type=DICT).json["tool_choice"] == {
        "type": "any"
    }
    for wire in (
        Anthropic(model="claude-opus-5-5"),
        Anthropic(model="claude-sonnet-5", params={"reasoning_effort": "high"}),
        DeepSeek(model="deepseek-v4-flash"),
        Cerebras(model="gpt-oss-120b"),
    ):
        body = fitted(wire).asking([], type=DICT, mode="tool").json
        assert "tool_choice" not in body
        assert "give_structured_data" in json.dumps(body["messages"][-1])


def test_definitions_are_at_the_root():
    for type in (list[Node], Node | int, dict[str, Node]):
        chat = chat_openai_completions(model="gpt-4.1", api_key="k", echo="none")
        asked = chat.wire.asking([], type=type_object(it=type)).json["response_format"]["json_schema"][
            "schema"
        ]
        assert set(asked["$defs"]) == {"Node"}
        assert "$defs" not in json.dumps(asked["properties"]).replace("#/$defs/", "")


def test_two_definitions_of_one_name_stay_apart():
    one, two = (
        type_from_schema(json.dumps({"$ref": "#/$defs/A", "$defs": {"A": {"type": kind}}}))
        for kind in ("integer", "string")
    )
    body = OpenAI(model="m").asking([], type=type_object(one=one, same=one, two=two)).json
    schema = body["text"]["format"]["schema"]
    assert schema["properties"]["one"] == schema["properties"]["same"] == {"$ref": "#/$defs/A"}
    assert schema["properties"]["two"] == {"$ref": "#/$defs/A_2"}
    assert schema["$defs"] == {"A": {"type": "integer"}, "A_2": {"type": "string"}}


def test_a_reference_that_leads_nowhere_is_an_error_beforehand(make):
    for reference in ("#/$defs/B", "https://example.com/schema"):
        schema = type_from_schema(json.dumps({"type": "object", "properties": {"a": {"$ref": reference}}}))
        with pytest.raises(UsageError, match="refers to"):
            make().chat_structured("Which?", type=schema)


def test_unions_and_recursion_are_strict():
    for type in (Node, list[Node], int | str, type_object(it=Node | Book)):
        form = OpenAI(model="m").asking([], type=type_object(it=type)).json["text"]["format"]
        assert form["strict"] is True


# Reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Here it is: {GOOD}. Shall I go on?",
        f"<think>A book, {{}}.</think>{GOOD}",
    ],
)
def test_data_are_found_in_what_is_said(server, reply, make, text):
    server.answers(reply([answer(text)]))
    assert make().chat_structured("Which?", type=Book, max_retries=0) == Book("It", 1138)


def test_a_missing_wrapper_is_no_problem(server, reply, make):
    server.answers(reply([answer("[1, 2]")]))
    assert make().chat_structured("Which?", type=list[int]) == [1, 2]


def test_a_schema_of_the_callers_is_checked_strictly(server, reply, make):
    schema = type_from_schema('{"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}}')
    server.answers(*[reply([answer('{"n": 1}')])] * 2, reply([answer('{"n": 2}')]))
    with pytest.raises(ConversionError, match=r"`value.n` must be at least 2, not 1"):
        make().chat_structured("Which?", type=schema)
    assert make().chat_structured("Which?", type=schema) == {"n": 2}


def test_what_is_no_schema_is_an_error_beforehand(make):
    with pytest.raises(UsageError, match="not a type"):
        make().chat_structured(
            "Which?", type=type_from_schema('{"type": "object", "properties": {"n": {"type": "int"}}}')
        )


# Asked again --------------------------------------------------------------------------------------------------


def test_an_answer_that_does_not_fit_is_asked_for_again(server, reply, make):
    chat = make()
    server.answers(reply([answer('{"title": "It"}')]), reply([answer("Sorry.")]), reply([answer(GOOD)]))
    assert chat.chat_structured("Which?", type=Book, max_retries=2) == Book("It", 1138)
    first, second = (asked.json["messages"][-1]["content"] for asked in server.asked[1:])
    assert "`value.pages` is missing" in first
    assert "not JSON" in second
    assert [turn.role for turn in chat.get_turns()] == ["user", "assistant"] * 3


def test_it_is_asked_for_once_more_and_async_too(server, reply, make):
    server.answers(*[reply([answer("{}")]), reply([answer(GOOD)])] * 2, *[reply([answer("{}")])] * 2)
    assert make().chat_structured("Which?", type=Book) == Book("It", 1138)
    assert asyncio.run(make().chat_structured_async("Which?", type=Book)) == Book("It", 1138)
    with pytest.raises(ConversionError, match="title"):
        make().chat_structured("Which?", type=Book)
    assert len(server.asked) == 6
    with pytest.raises(UsageError, match="max_retries"):
        make().chat_structured("Which?", type=Book, max_retries=-1)


# By a call ----------------------------------------------------------------------------------------------------


def data_by_call(arguments):
    made = {
        "id": "c",
        "type": "function",
        "function": {"name": "give_structured_data", "arguments": arguments},
    }
    return answer(None, "tool_calls", tool_calls=[made])


def test_data_that_come_by_a_call(server, reply, make):
    chat = make()
    chat.register_tool(f)
    server.answers(reply([calls("a")]), reply([data_by_call('{"title": "It"}')]), reply([data_by_call(GOOD)]))
    assert chat.chat_structured("Which?", type=Book, mode="tool") == Book("It", 1138)
    assert [tool["function"]["name"] for tool in server.asked[0].json["tools"]] == [
        "f",
        "give_structured_data",
    ]
    assert server.asked[2].json["messages"][-2] == {"role": "assistant", "content": '{"title": "It"}'}
    assert chat.last_turn("assistant").finish_reason == "success"


def test_data_that_are_asked_for_in_the_prompt(server, reply, make):
    chat = make()
    server.answers(reply([answer(f"Well: {GOOD}")]))
    assert chat.chat_structured("Which?", type=Book, mode="prompt") == Book("It", 1138)
    assert "JSON Schema" in server.asked[0].json["messages"][-1]["content"]
    assert (
        len(chat.get_turns()) == 2
    )  # what was said to the model about the form is no part of the conversation


def test_claude_gives_a_dictionary(server, reply):
    content = [{"type": "tool_use", "id": "t", "name": "give_structured_data", "input": {"a": 1}}]
    body = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    server.answers(reply([json.dumps(body).encode()]))
    chat = chat_anthropic(base_url=server.url, api_key="k", model="claude-sonnet-5", echo="none")
    assert chat.chat_structured("How many?", type=dict[str, int]) == {"a": 1}
    assert chat.last_turn("assistant").text == '{"a":1}'


@pytest.mark.parametrize("model", ["gpt-audio", "gpt-audio-mini", "gpt-4o-audio-preview"])
def test_a_model_that_hears_is_not_asked_for_a_schema_of_its_api(model):
    assert profile_of(replace(chat_openai_completions(model=model, api_key="k").wire)).structured == "words"
