"""The server writes streams and replies as the providers were recorded to write them.

The grammar of each wire format is taken from the recorded streams: which event may follow which, which keys
an object has, and in which order. Nothing here was written down by hand, save what no recording shows.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import NamedTuple

import pytest
from botocore.eventstream import EventStreamBuffer
from recorded_traffic import FOLDERS, absent, interactions

from ellmer_conformance.contract.exchange import Request
from ellmer_conformance.scenarios.script import Answer, Call, Failure, Say, Think, Usage
from ellmer_conformance.server.dialect_lookup import dialect_of
from ellmer_conformance.server.dialects.base import Ticket
from ellmer_conformance.server.rendering import render


class Format(NamedTuple):
    """A wire format as a vendor speaks it, and where it was recorded."""

    wire: str
    vendor: str
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

pytestmark = [
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
    """Every answered chat request of the format: the vendor's own, or anybody's."""
    form = FORMATS[name]
    own = own or form.wire != form.protocol == "openai-chat"  # others' Chat Completions are not Mistral's
    for where, interaction, _ in interactions():
        answered = interaction["response"]["status"] == 200
        mine = not own or (interaction["provider"] == form.vendor and where.startswith(f"{form.family}/"))
        if answered and mine and interaction["protocol"] == form.protocol:
            yield interaction


def recorded_values(name: str, *, own: bool, stream: bool) -> Iterator[tuple[str, list]]:
    """The events of each stream, or each whole reply in a list, with its fidelity."""
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
    """The data of each event: JSON, or the text of a marker. A bare object is an event of Gemini's, or a line."""
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
    """Each payload under its type, read by botocore, which checks the sums."""
    buffer = EventStreamBuffer()
    buffer.add_data(sent)
    for message in buffer:
        kind = message.headers.get(":event-type") or message.headers[":exception-type"]
        yield {kind: json.loads(message.payload)}


# what was rendered ----------------------------------------------------------------------------------------


def rendered(name: str, *, stream: bool) -> Iterator[tuple[str, list]]:
    """The events of each stream, or each whole reply in a list, with what it shows."""
    form = FORMATS[name]
    for model, path, body in REQUESTS[name]:
        request = Request(form.wire, form.vendor, body, f"http://127.0.0.1{path}", model=model, stream=stream)
        dialect = dialect_of(Ticket(request, "case", 0))
        steps = ANSWERS | ({"failure": Failure("server-error", after=ANSWERS["text"])} if stream else {})
        for shown, step in steps.items():
            reply = render(dialect, step).body
            yield f"{model}: {shown}", events(reply) if stream else [json.loads(reply)]


# which event follows which --------------------------------------------------------------------------------


def symbol(name: str, event) -> str:
    return {
        "openai-chat": chat_symbol,
        "openai-responses": responses_symbol,
        "anthropic": anthropic_symbol,
        "gemini": gemini_symbol,
        "bedrock": bedrock_symbol,
        "ollama": ollama_symbol,
        "mistral": mistral_symbol,
        "cohere": cohere_symbol,
    }[FORMATS[name].wire](event)


def chat_symbol(event) -> str:
    if event == "[DONE]" or "error" in event:
        return "done" if event == "[DONE]" else "error"
    if not event.get("choices"):
        return "usage"
    choice = event["choices"][0]
    delta = choice["delta"]
    if choice.get("finish_reason"):
        return f"finish {choice['finish_reason']}"
    if calls := delta.get("tool_calls"):
        return ("role+" if "role" in delta else "") + ("call" if "id" in calls[0] else "arguments")
    return "role" if "role" in delta else "text"


def responses_symbol(event) -> str:
    if event == "[DONE]":
        return "done"
    item = event.get("item", {}).get("type", "")
    return f"{event['type']} {item}".strip()


def anthropic_symbol(event) -> str:
    if event == "[DONE]":  # others who speak the format
        return "done"
    inner = event.get("content_block") or event.get("delta") or {}
    return f"{event['type']} {inner.get('type', '')}".strip()


