"""What both OpenAI formats share: the error body, how it names places and types, strict schemas, ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..exchange import Json
from ..rule import Finding, Refusal, broken, met
from ..rulebook import Envelope
from ..wires.values import items_of

__all__ = [
    "EFFORTS",
    "MISNAMED",
    "NAME",
    "OUT_OF_RANGE",
    "REASONING",
    "TOO_LONG",
    "absent",
    "envelope",
    "listed",
    "misnamed",
    "mistyped",
    "path",
    "ranges",
    "refused",
    "schema_problems",
    "strict_findings",
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
    """`gpt-5` of `gpt-5-2025-08-07`."""
    return _DATE.sub("", model)


def refused(message: str, *, code: str | None = None, param: str | None = None) -> Refusal:
    """A refusal of the type that all of OpenAI's request errors have."""
    return Refusal(message, type="invalid_request_error", code=code, param=param)


def envelope(indent: int | None) -> Envelope:
    """OpenAI's error body; Chat Completions indents it by four spaces, Responses by two, others not at all."""

    def wrap(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
        error = {
            "message": refusal.message,
            "type": refusal.type,
            "param": refusal.param,
            "code": refusal.code,
        }
        return {"content-type": "application/json"}, json.dumps(
            {"error": error}, indent=indent
        ).encode() + b"\n"

    return wrap


def path(pointer: str) -> str:
    """`messages[0].content` of `/messages/0/content`."""
    return _INDEX.sub(r"[\1]", pointer).strip("/").replace("/", ".")


_TYPES = {bool: "a boolean", int: "an integer", float: "a decimal", str: "a string", list: "an array"}


def type_name(value: Any) -> str:
    """A JSON value's type with its article, as in `but got an integer instead`."""
    return "null" if value is None else _TYPES.get(type(value), "an object")


def listed(names: Iterable[str]) -> str:
    """`'a', 'b', and 'c'`."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def absent(value: Json, pointer: str, keys: Iterable[str]) -> Iterator[Finding]:
    """A finding for each key: whether the object has it."""
    for key in keys:
        place = f"{pointer}/{key}"
        yield (
            met(pointer)
            if key in value
            else broken(pointer, f"`{key}` is missing", path=path(place), place=place)
        )


def mistyped(pointer: str, expected: str, value: Any) -> Finding:
    """A finding for a value of the wrong type."""
    place, got = path(pointer), type_name(value)
    text = f"Invalid type for '{place}': expected {expected}, but got {got} instead."
    return broken(pointer, f"{got} where {expected} belongs", text=text, code="invalid_type", path=place)


def too_long(text: Any, pointer: str, limit: int) -> Iterator[Finding]:
    """A finding for a string that has a greatest length."""
    if isinstance(text, str):
        problem = f"it has {len(text)} characters and may have {limit}"
        facts = {"path": path(pointer), "limit": limit, "length": len(text)}
        yield met(pointer) if len(text) <= limit else broken(pointer, problem, **facts)


def misnamed(name: Any, pointer: str) -> Iterator[Finding]:
    """A finding for a function's name: its letters."""
    if isinstance(name, str):
        problem = f"the name {name!r} has characters other than letters, digits, `_` and `-`"
        yield met(pointer) if NAME.fullmatch(name) else broken(pointer, problem, path=path(pointer))


TOO_LONG = refused(
    "Invalid '{path}': string too long. "
    "Expected a string with maximum length {limit}, but got a string with length {length} instead.",
    code="string_above_max_length",
    param="{path}",
)
MISNAMED = refused(
    "Invalid '{path}': string does not match pattern. "
    "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    code="invalid_value",
    param="{path}",
)
OUT_OF_RANGE = refused(
    "Invalid '{path}': {kind} {word} value. Expected a value {sign} {bound}, but got {value} instead.",
    code="{code}",
    param="{path}",
)


def ranges(body: Json, bounds: Mapping[str, tuple[float, float]]) -> Iterator[Finding]:
    """A finding for each number of the body that has bounds (inclusive)."""
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


def strict_problems(schema: Any, context: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """What strict mode refuses in a JSON Schema: JSON pointer into the schema, and the provider's reason.

    Objects are closed and name all their properties as required. Other keywords are left alone: what strict mode
    takes of them has changed too often.
    """
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        yield from _strict_object(schema, properties if isinstance(properties, dict) else {}, context)
    for key in ("properties", "$defs", "definitions"):
        for name, inner in _children(schema.get(key)):
            yield from strict_problems(inner, (*context, key, name))
    yield from strict_problems(schema.get("items"), (*context, "items"))
    for i, inner in enumerate(items_of(schema.get("anyOf"))):
        yield from strict_problems(inner, (*context, "anyOf", str(i)))


def strict_findings(name: Any, schema: Any, pointer: str) -> Iterator[Finding]:
    """A finding for each thing that strict mode refuses in a schema, or one that there is none."""
    problems = list(strict_problems(schema))
    for inner, reason in problems:
        yield broken(f"{pointer}{inner}", reason, name=name, reason=reason, path=path(pointer))
    if not problems:
        yield met(pointer)


def _strict_object(schema: Json, properties: Json, context: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    pointer, where = "".join(f"/{key}" for key in context), f"In context=({_tuple(context)})"
    if schema.get("additionalProperties") is not False:
        yield pointer, f"{where}, 'additionalProperties' is required to be supplied and to be false."
    required = items_of(schema.get("required"))
    missing = [name for name in properties if name not in required]
    if missing:
        every = "'required' is required to be supplied and to be an array including every key in properties."
        yield pointer, f"{where}, {every} Missing '{missing[0]}'."


def _tuple(context: tuple[str, ...]) -> str:
    """Python's own way to write a tuple, without its brackets."""
    return repr(context)[1:-1]


def _children(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, dict) else ()


def schema_problems(function: Json, pointer: str) -> Iterator[Finding]:
    """A finding for a function's parameters: whether they describe an object."""
    schema = function.get("parameters")
    if not isinstance(schema, dict) or not schema:
        return
    reason = None
    if schema.get("type") != "object" and "$ref" not in schema:
        kind = schema.get("type")
        reason = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    elif schema.keys() <= {"type", "description", "title", "additionalProperties", "required", "$schema"}:
        reason = "In context=(), object schema missing properties."
    facts = {"name": function.get("name"), "reason": reason, "path": path(pointer)}
    yield broken(pointer, reason, **facts) if reason else met(pointer)
