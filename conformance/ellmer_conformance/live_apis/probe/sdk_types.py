"""The official SDKs' own types, if an SDK is installed: they show how its users' code reads an answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["complaint", "package"]

#: By wire format: the module and the type of a whole answer.
_TYPES: Mapping[str, tuple[str, str]] = {
    "openai-chat": ("openai.types.chat", "ChatCompletion"),
    "openai-responses": ("openai.types.responses", "Response"),
    "anthropic": ("anthropic.types", "Message"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
    "mistral": ("mistralai.client.models", "ChatCompletionResponse"),
    "ollama": ("ollama", "ChatResponse"),
}


@cache
def _type(wire: str) -> Any:
    module, name = _TYPES.get(wire, ("", ""))
    try:
        return getattr(import_module(module), name) if module else None
    except (ImportError, AttributeError):
        return None


def package(wire: str) -> str:
    """Returns the SDK's package name, or `""` if none is installed."""
    return _TYPES[wire][0].partition(".types")[0] if _type(wire) else ""


def complaint(wire: str, value: Any) -> str | None:
    """Returns the first error of the SDK's type for an answer, `""` if there is none, or `None` without the SDK."""
    kind = _type(wire)
    if kind is None:
        return None
    from pydantic import ValidationError  # noqa: PLC0415 - it is there where an SDK is

    try:
        kind.model_validate(value)
    except ValidationError as error:
        told = [one for one in error.errors() if one["type"] != "extra_forbidden"]  # more is always allowed
        return "; ".join(f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in told)[:300]
    return ""
