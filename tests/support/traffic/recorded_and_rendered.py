"""The events and replies of each wire format: the recorded ones of the providers, and those of the server."""

import json
from base64 import b64decode
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from botocore.eventstream import EventStreamBuffer
from traffic.recorded import FOLDERS, absent, interactions

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Think, Usage
from ellmer_conformance.server.chat_api_lookup import chat_api_of
from ellmer_conformance.server.chat_apis.base import Ticket
from ellmer_conformance.server.replies import render


class Format(NamedTuple):
    """A wire format at a provider, and its recordings."""

    wire: str
    provider: str
    family: str

    @property
    def protocol(self) -> str:
        return PROTOCOLS.get(self.wire, self.wire)


PROTOCOLS = {  # what the recordings call it, where that is something else
    "anthropic": "anthropic-messages",
    "bedrock": "bedrock-converse",
    "cohere": "cohere-v2",
    "mistral": "openai-chat",
}

FORMATS = {
    "openai-chat": Format("openai-chat", "openai", "openai-chat"),
    "deepseek": Format("openai-chat", "deepseek", "deepseek"),
    "groq": Format("openai-chat", "groq", "groq"),
    "xai": Format("openai-chat", "xai", "xai"),
    "openrouter": Format("openai-chat", "openrouter", "openrouter"),
    "azure": Format("openai-chat", "azure", "azure"),
    "openai-responses": Format("openai-responses", "openai", "openai-responses"),
    "anthropic": Format("anthropic", "anthropic", "anthropic-messages"),
    "gemini": Format("gemini", "google", "gemini"),
    "vertex": Format("gemini", "vertex", "gemini"),
    "bedrock": Format("bedrock", "bedrock", "bedrock-converse"),
    "ollama": Format("ollama", "ollama", "ollama"),
    "mistral": Format("mistral", "mistral", "mistral"),
    "cohere": Format("cohere", "cohere", "cohere"),
}

of_all_traffic = [
    absent,
    pytest.mark.skipif(
        len(FOLDERS) == 1, reason="The grammar is that of all recorded traffic, not of one folder."
    ),
]


THOUGHT = Think("They want the weather. I have a tool for it.")
SPOKEN = Say("Let me look that up for you, one moment.")
PARIS = Call("get_weather", {"city": "Paris", "days": 3})
NAMELESS = Call("now")
ANSWERS = {
    "text": Answer((SPOKEN,)),
    "nothing": Answer(()),
    "length": Answer((SPOKEN,), stop="length"),
    "call": Answer((PARIS,)),
    "calls": Answer((PARIS, Call("get_weather", {"city": "Oslo"}))),
    "text and call": Answer((SPOKEN, PARIS)),
    "call without arguments": Answer((NAMELESS,)),
    "thought and text": Answer((THOUGHT, SPOKEN), usage=Usage(12, 30, 4, 20)),
    "thought and call": Answer((THOUGHT, PARIS), usage=Usage(12, 30, 0, 20)),
}
REQUESTS = {
    "openai-chat": [
        ("gpt-4o", "/v1/chat/completions", {"stream_options": {"include_usage": True}}),
        ("gpt-5.4", "/v1/chat/completions", {}),
    ],
    "deepseek": [
        ("deepseek-v4-flash", "/chat/completions", {"stream_options": {"include_usage": True}}),
        ("deepseek-v4-flash", "/chat/completions", {}),
    ],
    "groq": [
        ("openai/gpt-oss-120b", "/openai/v1/chat/completions", {"stream_options": {"include_usage": True}})
    ],
    "xai": [("grok-4.3", "/v1/chat/completions", {"stream_options": {"include_usage": True}})],
    "openrouter": [
        ("openai/gpt-5.6-terra", "/api/v1/chat/completions", {"stream_options": {"include_usage": True}})
    ],
    "azure": [("gpt-4o-mini", "/openai/v1/chat/completions", {"stream_options": {"include_usage": True}})],
    "openai-responses": [
        ("gpt-5.4", "/v1/responses", {}),
        (
            "gpt-5",
            "/v1/responses",
            {"reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"]},
        ),
    ],
    "anthropic": [
        ("claude-haiku-4-5", "/v1/messages", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("claude-sonnet-5", "/v1/messages", {}),
    ],
    "gemini": [
        ("gemini-2.5-flash", ":streamGenerateContent?alt=sse", {}),
        ("gemini-3.5-flash", ":streamGenerateContent?alt=sse", {}),
        (
            "gemini-3.5-flash",
            ":streamGenerateContent?alt=sse",
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
        ),
    ],
    "vertex": [
        ("gemini-2.5-flash", ":streamGenerateContent?alt=sse", {}),
        ("gemini-3-flash-preview", ":streamGenerateContent?alt=sse", {}),
    ],
    "bedrock": [
        ("us.amazon.nova-2-lite-v1:0", "/converse-stream", {}),
        (
            "us.anthropic.claude-sonnet-5",
            "/converse-stream",
            {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}},
        ),
        (
            "us.anthropic.claude-sonnet-5",
            "/converse-stream",
            {"additionalModelRequestFields": {"thinking": {"type": "adaptive", "display": "summarized"}}},
        ),
    ],
    "ollama": [("qwen3:4b", "/api/chat", {}), ("llama3.2", "/api/chat", {"think": False})],
    "mistral": [
        ("mistral-small-latest", "/v1/chat/completions", {}),
        ("magistral-medium-latest", "/v1/chat/completions", {}),
    ],
    "cohere": [("command-a-03-2025", "/v2/chat", {}), ("command-a-reasoning-08-2025", "/v2/chat", {})],
}


