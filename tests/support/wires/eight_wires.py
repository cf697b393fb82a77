"""A chat of each wire format, connected to a script of the strict server."""

import pytest

import ellmer_core as ec

WIRES = {
    "openai-chat": (ec.chat_openai_completions, "gpt-4.1", "/v1"),
    "openai-responses": (ec.chat_openai_responses, "gpt-4.1", "/v1"),
    "anthropic": (ec.chat_anthropic, "claude-opus-4-1", "/v1"),
    "gemini": (ec.chat_google_gemini, "gemini-3-flash-preview", "/v1beta"),
    "bedrock": (ec.chat_aws_bedrock, "us.amazon.nova-pro-v1:0", ""),
    "ollama": (ec.chat_ollama, "qwen3", ""),
    "mistral": (ec.chat_mistral, "mistral-large-latest", "/v1"),
    "cohere": (ec.chat_cohere, "command-a-03-2025", "/v2"),
}
each_wire = pytest.mark.parametrize("wire", WIRES)


def connected(wire, server, script, **options):
    make, model, path = WIRES[wire]
    key = {} if make is ec.chat_ollama else {"api_key": "any-key"}
    url = f"{server.url(script, wire.replace('-', ''))}{path}"
    return make(model=model, base_url=url, max_tries=1, **key, **options)
