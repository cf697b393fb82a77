"""Declared tools: their names, their schemas, and strict schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....exchange import Json, Request
from ....readers.openai_chat import messages, tools
from ....rule import Finding
from ..._openai.refusals import TOO_LONG, WORDED, misnamed, too_long
from ..._openai.schemas import (
    ARRAYS,
    CLOSED,
    OPEN,
    SCHEMA,
    STRICT,
    array_findings,
    form_findings,
    one_property,
    schema_problems,
    strict_findings,
)
from .._pairing import calls_of
from .._rulebook import ASK, MUST, REJECT, TOOL, body, book, result

SPEC = "https://github.com/openai/openai-openapi (FunctionObject)"


def _tool(**function: Any) -> Json:
    return {"type": "function", "function": {"name": "add", **function}}


def _calls(name: str) -> Json:
    made = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [made]}


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=SPEC,
    refusal=WORDED,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(name="add numbers")]),
        body(ASK, tools=[_tool(name="")]),
        body(ASK, _calls("math.add"), result("a")),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a function has only letters, digits, `_` and `-`, in its declaration and in every call.

    Fix: map other names to valid ones, and map them back when the model calls.
    """
    for pointer, function in _named(request.body):
        yield from misnamed(function.get("name"), f"{pointer}/name")


@book.rule(
    "SCH-009",
    MUST,
    REJECT,
    source=SPEC,
    refusal=TOO_LONG,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[_tool(name="a" * 65)])],
)
def names_are_short(request: Request) -> Iterator[Finding]:
    """The name of a function has at most 64 characters, in its declaration and in every call."""
    for pointer, function in _named(request.body):
        yield from too_long(function.get("name"), f"{pointer}/name", 64)


@book.rule(
    "SCH-025",
    MUST,
    REJECT,
    source=[
        "https://github.com/FoundationAgents/OpenManus/issues/1162",
        "https://github.com/maltekuhr/laravel-gpt/issues/8",
    ],
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters=[])]),
        body(ASK, tools=[_tool(parameters={"type": "object", "properties": {"x": {"type": "str"}}})]),
        body(
            ASK,
            tools=[
                _tool(
                    parameters={"type": "object", "properties": {"x": {"type": "number", "required": True}}}
                )
            ],
        ),
    ],
)
def parameters_are_a_schema(request: Request) -> Iterator[Finding]:
    """The `parameters` of a function are a JSON Schema: its types are those of JSON, and `required` is a list.

    Fix: write `string` for `str`, and list the required properties in their object.
    """
    for pointer, function in _functions(request.body):
        yield from form_findings(function.get("name"), function.get("parameters"), f"{pointer}/parameters")


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o-mini, gpt-3.5-turbo)",
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL, _tool(), _tool(parameters={"type": "object", "properties": {}})])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters={"type": "object"})]),
        body(ASK, tools=[_tool(parameters={"x": {"type": "number"}})]),
    ],
)
def parameters_are_an_object(request: Request) -> Iterator[Finding]:
    """The `parameters` of a function, if given, are the schema of an object with properties.

    Fix: for a tool without arguments leave `parameters` out, or send `{"type": "object", "properties": {}}`.
    """
    for pointer, function in _functions(request.body):
        yield from schema_problems(function, f"{pointer}/parameters")


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
    for pointer, function in _functions(request.body):
        yield from array_findings(function.get("name"), function.get("parameters"), f"{pointer}/parameters")


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=["recorded refusals (gpt-4o-mini, gpt-4-turbo, gpt-4)", *STRICT],
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=CLOSED, strict=True), _tool(parameters=OPEN)])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters=OPEN, strict=True)]),
        body(ASK, tools=[_tool(parameters={**CLOSED, "required": []}, strict=True)]),
        body(ASK, tools=[_tool(parameters=one_property({"oneOf": [OPEN]}), strict=True)]),
        body(ASK, tools=[_tool(parameters=one_property({"const": 5}), strict=True)]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict function, every object sets `additionalProperties: false` and requires all its properties,
    and every value has a type.

    Fix: set `additionalProperties: false`, and make optional properties nullable and required.
    """
    for pointer, function in _functions(request.body):
        if function.get("strict") is True:
            place = f"{pointer}/parameters"
            yield from strict_findings(function.get("name"), function.get("parameters"), place)


def _functions(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, tool in tools(request):
        if isinstance(tool.get("function"), dict):
            yield f"{pointer}/function", tool["function"]


def _named(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared functions, and those of earlier calls."""
    yield from _functions(request)
    for pointer, message in messages(request):
        for i, made in enumerate(calls_of(message)):
            if isinstance(made.get("function"), dict):
                yield f"{pointer}/tool_calls/{i}/function", made["function"]
