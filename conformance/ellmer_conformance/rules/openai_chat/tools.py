"""Declared tools, strict schemas, and the format of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...rule import Finding, broken, met
from ...wires.openai_chat import messages, text, tools
from .._openai import MISNAMED, TOO_LONG, misnamed, refused, schema_problems, strict_findings, too_long
from ._book import ASK, MUST, REJECT, TOOL, body, book

SPEC = "https://github.com/openai/openai-openapi (FunctionObject)"


def _tool(**function: Any) -> Json:
    return {"type": "function", "function": {"name": "add", **function}}


def _format(schema: Json, *, strict: bool = True) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "sum", "schema": schema, "strict": strict}}


OPEN: Json = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
CLOSED: Json = {**OPEN, "additionalProperties": False}


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=SPEC,
    refusal=MISNAMED,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[_tool(name="add numbers")]), body(ASK, tools=[_tool(name="math.add")])],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """A function's name has letters, digits, `_` and `-` only.

    Fix: map other names, and map them back when the model calls.
    """
    for pointer, function in _functions(request.body):
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
    """A function's name has at most 64 characters."""
    for pointer, function in _functions(request.body):
        yield from too_long(function.get("name"), f"{pointer}/name", 64)


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o-mini, gpt-3.5-turbo)",
    refusal=refused(
        "Invalid schema for function '{name}': {reason}",
        code="invalid_function_parameters",
        param="{path}",
    ),
    examples=[body(ASK, tools=[TOOL, _tool(), _tool(parameters={"type": "object", "properties": {}})])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters={"type": "object"})]),
        body(ASK, tools=[_tool(parameters={"x": {"type": "number"}})]),
    ],
)
def parameters_are_an_object(request: Request) -> Iterator[Finding]:
    """A function's parameters, where given, are a schema of an object with properties.

    Fix: for a tool without arguments leave `parameters` out, or send `{"type": "object", "properties": {}}`.
    """
    for pointer, function in _functions(request.body):
        yield from schema_problems(function, f"{pointer}/parameters")


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o-mini, gpt-4-turbo, gpt-4)",
    refusal=refused(
        "Invalid schema for function '{name}': {reason}",
        code="invalid_function_parameters",
        param="{path}",
    ),
    examples=[body(ASK, tools=[_tool(parameters=CLOSED, strict=True), _tool(parameters=OPEN)])],
    counterexamples=[
        body(ASK, tools=[_tool(parameters=OPEN, strict=True)]),
        body(ASK, tools=[_tool(parameters={**CLOSED, "required": []}, strict=True)]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict function, every object is closed and requires all its properties.

    Fix: set `additionalProperties: false`; make an optional property nullable and require it.
    """
    for pointer, function in _functions(request.body):
        if function.get("strict") is True:
            place = f"{pointer}/parameters"
            yield from strict_findings(function.get("name"), function.get("parameters"), place)


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o-mini)",
    refusal=refused("Invalid schema for response_format '{name}': {reason}", param="response_format"),
    examples=[
        body(ASK, response_format=_format(CLOSED)),
        body(ASK, response_format=_format(OPEN, strict=False)),
    ],
    counterexamples=[body(ASK, response_format=_format(OPEN))],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, every object is closed and requires all its properties."""
    format = request.body.get("response_format")
    schema = format.get("json_schema") if isinstance(format, dict) else None
    if isinstance(schema, dict) and schema.get("strict") is True:
        place = "/response_format/json_schema/schema"
        yield from strict_findings(schema.get("name"), schema.get("schema"), place)


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusals (gpt-audio)",
    refusal=refused(
        "Invalid parameter: 'response_format' of type '{type}' is not supported with this model.{more}",
        param="{param}",
    ),
    models=["gpt-audio*"],
    examples=[body(ASK, model="gpt-audio", modalities=["text", "audio"])],
    counterexamples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"], response_format={"type": "json_object"})
    ],
)
def audio_models_have_no_format(request: Request) -> Iterator[Finding]:
    """An audio model has no structured output."""
    format = request.body.get("response_format")
    kind = format.get("type") if isinstance(format, dict) else None
    if kind not in {"json_object", "json_schema"}:
        yield met("/response_format")
        return
    guide = "https://platform.openai.com/docs/guides/structured-outputs"
    more = f" Learn more about supported models at the Structured Outputs guide: {guide}"
    schema = kind == "json_schema"
    yield broken(
        "/response_format",
        f"this model does not do {kind}",
        type=kind,
        more=more if schema else "",
        param=None if schema else "response_format",
    )


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source="the Responses API refuses the same, recorded; the wording here is from memory",
    refusal=refused(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        param="messages",
    ),
    preview=True,
    examples=[body({"role": "user", "content": "Answer in JSON."}, response_format={"type": "json_object"})],
    counterexamples=[body(ASK, response_format={"type": "json_object"})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """Where the format is `json_object`, the word "json" is in the messages."""
    format = request.body.get("response_format")
    if isinstance(format, dict) and format.get("type") == "json_object":
        said = any("json" in text(message.get("content")).lower() for _, message in messages(request.body))
        yield met("/response_format") if said else broken("/messages", 'no message has the word "json"')


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source="from memory",
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
    """Where there are no tools, there is no `tools`."""
    if isinstance(request.body.get("tools"), list):
        yield met("/tools") if request.body["tools"] else broken("/tools", "the list of tools is empty")


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source="from memory",
    refusal=refused(
        "Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified.", param="{key}"
    ),
    preview=True,
    examples=[body(ASK, tools=[TOOL], tool_choice="required")],
    counterexamples=[body(ASK, tool_choice="required"), body(ASK, parallel_tool_calls=False)],
)
def a_choice_has_tools(request: Request) -> Iterator[Finding]:
    """`tool_choice` and `parallel_tool_calls` come with `tools`."""
    for key in ("tool_choice", "parallel_tool_calls"):
        if request.body.get(key) not in (None, "none"):
            problem = f"`{key}` without tools"
            yield met(f"/{key}") if request.body.get("tools") else broken(f"/{key}", problem, key=key)


def _functions(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, tool in tools(request):
        if isinstance(tool.get("function"), dict):
            yield f"{pointer}/function", tool["function"]
