"""Declared tools, strict schemas, and the format of the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...readers.json_access import object_of
from ...readers.openai_chat import messages, tools
from ...rule import Finding, broken, met
from .._openai.refusals import TOO_LONG, WORDED, misnamed, refused, too_long
from .._openai.schemas import (
    ARRAYS,
    CLOSED,
    OPEN,
    ROOTS,
    SCHEMA,
    STRICT,
    array_findings,
    one_property,
    schema_problems,
    strict_findings,
)
from ._pairing import calls_of
from ._rulebook import ASK, MUST, REJECT, TOOL, body, book, result

SPEC = "https://github.com/openai/openai-openapi (FunctionObject)"
GUIDE = (
    " Learn more about supported models at the Structured Outputs guide: "
    "https://platform.openai.com/docs/guides/structured-outputs"
)


def _tool(**function: Any) -> Json:
    return {"type": "function", "function": {"name": "add", **function}}


def _format(schema: Json, *, strict: bool = True) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "sum", "schema": schema, "strict": strict}}


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


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4o-mini)", ROOTS, *STRICT],
    refusal=refused("Invalid schema for response_format '{name}': {reason}", param="response_format"),
    examples=[
        body(ASK, response_format=_format(CLOSED)),
        body(ASK, response_format=_format(OPEN, strict=False)),
    ],
    counterexamples=[
        body(ASK, response_format=_format(OPEN)),
        body(ASK, response_format=_format({"type": "array", "items": {"type": "string"}})),
        body(ASK, response_format=_format(one_property({"type": "string", "format": "uri"}))),
        body(ASK, response_format=_format(one_property({"$ref": "#", "description": "A sum."}))),
    ],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, the root is an object, and every object sets `additionalProperties: false` and
    requires all its properties.

    A `$ref` has no description, default or title beside it, and no string has the format `uri`.
    """
    format = request.body.get("response_format")
    schema = format.get("json_schema") if isinstance(format, dict) else None
    if isinstance(schema, dict) and schema.get("strict") is True:
        place = "/response_format/json_schema/schema"
        yield from strict_findings(schema.get("name"), schema.get("schema"), place)


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusals",
    refusal=refused(
        "Invalid parameter: 'response_format' of type '{type}' is not supported with this model.{more}",
        param="{param}",
    ),
    models=["gpt-audio*", "gpt-3.5*", "gpt-4", "gpt-4-*"],
    examples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"]),
        body(
            {"role": "user", "content": "JSON"}, model="gpt-4-turbo", response_format={"type": "json_object"}
        ),
    ],
    counterexamples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"], response_format={"type": "json_object"}),
        body(ASK, model="gpt-4-turbo", response_format=_format(CLOSED)),
    ],
)
def some_models_have_no_format(request: Request) -> Iterator[Finding]:
    """Audio models have no structured output, models before GPT-4o no `json_schema`, and the first GPT-4 no
    `json_object`."""
    kind = object_of(request.body.get("response_format")).get("type")
    model, schema = request.model, kind == "json_schema"
    unknown = schema or (
        kind == "json_object"
        and (model.startswith("gpt-audio") or model in {"gpt-4", "gpt-4-0613", "gpt-4-0314"})
    )
    if not unknown:
        yield met("/response_format")
        return
    facts = {"type": kind, "more": GUIDE if schema else "", "param": None if schema else "response_format"}
    yield broken("/response_format", f"this model does not do {kind}", **facts)


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/ultimatejimmy/xray.koplugin/issues/33 (gpt-4o)",
        "https://github.com/StefanBratanov/jvm-openai/issues/15",
        "the Responses API refuses the same, recorded",
    ],
    refusal=refused(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        param="messages",
    ),
    examples=[body({"role": "user", "content": "Answer in JSON."}, response_format={"type": "json_object"})],
    counterexamples=[body(ASK, response_format={"type": "json_object"})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the messages contain the word "json"."""
    if object_of(request.body.get("response_format")).get("type") == "json_object":
        said = "json" in json.dumps(request.body.get("messages")).lower()
        yield met("/response_format") if said else broken("/messages", 'no message has the word "json"')


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source="https://github.com/QwenLM/qwen-code/issues/643 (another provider)",
    refusal=refused(
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        code="empty_array",
        param="tools",
    ),
    preview=True,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[])],
)
def no_tools_is_no_list(request: Request) -> Iterator[Finding]:
    """A request without tools has no `tools` field."""
    if isinstance(request.body.get("tools"), list):
        yield met("/tools") if request.body["tools"] else broken("/tools", "the list of tools is empty")


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "https://github.com/RageAgainstThePixel/OpenAI-DotNet/issues/479",
        "https://github.com/writer/writer-framework/pull/1013",
    ],
    refusal=refused(
        "Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified.", param="{key}"
    ),
    examples=[body(ASK, tools=[TOOL], tool_choice="required")],
    counterexamples=[body(ASK, tool_choice="required"), body(ASK, parallel_tool_calls=False)],
)
def a_choice_has_tools(request: Request) -> Iterator[Finding]:
    """`tool_choice` and `parallel_tool_calls` require `tools`."""
    for key in ("tool_choice", "parallel_tool_calls"):
        if request.body.get(key) not in (None, "none"):
            problem = f"`{key}` without tools"
            yield met(f"/{key}") if request.body.get("tools") else broken(f"/{key}", problem, key=key)


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
