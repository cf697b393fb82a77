"""What a request asks for beside the text: log probabilities, several answers, a tier; in JSON and in streams."""

import json

import pytest
from traffic.recorded_and_rendered import events

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.scenarios.script import Answer, Call, Say, Think
from ellmer_conformance.server.chat_api_lookup import chat_api_of
from ellmer_conformance.server.chat_apis.base import Ticket

SAID = Answer((Say("Rain all day."),))
PIECES = ["Rain all", " day."]
CALLED = Answer((Call("get_weather", {"city": "Oslo"}),))
THOUGHT = Answer((Think("It is autumn."), Say("Rain.")))


def api(wire, provider, body, *, stream=False):
    url = "http://127.0.0.1/x?alt=sse"
    model = body.get("model") or "gemini-2.5-flash"
    return chat_api_of(Ticket(Request(wire, provider, body, url, model=model, stream=stream), "case", 0))


def whole(wire, provider, body, answer=SAID):
    return json.loads(api(wire, provider, body).body(answer))


def streamed(wire, provider, body, answer=SAID):
    frames = api(wire, provider, body, stream=True).frames(answer)
    return [each for each in events(b"".join(frame.data for frame in frames)) if isinstance(each, dict)]


def tokens(probabilities):
    return [each["token"] for each in probabilities]


# log probabilities ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["openai", "deepseek", "xai", "openrouter", "cerebras", "together"])
def test_chat_completions_measure_each_token(provider):
    asked = {"model": "gpt-4.1", "logprobs": True, "top_logprobs": 2}
    (choice,) = whole("openai-chat", provider, asked)["choices"]
    assert tokens(choice["logprobs"]["content"]) == PIECES
    assert [len(each["top_logprobs"]) for each in choice["logprobs"]["content"]] == [2, 2]
    chunks = [each for chunk in streamed("openai-chat", provider, asked) for each in chunk["choices"]]
    measured = [each["logprobs"]["content"] for each in chunks if each.get("logprobs")]
    assert [tokens(each) for each in measured] == [[piece] for piece in PIECES]


@pytest.mark.parametrize("provider", ["deepseek", "xai", "openrouter", "cerebras", "together"])
def test_nothing_is_measured_unasked(provider):
    (choice,) = whole("openai-chat", provider, {"model": "gpt-4.1"})["choices"]
    assert choice.get("logprobs") is None
    chunks = [
        each for chunk in streamed("openai-chat", provider, {"model": "m"}) for each in chunk["choices"]
    ]
    assert not any(each.get("logprobs") for each in chunks)


def test_deepseek_measures_the_reasoning_apart():
    asked = {"model": "deepseek-v4-flash", "logprobs": True}
    (choice,) = whole("openai-chat", "deepseek", asked, THOUGHT)["choices"]
    assert {name: tokens(each) for name, each in choice["logprobs"].items()} == {
        "content": ["Rain."],
        "reasoning_content": ["It is", " autumn."],
    }


@pytest.mark.parametrize("provider", ["google", "vertex"])
def test_gemini_measures_each_token(provider):
    asked = {"generationConfig": {"responseLogprobs": True, "logprobs": 2}}
    (candidate,) = whole("gemini", provider, asked)["candidates"]
    found = candidate["logprobsResult"]
    assert tokens(found["chosenCandidates"]) == PIECES
    assert [len(each["candidates"]) for each in found["topCandidates"]] == [2, 2]
    assert candidate["avgLogprobs"] < 0
    chunks = [chunk["candidates"][0] for chunk in streamed("gemini", provider, asked)]
    measured = [chunk["logprobsResult"]["chosenCandidates"] for chunk in chunks if "logprobsResult" in chunk]
    assert [tokens(each) for each in measured] == [[piece] for piece in PIECES]


def test_ollama_measures_each_token():
    asked = {"model": "qwen3:4b", "logprobs": True, "top_logprobs": 2}
    assert tokens(whole("ollama", "ollama", asked)["logprobs"]) == PIECES
    measured = [line["logprobs"] for line in streamed("ollama", "ollama", asked) if "logprobs" in line]
    assert [tokens(each) for each in measured] == [[piece] for piece in PIECES]
    assert "logprobs" not in whole("ollama", "ollama", {"model": "qwen3:4b"})


