"""Answers in neutral terms: whole ones, and streams put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .answers import Called, Event, Told
from .exchange import Json
from .readers.json_access import items_of, object_of, text_of

__all__ = ["folded", "read"]


def read(wire: str, value: Any) -> Told:
    """A whole answer."""
    body = object_of(value)
    return _READERS[wire](body)


def folded(wire: str, events: Sequence[Event]) -> Told:
    """A stream: its deltas put together as its format has it."""
    return read(wire, _FOLDERS[wire]([event.data for event in events]))


# whole answers ------------------------------------------------------------------------------------------------


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
    )


def _function(call: Any) -> Called:
    named = object_of(object_of(call).get("function"))
    arguments = named.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Called(text_of(object_of(call).get("id")), text_of(named.get("name")), _object(text), text)


def _object(text: str) -> Json | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _responses(body: Json) -> Told:
    items = [object_of(item) for item in items_of(body.get("output"))]
    spoken = [item for item in items if item.get("type") in {None, "message"}]  # and not what it thought
    parts = [object_of(part) for item in spoken for part in items_of(item.get("content"))]
    texts = [text_of(part.get("text")) or text_of(part.get("refusal")) for part in parts]
    stop = object_of(body.get("incomplete_details")).get("reason") or body.get("status")
    usage = object_of(body.get("usage"))
    calls = [
        Called(text_of(i.get("call_id")), text_of(i.get("name")), _object(text_of(i.get("arguments"))))
        for i in items
        if i.get("type") == "function_call"
    ]
    counts = (usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    return Told("".join(texts), calls, stop, *counts)


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
    usage, made = (
        object_of(body.get("usageMetadata")),
        [object_of(part.get("functionCall")) for part in parts],
    )
    calls = [
        Called(text_of(c.get("id")), text_of(c.get("name")), object_of(c.get("args"))) for c in made if c
    ]
    text = "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))
    counts = (usage.get(name) for name in ("promptTokenCount", "candidatesTokenCount", "totalTokenCount"))
    blocked = "SAFETY" if object_of(body.get("promptFeedback")).get("blockReason") else None
    return Told(text, calls, candidate.get("finishReason") or blocked, *counts)


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
    return Told(text, calls, body.get("stopReason"), *counts)


def _bedrock_text(block: Json) -> str:
    cited = items_of(object_of(block.get("citationsContent")).get("content"))
    return text_of(block.get("text")) + "".join(text_of(object_of(part).get("text")) for part in cited)


def _ollama(body: Json) -> Told:
    message = object_of(body.get("message"))
    calls = [_function(call) for call in items_of(message.get("tool_calls"))]
    counts = (body.get("prompt_eval_count"), body.get("eval_count"))
    return Told(text_of(message.get("content")), calls, body.get("done_reason"), *counts)


def _cohere(body: Json) -> Told:
    message, tokens = object_of(body.get("message")), object_of(object_of(body.get("usage")).get("tokens"))
    parts = [object_of(part) for part in items_of(message.get("content"))]
    text = "".join(text_of(part.get("text")) for part in parts)
    calls = [_function(call) for call in items_of(message.get("tool_calls"))]
    thinking = text_of(message.get("tool_plan")) + "".join(text_of(part.get("thinking")) for part in parts)
    counts = (tokens.get("input_tokens"), tokens.get("output_tokens"))
    return Told(text, calls, body.get("finish_reason"), *counts, thinking=thinking)


# streams, as whole answers ------------------------------------------------------------------------------------


def _chat_stream(chunks: Iterable[Json]) -> Json:
    text, calls, stop, usage = "", dict[int, Json](), None, None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in (object_of(each) for each in items_of(chunk.get("choices"))):
            delta, stop = object_of(choice.get("delta")), choice.get("finish_reason") or stop
            content = delta.get("content")
            text += text_of(content) or "".join(text_of(object_of(p).get("text")) for p in items_of(content))
            text += text_of(delta.get("refusal"))
            old = object_of(delta.get("function_call"))
            for part in [
                *_objects(delta.get("tool_calls")),
                *([{"index": 0, "function": old}] if old else []),
            ]:
                _add(
                    calls.setdefault(
                        part.get("index", len(calls)), {"function": {"name": "", "arguments": ""}}
                    ),
                    part,
                )
    message = {"content": text, "tool_calls": [calls[index] for index in sorted(calls)]}
    return {"choices": [{"message": message, "finish_reason": stop}], "usage": usage}


def _objects(value: Any) -> list[Json]:
    return [object_of(each) for each in items_of(value)]


def _add(call: Json, part: Json) -> None:
    """A delta of a call, added to what is there."""
    call["id"] = part.get("id") or call.get("id")
    function = object_of(part.get("function"))
    call["function"]["name"] += text_of(function.get("name"))
    arguments = function.get("arguments")
    call["function"]["arguments"] += (
        arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
    )


def _responses_stream(chunks: Iterable[Json]) -> Json:
    last, items = dict[str, Any](), list[Any]()
    for chunk in chunks:
        if chunk.get("type") == "response.output_item.done":
            items.append(chunk.get("item"))
        if chunk.get("type") in {"response.completed", "response.incomplete", "response.failed"}:
            last = object_of(chunk.get("response"))
    return {**last, "output": last.get("output") or items}  # some leave the last event without


def _anthropic_stream(chunks: Iterable[Json]) -> Json:
    blocks, stop, usage = dict[int, Json](), None, dict[str, Any]()
    for chunk in chunks:
        index, delta = chunk.get("index", 0), object_of(chunk.get("delta"))
        usage |= object_of(object_of(chunk.get("message")).get("usage")) | object_of(chunk.get("usage"))
        if chunk.get("type") == "content_block_start":
            blocks[index] = dict(object_of(chunk.get("content_block")))
        elif index in blocks and delta:
            blocks[index]["text"] = text_of(blocks[index].get("text")) + text_of(delta.get("text"))
            blocks[index]["json"] = text_of(blocks[index].get("json")) + text_of(delta.get("partial_json"))
            if thought := text_of(delta.get("thinking")):
                blocks[index]["thinking"] = text_of(blocks[index].get("thinking")) + thought
        stop = delta.get("stop_reason") or stop
    content = [
        b | ({"input": _object(b.get("json") or "{}")} if b.get("type") == "tool_use" else {})
        for b in blocks.values()
    ]
    return {"content": content, "stop_reason": stop, "usage": usage}


def _gemini_stream(chunks: Iterable[Json]) -> Json:
    parts, last, usage, blocked = list[Any](), None, dict[str, Any](), dict[str, Any]()
    for chunk in chunks:
        blocked = object_of(chunk.get("promptFeedback")) or blocked
        candidate = object_of(next(iter(items_of(chunk.get("candidates"))), {}))
        parts += items_of(object_of(candidate.get("content")).get("parts"))
        last, usage = candidate.get("finishReason") or last, chunk.get("usageMetadata") or usage
    candidates = [{"content": {"parts": parts}, "finishReason": last}]
    return {"candidates": candidates, "usageMetadata": usage, "promptFeedback": blocked}


def _bedrock_stream(chunks: Iterable[Json]) -> Json:
    blocks, stop, usage = dict[int, Json](), None, dict[str, Any]()
    for chunk in chunks:
        index, delta = chunk.get("contentBlockIndex", 0), object_of(chunk.get("delta"))
        if use := object_of(object_of(chunk.get("start")).get("toolUse")):
            blocks[index] = {"toolUse": dict(use), "json": ""}
        if delta:
            block = blocks.setdefault(index, {"text": ""})
            block["text"] = text_of(block.get("text")) + text_of(delta.get("text"))
            block["json"] = text_of(block.get("json")) + text_of(object_of(delta.get("toolUse")).get("input"))
        stop, usage = chunk.get("stopReason") or stop, chunk.get("usage") or usage
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = _object(block["json"] or "{}")
    return {"output": {"message": {"content": list(blocks.values())}}, "stopReason": stop, "usage": usage}


def _ollama_stream(chunks: Iterable[Json]) -> Json:
    found = list(chunks)
    messages = [object_of(chunk.get("message")) for chunk in found]
    text = "".join(text_of(message.get("content")) for message in messages)
    calls = [call for message in messages for call in items_of(message.get("tool_calls"))]
    return (found[-1] if found else {}) | {"message": {"content": text, "tool_calls": calls}}


def _cohere_stream(chunks: Iterable[Json]) -> Json:
    text, plan, calls, end = "", "", dict[int, Json](), dict[str, Any]()
    for chunk in chunks:
        delta = object_of(chunk.get("delta"))
        message = object_of(delta.get("message"))
        content = object_of(message.get("content"))
        text += text_of(content.get("text"))
        plan += text_of(content.get("thinking")) + text_of(message.get("tool_plan"))
        if part := object_of(message.get("tool_calls")):
            _add(calls.setdefault(chunk.get("index", 0), {"function": {"name": "", "arguments": ""}}), part)
        end = delta if chunk.get("type") == "message-end" else end
    message = {"content": [{"text": text}], "tool_plan": plan, "tool_calls": list(calls.values())}
    return {"message": message, **end}


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
_FOLDERS: Mapping[str, Any] = {
    "openai-chat": _chat_stream,
    "mistral": _chat_stream,
    "openai-responses": _responses_stream,
    "anthropic": _anthropic_stream,
    "gemini": _gemini_stream,
    "bedrock": _bedrock_stream,
    "ollama": _ollama_stream,
    "cohere": _cohere_stream,
}
