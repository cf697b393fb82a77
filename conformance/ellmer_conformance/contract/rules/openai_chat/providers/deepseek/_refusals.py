"""The error bodies and error texts of DeepSeek."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .....exchange import Json
from .....rule import Refusal
from ...._openai.refusals import envelope

__all__ = ["column", "refused", "unknown_role", "wrap"]


def refused(message: str, status: int = 400) -> Refusal:
    """Returns a refusal of DeepSeek, whose code is its type."""
    return Refusal(message, status, type="invalid_request_error", code="invalid_request_error")


def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns JSON like OpenAI's, or plain text if the body was not readable."""
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode(
            "utf-8", "backslashreplace"
        )
    headers, body = envelope(None)(refusal)
    return headers, body


def unknown_role(known: str, status: int = 400) -> Refusal:
    place = f"messages[{{index}}].role: unknown variant `{{role}}`, expected one of {known}"
    return refused(
        f"Failed to deserialize the JSON body into the target type: {place} at line 1 column {{column}}",
        status,
    )


def column(request: Json, kind: str, key: str = "type") -> int:
    """Returns the column in the compact body where its parser stops: after the type, or the role."""
    text, found = json.dumps(request, separators=(",", ":")), f'"{key}":"{kind}"'
    return text.find(found) + len(found)
