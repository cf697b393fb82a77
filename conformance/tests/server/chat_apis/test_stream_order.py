"""The server writes streams in the recorded order of the providers.

The grammar of each wire format comes from the recorded streams: the events that may follow each event. Only
unrecorded parts are listed here.
"""

from itertools import pairwise

import pytest
from traffic.recorded_and_rendered import FORMATS, of_all_traffic, recorded_values, rendered

pytestmark = of_all_traffic


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
            "messageStart",
            "contentBlockDelta reasoningContent signature",
        ): "as at Anthropic: a hidden thought is its signature (anthropics/claude-agent-sdk-typescript#337)",
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
