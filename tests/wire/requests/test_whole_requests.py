"""The whole request in the four wire formats: tools, parameters, the caller's additions."""

import json
import warnings

import pytest
from wires.four_wires import ONE, PNG, TWO, every_wire, result

from ellmer_core.contents.content import ToolDef
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeBasic, TypeEnum
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.interfaces import NEUTRAL, params
from ellmer_core.wire.mistral.to_wire import MistralChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

TURNS = [SystemTurn("Be brief."), UserTurn("hi")]
ADD = ToolDef(
    lambda a, b=None: a,
    "add",
    "Adds.",
    TypeObject(
        properties={
            "a": TypeBasic("A number", type="integer"),
            "b": TypeEnum(required=False, values=("x", "y")),
        }
    ),
)
NOW = ToolDef(lambda: 0, "now", "The time.", TypeObject())


def test_a_chat_request():
    wire = OpenAIChat(model="m", base_url="https://x/v1/", credentials=lambda: "k", params={"max_tokens": 9})
    request = wire.request(TURNS, [ADD, NOW], stream=True)
    assert (request.url, request.headers) == ("https://x/v1/chat/completions", {"authorization": "Bearer k"})
    assert request.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "add",
                    "description": "Adds.",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "a": {"type": "integer", "description": "A number"},
                            "b": {"type": ["string", "null"], "enum": ["x", "y", None]},
                        },
                        "required": ["a", "b"],
                        "additionalProperties": False,
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "now",
                    "description": "The time.",
                    "strict": True,
                    "parameters": {
                        "type": "object",
                        "properties": {},
                        "required": [],
                        "additionalProperties": False,
                    },
                },
            },
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 9,
    }


def test_a_responses_request():
    request = OpenAIResponses(model="gpt-5-mini", params={"reasoning_effort": "low"}).request(TURNS, [NOW])
    assert request.url == "https://api.openai.com/v1/responses"
    assert request.headers == {}
    assert request.json == {
        "model": "gpt-5-mini",
        "input": [
            {"role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        ],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "now",
                "description": "The time.",
                "parameters": {
                    "type": "object",
                    "properties": {},
                    "required": [],
                    "additionalProperties": False,
                },
                "strict": True,
            }
        ],
        "reasoning": {"effort": "low"},
    }


@pytest.mark.parametrize(
    "model", ["o3", "gpt-5", "gpt-5.4-nano", "openai/gpt-5", "gpt-5.3-codex", "gpt-6", "gpt-oss-20b"]
)
def test_reasoning_models_give_their_reasoning_encrypted(model):
    assert OpenAIResponses(model=model).reasons()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-nano", "gpt-5-chat-latest", "gpt-5.2-chat"])
def test_others_have_none(model):
    assert not OpenAIResponses(model=model).reasons()


def test_an_anthropic_request():
    wire = AnthropicMessages(
        model="m", credentials=lambda: "k", params={"reasoning_tokens": 2000, "top_k": 3}
    )
    request = wire.request(TURNS, [ADD], stream=True)
    assert request.url == "https://api.anthropic.com/v1/messages"
    assert request.headers == {"x-api-key": "k", "anthropic-version": "2026-10-21"}
    assert request.json == {
        "model": "m",
        "max_tokens": 6096,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "tools": [
            {
                "name": "add",
                "description": "Adds.",
                "input_schema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "integer", "description": "A number"},
                        "b": {"type": "string", "enum": ["x", "y"]},
                    },
                    "required": ["a"],
                    "additionalProperties": False,
                },
            }
        ],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "stream": True,
        "top_k": 3,
    }
    effort = AnthropicMessages(model="m", params={"reasoning_effort": "low"}).request(TURNS).json
    assert (effort["thinking"], effort["output_config"]) == ({"type": "adaptive"}, {"effort": "low"})


def test_a_gemini_request():
    wire = Gemini(model="g", credentials=lambda: "k", params={"max_tokens": 9, "reasoning_effort": "low"})
    request = wire.request(TURNS, [ADD, NOW], stream=True)
    assert (
        request.url
        == "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse"
    )
    assert request.headers == {"x-goog-api-key": "k"}
    [tools] = request.json.pop("tools")
    add, now = tools["functionDeclarations"]
    assert add["parametersJsonSchema"]["required"] == ["a"]
    assert now == {"name": "now", "description": "The time."}
    assert request.json == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {
            "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"},
            "maxOutputTokens": 9,
        },
    }


@every_wire
def test_what_the_caller_adds_wins(wire):
    wire = type(wire)(
        model="m",
        params={"temperature": 0.1},
        api_args={"temperature": None, "metadata": {"a": 1}, "model": "other"},
        api_headers={"authorization": "mine", "x": "y"},
        credentials=lambda: "the-key",
    )
    request = wire.request([UserTurn("hi")])
    assert request.json["metadata"] == {"a": 1}
    assert request.json["model"] == "other"
    assert "temperature" not in request.json
    assert (request.headers["authorization"], request.headers["x"]) == ("mine", "y")
    assert "tools" not in request.json
    assert "the-key" not in repr(wire) + repr(request)


@every_wire
def test_a_neutral_parameter_it_does_not_have_is_named(wire):
    missing = sorted(NEUTRAL - wire.param_names.keys())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body = type(wire)(model="m", params=dict.fromkeys(missing, 1)).request([UserTurn("hi")]).json
    names = ", ".join(map(repr, missing))
    named = (
        f"{wire.name} has no parameter {names}, so it is not sent"
        if len(missing) == 1
        else f"{wire.name} has no parameters {names}, so they are not sent"
    )
    assert [str(warning.message) for warning in caught] == ([named] if missing else [])
    assert not set(missing) & set(body)


@every_wire
def test_a_parameter_of_the_provider_s_own_goes_in_as_it_is(wire):
    own = {"service_tier": "flex", "deep": {"a": [1]}}
    body = type(wire)(model="m", params=params(temperature=0.5, **own)).request([UserTurn("hi")]).json
    assert {name: body[name] for name in own} == own


@pytest.mark.parametrize(
    ("wire", "choice", "place"),
    [
        (OpenAIChat, "required", ["tool_choice"]),
        (OpenAIResponses, {"type": "function", "name": "f"}, ["tool_choice"]),
        (AnthropicMessages, {"type": "any", "disable_parallel_tool_use": True}, ["tool_choice"]),
        (Gemini, {"mode": "ANY", "allowedFunctionNames": ["f"]}, ["toolConfig", "functionCallingConfig"]),
        (Bedrock, {"any": {}}, ["toolConfig", "toolChoice"]),
        (MistralChat, "any", ["tool_choice"]),
        (CohereChat, "REQUIRED", ["tool_choice"]),
    ],
)
def test_the_provider_s_own_tool_choice_goes_where_it_belongs(wire, choice, place):
    sent = wire(model="m", params=params(tool_choice=choice)).request([UserTurn("hi")], [ADD]).json
    assert json.dumps(wire(model="m").tool(ADD)) in json.dumps(sent)
    for name in place:
        sent = sent[name]
    assert sent == choice


@every_wire
def test_building_a_request_changes_nothing_it_was_given(wire):
    turns = [*TURNS, AssistantTurn([ONE, TWO]), UserTurn([result([PNG, "x"]), result({"a": [1]}, TWO)])]
    before = repr(turns)
    assert wire.messages(turns) == wire.messages(turns)
    assert repr(turns) == before
