"""The token counts of an answer: the input includes what a cache holds, the output includes the reasoning, in each format."""

import pytest

from ellmer_core.contents.turns import Tokens
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.cohere.to_wire import CohereChat
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.ollama.to_wire import OllamaChat
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

COUNTED = {
    "Anthropic adds both caches to the input": (
        AnthropicMessages(model="m"),
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 4,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 5},
        },
        Tokens(input=134, output=7, cached=30, cache_write=4, reasoning=5),
    ),
    "Bedrock adds both caches to the input": (
        Bedrock(model="m"),
        {"inputTokens": 100, "cacheReadInputTokens": 30, "cacheWriteInputTokens": 4, "outputTokens": 7},
        Tokens(input=134, output=7, cached=30, cache_write=4),
    ),
    "Responses": (
        OpenAIResponses(model="m"),
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 4},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 5},
        },
        Tokens(input=100, output=7, cached=30, cache_write=4, reasoning=5),
    ),
    "Gemini adds the prompts of tools, and the thoughts": (
        Gemini(model="m"),
        {
            "promptTokenCount": 100,
            "toolUsePromptTokenCount": 20,
            "candidatesTokenCount": 7,
            "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 30,
        },
        Tokens(input=120, output=12, cached=30, reasoning=5),
    ),
    "Cohere counts what was read, not what is billed": (
        CohereChat(model="m"),
        {
            "tokens": {"input_tokens": 100, "output_tokens": 7},
            "billed_units": {"input_tokens": 2, "output_tokens": 3},
            "cached_tokens": 30,
        },
        Tokens(input=100, output=7, cached=30),
    ),
    "Cohere counts what is billed, if it says nothing else": (
        CohereChat(model="m"),
        {"billed_units": {"input_tokens": 2, "output_tokens": 3}},
        Tokens(input=2, output=3),
    ),
    "Ollama": (OllamaChat(model="m"), {"prompt_eval_count": 100, "eval_count": 7}, Tokens(100, 7)),
    "Ollama leaves out a count of 0": (OllamaChat(model="m"), {"eval_count": 7}, Tokens(0, 7)),
    "Chat Completions": (
        OpenAIChat(model="m"),
        {
            "usage": {
                "prompt_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 4},
                "completion_tokens": 7,
                "completion_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 107,
            }
        },
        Tokens(input=100, output=7, cached=30, cache_write=4, reasoning=5),
    ),
    "xAI counts the reasoning beside the completion": (
        OpenAIChat(model="m"),
        {
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 7,
                "completion_tokens_details": {"reasoning_tokens": 5},
                "total_tokens": 112,
            }
        },
        Tokens(input=100, output=12, reasoning=5),
    ),
    "Groq's place of a stream": (
        OpenAIChat(model="m"),
        {"x_groq": {"usage": {"prompt_tokens": 100, "completion_tokens": 7}}},
        Tokens(100, 7),
    ),
}


@pytest.mark.parametrize(("wire", "usage", "tokens"), COUNTED.values(), ids=COUNTED)
def test_tokens(wire, usage, tokens):
    assert wire.tokens(usage) == tokens


@pytest.mark.parametrize("wire", [wire for wire, _, _ in COUNTED.values()], ids=COUNTED)
def test_what_was_not_counted_is_not_known(wire):
    assert wire.tokens({}) == Tokens()
