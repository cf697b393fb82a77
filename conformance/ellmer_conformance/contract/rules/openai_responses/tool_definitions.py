"""Declared functions: their names, their schemas, and strict schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...readers import openai_responses as wire
from ...readers.json_access import items_of, object_of
from ...rule import Finding, broken, met
from .._openai.refusals import WORDED, misnamed, path, refused
from .._openai.schemas import (
    ARRAYS,
    CLOSED,
    COMPOSED,
    OPEN,
    SCHEMA,
    STRICT,
    array_findings,
    one_property,
    schema_problems,
    strict_findings,
)
from ._rulebook import ASK, MUST, REJECT, TOOL, body, book, call, output

SPEC = "https://github.com/openai/openai-openapi (FunctionToolParam)"


def _tool(**more: Any) -> Json:
    return {"type": "function", "name": "add", **more}


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=SPEC,
    refusal=WORDED,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(name="math.add")]),
        body(ASK, call("a", name=""), output("a")),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a function has only letters, digits, `_` and `-`, in its declaration and in every call."""
    for pointer, tool in _functions(request.body):
        yield from misnamed(tool.get("name"), f"{pointer}/name")
    for pointer, item in wire.items(request.body):
        if wire.type_of(item) == "function_call":
            yield from misnamed(item.get("name"), f"{pointer}/name")


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-3.5-turbo)",
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[_tool(parameters={"x": {"type": "number"}})])],
)
def parameters_are_an_object(request: Request) -> Iterator[Finding]:
    """The `parameters` of a function, if given, are the schema of an object with properties.

    Fix: for a tool without arguments send `{"type": "object", "properties": {}}`.
    """
    for pointer, tool in _functions(request.body):
        yield from schema_problems(tool, f"{pointer}/parameters")


@book.rule(
    "SCH-020",
    MUST,
    REJECT,
    source=ARRAYS,
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array", "items": {}}))])],
    counterexamples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array"}))])],
)
def arrays_say_of_what(request: Request) -> Iterator[Finding]:
    """Every array in the parameters of a function has `items`.

    Fix: send `"items": {}` if the items may have any type.
    """
    for pointer, tool in _functions(request.body):
        yield from array_findings(tool.get("name"), tool.get("parameters"), f"{pointer}/parameters")


@book.rule(
    "SCH-021",
    MUST,
    REJECT,
    source="recorded refusals",
    refusal=SCHEMA,
    examples=[
        body(ASK, tools=[_tool(parameters=one_property({"anyOf": [{"type": "string"}, {"type": "null"}]}))])
    ],
    counterexamples=[body(ASK, tools=[_tool(parameters={**OPEN, "anyOf": [{"required": ["x"]}]})])],
)
def parameters_are_one_object(request: Request) -> Iterator[Finding]:
    """The root of a function's parameters has no `oneOf`, `anyOf`, `allOf`, `enum` or `not`.

    Fix: put the alternatives into a property.
    """
    either = "/".join(f"'{key}'" for key in COMPOSED)
    reason = f"schema must have type 'object' and not have {either} at the top level."
    for pointer, tool in _functions(request.body):
        schema, place = object_of(tool.get("parameters")), f"{pointer}/parameters"
        facts = {"name": tool.get("name"), "reason": reason, "path": path(place)}
        wrong = schema.get("type") == "object" and schema.keys() & {*COMPOSED}
        yield broken(place, reason, **facts) if wrong else met(place)


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=["recorded refusals (gpt-4o, gpt-4o-mini)", *STRICT],
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=CLOSED, strict=True), TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters=OPEN, strict=True)]),
        body(ASK, tools=[_tool(parameters=one_property({"oneOf": [OPEN]}), strict=True)]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict function, every object sets `additionalProperties: false` and requires all its properties,
    and every value has a type.

    Fix: set `additionalProperties: false`, and make optional properties nullable and required.
    """
    for pointer, tool in _functions(request.body):
        if tool.get("strict") is True:
            yield from strict_findings(tool.get("name"), tool.get("parameters"), f"{pointer}/parameters")


def _functions(request: Json) -> Iterator[tuple[str, Json]]:
    return ((pointer, tool) for pointer, tool in wire.tools(request) if tool.get("type") == "function")


@book.rule(
    "REQ-072",
    MUST,
    REJECT,
    source="https://github.com/vllm-project/vllm/pull/40399 (asked of the API)",
    refusal=refused("Tool choice 'function' not found in 'tools' parameter.", param="tool_choice"),
    examples=[body(ASK, tools=[TOOL], tool_choice={"type": "function", "name": TOOL["name"]})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice={"type": "function", "name": "multiply"})],
)
def the_choice_is_declared(request: Request) -> Iterator[Finding]:
    """A `tool_choice` that names a function names a declared one."""
    choice = object_of(request.body.get("tool_choice"))
    if choice.get("type") == "function" and isinstance(choice.get("name"), str):
        declared = {tool.get("name") for tool in _declared(request.body.get("tools"))}
        problem = f"{choice['name']!r} is not declared"
        yield met("/tool_choice") if choice["name"] in declared else broken("/tool_choice", problem)


def _declared(tools: Any) -> Iterator[Json]:
    """Yields the declared functions, also those in a namespace."""
    for tool in items_of(tools):
        if isinstance(tool, dict):
            yield tool
            yield from _declared(tool.get("tools"))
