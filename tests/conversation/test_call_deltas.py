"""`stream(content="deltas")`: the arguments of tool calls while the model writes them."""

import json

import pytest
from chats.loop import STREAM, Outside, piece, talk, tools_streamed, whole

from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server import StrictServer
from ellmer_core import ContentToolRequest, ToolCallDelta, chat
from ellmer_core.conversation.history import History
from ellmer_core.conversation.loop import replace
from ellmer_core.wire.shared.tool_calls import STRUCTURED

DELTAS = replace(STREAM, deltas=True)

#: A model of each format whose streams have pieces of arguments.
MODELS = [
    "openai_compatible/gpt-4.1",
    "openai/gpt-4.1",
    "anthropic/claude-sonnet-4-5",
    "aws_bedrock/us.amazon.nova-lite-v1:0",
    "mistral/mistral-small-latest",
    "cohere/command-a-03-2025",
]
ARGUMENTS = {"city": "Köln 🌧", "days": [1, 2]}
STEPS = [Answer([Say("One moment. "), Call("weather", ARGUMENTS)]), Answer([Say("It rains.")])]


def weather(city: str, days: list[int]) -> str:
    """Gets the weather."""
    return f"rain in {city} for {days} days"


@pytest.fixture(scope="module")
def server():
    with StrictServer({"talk": Script(STEPS)}) as started:
        yield started


@pytest.mark.parametrize("name", MODELS)
def test_the_pieces_add_up_to_the_arguments_and_come_before_the_call(name, server, monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "k")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    key = {} if "bedrock" in name else {"api_key": "k"}
    url = server.url("talk", name.partition("/")[0]) + ("/v2" if "cohere" in name else "")
    talking = chat(name, base_url=url, **key)
    talking.register_tool(weather)
    shown = list(talking.stream("Well?", content="deltas"))

    deltas = [each for each in shown if isinstance(each, ToolCallDelta)]
    [request] = [each for each in shown if isinstance(each, ContentToolRequest)]
    assert deltas
    assert {(delta.id, delta.name) for delta in deltas} == {(request.id, "weather")}
    assert json.loads("".join(delta.arguments for delta in deltas)) == ARGUMENTS
    assert shown.index(request) > shown.index(deltas[-1])


def test_nobody_gets_them_who_did_not_ask():
    outside = Outside(tools_streamed("a"), whole("Done."))
    talk(History(), outside, settings=STREAM)

    assert not [each for each in outside.shown if isinstance(each, ToolCallDelta)]


def called(id, name, arguments, index=0):
    return piece(tool_calls=[{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}])


@pytest.mark.parametrize(
    ("events", "pieces"),
    [
        ([called("a", "f", "{}"), called(None, None, '{"x": "a"}')], ['{"x": "a"}']),  # a placeholder
        ([called("", "f", '{"x": "a"}')], []),  # its id is made when it is complete
        (
            [called("a", "f", '{"x": "a"}'), called("a", "f", '{"x": "b"}', 1)],
            ['{"x": "a"}'],
        ),  # it gets another
        ([called("a", STRUCTURED, '{"x": 1}')], []),  # data and no tool
        ([called("a", "f", '{"x": "\ud83d'), called(None, None, '\udca9"}')], ['{"x": "', '💩"}']),
    ],
)
def test_only_pieces_that_belong_to_the_call_are_shown(events, pieces):
    outside = Outside([events, [piece(None, "tool_calls"), "[DONE]"]], whole("Done."))
    talk(History(), outside, settings=DELTAS)

    assert [each.arguments for each in outside.shown if isinstance(each, ToolCallDelta)] == pieces
