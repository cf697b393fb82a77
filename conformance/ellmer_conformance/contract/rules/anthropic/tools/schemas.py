"""The input schemas of tools, strict or not: JSON Schemas of type object, of the newest draft."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....observed.exchange import Json, Request
from ....readers.anthropic import custom
from ....readers.json_access import object_of
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, book, refused
from ._grammar import invalid

KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
RECORDED = "https://github.com/Future-House/ldp/blob/3a7950fb41f11328518a4b98e79476085e213f2c"
COMBINED = ("oneOf", "allOf", "anyOf")


def _schema(**schema: Any) -> Json:
    return {"name": "add", "input_schema": schema}


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source=["recorded refusals (claude-sonnet-4-6)"],
    refusal=refused("tools.{index}.custom.{text}"),
    examples=[body(ASK, tools=[TOOL, {**TOOL, "name": "noop", "input_schema": {"type": "object"}}])],
    counterexamples=[
        body(ASK, tools=[{"name": "add"}]),
        body(ASK, tools=[{"input_schema": {"type": "object"}}]),
        body(ASK, tools=[_schema(properties={})]),
        body(ASK, tools=[_schema(type="string")]),
        body(ASK, tools=[{"name": "add", "input_schema": True}]),
    ],
)
def input_schemas_are_objects(request: Request) -> Iterator[Finding]:
    """A tool has a name and an `input_schema` of type `object`, even if it has no arguments.

    Fix: send `{"type": "object", "properties": {}}`.
    """
    for index, pointer, tool in custom(request.body):
        place, wrong = f"{pointer}/input_schema", _misshapen(tool)
        yield broken(place, wrong, index=index, text=wrong) if wrong else met(place)


@book.rule(
    "SCH-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/5973",
        "https://github.com/dearlordylord/huly-mcp/issues/66",
    ],
    refusal=refused(
        "tools.{index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
    ),
    examples=[body(ASK, tools=[_schema(type="object", properties={"x": {"anyOf": [{"type": "null"}]}})])],
    counterexamples=[body(ASK, tools=[_schema(type="object", **{key: [{}]})]) for key in COMBINED],
)
def input_schemas_are_one_object(request: Request) -> Iterator[Finding]:
    """The root of an `input_schema` is an object without `oneOf`, `anyOf` or `allOf`; its properties may use them.

    Fix: declare one object with all properties, and describe which of them belong together.
    """
    for index, pointer, tool in custom(request.body):
        found = [key for key in COMBINED if key in object_of(tool.get("input_schema"))]
        place = f"{pointer}/input_schema"
        yield broken(place, f"the root has `{found[0]}`", index=index) if found else met(place)


@book.rule(
    "SCH-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/freee/freee-mcp/issues/15",
        "https://github.com/twilio-labs/mcp/issues/49",
    ],
    refusal=refused(
        "tools.{index}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
    ),
    examples=[body(ASK, tools=[_schema(type="object", properties={"x-1.y_2": {}})])],
    counterexamples=[
        body(ASK, tools=[_schema(type="object", properties={name: {}})])
        for name in ("étage", "a/b", "x" * 65)
    ],
)
def properties_have_plain_names(request: Request) -> Iterator[Finding]:
    """The name of a tool parameter has 1 to 64 letters, digits, `_`, `.` and `-`.

    Fix: rename the parameter, and map the name back before the tool is run.
    """
    for index, pointer, tool in custom(request.body):
        place = f"{pointer}/input_schema/properties"
        for name in object_of(object_of(tool.get("input_schema")).get("properties")):
            yield (
                met(place)
                if KEY.fullmatch(name)
                else broken(place, f"{name!r} is not a valid name", index=index)
            )


@book.rule(
    "SCH-018",
    MUST,
    REJECT,
    source=[
        "https://github.com/acomagu/vscode-as-mcp-server/issues/6",
        f"{RECORDED}/tests/cassettes/TestLLMModel.test_output_type_rejected_validation.yaml",
    ],
    refusal=refused(
        "tools.{index}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
        "(https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use."
    ),
    formerly=[
        refused(
            "tools.{index}.input_schema: JSON schema is invalid - please consult https://json-schema.org or our "
            "documentation at https://docs.anthropic.com/en/docs/tool-use"
        )
    ],
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_schema(type="object", properties={"x": wrong})])
        for wrong in (
            {"type": "array", "items": [{"type": "string"}]},
            {"type": "integer", "exclusiveMinimum": True},
            {"type": "string", "required": True},
            {"type": "any"},
            {"type": "object", "additionalProperties": [False]},
            {"type": "string", "description": ["A name."]},
            None,
        )
    ],
)
def schemas_are_of_the_newest_draft(request: Request) -> Iterator[Finding]:
    """A tool's `input_schema` is valid in draft 2020-12 of JSON Schema.

    Why: older drafts allowed a list as `items`, and booleans as `exclusiveMinimum` and `required`. Fix: use
    `prefixItems`, a number, and a list of names in the object.
    """
    for index, pointer, tool in custom(request.body):
        problem, place = invalid(tool.get("input_schema")), f"{pointer}/input_schema"
        yield broken(place, problem, index=index) if problem else met(place)


def _misshapen(tool: Json) -> str | None:
    if "name" not in tool:
        return "name: Field required"
    if "input_schema" not in tool:
        return "input_schema: Field required"
    schema = tool["input_schema"]
    if not isinstance(schema, dict):
        return "input_schema: Input does not match the expected shape."
    if "type" not in schema:
        return "input_schema.type: Field required"
    return None if schema["type"] == "object" else "input_schema.type: Input should be 'object'"
