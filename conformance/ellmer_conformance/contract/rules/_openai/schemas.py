"""The rules about functions that both OpenAI formats share, and the parts of a JSON Schema that OpenAI refuses.

A shared rule is written once. Each format adds it to its book with its own evidence and examples, and with the function
that finds its functions: `book.rule("SCH-020", …)(arrays_say_of_what(_functions))`.
Other keywords of a schema are not judged, because strict mode has changed its support for them too often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.json_access import items_of, object_of
from ...rule import Check, Finding, broken, met
from .._references import dangling, references
from .refusals import misnamed, path, refused

SCHEMA = refused(
    "Invalid schema for function '{name}': {reason}", code="invalid_function_parameters", param="{path}"
)
OPEN: Json = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
CLOSED: Json = {**OPEN, "additionalProperties": False}


def one_property(schema: Json) -> Json:
    """Returns a closed object with one property."""
    return {**CLOSED, "properties": {"x": schema}}


# Sources of the provider's reasons.
STRICT = (
    "https://github.com/xemantic/xemantic-ai-tool-schema/issues/37",
    "https://github.com/cyanheads/git-mcp-server/issues/47 (the format)",
    "https://github.com/vectorize-io/hindsight/pull/3944 (`$ref`)",
    "https://github.com/camel-ai/camel/issues/3001 (`$ref`)",
    "https://github.com/openai/openai-node/issues/970 (a `$ref` that leads nowhere)",
    "https://github.com/dotnet/extensions/issues/6918 (a `$ref` to a property)",
)
ROOTS = "https://github.com/podly-pure-podcasts/podly_pure_podcasts/pull/89 (the root)"
ARRAYS = "https://github.com/AIPentest/CyberStrikeAI/issues/71"

COMPOSED = ("oneOf", "anyOf", "allOf", "enum", "not")
_BARE = {"type", "description", "title", "additionalProperties", "required", "$schema"}
_TYPED = {"type", "$ref", "anyOf", "enum", "oneOf", "allOf", "not", "properties"}

# What schema generators put beside a `$ref`.
_BESIDE = {"default", "description", "title"}

Context = tuple[str, ...]
_KINDS = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


# --- Rules that both formats share -----------------------------------------------------------------------

#: Finds the functions of a request in a format, each with its pointer.
Functions = Callable[[Json], Iterator[tuple[str, Json]]]


def _of_each_function(check: Callable[[Json, str], Iterator[Finding]]) -> Callable[[Functions], Check]:
    """Returns a function that makes a format's rule, with the sentence of `check`, which judges a function at a place."""

    def rule_of(functions: Functions) -> Check:
        @wraps(check)
        def rule(request: Request) -> Iterator[Finding]:
            for pointer, function in functions(request.body):
                yield from check(function, pointer)

        return rule

    return rule_of


@_of_each_function
def names_are_plain(function: Json, pointer: str) -> Iterator[Finding]:
    """The name of a function has only letters, digits, `_` and `-`, in its declaration and in every call.

    Fix: map other names to valid ones, and map them back when the model calls.
    """
    return misnamed(function.get("name"), f"{pointer}/name")


@_of_each_function
def parameters_are_an_object(function: Json, pointer: str) -> Iterator[Finding]:
    """The `parameters` of a function, if given, are the schema of an object with properties.

    Fix: for a tool without arguments send `{"type": "object", "properties": {}}`.
    """
    return schema_problems(function, f"{pointer}/parameters")


@_of_each_function
def arrays_say_of_what(function: Json, pointer: str) -> Iterator[Finding]:
    """Every array in the parameters of a function has `items`.

    Fix: send `"items": {}` if the items may have any type.
    """
    return array_findings(function.get("name"), function.get("parameters"), f"{pointer}/parameters")


@_of_each_function
def strict_tools_are_closed(function: Json, pointer: str) -> Iterator[Finding]:
    """In a strict function, every object sets `additionalProperties: false` and requires all its properties,
    and every value has a type.

    Fix: set `additionalProperties: false`, and make optional properties nullable and required.
    """
    if function.get("strict") is True:
        schema = function.get("parameters", {"type": "object"})  # a function without any has to say so
        yield from strict_findings(function.get("name"), schema, f"{pointer}/parameters")


# --- Parts of a schema -----------------------------------------------------------------------------------


def schema_problems(function: Json, pointer: str) -> Iterator[Finding]:
    """Yields a finding for a function's parameters: whether they describe an object."""
    schema = function.get("parameters")
    if not isinstance(schema, dict) or not schema:
        return
    reason = None
    if schema.get("type") != "object" and "$ref" not in schema:
        kind = schema.get("type")
        reason = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    elif schema.keys() <= _BARE:
        reason = "In context=(), object schema missing properties."
    facts = {"name": function.get("name"), "reason": reason, "path": path(pointer)}
    yield broken(pointer, reason, **facts) if reason else met(pointer)


