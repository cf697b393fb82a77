"""The rules that Groq shares with OpenAI, and the error body of Groq."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .....rule import Refusal
from .._elsewhere import elsewhere


def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns OpenAI's error body without null fields."""
    error = {
        "message": refusal.message,
        "type": refusal.type,
        "param": refusal.param,
        "code": refusal.code,
    }
    body = {"error": {key: value for key, value in error.items() if value is not None}}
    return {"content-type": "application/json"}, json.dumps(body).encode("utf-8", "backslashreplace") + b"\n"


def refused(message: str, param: str | None = None) -> Refusal:
    """Returns a refusal with the type of all request errors of Groq."""
    return Refusal(message, type="invalid_request_error", param=param)


groq = elsewhere(
    "groq",
    envelope=wrap,
    only=["STO-007"],
    without=["REQ-007", "REQ-011", "REQ-045"],
    STO_007={"source": ("https://github.com/mem0ai/mem0/pull/4161",)},
)
