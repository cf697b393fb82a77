"""Whole answers in neutral terms."""

from __future__ import annotations

import json
from typing import Any

from ..observed.exchange import Json
from ..readers.json_access import items_of, object_of, text_of
from .answer import Called, Told


def read(wire: str, value: Any) -> Told:
    """Returns the content of a whole answer."""
    body = object_of(value)
    return _READERS[wire](body)


def _chat(body: Json) -> Told:
    choice = object_of(next(iter(items_of(body.get("choices"))), {}))
    message, usage = object_of(choice.get("message")), object_of(body.get("usage"))
    content = message.get("content")
    if isinstance(content, dict):  # Cloudflare's, of an answer with a schema
        content = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    content = content or message.get("refusal")
    parts = [text_of(object_of(part).get("text")) for part in items_of(content)]
    old = message.get("function_call")
    calls = [*items_of(message.get("tool_calls")), *([{"function": old}] if isinstance(old, dict) else [])]
    return Told(
        text_of(content) or "".join(parts),
        [_function(call) for call in calls],
        choice.get("finish_reason"),
        *(usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")),
        thinking=chat_thinking(message),
    )


def chat_thinking(message: Json) -> str:
    """Returns the thoughts of a message. Mistral has them among the parts of the content, as a list of texts."""
    inside = [part.get("thinking") for part in map(object_of, items_of(message.get("content")))]
    texts = [text_of(t) or "".join(text_of(object_of(p).get("text")) for p in items_of(t)) for t in inside]
    return text_of(message.get("reasoning_content")) or text_of(message.get("reasoning")) or "".join(texts)


def _function(call: Any) -> Called:
    named = object_of(object_of(call).get("function"))
    arguments = named.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Called(text_of(object_of(call).get("id")), text_of(named.get("name")), object_in(text), text)


def object_in(text: str) -> Json | None:
    """Returns the object of a JSON text, or `None` if it is not one."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _responses(body: Json) -> Told:
    items = [object_of(item) for item in items_of(body.get("output"))]
    spoken = [
        item for item in items if text_of(item.get("type")) in {"", "message"}
    ]  # and not what it thought
    messages = tuple(filter(None, map(_spoken, spoken)))
    stop = object_of(body.get("incomplete_details")).get("reason") or body.get("status")
    usage = object_of(body.get("usage"))
    calls = [
        Called(text_of(i.get("call_id")), text_of(i.get("name")), object_in(text_of(i.get("arguments"))))
        for i in items
        if i.get("type") == "function_call"
    ]
    custom = [i for i in items if i.get("type") == "custom_tool_call"]
    calls += [
        Called(text_of(i.get("call_id")), text_of(i.get("name")), {"input": text_of(i.get("input"))})
        for i in custom
    ]
    counts = (usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    thinking = "".join(map(_summary, items))
    return Told("".join(messages), calls, stop, *counts, thinking=thinking, messages=messages)


def _spoken(item: Json) -> str:
    """Returns the text of a message of Responses."""
    parts = [object_of(part) for part in items_of(item.get("content"))]
    return "".join(text_of(part.get("text")) or text_of(part.get("refusal")) for part in parts)


def _summary(item: Json) -> str:
    """Returns the summary of a reasoning item."""
    return "".join(text_of(object_of(part).get("text")) for part in items_of(item.get("summary")))


def _anthropic(body: Json) -> Told:
    blocks = [object_of(block) for block in items_of(body.get("content"))]
    usage = object_of(body.get("usage"))
    calls = [
        Called(
            text_of(b.get("id")),
            text_of(b.get("name")),
            b.get("input") if isinstance(b.get("input"), dict) else None,
        )
        for b in blocks
        if b.get("type") == "tool_use"
    ]
    text = "".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")
    thinking = "".join(text_of(block.get("thinking")) for block in blocks)
    counts = (usage.get("input_tokens"), usage.get("output_tokens"))
    return Told(text, calls, body.get("stop_reason"), *counts, thinking=thinking)


def _gemini(body: Json) -> Told:
    candidate = object_of(next(iter(items_of(body.get("candidates"))), {}))
    parts = [object_of(part) for part in items_of(object_of(candidate.get("content")).get("parts"))]
    usage, functions = (
        object_of(body.get("usageMetadata")),
        [object_of(part.get("functionCall")) for part in parts],
    )
    calls = [
        Called(text_of(c.get("id")), text_of(c.get("name")), object_of(c.get("args"))) for c in functions if c
    ]
    text = "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))
    thinking = "".join(text_of(part.get("text")) for part in parts if part.get("thought"))
    counts = (usage.get(name) for name in ("promptTokenCount", "candidatesTokenCount", "totalTokenCount"))
    blocked = "SAFETY" if object_of(body.get("promptFeedback")).get("blockReason") else None
    return Told(text, calls, candidate.get("finishReason") or blocked, *counts, thinking=thinking)


def _bedrock(body: Json) -> Told:
    message = object_of(object_of(body.get("output")).get("message"))
    blocks, usage = [object_of(b) for b in items_of(message.get("content"))], object_of(body.get("usage"))
    uses = [object_of(block.get("toolUse")) for block in blocks if block.get("toolUse")]
    uses = [use for use in uses if use.get("type") != "server_tool_use"]  # the service runs it
    calls = [
        Called(text_of(u.get("toolUseId")), text_of(u.get("name")), object_of(u.get("input"))) for u in uses
    ]
    counts = (usage.get(name) for name in ("inputTokens", "outputTokens", "totalTokens"))
    text = "".join(map(_bedrock_text, blocks))
    thoughts = [object_of(object_of(b.get("reasoningContent")).get("reasoningText")) for b in blocks]
    thinking = "".join(text_of(thought.get("text")) for thought in thoughts)
    return Told(text, calls, body.get("stopReason"), *counts, thinking=thinking)


def _bedrock_text(block: Json) -> str:
    cited = items_of(object_of(block.get("citationsContent")).get("content"))
    return text_of(block.get("text")) + "".join(text_of(object_of(part).get("text")) for part in cited)


def _ollama(body: Json) -> Told:
    message = object_of(body.get("message"))
    calls = [_function(call) for call in items_of(message.get("tool_calls"))]
    counts = (body.get("prompt_eval_count"), body.get("eval_count"))
    thinking = text_of(message.get("thinking"))
    return Told(text_of(message.get("content")), calls, body.get("done_reason"), *counts, thinking=thinking)


def _cohere(body: Json) -> Told:
    message, tokens = object_of(body.get("message")), object_of(object_of(body.get("usage")).get("tokens"))
    parts = [object_of(part) for part in items_of(message.get("content"))]
    text = "".join(text_of(part.get("text")) for part in parts)
    calls = [_function(call) for call in items_of(message.get("tool_calls"))]
    thinking = text_of(message.get("tool_plan")) + "".join(text_of(part.get("thinking")) for part in parts)
    counts = (tokens.get("input_tokens"), tokens.get("output_tokens"))
    return Told(text, calls, body.get("finish_reason"), *counts, thinking=thinking)


_READERS = {
    "openai-chat": _chat,
    "mistral": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "cohere": _cohere,
}
