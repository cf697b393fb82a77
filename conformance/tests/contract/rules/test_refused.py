"""Refusals that were measured or reported, word for word: the first objection of the book has the API's text.

The table of Chat Completions was measured by others on gpt-5.6-terra, 2026-08.
"""

import json

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.error_texts.error_bodies import read_error
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules.openai_chat import _refusals_and_examples as oc
from ellmer_conformance.contract.rules.openai_responses import _refusals_and_examples as rs
from ellmer_conformance.recordings.refusal_causes import SHAPE, cause_of

TERRA = {"model": "gpt-5.6-terra", "messages": [oc.ASK]}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {}}}
NONE = {"reasoning_effort": "none"}


def said(**fields):
    return {"role": "user", "content": "a", **fields}


def invalid(path, wanted, got):
    return f"Invalid type for '{path}': expected {wanted}, but got {got} instead.", path, "invalid_type"


def unsupported(key, more=""):
    return (
        f"Unsupported parameter: '{key}' is not supported with this model.{more}",
        key,
        "unsupported_parameter",
    )


def missing(path):
    return f"Missing required parameter: '{path}'.", path, "missing_required_parameter"


def unknown(key):
    return f"Unknown parameter: '{key}'.", key, "unknown_parameter"


def value(path, given, known):
    return f"Invalid value: '{given}'. Supported values are: {known}.", path, "invalid_value"


def empty(path):
    text = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    return f"Invalid '{path}': {text}", path, "empty_array"


def nameless(path):
    text = "empty string. Expected a string with minimum length 1, but got an empty string instead."
    return f"Invalid '{path}': {text}", path, "empty_string"


def bound(key, kind, wanted, given):
    """`wanted` is as in `>= 1`."""
    low = wanted.startswith(">")
    word, code = ("below minimum", "below_min") if low else ("above maximum", "above_max")
    text = f"Invalid '{key}': {kind} {word} value. Expected a value {wanted}, but got {given} instead."
    return text, key, f"{kind}_{code}_value"


