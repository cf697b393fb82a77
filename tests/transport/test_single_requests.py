"""Requests outside the conversation: counting tokens and listing models, with a real local server."""

import asyncio
import json
from datetime import date

import pytest
from traffic.recorded import absent, files

from ellmer_core import UsageError, chat_anthropic, chat_deepseek, chat_google_gemini, chat_openai, tool
from ellmer_core.contents.content import ContentToolRequest
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.conversation import retries
from ellmer_core.errors import AuthenticationError, ResponseError
from ellmer_core.providers._model_lists import listed, lister
from ellmer_core.providers.aws_bedrock import AWSBedrock
from ellmer_core.providers.cohere import Cohere
from ellmer_core.providers.google_vertex import GoogleVertex
from ellmer_core.schemas.type_functions import type_integer

COUNTERS = [
    (chat_openai, {"object": "response.input_tokens", "input_tokens": 7}),
    (chat_anthropic, {"input_tokens": 7}),
    (chat_google_gemini, {"totalTokens": 7}),
]


@tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


def chat_with_history(make, server):
    chat = make(
        "Be brief.", model="m", api_key="k", base_url=server.url, max_tries=1, params={"max_tokens": 50}
    )
    chat.register_tool(add)
    chat.set_turns([UserTurn("Hi"), AssistantTurn([ContentToolRequest("c1", "add", {"a": 1, "b": 2})])])
    return chat


@pytest.mark.parametrize(("make", "answer"), COUNTERS)
def test_tokens_are_counted_by_themselves_or_with_all_that_was_said(server, reply, make, answer):
    server.answers(*[reply([json.dumps(answer).encode()])] * 3)
    chat = chat_with_history(make, server)
    said = chat.get_turns()

    assert chat.token_count("And now?") == 7
    assert chat.token_count("And now?", include="complete", type=type_integer()) == 7
    assert asyncio.run(chat.token_count_async(include="complete")) == 7

    new, complete, _ = (asked.body.decode() for asked in server.asked)
    assert "And now?" in new
    assert "And now?" in complete
    assert not any(word in new for word in ("Be brief.", '"Hi"', "add"))
    assert all(word in complete for word in ("Be brief.", '"Hi"', "add", "before the tool could be invoked"))
    assert "wrapper" in complete
    assert chat.get_turns() == said


def test_counting_asks_where_the_counter_is_and_sends_what_it_takes(server, reply):
    for make, answer in COUNTERS:
        server.answers(reply([json.dumps(answer).encode()]))
        chat_with_history(make, server).token_count("Hi")
    assert [asked.path for asked in server.asked] == [
        "/responses/input_tokens",
        "/messages/count_tokens",
        "/models/m:countTokens",
    ]
    assert server.asked[0].json.keys() == {"model", "input"}
    assert server.asked[1].json.keys() == {"model", "messages"}
    assert server.asked[2].json["generateContentRequest"]["model"] == "models/m"
    vertex = GoogleVertex(model="m", base_url="https://x/projects/p").count_request([UserTurn("Hi")])
    assert vertex.json.keys() == {"contents"}


def test_who_cannot_count_says_so():
    chat = chat_deepseek(api_key="k", model="m")
    with pytest.raises(UsageError, match="DeepSeek cannot count tokens"):
        chat.token_count("Hi")
    with pytest.raises(UsageError, match='"new" or "complete"'):
        chat.token_count("Hi", include="all")


# Models -----------------------------------------------------------------------------------------------------


def test_models_are_listed_newest_first_with_prices(server, reply):
    models = [
        {"id": "gpt-4.1", "created": 1744316542, "object": "model"},
        {"id": "gpt-5", "created": 1754425777, "object": "model"},
        {"id": "of-nobody", "object": "model", "created": 0},
    ]
    server.answers(reply([json.dumps({"object": "list", "data": models}).encode()]))

    rows = lister("openai")(api_key="k", base_url=server.url)

    assert [row["id"] for row in rows] == ["gpt-5", "gpt-4.1", "of-nobody"]
    assert rows[1] == {
        "id": "gpt-4.1",
        "created": date(2025, 4, 10),
        "input": 2.0,
        "output": 8.0,
        "cached": 0.5,
    }
    assert rows[2] == {"id": "of-nobody", "created": None, "input": None, "output": None, "cached": None}
    [asked] = server.asked
    assert (asked.method, asked.path, asked.body) == ("GET", "/models", b"")
    assert asked.headers["authorization"] == "Bearer k"


def test_asking_again_helps_where_it_may(server, reply, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.0)
    server.answers(
        reply(status=503, headers={"retry-after-ms": "1"}), reply([b'{"data": []}']), reply(status=401)
    )
    assert lister("mistral")(api_key="k", base_url=server.url, max_tries=2) == []
    with pytest.raises(AuthenticationError):
        lister("mistral")(api_key="k", base_url=server.url)
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "models"),
    [
        ([{"id": "a/models/b", "created": 86400}], [("a/models/b", date(1970, 1, 2))]),
        ({"models": [{"name": "models/gemini-3-pro"}]}, [("gemini-3-pro", None)]),
        ({"models": [{"name": "qwen3:4b", "modified_at": "2026-01-02T03:04:05.6+02:00"}]}, [("qwen3:4b", date(2026, 1, 2))]),
        ({"publisherModels": [{"name": "publishers/google/models/gemini-3"}]}, [("gemini-3", None)]),
        ({"modelSummaries": [{"modelId": "amazon.nova-lite-v1:0"}]}, [("amazon.nova-lite-v1:0", None)]),
        ({"data": [{"id": "x", "created_at": "soon"}, {"id": "y", "created": 1e99}, {}]}, [("x", None), ("y", None)]),
    ],
)  # fmt: skip
def test_lists_of_any_shape(answer, models):
    assert listed(answer) == models


@pytest.mark.parametrize("answer", [{}, None, "models", {"data": ["gpt"]}, {"error": {}}])
def test_what_is_no_list_of_models(answer):
    with pytest.raises(ResponseError, match="not a list of models"):
        listed(answer)


def test_an_answer_that_is_not_json(server, reply):
    server.answers(reply([b"<html>"]))
    with pytest.raises(ResponseError, match="not JSON"):
        lister("openai")(api_key="k", base_url=server.url)


def test_providers_without_a_list_say_so():
    with pytest.raises(UsageError, match="Cloudflare does not list its models"):
        lister("cloudflare")(api_key="k", base_url="https://example.com")


def test_lists_that_are_elsewhere(monkeypatch):
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    assert AWSBedrock().models_request().url == "https://bedrock.us-east-1.amazonaws.com/foundation-models"
    assert Cohere().models_request().url.startswith("https://api.cohere.com/v1/models?")
    url = "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google"
    listing = GoogleVertex(base_url=url, credentials=lambda: "t").models_request()
    assert listing.url == "https://aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=1000"


@absent
def test_recorded_lists_are_read():
    checked = 0
    for path, interactions in files("*/*op-models*.json"):
        for interaction in interactions:
            response = interaction["response"]
            found = interaction["request"]["url"].split("?")[0].endswith(("/models", "/tags"))
            if found and response["status"] == 200:
                checked += 1
                models = listed(response["body"])
                assert models, path
                assert all(id and "models/" not in id for id, _ in models), path
    assert checked
