"""The options of one turn in each wire format. Users pass them as `params=` if a library has no own option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["turn_params"]

_OBJECT = {"response_format": {"type": "json_object"}}

#: A demanded call, as each format has it.
_REQUIRED: Mapping[str, Any] = {
    "openai-chat": "required",
    "openai-responses": "required",
    "anthropic": {"type": "any"},
    "gemini": {"mode": "ANY"},
    "bedrock": {"any": {}},
    "mistral": "any",
    "cohere": "REQUIRED",
}
#: JSON without a schema, as each format has it.
_JSON: Mapping[str, Mapping[str, Any]] = {
    "openai-chat": _OBJECT,
    "openai-responses": {"text": {"format": {"type": "json_object"}}},
    "gemini": {"generationConfig": {"responseMimeType": "application/json"}},
    "ollama": {"format": "json"},
    "mistral": _OBJECT,
    "cohere": _OBJECT,
}


def turn_params(wire: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a call. The model and the cache are not parameters."""
    found: dict[str, Any] = {}
    if "tool_choice" in options:
        found["tool_choice"] = _REQUIRED[wire]
    if "stop" in options:
        found["stop_sequences"] = options["stop"]
    return found | dict(_JSON[wire] if "json" in options else {})
