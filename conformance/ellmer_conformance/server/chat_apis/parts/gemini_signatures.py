"""The check of the thought signatures that a Gemini request sends back."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ...signatures import decoded, is_ours, opened

__all__ = ["either", "elements", "objection"]

#: Values that the API takes in place of a signature that was lost with another provider.
#: https://ai.google.dev/gemini-api/docs/thought-signatures
_BYPASS = {b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"}


def objection(sent: str, i: int, j: int, *, strict: bool) -> str | None:
    """Returns the API's error for a changed signature, or `None`."""
    blob = decoded(sent)
    if blob is None:
        place = f"contents[{i}].parts[{j}].thought_signature"
        return f"Invalid value at '{place}' (TYPE_BYTES), Base64 decoding failed for \"{sent}\""
    if sent.encode() in _BYPASS or blob in _BYPASS or (not strict and not is_ours(blob)):
        return None
    return None if opened(blob) is not None else "Corrupted thought signature."


def either(value: Any, key: str) -> Any:
    """Returns a field in camelCase or snake_case, because protobuf's JSON accepts both."""
    if not isinstance(value, dict):
        return None
    return value[key] if key in value else value.get(_snake(key))


@cache
def _snake(key: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", key)


def elements(value: Any) -> list[Any]:
    """Returns a list. A single value becomes a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]
