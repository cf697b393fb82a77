"""One small request in each wire format, to be sent to a strict server."""

import httpx
import pytest

KEYS = {"authorization": "Bearer any-key", "x-api-key": "k", "anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "k"}
HI = [{"role": "user", "content": "Hi"}]
TURN = {"role": "user", "parts": [{"text": "Hi"}]}
BLOCKS = [{"role": "user", "content": [{"text": "Hi"}]}]

#: A request of each wire format, streamed and not: path, body.
ASKED = {
    "openai-chat": ("/v1/chat/completions", {"model": "gpt-4.1", "messages": HI}),
    "openai-responses": ("/v1/responses", {"model": "gpt-4.1", "input": "Hi"}),
    "anthropic": ("/v1/messages", {"model": "claude-sonnet-5", "max_tokens": 99, "messages": HI}),
    "gemini": ("/v1beta/models/gemini-3.5-flash:generateContent", {"contents": [TURN]}),
    "bedrock": ("/model/us.anthropic.claude-sonnet-5/converse", {"messages": BLOCKS}),
    "ollama": ("/api/chat", {"model": "qwen3-vl:4b", "messages": HI}),
    "mistral": ("/c/any/-@mistral/v1/chat/completions", {"model": "mistral-small-latest", "messages": HI}),
    "cohere": ("/v2/chat", {"model": "command-a-03-2025", "messages": HI}),
}
EACH = pytest.mark.parametrize("wire", ASKED)
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def post(server, wire, *, stream=False, headers=(), **more):
    path, body = ASKED[wire]
    if wire == "gemini":
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse") if stream else path
    elif wire == "bedrock":
        path += "-stream" if stream else ""
    else:
        body = body | {"stream": stream}
    keys = GOOGLE if wire == "gemini" else KEYS
    return httpx.post(server.origin + path, json=body | more, headers={**keys, **dict(headers)})
