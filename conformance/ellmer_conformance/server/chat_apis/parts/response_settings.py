"""Writes the settings that a Responses object repeats from the request, each with its requested value or its default.

The fields and their defaults are those of recordings since May 2026.
"""

from __future__ import annotations

import re

from ....contract.exchange import Json
from .._openai import object_at

__all__ = ["NO_TOOL_USAGE", "in_recorded_order", "response_settings"]

_ORDER = (
    *("id", "object", "created_at", "status", "background", "billing", "completed_at", "error"),
    *("frequency_penalty", "incomplete_details", "instructions", "max_output_tokens", "max_tool_calls"),
    *("model", "moderation", "output", "parallel_tool_calls", "presence_penalty", "previous_response_id"),
    *(
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
    ),
    *("temperature", "text", "tool_choice", "tool_usage", "tools", "top_logprobs", "top_p", "truncation"),
    *("usage", "user", "metadata"),
)

_REASONS = re.compile(r"(?:openai[./])?(?:gpt-(?:5|[6-9])|o\d|codex)(?!.*chat)")
_UNTHINKING = re.compile(
    r"(?:openai[./])?gpt-5\.[124](?!.*(?:codex|pro))"
)  # they reason where they are asked to
_ALL_TURNS = re.compile(
    r"(?:openai[./])?gpt-(?:5\.[5-9]|[6-9])"
)  # their reasoning sees that of earlier turns
_KEPT_A_DAY = re.compile(r"(?:openai[./])?gpt-(?:5\.[1-9]|[6-9])")  # how long their prompts are cached
_SAME: Json = {
    "background": False,
    "frequency_penalty": 0.0,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
_NO_IMAGES: Json = {"image_tokens": 0, "text_tokens": 0}

#: The usage of the provider's own tools: no images, and no web searches.
NO_TOOL_USAGE: Json = {
    "image_gen": {
        "input_tokens": 0,
        "input_tokens_details": _NO_IMAGES,
        "output_tokens": 0,
        "output_tokens_details": _NO_IMAGES,
        "total_tokens": 0,
    },
    "web_search": {"num_requests": 0},
}


def response_settings(asked: Json, model: str) -> Json:
    """Returns the settings of the request `asked` for `model`, with defaults."""
    said = {name: asked.get(name, default) for name, default in _SAME.items()}
    retention = "24h" if _KEPT_A_DAY.match(model) else "in_memory"
    tier = asked.get("service_tier", "auto")
    return said | {
        "prompt_cache_retention": asked.get("prompt_cache_retention", retention),
        "reasoning": _reasoning(object_at(asked, "reasoning"), model),
        "service_tier": "default" if tier == "auto" else tier,
        "text": _text(object_at(asked, "text")),
        "tools": [_tool(tool) for tool in tools] if isinstance(tools := asked.get("tools"), list) else [],
    }


def in_recorded_order(response: Json) -> Json:
    """Returns a Responses object with its keys in the order of the real ones."""
    return {name: response[name] for name in _ORDER if name in response}


def _reasoning(asked: Json, model: str) -> Json:
    if not _REASONS.match(model):
        return {"context": None, "effort": None, "summary": None} | asked
    context = "all_turns" if _ALL_TURNS.match(model) else "current_turn"
    effort = "none" if _UNTHINKING.match(model) else "medium"
    return {"context": context, "effort": effort, "mode": "standard", "summary": None} | asked


def _text(asked: Json) -> Json:
    text: Json = {"format": {"type": "text"}} | asked | {"verbosity": asked.get("verbosity") or "medium"}
    match text["format"]:
        case {"type": "json_schema", **form}:
            text["format"] = {"description": None, "type": "json_schema", **form}
    return text


def _tool(tool: object) -> object:
    match tool:
        case {"type": "function", **rest}:
            return {"output_schema": None, "type": "function", **rest}
    return tool