# what was recorded ----------------------------------------------------------------------------------------


def recorded(name: str, *, own: bool) -> Iterator[dict]:
    """Yields every answered chat request of the format: the provider's own, or any."""
    form = FORMATS[name]
    own = own or form.wire != form.protocol == "openai-chat"  # others' Chat Completions are not Mistral's
    for where, interaction, _ in interactions():
        answered = interaction["response"]["status"] == 200
        mine = not own or (interaction["provider"] == form.provider and where.startswith(f"{form.family}/"))
        if answered and mine and interaction["protocol"] == form.protocol:
            yield interaction


def recorded_values(name: str, *, own: bool, stream: bool) -> Iterator[tuple[str, list]]:
    """Yields the events of each stream, or each whole reply in a list, with its fidelity."""
    for interaction in recorded(name, own=own):
        response, fidelity = interaction["response"], interaction["source"]["fidelity"]
        body = response.get("body")
        sent = (
            b64decode(response["body_base64"])
            if "body_base64" in response
            else response.get("text", "").encode()
        )
        if stream and sent.startswith((b"data:", b"event:", b":", b"{", b"\0")):
            yield fidelity, events(sent)
        elif isinstance(body, list if stream else dict):  # a list: Gemini's stream without alt=sse
            yield fidelity, body if stream else [body]


def events(sent: bytes) -> list:
    """Returns the data of each event: JSON, or the text of a marker. A plain object is an event of Gemini's, or a
    line.
    """
    if sent.startswith(b"\0"):  # the length of a message: AWS event stream
        return list(messages(sent))
    found = []
    for block in sent.decode().replace("\r\n", "\n").split("\n\n"):
        lines = block.splitlines()
        data = [line[5:].strip() for line in lines if line.startswith("data:")]
        if block.startswith("{"):
            data = lines if all(line.startswith("{") for line in lines) else [block]
        found += [each if each == "[DONE]" else json.loads(each) for each in data]
    return found


def messages(sent: bytes) -> Iterator[dict]:
    """Yields each payload under its type, read by botocore, which checks the checksums."""
    buffer = EventStreamBuffer()
    buffer.add_data(sent)
    for message in buffer:
        kind = message.headers.get(":event-type") or message.headers[":exception-type"]
        yield {kind: json.loads(message.payload)}


# what was rendered ----------------------------------------------------------------------------------------


def rendered(name: str, *, stream: bool) -> Iterator[tuple[str, list]]:
    """Yields the events of each stream, or each whole reply in a list, with its features."""
    form = FORMATS[name]
    for model, path, body in REQUESTS[name]:
        request = Request(
            form.wire, form.provider, body, f"http://127.0.0.1{path}", model=model, stream=stream
        )
        api = chat_api_of(Ticket(request, "case", 0))
        steps = ANSWERS | ({"failure": Failure("server-error", after=ANSWERS["text"])} if stream else {})
        for shown, step in steps.items():
            reply = render(api, step).body
            yield f"{model}: {shown}", events(reply) if stream else [json.loads(reply)]
