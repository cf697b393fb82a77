"""The refusals of both OpenAI formats: the error body, and the names of places, types, lengths and ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...exchange import Json
from ...rule import Finding, Refusal, broken, met
from ...rulebook import Envelope

__all__ = [
    "EFFORTS",
    "NAME",
    "OUT_OF_RANGE",
    "REASONING",
    "TOO_LONG",
    "WORDED",
    "absent",
    "envelope",
    "listed",
    "misfits",
    "misnamed",
    "mistyped",
    "path",
    "ranges",
    "refused",
    "too_long",
    "type_name",
    "undated",
]

NAME = re.compile(r"[a-zA-Z0-9_-]+")
_INDEX = re.compile(r"/(\d+)(?=/|$)")

# Models that reason and take no sampling parameters. From gpt-5.1 on they do, with reasoning off.
REASONING = ("o1*", "o3*", "o4-mini*", "gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*")

# The efforts of each model, as its refusals list them. A model that is not here takes what it takes.
EFFORTS = {
    "gpt-5": "minimal low medium high",
    "gpt-5-mini": "minimal low medium high",
    "gpt-5-nano": "minimal low medium high",
    "gpt-5-codex": "low medium high",
    "gpt-5-pro": "high",
    "gpt-5.1": "none low medium high",
    "gpt-5.1-chat-latest": "medium",
    "gpt-5.1-codex": "low medium high",
    "gpt-5.1-codex-max": "low medium high xhigh",
    "gpt-5.2-chat-latest": "medium",
    "gpt-5.2-pro": "medium high xhigh",
    "o1": "low medium high",
    "o1-pro": "low medium high",
    "o3": "low medium high",
    "o3-mini": "low medium high",
    "o4-mini": "low medium high",
}
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def undated(model: str) -> str:
    """Returns `gpt-5` for `gpt-5-2025-08-07`."""
    return _DATE.sub("", model)


def refused(message: str, *, code: str | None = None, param: str | None = None) -> Refusal:
    """Returns a refusal with the type of all request errors of OpenAI."""
    return Refusal(message, type="invalid_request_error", code=code, param=param)


def envelope(indent: int | None) -> Envelope:
    """Returns OpenAI's error body. Chat Completions indents it by four spaces, Responses by two, and others not at
    all.
    """

    def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
        error = {
            "message": refusal.message,
            "type": refusal.type,
            "param": refusal.param,
            "code": refusal.code,
        }
        return {"content-type": "application/json"}, json.dumps({"error": error}, indent=indent).encode(
            "utf-8", "backslashreplace"
        ) + b"\n"

    return wrap


def path(pointer: str) -> str:
    """Returns `messages[0].content` for `/messages/0/content`."""
    return _INDEX.sub(r"[\1]", pointer).strip("/").replace("/", ".")


_TYPES = {bool: "a boolean", int: "an integer", float: "a decimal number", str: "a string", list: "an array"}


def type_name(value: Any) -> str:
    """Returns a JSON value's type with its article, as in `but got an integer instead`."""
    return "null" if value is None else _TYPES.get(type(value), "an object")


def listed(names: Iterable[str]) -> str:
    """Returns `'a', 'b', and 'c'`."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def absent(value: Json, pointer: str, keys: Iterable[str]) -> Iterator[Finding]:
    """Yields a finding for each key: whether the object has it."""
    for key in keys:
        place = f"{pointer}/{key}"
        yield (
            met(pointer)
            if key in value
            else broken(pointer, f"`{key}` is missing", path=path(place), place=place)
        )


def mistyped(pointer: str, expected: str, value: Any) -> Finding:
    """Returns a finding for a value of the wrong type."""
    place, got = path(pointer), type_name(value)
    text = f"Invalid type for '{place}': expected {expected}, but got {got} instead."
    return broken(
        pointer, f"{got} is sent, and {expected} is expected", text=text, code="invalid_type", path=place
    )


def too_long(text: Any, pointer: str, limit: int) -> Iterator[Finding]:
    """Yields a finding for a string with a maximum length."""
    if isinstance(text, str):
        problem = f"it has {len(text)} characters and may have {limit}"
        facts = {"path": path(pointer), "limit": limit, "length": len(text)}
        yield met(pointer) if len(text) <= limit else broken(pointer, problem, **facts)


def misnamed(name: Any, pointer: str) -> Iterator[Finding]:
    """Yields a finding for a function's name: it has at least one letter, and only valid ones."""
    if isinstance(name, str):
        place, code = path(pointer), "invalid_value" if name else "empty_string"
        text = f"Invalid '{place}': " + (_MISNAMED if name else _EMPTY)
        problem = f"the name {name!r} has characters other than letters, digits, `_` and `-`, or none"
        fine = NAME.fullmatch(name)
        yield met(pointer) if fine else broken(pointer, problem, text=text, code=code, path=place)


def misfits(body: Json, kinds: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a finding for each option: whether its type is right (`"an integer"`, `"a decimal"`, …). Null counts as
    not set.
    """
    for key, kind in kinds.items():
        value = body.get(key)
        if value is not None:
            yield met(f"/{key}") if _KINDS[kind](value) else mistyped(f"/{key}", kind, value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return _number(value) and (isinstance(value, int) or value.is_integer())


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "an integer": _whole,
    "a decimal": _number,
    "a boolean": lambda value: isinstance(value, bool),
    "a string": lambda value: isinstance(value, str),
    "an array of objects": lambda value: isinstance(value, list),
    "an object": lambda value: isinstance(value, dict),
}
#: The finding has the provider's whole sentence.
WORDED = refused("{text}", code="{code}", param="{path}")
TOO_LONG = refused(
    "Invalid '{path}': string too long. "
    "Expected a string with maximum length {limit}, but got a string with length {length} instead.",
    code="string_above_max_length",
    param="{path}",
)
_MISNAMED = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
_EMPTY = "empty string. Expected a string with minimum length 1, but got an empty string instead."
OUT_OF_RANGE = refused(
    "Invalid '{path}': {kind} {word} value. Expected a value {sign} {bound}, but got {value} instead.",
    code="{code}",
    param="{path}",
)


def ranges(body: Json, bounds: Mapping[str, tuple[float, float]]) -> Iterator[Finding]:
    """Yields a finding for each number of the body that has bounds (inclusive)."""
    for key, (low, high) in bounds.items():
        value = body.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if low <= value <= high:
            yield met(f"/{key}")
            continue
        below, kind = value < low, "integer" if isinstance(low, int) else "decimal"
        bound, word, sign = (low, "below minimum", ">=") if below else (high, "above maximum", "<=")
        yield broken(
            f"/{key}",
            f"{key} is {value}; it may be {low:g} to {high:g}",
            path=key,
            kind=kind,
            word=word,
            sign=sign,
            bound=f"{bound:g}",
            value=value,
            code=f"{kind}_{word.replace(' ', '_').replace('minimum', 'min').replace('maximum', 'max')}_value",
        )