NO_CONTENT = "Invalid value for 'content': expected a string, got null."
ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
MEASURED = [
    ({"messages": [said(), {"role": "developer"}]}, missing("messages[1].content")),
    (
        {"messages": [said(), {"role": "developer", "content": None}]},
        invalid("messages[1].content", "one of a string or array of objects", "null"),
    ),
    (
        {"messages": [said(), {"role": "assistant", "refusal": None}]},
        (NO_CONTENT, "messages.[1].content", None),
    ),
    ({"messages": [said(), {"role": "assistant", "tool_calls": []}]}, empty("messages[1].tool_calls")),
    (
        {"messages": [said(), {"role": "assistant", "content": 7, "tool_calls": []}]},
        invalid("messages[1].content", "one of a string or array of objects", "an integer"),
    ),
    (
        {"messages": [said(), {"role": "assistant", "content": "x", "tool_calls": "x"}]},
        invalid("messages[1].tool_calls", "an array of objects", "a string"),
    ),
    (
        {"messages": [{"role": "user"}, said(content=7)]},
        invalid("messages[1].content", "one of a string or array of objects", "an integer"),
    ),
    ({"messages": [{"role": "user"}, said()]}, (NO_CONTENT, "messages.[0].content", None)),
    ({"messages": [{"role": "user"}, said(role="bogus")]}, value("messages[1].role", "bogus", ROLES)),
    ({"zzz": 1}, unknown("zzz")),
    ({"audio": {"voice": "alloy", "format": "wav"}}, unknown("audio")),
    ({"modalities": ["text", "audio"]}, unknown("modalities")),
    ({"web_search_options": {}}, unknown("web_search_options")),
    ({"reasoning": {"effort": "low"}}, unknown("reasoning")),
    ({"stop": ["ZZ"]}, unsupported("stop")),
    ({"max_tokens": 32}, unsupported("max_tokens", " Use 'max_completion_tokens' instead.")),
    ({"logit_bias": {"1": 1}}, unsupported("logit_bias")),
    ({"prediction": {"type": "content", "content": "pong"}}, unsupported("prediction")),
    ({"frequency_penalty": 0.5}, unsupported("frequency_penalty")),
    ({"logprobs": True}, unsupported("logprobs")),
    ({"n": "2"}, invalid("n", "an integer", "a string")),
    ({"temperature": "hot"}, invalid("temperature", "a decimal", "a string")),
    ({"store": "yes"}, invalid("store", "a boolean", "a string")),
    ({"seed": 1.5}, invalid("seed", "an integer", "a decimal number")),
    ({"user": {"a": 1}}, invalid("user", "a string", "an object")),
    ({"tools": "none"}, invalid("tools", "an array of objects", "a string")),
    ({"response_format": "json"}, invalid("response_format", "an object", "a string")),
    ({"messages": "ping"}, invalid("messages", "an array of objects", "a string")),
    ({"messages": ["ping"]}, invalid("messages[0]", "an object", "a string")),
    ({"n": 0}, bound("n", "integer", ">= 1", 0)),
    ({"n": 64}, bound("n", "integer", "<= 8", 64)),
    (
        {"max_completion_tokens": 0},
        bound("max_completion_tokens", "integer", ">= 1", 0),
    ),
    (
        {**NONE, "top_logprobs": 1},
        ("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs", None),
    ),
    (
        {"response_format": {"type": "bogus"}},
        value("response_format.type", "bogus", "'json_object', 'json_schema', and 'text'"),
    ),
    ({"verbosity": "bogus"}, value("verbosity", "bogus", "'low', 'medium', and 'high'")),
    (
        {**NONE, "tools": [FUNCTION], "tool_choice": "bogus"},
        value("tool_choice", "bogus", "'none', 'auto', and 'required'"),
    ),
    ({"response_format": {}}, missing("response_format.type")),
    ({"response_format": {"type": "json_schema"}}, missing("response_format.json_schema")),
    (
        {"response_format": {"type": "json_schema", "json_schema": {}}},
        missing("response_format.json_schema.name"),
    ),
    ({"tools": [{"type": "function"}]}, missing("tools[0].function")),
    (
        {**NONE, "tools": [FUNCTION], "tool_choice": {"type": "function", "function": {}}},
        missing("tool_choice.function.name"),
    ),
    (
        {**NONE, "tools": [{"type": "function", "function": {"name": "", "parameters": {}}}]},
        nameless("tools[0].function.name"),
    ),
    ({"messages": []}, empty("messages")),
    ({"messages": [{"content": "ping"}]}, missing("messages[0].role")),
    (
        {**NONE, "frequency_penalty": 3},
        bound("frequency_penalty", "decimal", "<= 2", 3),
    ),
    # two things are wrong, and one is said
    ({"zzz": 1, "n": "abc"}, unknown("zzz")),
    ({"zzz": 1, "messages": []}, unknown("zzz")),
    ({"n": "abc", "stop": ["ZZ"]}, invalid("n", "an integer", "a string")),
    ({"n": 0, "stop": ["ZZ"]}, bound("n", "integer", ">= 1", 0)),
    ({"stop": ["ZZ"], "temperature": 0.5}, unsupported("stop")),
    ({"messages": [7], "store": "x"}, invalid("messages[0]", "an object", "an integer")),
]


@pytest.mark.parametrize(("fragment", "answer"), MEASURED, ids=lambda value: json.dumps(value)[:60])
def test_chat_completions_refuse_it_in_these_words(fragment, answer):
    assert refused("openai-chat", "", {**TERRA, **fragment}) == answer


