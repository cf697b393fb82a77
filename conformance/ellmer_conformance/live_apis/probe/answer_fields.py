"""The fields that answers and errors of each wire format have, with their types.

A shape is a type, a tuple of types, a text (that exact text), a list (of such elements), or a mapping (of such
fields; a name that ends in `?` may be missing). Further fields are always allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["ANSWERS", "CHUNKS", "ERRORS", "STOPS", "misfits"]

Shape = Any
_TEXT_OR_NONE = (str, None)
_CALL = {"id": str, "type": "function", "function": {"name": str, "arguments": str}}
_USAGE = {"prompt_tokens": int, "completion_tokens": int, "total_tokens": int}
_CHAT = {
    "id": str,
    "object": "chat.completion",
    "created": int,
    "model": str,
    "choices": [
        {
            "index": int,
            "message": {"role": "assistant", "content?": _TEXT_OR_NONE, "tool_calls?": [_CALL]},
            "finish_reason": str,
        }
    ],
    "usage": _USAGE,
}
_CHUNK = {
    "id": str,
    "object": "chat.completion.chunk",
    "created": int,
    "model": str,
    "choices": [{"index": int, "delta": dict, "finish_reason?": _TEXT_OR_NONE}],
}

#: A whole answer.
ANSWERS: Mapping[str, Shape] = {
    "openai-chat": _CHAT,
    "mistral": _CHAT,
    "openai-responses": {
        "id": str,
        "object": "response",
        "created_at": (int, float),
        "status": str,
        "model": str,
        "error?": (dict, None),
        "output": [{"type": str}],
        "tools": list,
        "parallel_tool_calls": bool,
        "usage": {"input_tokens": int, "output_tokens": int, "total_tokens": int},
    },
    "anthropic": {
        "id": str,
        "type": "message",
        "role": "assistant",
        "model": str,
        "content": [{"type": str}],
        "stop_reason": str,
        "stop_sequence": _TEXT_OR_NONE,
        "usage": {"input_tokens": int, "output_tokens": int},
    },
    "gemini": {
        "candidates": [{"content": {"parts?": [dict], "role": "model"}, "finishReason": str}],
        "usageMetadata": {"promptTokenCount": int, "candidatesTokenCount?": int, "totalTokenCount": int},
        "modelVersion": str,
        "responseId": str,
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [dict]}},
        "stopReason": str,
        "usage": {"inputTokens": int, "outputTokens": int, "totalTokens": int},
        "metrics": {"latencyMs": int},
    },
    "ollama": {
        "model": str,
        "created_at": str,
        "message": {"role": "assistant", "content": str},
        "done": True,
        "done_reason": str,
        "prompt_eval_count?": int,
        "eval_count": int,
    },
    "cohere": {
        "id": str,
        "message": {"role": "assistant"},
        "finish_reason": str,
        "usage": {"tokens": {"input_tokens": (int, float), "output_tokens": (int, float)}},
    },
}

#: An event of a stream, by its name where the format names them; `*` is every one.
CHUNKS: Mapping[str, Mapping[str, Shape]] = {
    "openai-chat": {"*": _CHUNK},
    "mistral": {"*": _CHUNK},
    "openai-responses": {
        "*": {"type": str, "sequence_number": int},
        "response.created": {"response": {"id": str, "object": "response", "status": str}},
        "response.output_text.delta": {
            "item_id": str,
            "output_index": int,
            "content_index": int,
            "delta": str,
        },
        "response.completed": {"response": {"status": "completed", "output": list, "usage": dict}},
    },
    "anthropic": {
        "*": {"type": str},
        "message_start": {"message": {"id": str, "type": "message", "role": "assistant", "usage": dict}},
        "content_block_start": {"index": int, "content_block": {"type": str}},
        "content_block_delta": {"index": int, "delta": {"type": str}},
        "content_block_stop": {"index": int},
        "message_delta": {"delta": {"stop_reason": str}, "usage": {"output_tokens": int}},
    },
    "gemini": {"*": {"candidates?": [dict], "usageMetadata?": dict}},
    "bedrock": {
        "messageStart": {"role": "assistant"},
        "contentBlockDelta": {"contentBlockIndex": int, "delta": dict},
        "messageStop": {"stopReason": str},
        "metadata": {"usage": {"inputTokens": int, "outputTokens": int}},
    },
    "ollama": {"*": {"model": str, "message": {"role": "assistant"}, "done": bool}},
    "cohere": {
        "*": {"type": str},
        "message-end": {"delta": {"finish_reason": str, "usage": dict}},
    },
}

#: The body of an error: one of these.
ERRORS: Mapping[str, tuple[Shape, ...]] = {
    "openai-chat": ({"error": {"message": str, "type": _TEXT_OR_NONE}},),
    "openai-responses": ({"error": {"message": str, "type": _TEXT_OR_NONE}},),
    "anthropic": ({"type": "error", "error": {"type": str, "message": str}},),
    "gemini": ({"error": {"code": int, "message": str, "status": str}},),
    "bedrock": ({"message": str}, {"Message": str}),
    "mistral": ({"message": (str, dict), "type": str}, {"detail": (str, list)}),
    "ollama": ({"error": str},),
    "cohere": ({"message": str},),
}

#: The stop reasons of each format.
STOPS: Mapping[str, frozenset[str]] = {
    "openai-chat": frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"}),
    "mistral": frozenset({"stop", "length", "tool_calls", "model_length", "error"}),
    "openai-responses": frozenset(
        {"completed", "incomplete", "failed", "in_progress", "queued", "cancelled"}
    ),
    "anthropic": frozenset(
        [
            "end_turn",
            "max_tokens",
            "stop_sequence",
            "tool_use",
            "pause_turn",
            "refusal",
            "model_context_window_exceeded",
        ]
    ),
    "gemini": frozenset(
        [
            "STOP",
            "MAX_TOKENS",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "OTHER",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "IMAGE_SAFETY",
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
        ]
    ),
    "bedrock": frozenset(
        [
            "end_turn",
            "tool_use",
            "max_tokens",
            "stop_sequence",
            "guardrail_intervened",
            "content_filtered",
            "malformed_model_output",
            "malformed_tool_use",
            "model_context_window_exceeded",
        ]
    ),
    "ollama": frozenset({"stop", "length", "load", "unload"}),
    "cohere": frozenset({"COMPLETE", "STOP_SEQUENCE", "MAX_TOKENS", "TOOL_CALL", "ERROR", "TIMEOUT"}),
}


def misfits(value: Any, shape: Shape, place: str = "") -> Iterator[tuple[str, str]]:
    """Yields the differences of a value from a shape, as pointers and descriptions."""
    if isinstance(shape, Mapping):
        yield from _fields(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield place, f"{_said(value)} is no list"
            return
        for number, each in enumerate(value):
            yield from misfits(each, shape[0], f"{place}/{number}")
    elif isinstance(shape, str | bool):
        if value != shape:
            yield place, f"{_said(value)} is not {shape!r}"
    elif not _is(value, shape if isinstance(shape, tuple) else (shape,)):
        names = [
            kind.__name__ if kind else "null" for kind in (shape if isinstance(shape, tuple) else (shape,))
        ]
        yield place, f"{_said(value)} is no {' or '.join(names)}"


def _fields(value: Any, shape: Mapping[str, Shape], place: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield place, f"{_said(value)} is no object"
        return
    for named, inner in shape.items():
        name = named.removesuffix("?")
        if name in value and not (named.endswith("?") and value[name] is None):
            yield from misfits(value[name], inner, f"{place}/{name}")
        elif not named.endswith("?"):
            yield f"{place}/{name}", f"{name} is missing"


def _is(value: Any, kinds: tuple[Any, ...]) -> bool:
    if value is None:
        return None in kinds
    found = tuple(kind for kind in kinds if kind)
    return isinstance(value, found) and not (isinstance(value, bool) and bool not in found)


def _said(value: Any) -> str:
    return repr(value)[:60]