def form_findings(name: Any, schema: Any, pointer: str) -> Iterator[Finding]:
    """Yields a finding for each part of a schema that is not JSON Schema, or one finding without a problem."""
    reasons = [reason for _, inner in nested_schemas(schema) for reason in _malformed(inner)]
    if not isinstance(schema, dict | bool | None):
        reasons = [f"{schema!r} is not of type 'object', 'boolean'."]
    for reason in reasons:
        yield broken(pointer, reason, name=name, reason=reason, path=path(pointer))
    if not reasons:
        yield met(pointer)


def _malformed(schema: Json) -> Iterator[str]:
    """Yields what the meta-schema of JSON Schema says of one schema, in the words of Python's `jsonschema`."""
    kind = schema.get("type")
    if any(
        each not in _KINDS for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)
    ):
        yield f"{kind!r} is not valid under any of the given schemas."
    for key in ("required", "enum"):
        if key in schema and not isinstance(schema[key], list if key == "required" else list | None):
            yield f"{schema[key]!r} is not of type 'array'."
    if "properties" in schema and not isinstance(schema["properties"], dict | None):
        yield f"{schema['properties']!r} is not of type 'object'."


def array_findings(name: Any, schema: Any, pointer: str) -> Iterator[Finding]:
    """Yields a finding for each array in a schema: whether it has `items`."""
    for context, inner in nested_schemas(schema):
        if inner.get("type") == "array":
            reason = f"{_where(context)}, array schema missing items."
            facts = {"name": name, "reason": reason, "path": path(pointer)}
            place = f"{pointer}{_pointer(context)}"
            yield met(place) if inner.keys() & {"items", "prefixItems"} else broken(place, reason, **facts)


def strict_findings(name: Any, schema: Any, pointer: str) -> Iterator[Finding]:
    """Yields a finding for each part of a schema that strict mode refuses, or one finding without a problem."""
    root = object_of(schema).get("type")
    if isinstance(root, str) and root != "object":
        text = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{root}\"'."
        yield broken(pointer, text, name=name, reason=text, path=path(pointer))
        return
    problems = [
        (context, reason) for context, inner in nested_schemas(schema) for reason in _strict_problems(inner)
    ]
    problems += _lost(schema)
    for context, reason in problems:
        text = f"{_where(context)}, {reason}"
        yield broken(f"{pointer}{_pointer(context)}", text, name=name, reason=text, path=path(pointer))
    if not problems:
        yield met(pointer)


def _strict_problems(schema: Json) -> Iterator[str]:
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        yield from _open_object(schema, properties if isinstance(properties, dict) else {})
    for key in ("oneOf", "allOf"):
        if key in schema:
            yield f"'{key}' is not permitted."
    if not schema.keys() & _TYPED:
        yield "schema must have a 'type' key."
    beside = sorted(schema.keys() & _BESIDE) if "$ref" in schema else []
    if beside:
        yield f"$ref cannot have keywords {{{', '.join(map(repr, beside))}}}."
    if schema.get("format") == "uri" and schema.get("type") == "string":
        yield "'uri' is not a valid format."


def _lost(schema: Any) -> Iterator[tuple[Context, str]]:
    """Yields references that lead nowhere, or elsewhere than to a definition."""
    nowhere = dict(dangling(schema))
    for place, name in references(schema):
        if place in nowhere:
            yield place, f"reference to component '{name}' which was not found in the schema."
        elif name != "#" and not re.fullmatch(r"#/(\$defs|definitions)/[^/]+", name):
            yield place, "reference can only point to definitions defined at the top level of the schema."


def _open_object(schema: Json, properties: Json) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield "'additionalProperties' is required to be supplied and to be false."
    required = items_of(schema.get("required"))
    every = "'required' is required to be supplied and to be an array including every key in properties."
    missing = [name for name in properties if name not in required]
    extra = [name for name in required if name not in properties]
    if missing:
        yield f"{every} Missing '{missing[0]}'."
    elif extra:
        yield f"{every} Extra required key '{extra[0]}' supplied."


def nested_schemas(schema: Any, context: Context = ()) -> Iterator[tuple[Context, Json]]:
    """Yields a schema and all nested schemas, each with its place."""
    if not isinstance(schema, dict):
        return
    yield context, schema
    for key in ("properties", "$defs", "definitions"):
        for name, inner in _children(schema.get(key)):
            yield from nested_schemas(inner, (*context, key, name))
    yield from nested_schemas(schema.get("items"), (*context, "items"))
    for i, inner in enumerate(items_of(schema.get("anyOf"))):
        yield from nested_schemas(inner, (*context, "anyOf", str(i)))


def _where(context: Context) -> str:
    """Returns the place as Python writes a tuple, without brackets."""
    return f"In context=({repr(context)[1:-1]})"


def _pointer(context: Context) -> str:
    return "".join(f"/{key}" for key in context)


def _children(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, dict) else ()