SCHEMA = {"type": "object", "properties": {"tags": {"type": "array"}}}
COMPOSED = (
    "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
)
REPORTED = {
    # https://github.com/BerriAI/litellm/pull/34569
    "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function "
    "tools, use /v1/responses or set reasoning_effort to 'none'.": (
        "openai-chat",
        "",
        oc.body(oc.ASK, model="gpt-5.6", tools=[oc.TOOL]),
    ),
    # https://github.com/vishalmysore/Tools4AI/issues/16
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 325 "
    "instead.": ("openai-chat", "", oc.body(oc.ASK, tools=[oc.TOOL] * 325)),
    # https://github.com/RageAgainstThePixel/OpenAI-DotNet/issues/479
    "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.": (
        "openai-chat",
        "",
        oc.body(oc.ASK, tool_choice="auto"),
    ),
    # https://github.com/ultimatejimmy/xray.koplugin/issues/33
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.": (
        "openai-chat",
        "",
        oc.body(oc.ASK, model="gpt-4o", response_format={"type": "json_object"}),
    ),
    "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.": (
        "openai-chat",
        "",
        oc.body(oc.ASK, oc.call("a"), {"role": "tool", "content": "5"}),
    ),
    # https://github.com/langchain-ai/langchain/issues/29704
    "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.": (
        "openai-chat",
        "",
        oc.body(oc.ASK, model="o3-mini", tools=[oc.TOOL], parallel_tool_calls=False),
    ),
    "Invalid MIME type. Only image types are supported.": (
        "openai-chat",
        "",
        oc.body(
            said(
                content=[{"type": "image_url", "image_url": {"url": "data:application/pdf;base64,JVBERi0="}}]
            )
        ),
    ),
    "Invalid schema for function 'add': In context=('properties', 'tags'), array schema missing items.": (
        "openai-responses",
        "",
        rs.body(rs.ASK, tools=[{"type": "function", "name": "add", "parameters": SCHEMA}]),
    ),
    f"Invalid schema for function 'add': {COMPOSED}": (
        "openai-responses",
        "",
        rs.body(rs.ASK, tools=[{**rs.TOOL, "parameters": {**rs.TOOL["parameters"], "anyOf": []}}]),
    ),
    "Missing required parameter: 'input[1].summary'.": (
        "openai-responses",
        "",
        rs.body(rs.ASK, {"type": "reasoning", "encrypted_content": "gAAA"}, rs.call("a"), rs.output("a")),
    ),
    # https://github.com/microsoft/agent-framework/issues/7483
    "Encrypted content is not supported with this model.": (
        "openai-responses",
        "",
        rs.body(rs.ASK, model="gpt-4.1", include=["reasoning.encrypted_content"]),
    ),
    "Tool choice 'web_search' not found in 'tools' parameter.": (
        "openai-responses",
        "",
        rs.body(rs.ASK, tool_choice={"type": "web_search"}),
    ),
    # https://github.com/anomalyco/opencode/issues/23983
    "Invalid 'input[0].content[0].image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. "
    "'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got empty base64-encoded bytes.": (
        "openai-responses",
        "",
        rs.body(said(content=[{"type": "input_image", "image_url": "data:image/png;base64,"}])),
    ),
    # https://github.com/NousResearch/hermes-agent/issues/11089
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property "
    "'reasoning_content' is unsupported)]": (
        "openai-chat",
        "groq",
        oc.body(oc.ASK, {"role": "assistant", "content": "5", "reasoning_content": "…"}, oc.ASK),
    ),
    "This response_format type is unavailable now": (
        "openai-chat",
        "deepseek",
        oc.body(
            oc.ASK, model="deepseek-v4-flash", response_format={"type": "json_schema", "json_schema": {}}
        ),
    ),
    "Invalid request: the message at position 1 with role 'assistant' must not be empty": (
        "openai-chat",
        "moonshot",
        oc.body(oc.ASK, {"role": "assistant", "content": ""}, oc.ASK, model="kimi-k2.5"),
    ),
    "[] is too short - 'messages'": ("openai-chat", "ollama", oc.body(model="qwen3:4b")),
    "invalid image input": (
        "openai-chat",
        "ollama",
        oc.body(said(content=[{"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}])),
    ),
    "Invalid request content: Each message must have at least one content element.": (
        "openai-chat",
        "xai",
        oc.body({"role": "user", "content": []}, model="grok-4"),
    ),
}


@pytest.mark.parametrize("text", REPORTED, ids=lambda text: text[:60])
def test_a_reported_request_is_refused_in_the_words_reported(text):
    wire, provider, body = REPORTED[text]

    assert refused(wire, provider, body)[0] == text


def refused(wire, provider, body):
    """Returns the sentence, the parameter and the code of the first rule that refuses a request."""
    book = rules.book(wire, provider)
    violation = objection(book.judge(book.request(body)))
    assert violation, "nobody objects"
    status, headers, answer = book.refuse(violation)
    error = read_error(status, answer, headers)
    assert cause_of(error) == SHAPE
    refusal = violation.refusal
    return error.message, refusal.param, refusal.code
