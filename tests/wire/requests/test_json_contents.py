"""JSON in a turn (`ContentJson`) is sent as its text, in each wire format and in each role."""

import json

import pytest

import ellmer_core
from ellmer_core import AssistantTurn, ContentJson, UserTurn

VALUE = {"a": [1, None, True], "é": {"nested": "…"}}
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


@pytest.fixture
def texts(monkeypatch):
    """`texts(model, turns)` returns all texts of a request."""
    for name in ("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "eu-west-1")

    def of(model, turns):
        key = {} if model.startswith(("aws", "ollama")) else {"api_key": "k"}
        base = {"base_url": "http://127.0.0.1:9"} if model.startswith("openai_compatible") else {}
        return list(strings(ellmer_core.chat(model, echo="none", **base, **key).wire.request(turns).json))

    return of


def strings(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_json_is_sent_as_its_text(texts, model, role):
    content = ContentJson(VALUE)
    said = [UserTurn("Hi"), AssistantTurn([content]), UserTurn("Go on")]
    turns = said if role == "assistant" else [UserTurn([content])]
    assert [text for text in texts(model, turns) if parsed(text) == VALUE]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_letters_of_other_alphabets_stay_readable(texts, model):
    assert any("é" in text for text in texts(model, [UserTurn([ContentJson(VALUE)])]))
