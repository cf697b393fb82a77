"""Deferred tools: the provider's search where it has one, else a search of ours, on every wire format."""

import json

import httpx
import pytest
from wires.eight_wires import connected, each_wire

import ellmer_core as ec
from ellmer_conformance.scenarios.script import Answer, Call, Say, Script
from ellmer_conformance.server.strict_server import StrictServer
from ellmer_core.testing import ScriptedModel, tool_call
from ellmer_core.tools.tool_search import MOST, with_search


@ec.tool(defer=True)
def get_weather(city: str) -> str:
    """Looks up the weather in a city."""
    return f"21 °C in {city}"


@ec.tool(defer=True)
def exchange_rates(currency: str) -> str:
    """Looks up what a currency is worth."""
    return f"1.1 for {currency}"


@ec.tool
def now() -> str:
    """Returns the time."""
    return "12:00"


TOOLS = [get_weather, exchange_rates, now]
SCRIPT = Script([
    Answer((Call("search_tools", {"query": "weather in cities"}),)),
    Answer((Call("get_weather", {"city": "Paris"}),)),
    Answer((Say("21 °C."),)),
])  # fmt: skip
NATIVE = {
    "anthropic": (ec.chat_anthropic, "claude-sonnet-4-5", "tool_search_tool_bm25_20251119"),
    "openai-responses": (ec.chat_openai_responses, "gpt-5.4", "tool_search"),
}


@pytest.fixture
def server():
    with StrictServer({"search": SCRIPT}) as running:
        yield running


def made(make, model, url):
    chat = make(model=model, base_url=url, max_tries=1, api_key="any-key")
    chat.register_tools(TOOLS)
    return chat


def test_a_found_tool_can_be_called_and_stays():
    model = ScriptedModel(
        tool_call("search_tools", query="weather in cities"),
        tool_call("get_weather", city="Paris"),
        "21 °C.",
        "Bye.",
    )
    chat = model.chat()
    chat.register_tools(TOOLS)
    assert chat.chat("Weather?") == "21 °C."
    assert [asked.tools for asked in model.asked[:2]] == [
        ["now", "search_tools"],
        ["now", "search_tools", "get_weather"],
    ]
    again = model.chat()
    again.register_tools(TOOLS)
    again.restore(chat.record())
    again.chat("Bye.")
    assert model.asked[-1].tools == ["now", "search_tools", "get_weather"]


@each_wire
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_each_wire_format_without_a_search_gets_ours(wire, streamed, server, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    chat = connected(wire, server, "search")
    chat.register_tools(TOOLS)
    text = "".join(chat.stream("Weather in Paris?")) if streamed else chat.chat("Weather in Paris?")
    assert "21 °C." in text
    results = [
        result.value
        for turn in chat.get_turns()
        for result in turn.contents
        if isinstance(result, ec.ContentToolResult)
    ]
    assert results == [
        [{"name": "get_weather", "description": "Looks up the weather in a city."}],
        "21 °C in Paris",
    ]
    assert [entry.answer.status for entry in server.requests] == [200, 200, 200]


@pytest.mark.parametrize("wire", NATIVE)
def test_the_search_of_a_provider_gets_all_definitions(wire, server):
    make, model, search = NATIVE[wire]
    chat = made(make, model, f"{server.origin}/v1")
    assert "21 °C in Paris" in chat.chat("What is the weather in Paris?")
    sent = server.requests[0].request.body["tools"]
    assert [tool.get("defer_loading", False) for tool in sent] == [True, True, False, False]
    assert [tool.get("name") for tool in sent[:3]] == ["get_weather", "exchange_rates", "now"]
    assert sent[3]["type"] == search
    assert {entry.answer.status for entry in server.requests} == {200}


def test_counted_tokens_are_those_of_the_request():
    sent = []

    def handle(request):
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"input_tokens": 7})

    line = httpx.MockTransport(handle)
    chat = ec.chat_anthropic(
        model="claude-sonnet-4-5",
        api_key="k",
        client=(httpx.Client(transport=line), httpx.AsyncClient(transport=line)),
    )
    chat.register_tools(TOOLS)
    assert chat.token_count("Hi", include="complete") == 7
    assert [tool["name"] for tool in sent[0]["tools"]][-1] == "tool_search_tool_bm25"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("get weather", ["get_weather"]),
        ("exchange rate of a currency", ["exchange_rates"]),
        ("the city", ["get_weather"]),
        ("play music", []),
    ],
)
def test_a_search_finds_by_name_description_and_arguments(query, found):
    search = with_search({tool.name: tool for tool in TOOLS})["search_tools"]
    assert [row["name"] for row in search(query)] == found
    assert "get_weather, exchange_rates" in search.description


def test_a_search_finds_few_and_the_best_first():
    many = [
        ec.tool(lambda: None, "Reads the mail.", name=f"mail_{n}", arguments={}, defer=True) for n in range(9)
    ]
    best = ec.tool(lambda: None, "Sends the mail.", name="send_mail", arguments={}, defer=True)
    search = with_search({tool.name: tool for tool in [*many, best]})["search_tools"]
    found = [row["name"] for row in search("send mail")]
    assert len(found) == MOST
    assert found[0] == "send_mail"


def test_a_tool_of_ones_own_cannot_have_the_name_of_the_search():
    chat = ScriptedModel("Hi.").chat()
    chat.register_tools([get_weather, ec.tool(lambda: 1, "Mine.", name="search_tools", arguments={})])
    with pytest.raises(ec.UsageError, match="cannot have the name 'search_tools'"):
        chat.chat("Hi")


def test_without_deferred_tools_nothing_is_added():
    model = ScriptedModel("Hi.")
    chat = model.chat()
    chat.register_tool(now)
    chat.chat("Hi")
    assert model.asked[0].tools == ["now"]
