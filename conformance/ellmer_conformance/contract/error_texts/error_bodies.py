"""Reads the type and the sentence of an error body, in any provider's form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_CHANGING = re.compile(r"(?<!\S)[^\s\d]*\d\S*")  # ids, indices, counts, dates: whatever has a digit in it
_GUESS = re.compile(r", did you mean '[^']*'\?")  # Groq's, of the field that is most alike


@dataclass(frozen=True)
class ApiError:
    """An error answer. `type` is the provider's error type, and `param` the field that it names; each is `""` if
    missing.
    """

    status: int
    type: str
    message: str
    param: str = ""

    @property
    def stable(self) -> str:
        """The sentence without the parts that differ from request to request."""
        return " ".join(_CHANGING.sub("#", _GUESS.sub("", self.message)).split())


def read_error(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> ApiError:
    """Returns the error in a body: OpenAI's, Anthropic's, Google's and Cloudflare's forms, flat ones,
    lists of details, plain text.

    AWS has the type in a header. An error that a gateway or a backend wrapped takes precedence: `error.metadata.raw`,
    an error in `details`, a message that is an object, a sentence in `param`.
    """
    value, text = _value(body)
    kind, message = (
        _typed(value, text) if isinstance(value, dict) else ("", value if isinstance(value, str) else text)
    )
    named = (headers or {}).get("x-amzn-errortype", "")
    return ApiError(status, kind or named.partition(":")[0], _unwrapped(value) or message, _param(value))


def own_message(body: bytes) -> str:
    """Returns the sentence in the usual place of this provider's errors, also if it wraps another error."""
    value, text = _value(body)
    return _typed(value, text)[1] if isinstance(value, dict) else text


def _value(body: bytes) -> tuple[Any, str]:
    text = body.decode(errors="replace").strip()
    try:
        value = json.loads(text)
    except ValueError:
        return None, text
    return (value[0] if isinstance(value, list) and value else value), text


def _error(value: Any) -> dict[str, Any]:
    """Returns the error object: the value's `error`, or the value itself."""
    if not isinstance(value, dict):
        return {}
    inner = value.get("error")
    return inner if isinstance(inner, dict) else value


def _param(value: Any) -> str:
    """Returns the field that an error names: OpenAI's `param`, or the field of a Google violation."""
    error = _error(value)
    param = error.get("param")
    if isinstance(param, str) and " " not in param:
        return param
    for detail in _objects(error.get("details")):
        for violation in _objects(detail.get("fieldViolations")):
            return str(violation.get("field") or "")
    return ""


def _unwrapped(value: Any) -> str:
    """Returns the sentence of a wrapped error, if there is one."""
    error = _error(value)
    raw, details, param = _object(error.get("metadata")).get("raw"), error.get("details"), error.get("param")
    if isinstance(raw, str) and raw.strip():
        return read_error(0, raw.encode(errors="replace")).message
    if isinstance(error.get("message"), dict):
        return read_error(0, json.dumps(error["message"]).encode()).message
    if isinstance(_object(details).get("error"), dict):
        return read_error(0, json.dumps(details).encode()).message
    places = [
        f"{'.'.join(map(str, d['loc'][1:]))}: {d['msg']}"
        for d in _objects(details)
        if {"loc", "msg"} <= d.keys()
    ]
    if places:
        return "; ".join(places)
    return f"{error.get('message')}: {param}" if isinstance(param, str) and " " in param.strip() else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
    first = next(iter(_objects(value.get("errors"))), {})  # Cloudflare's list
    return str(first.get("code") or ""), str(first.get("message") or text)


def _message(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