def test_cohere_measures_each_token():
    asked = {"model": "command-a-03-2025", "logprobs": True}
    assert [each["text"] for each in whole("cohere", "cohere", asked)["logprobs"]] == PIECES
    measured = [
        event["logprobs"]["text"] for event in streamed("cohere", "cohere", asked) if "logprobs" in event
    ]
    assert measured == PIECES
    assert "logprobs" not in whole("cohere", "cohere", {"model": "command-a-03-2025"})


# several answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "provider"),
    [("openai-chat", "openai"), ("openai-chat", "together"), ("openai-chat", "xai"), ("mistral", "mistral")],
)
def test_each_of_several_choices_is_whole(wire, provider):
    asked = {"model": "m", "n": 3}
    assert [choice["index"] for choice in whole(wire, provider, asked)["choices"]] == [0, 1, 2]
    said, ends = ["", "", ""], set()
    for chunk in streamed(wire, provider, asked):
        for choice in chunk["choices"]:
            said[choice["index"]] += choice["delta"].get("content") or ""
            ends |= {choice["index"]} if choice.get("finish_reason") else set()
    assert said == 3 * [SAID.text]
    assert ends == {0, 1, 2}


# tiers, settings, types -----------------------------------------------------------------------------------


def test_the_tier_that_is_asked_for_is_named():
    tier = {"model": "m", "service_tier": "flex"}
    assert whole("openai-chat", "groq", tier)["service_tier"] == "flex"
    assert whole("openai-chat", "groq", {"model": "m"})["service_tier"] == "on_demand"
    assert whole("openai-chat", "openrouter", tier)["service_tier"] == "flex"
    said = whole("gemini", "google", {"serviceTier": "priority"})
    assert said["usageMetadata"]["serviceTier"] == "priority"
    assert whole("gemini", "google", {})["usageMetadata"]["serviceTier"] == "standard"


def test_bedrock_repeats_the_tier_and_the_latency():
    settings = {"serviceTier": {"type": "flex"}, "performanceConfig": {"latency": "optimized"}}
    asked = {"model": "us.amazon.nova-2-lite-v1:0", **settings}
    said = whole("bedrock", "bedrock", asked)
    assert {name: said[name] for name in settings} == settings
    (metadata,) = [each["metadata"] for each in streamed("bedrock", "bedrock", asked) if "metadata" in each]
    assert {name: metadata[name] for name in settings} == settings


@pytest.mark.parametrize(
    ("model", "typed"),
    [("mistral-small-latest", True), ("mistral-large-2512", False), ("ministral-3b-2512", False)],
)
def test_calls_of_mistral_have_a_type_where_they_were_recorded_to(model, typed):
    (choice,) = whole("mistral", "mistral", {"model": model}, CALLED)["choices"]
    assert ("type" in choice["message"]["tool_calls"][0]) is typed
    *_, last = streamed("mistral", "mistral", {"model": model}, CALLED)
    assert ("type" in last["choices"][0]["delta"]["tool_calls"][0]) is typed


# hidden thoughts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thinking", "seen"),
    [
        (None, None),
        ({"type": "adaptive"}, ""),
        ({"type": "adaptive", "display": "omitted"}, ""),
        ({"type": "adaptive", "display": "summarized"}, "It is autumn."),
    ],
)
def test_claude_on_bedrock_hides_its_thoughts_by_default(thinking, seen):
    more = {"additionalModelRequestFields": {"thinking": thinking}} if thinking else {}
    asked = {"model": "us.anthropic.claude-sonnet-5", **more}
    blocks = whole("bedrock", "bedrock", asked, THOUGHT)["output"]["message"]["content"]
    thoughts = [block["reasoningContent"]["reasoningText"] for block in blocks if "reasoningContent" in block]
    assert [each["text"] for each in thoughts] == ([] if seen is None else [seen])
    assert all(each["signature"] for each in thoughts)
    deltas = [
        each["contentBlockDelta"]["delta"].get("reasoningContent", {})
        for each in streamed("bedrock", "bedrock", asked, THOUGHT)
        if "contentBlockDelta" in each
    ]
    assert "".join(delta.get("text", "") for delta in deltas) == (seen or "")
    assert any("signature" in delta for delta in deltas) is bool(thinking)