def gemini_symbol(event) -> str:
    if "error" in event:
        return "error"
    candidate = event["candidates"][0]
    parts = candidate.get("content", {}).get("parts", [])
    kinds = {"call" if "functionCall" in p else "thought" if "thought" in p else "text" for p in parts}
    end = f" {candidate['finishReason']}" if "finishReason" in candidate else ""
    return "+".join(sorted(kinds)) + end


def bedrock_symbol(event) -> str:
    ((kind, payload),) = event.items()
    inner = payload.get("start") or payload.get("delta") or {}
    return " ".join([kind, *inner, *inner.get("reasoningContent", ())])


def ollama_symbol(event) -> str:
    if "error" in event:
        return "error"
    if event["done"]:
        return f"done {event['done_reason']}"
    return next((kind for kind in ("thinking", "tool_calls") if event["message"].get(kind)), "text")


def mistral_symbol(event) -> str:
    if event == "[DONE]" or "choices" not in event:
        return "done" if event == "[DONE]" else "error"
    (choice,) = event["choices"]
    delta = choice["delta"]
    kind = "role" if "role" in delta else "calls" if delta.get("tool_calls") else "text"
    if isinstance(delta.get("content"), list):
        kind = "thinking"
    return f"{kind} {choice['finish_reason'] or ''}".strip()


def cohere_symbol(event) -> str:
    if event == "[DONE]":
        return "done"
    if event["type"] == "message-end":
        return f"message-end {event['delta']['finish_reason']}"
    content = event["type"].startswith("content") and "delta" in event
    kind = "thinking" if content and "thinking" in event["delta"]["message"]["content"] else ""
    return f"{event['type']} {kind}".strip()


def steps(name: str, stream: list) -> set[tuple[str, str]]:
    return set(pairwise(["start", *(symbol(name, event) for event in stream), "end"]))


