"""What a provider says when it refuses: the type and the sentence of an error body, in any provider's form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ApiError", "read_error"]

_CHANGING = re.compile(r"\S*\d\S*")  # ids, indices, counts, dates: whatever has a digit in it
_GUESS = re.compile(r", did you mean '[^']*'\?")  # Groq's, of the field that is most alike


@dataclass(frozen=True)
class ApiError:
    """An answer that is an error. `type` is the provider's class of errors, `""` where it has none."""

    status: int
    type: str
    message: str

    @property
    def stable(self) -> str:
        """The sentence without what differs from request to request."""
        return " ".join(_CHANGING.sub("#", _GUESS.sub("", self.message)).split())


def read_error(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> ApiError:
    """The error in a body: OpenAI's, Anthropic's and Google's forms, flat ones, lists of details, plain text.

    AWS has the type in a header.
    """
    kind, message = _read(body)
    named = (headers or {}).get("x-amzn-errortype", "")
    return ApiError(status, kind or named.partition(":")[0], message)


def _read(body: bytes) -> tuple[str, str]:
    text = body.decode(errors="replace").strip()
    try:
        value = json.loads(text)
    except ValueError:
        return "", text
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return "", value if isinstance(value, str) else text
    return _typed(value, text)


def _typed(value: dict[str, Any], text: str) -> tuple[str, str]:
    error = value.get("error")
    if isinstance(error, dict):
        kind = error.get("type") or error.get("status") or error.get("code")
        return str(kind or ""), str(error.get("message") or json.dumps(error))
    if isinstance(error, str):
        return str(value.get("code") or value.get("error_type") or ""), error
    if "detail" in value:
        return "", _message(value["detail"])
    if "message" in value:
        return str(value.get("type") or value.get("reason") or ""), _message(value["message"])
    return "", text


def _message(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
