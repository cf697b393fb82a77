"""Merges the events of a stream into a whole answer in neutral terms, for each format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..observed.exchange import Json
from ..readers.json_access import items_of, object_of, text_of
from .answer import Event, Told, events_of
from .whole_answers import chat_thinking, object_in, read


def folded(wire: str, events: Sequence[Event]) -> Told:
    """Returns the answer of a stream, whose deltas are merged in the way of its format."""
    return read(wire, _FOLDERS[wire]([event.data for event in events]))


def _chat_stream(chunks: Iterable[Json]) -> Json:
    text, calls, stop, usage, thinking = "", dict[int, Json](), None, None, ""
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in (object_of(each) for each in items_of(chunk.get("choices"))):
            delta, stop = object_of(choice.get("delta")), choice.get("finish_reason") or stop
            content = delta.get("content")
            text += text_of(content) or "".join(text_of(object_of(p).get("text")) for p in items_of(content))
            text += text_of(delta.get("refusal"))
            thinking += chat_thinking(delta)
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
    message = {
        "content": text,
        "reasoning": thinking,
        "tool_calls": [calls[index] for index in sorted(calls)],
    }
    return {"choices": [{"message": message, "finish_reason": stop}], "usage": usage}


def _objects(value: Any) -> list[Json]:
    return [object_of(each) for each in items_of(value)]


def _add(call: Json, part: Json) -> None:
    """Adds a delta to a call."""
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
        if text_of(chunk.get("type")) in {"response.completed", "response.incomplete", "response.failed"}:
            last = object_of(chunk.get("response"))
    return {**last, "output": last.get("output") or items}  # some leave the last event without


def anthropic_message(body: bytes) -> Json:
    """Returns the message in a body, which may be a stream. Raises ValueError for broken JSON."""
    if body.lstrip().startswith(b"{"):
        return object_of(json.loads(body))
    return _anthropic_stream(event.data for event in events_of("anthropic", body))


def _anthropic_stream(chunks: Iterable[Json]) -> Json:
    blocks, stop, usage, id = dict[int, Json](), None, dict[str, Any](), None
    for chunk in chunks:
        index, delta = chunk.get("index", 0), object_of(chunk.get("delta"))
        begun = object_of(chunk.get("message"))
        id = begun.get("id") or id
        usage |= object_of(begun.get("usage")) | object_of(chunk.get("usage"))
        if chunk.get("type") == "content_block_start":
            blocks[index] = dict(object_of(chunk.get("content_block")))
        elif index in blocks and delta:
            blocks[index]["text"] = text_of(blocks[index].get("text")) + text_of(delta.get("text"))
            blocks[index]["json"] = text_of(blocks[index].get("json")) + text_of(delta.get("partial_json"))
            if thought := text_of(delta.get("thinking")):
                blocks[index]["thinking"] = text_of(blocks[index].get("thinking")) + thought
            if signature := text_of(delta.get("signature")):
                blocks[index]["signature"] = signature
        stop = delta.get("stop_reason") or stop
    content = [
        b | ({"input": object_in(b.get("json") or "{}")} if b.get("type") == "tool_use" else {})
        for b in blocks.values()
    ]
    return {"id": id, "content": content, "stop_reason": stop, "usage": usage}


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
            if thought := text_of(object_of(delta.get("reasoningContent")).get("text")):
                before = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})
                before["reasoningText"]["text"] += thought
        stop, usage = chunk.get("stopReason") or stop, chunk.get("usage") or usage
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = object_in(block["json"] or "{}")
    return {"output": {"message": {"content": list(blocks.values())}}, "stopReason": stop, "usage": usage}


def _ollama_stream(chunks: Iterable[Json]) -> Json:
    found = list(chunks)
    messages = [object_of(chunk.get("message")) for chunk in found]
    text = "".join(text_of(message.get("content")) for message in messages)
    calls = [call for message in messages for call in items_of(message.get("tool_calls"))]
    thinking = "".join(text_of(message.get("thinking")) for message in messages)
    message = {"content": text, "thinking": thinking, "tool_calls": calls}
    return (found[-1] if found else {}) | {"message": message}


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