#: Steps that we write and no recording shows, each with what it rests on.
UNRECORDED = {
    "openai-chat": {},
    "openai-responses": {
        ("response.in_progress", "response.completed"): "an answer of nothing has no items",
        (
            "response.output_text.delta",
            "error",
        ): "recorded between items only; an error does not wait for one",
    },
    "anthropic": {
        ("content_block_delta text_delta", "error"): "documented: an error may come after any event",
    },
    "gemini": {
        ("text", "call STOP"): "recorded without text before it",
        ("text", "call"): "recorded without text before it",
        ("text", "error"): "captured by others: a bare object after normal events (vercel/ai#5217)",
        ("error", "end"): "likewise",
    },
    "bedrock": {
        ("messageStart", "messageStop"): "an answer of nothing has no blocks",
        (
            "contentBlockDelta toolUse",
            "contentBlockDelta toolUse",
        ): "documented: input comes in pieces (Claude)",
        ("contentBlockDelta text", "internalServerException"): "documented: ConverseStreamOutput",
        ("internalServerException", "end"): "likewise",
    },
    "ollama": {
        ("start", "done stop"): "an answer of nothing is its last line",
        ("thinking", "text"): "recorded on the way to calls; text takes their place",
        ("start", "tool_calls"): "recorded behind text and thoughts",
        ("text", "error"): "recorded as the only line; the server's source has it after any",
        ("error", "end"): "likewise",
    },
    "mistral": {
        ("role", "text stop"): "an answer of nothing has no text before its end",
        ("text", "calls tool_calls"): "recorded in whole replies",
        ("thinking", "calls tool_calls"): "likewise",
        ("text", "text error"): "documented: the finish reason `error`",
        ("text error", "done"): "as after any other finish reason",
    },
    "cohere": {
        ("message-start", "message-end COMPLETE"): "an answer of nothing has no content",
        ("message-start", "tool-call-start"): "recorded behind a plan, which is not always there",
        ("content-delta", "message-end ERROR"): "documented: ChatMessageEndEventDelta.error",
    },
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_stream_takes_only_steps_that_were_recorded(name):
    known = set()
    for _, stream in recorded_values(name, own=False, stream=True):
        known |= steps(name, stream)
    new = {
        step: shown for shown, stream in rendered(name, stream=True) for step in steps(name, stream) - known
    }
    allowed = UNRECORDED[FORMATS[name].wire]
    assert {step: shown for step, shown in new.items() if step not in allowed} == {}


@pytest.mark.parametrize("wire", UNRECORDED)
def test_no_step_is_excused_without_need(wire):
    names = [name for name, form in FORMATS.items() if form.wire == wire]
    known, taken = set(), set()
    for name in names:
        known |= {
            step
            for _, stream in recorded_values(name, own=False, stream=True)
            for step in steps(name, stream)
        }
        taken |= {step for _, stream in rendered(name, stream=True) for step in steps(name, stream)}
    assert set(UNRECORDED[wire]) == set(UNRECORDED[wire]) & taken - known


# which keys an object has ---------------------------------------------------------------------------------

OPAQUE = {
    "args",
    "arguments",
    "input",
    "tools",
    "schema",
    "metadata",
}  # what a caller or a model may fill with anything


def objects(value, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every object with its path (list indices left out) and its keys in order."""
    if isinstance(value, list):
        for each in value:
            yield from objects(each, path)
    elif isinstance(value, dict):
        kind = value.get("type", "") if isinstance(value.get("type"), str) else ""
        path = f"{path}:{kind}" if kind else path
        yield path, list(value)
        for key, each in value.items():
            if key not in OPAQUE:
                yield from objects(each, f"{path}/{key}")


#: Objects and keys that we write and no recording shows, each with what it rests on.
UNSEEN = {
    "/error": "captured by others: a bare object after normal events (vercel/ai#5217)",
    " error": "the same object's one key",
    "/error:internal_server_error": "documented: the type of Groq's status 500",
    ":error/error:api_error": "recorded as an error body, and with overloaded_error in a stream",
    ":response.failed/response moderation": "recorded in responses of other states",
    ":response.failed/response/output:message": "recorded with a reasoning item",
    ":response.incomplete/response/output:message phase": "recorded in whole messages",
    "/internalServerException": "documented: ConverseStreamOutput",
    " internalServerException": "likewise",
}


def unseen(name: str, *, stream: bool) -> set[str]:
    keys: dict[str, set[str]] = {}
    for _, values in recorded_values(name, own=False, stream=stream):
        for path, found in objects(values):
            keys.setdefault(path, set()).update(found)
    new = set()
    for _, values in rendered(name, stream=stream):
        for path, found in objects(values):
            new |= {f"{path} {key}" for key in set(found) - keys[path]} if path in keys else {path}
    return new


def test_replies_have_only_keys_that_were_recorded():
    new = set().union(*(unseen(name, stream=stream) for name in FORMATS for stream in (False, True)))
    assert new == set(UNSEEN), "an object or a key that no recording has, or one that is recorded meanwhile"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", FORMATS)
def test_the_keys_of_a_reply_are_in_the_recorded_order(name, stream):
    orders: dict[str, set[tuple[str, str]]] = {}
    for fidelity, values in recorded_values(name, own=True, stream=stream):
        if fidelity == "verbatim":  # others were sorted
            for path, found in objects(values):
                orders.setdefault(path, set()).update(combinations(found, 2))
    wrong = {
        (path, a, b)
        for _, values in rendered(name, stream=stream)
        for path, found in objects(values)
        for a, b in combinations(found, 2)
        if (b, a) in orders.get(path, ()) and (a, b) not in orders[path]
    }
    assert wrong == set()


@pytest.mark.parametrize("name", FORMATS)
def test_a_reply_has_every_key_that_all_recorded_ones_have(name):
    whole = [set(value) for _, (value,) in recorded_values(name, own=True, stream=False)]
    for shown, (value,) in rendered(name, stream=False):
        assert set.intersection(*whole) - set(value) == set(), shown
