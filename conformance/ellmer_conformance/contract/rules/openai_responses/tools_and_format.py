"""Declared functions, their names and schemas; the format of the answer; and tools that OpenAI runs: models that lack
them or require them, and the choice of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...observed.exchange import Json, Request
from ...readers import openai_responses as wire
from ...readers.json_access import items_of, object_of
from ...rule import Finding, broken, met
from .._openai.refusals import WORDED, path, refused
from .._openai.schemas import (
    ARRAYS,
    CLOSED,
    COMPOSED,
    OPEN,
    ROOTS,
    SCHEMA,
    STRICT,
    arrays_say_of_what,
    names_are_plain,
    one_property,
    parameters_are_an_object,
    strict_findings,
    strict_tools_are_closed,
)
from ._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, book, call, output

SPEC = "https://github.com/openai/openai-openapi (FunctionToolParam)"


def _tool(**more: Any) -> Json:
    return {"type": "function", "name": "add", **more}


def _functions(request: Json) -> Iterator[tuple[str, Json]]:
    return ((pointer, tool) for pointer, tool in wire.tools(request) if tool.get("type") == "function")


def _named(request: Json) -> Iterator[tuple[str, Json]]:
    """Yields the declared functions, and earlier calls."""
    yield from _functions(request)
    yield from (
        (pointer, item) for pointer, item in wire.items(request) if wire.type_of(item) == "function_call"
    )


book.rule(
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
)(names_are_plain(_named))


book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-3.5-turbo)",
    refusal=SCHEMA,
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[_tool(parameters={"x": {"type": "number"}})])],
)(parameters_are_an_object(_functions))


book.rule(
    "SCH-020",
    MUST,
    REJECT,
    source=ARRAYS,
    refusal=SCHEMA,
    examples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array", "items": {}}))])],
    counterexamples=[body(ASK, tools=[_tool(parameters=one_property({"type": "array"}))])],
)(arrays_say_of_what(_functions))


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


book.rule(
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
)(strict_tools_are_closed(_functions))


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
    """A function in `tool_choice` is one of the declared functions.

    Fix: check the name against the declared functions, and raise an error that lists them.
    """
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


OLD = ["gpt-3.5*", "gpt-4", "gpt-4-*"]


def _text(schema: Json, **more: Any) -> Json:
    return {"format": {"type": "json_schema", "name": "sum", "schema": schema, **more}}


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4o-mini)", ROOTS, *STRICT],
    refusal=refused(
        "Invalid schema for response_format '{name}': {reason}",
        code="invalid_json_schema",
        param="text.format.schema",
    ),
    examples=[body(ASK, text=_text(CLOSED, strict=True)), body(ASK, text=_text(OPEN, strict=False))],
    counterexamples=[
        body(ASK, text=_text(OPEN, strict=True)),
        body(ASK, text=_text({"type": "array", "items": {"type": "string"}}, strict=True)),
        body(ASK, text=_text(one_property({"type": "string"}) | {"required": []}, strict=True)),
        body(ASK, text=_text(one_property({"$ref": "#", "description": "A sum."}), strict=True)),
    ],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, the root is an object, and every object sets `additionalProperties: false` and
    requires all its properties.

    A `$ref` has no description, default or title beside it, and no string has the format `uri`. Fix: close every object
    of the schema before you send it, and make optional properties nullable; or set `strict: false`.
    """
    format = wire.format_of(request.body)
    if format.get("type") == "json_schema" and format.get("strict") is True:
        yield from strict_findings(format.get("name"), format.get("schema"), "/text/format/schema")


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4-turbo)",
    refusal=refused(
        "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `{model}`.",
        param="text.format",
    ),
    models=OLD,
    examples=[body(ASK, model="gpt-4-turbo")],
    counterexamples=[body(ASK, model="gpt-4-turbo", text=_text(CLOSED, strict=True))],
)
def old_models_have_no_schema(request: Request) -> Iterator[Finding]:
    """Models before gpt-4o do not support `json_schema`.

    Fix: offer the schema as a function, or ask for JSON in words.
    """
    asked = wire.format_of(request.body).get("type") == "json_schema"
    problem = "this model does not support `json_schema`"
    yield broken("/text/format", problem, model=request.model) if asked else met("/model")


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o)",
    refusal=refused(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        param="input",
    ),
    examples=[
        body({"role": "user", "content": "Answer in JSON."}, text={"format": {"type": "json_object"}}),
        body(ASK, previous_response_id="resp_1", text={"format": {"type": "json_object"}}),
    ],
    counterexamples=[body(ASK, instructions="Answer in JSON.", text={"format": {"type": "json_object"}})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the input contains the word "json"; the instructions do not count.

    Fix: write into a message of the input that the answer is JSON.
    """
    if wire.format_of(request.body).get("type") == "json_object":
        more = any(request.body.get(key) for key in ("previous_response_id", "conversation", "prompt"))
        fine = any("json" in item.text.lower() for item in wire.read(request) if item.turn >= 0)
        yield met("/text/format") if fine or more else broken("/input", 'the input has no word "json"')


HOSTED = ("web_search", "web_search_preview", "file_search", "image_generation", "code_interpreter")


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4)",
    refusal=refused("Hosted tool '{type}' is not supported with {model}.", param="tools"),
    models=["gpt-4", "gpt-4-0613"],
    examples=[body(ASK, model="gpt-4", tools=[TOOL])],
    counterexamples=[body(ASK, model="gpt-4", tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}])],
)
def old_models_have_no_hosted_tools(request: Request) -> Iterator[Finding]:
    """The first GPT-4 does not support hosted tools.

    Fix: leave the hosted tools out, or take a newer model.
    """
    for pointer, tool in wire.tools(request.body):
        kind = tool.get("type")
        hosted = kind == "file_search"
        problem = f"this model has no {kind}"
        yield broken(pointer, problem, type=kind, model=request.model) if hosted else met(pointer)


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="recorded refusals (o3-deep-research)",
    refusal=refused("{text}", param="tools"),
    models=["*-deep-research*"],
    examples=[body(ASK, model="o3-deep-research", tools=[{"type": "web_search_preview"}])],
    counterexamples=[
        body(ASK, model="o3-deep-research"),
        body(ASK, model="o3-deep-research", tools=[{"type": "web_search_preview"}, TOOL]),
    ],
)
def research_has_sources(request: Request) -> Iterator[Finding]:
    """A request to a deep research model has a search tool and no client tools.

    Fix: declare `web_search`, `file_search` or an MCP server, and no functions.
    """
    kinds = [str(tool.get("type")) for _, tool in wire.tools(request.body)]
    sources = ("web_search", "mcp", "file_search")
    if any(not kind.startswith((*sources, "code_interpreter")) for kind in kinds):
        only = "'web_search_preview', 'code_interpreter', 'mcp', and 'file_search'"
        yield broken(
            "/tools",
            "the model does not support one of the tools",
            text=f"Deep research models only support the {only} tools.",
        )
    elif not any(kind.startswith(sources) for kind in kinds):
        names = "'web_search_preview', 'mcp', or 'file_search'"
        text = f"Deep research models require at least one of {names} tools."
        yield broken("/tools", "the request has no search tool", text=text)
    else:
        yield met("/tools")


@book.rule(
    "REQ-044",
    MUST,
    REJECT,
    source=[
        "https://github.com/Wei-Shaw/sub2api/issues/4767",
        "https://github.com/router-for-me/CLIProxyAPI/issues/3036",
    ],
    refusal=refused("Tool choice '{type}' not found in 'tools' parameter.", param="tool_choice"),
    examples=[body(ASK, tools=[{"type": "web_search"}], tool_choice={"type": "web_search"})],
    counterexamples=[body(ASK, tools=[TOOL], tool_choice={"type": "image_generation"})],
)
def what_is_chosen_is_there(request: Request) -> Iterator[Finding]:
    """A hosted tool in `tool_choice` is one of the declared tools.

    A stored prompt may have tools of its own; such requests are not judged. Fix: add the tool to `tools`, or do not
    choose it.
    """
    kind = object_of(request.body.get("tool_choice")).get("type")
    if kind in HOSTED and not request.body.get("prompt"):
        family = str(kind).partition("_preview")[0]
        there = any(str(tool.get("type")).startswith(family) for _, tool in wire.tools(request.body))
        yield met("/tool_choice") if there else broken("/tool_choice", f"no tool is {kind}", type=kind)
