"""Strict schemas: the keywords that the grammar compiler accepts, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....observed.exchange import Json, Request
from ....readers.anthropic import answer_formats, custom
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, body, book, refused
from ._grammar import circle, enum_problem, lost, optional_count, strict_problem, union_count

MATRIX = "recorded refusals (claude-sonnet-4-6)"
_LOST = "https://github.com/langchain4j/langchain4j/pull/5097 (a `$ref` that leads nowhere)"


def _strict(name: str = "add", /, **schema: Any) -> Json:
    return {"name": name, "strict": True, "input_schema": {"additionalProperties": False, **schema}}


def _object(*names: str, required: bool, kind: Any = "number") -> Json:
    properties = {name: {"type": kind} for name in names}
    return {"type": "object", "properties": properties, "required": list(names) if required else []}


def _answer(**schema: Any) -> Json:
    return {"format": {"type": "json_schema", "schema": {"additionalProperties": False, **schema}}}


_CIRCULAR = "Self-referencing or mutually-referencing definitions are not supported."
MANY = [f"p{i}" for i in range(25)]
NULLABLE_ENUM: Json = {
    "type": "object",
    "properties": {"x": {"type": ["string", "null"], "enum": ["a", None]}},
    "required": ["x"],
}
NODE: Json = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/Node"}},
    "required": ["next"],
    "additionalProperties": False,
}


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=[MATRIX, _LOST],
    refusal=refused("tools.{index}.custom: {reason}"),
    examples=[body(ASK, tools=[_strict(**_object("x", required=True))])],
    counterexamples=[
        body(ASK, tools=[_strict(**{**_object("x", required=True), "additionalProperties": True})]),
        body(ASK, tools=[_strict(type="object", properties={"x": True})]),
        body(ASK, tools=[_strict(**NODE)]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict tool, every object sets `additionalProperties: false`, every property has a schema, and every `$ref` leads
    to a definition.

    Fix: set `additionalProperties: false`, replace `true` by a schema, and send `$defs` along.
    """
    for index, pointer, tool in _tools(request.body):
        schema = tool.get("input_schema")
        reason = lost(schema) or strict_problem(schema)
        place = f"{pointer}/input_schema"
        yield broken(place, reason, index=index, reason=reason) if reason else met(place)


@book.rule(
    "SCH-011",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused(
        f"tools.{{index}}.custom: Invalid schema: Circular reference detected in schema definitions: {{circle}}. {_CIRCULAR}"
    ),
    examples=[body(ASK, tools=[_strict(**_object("x", required=True))])],
    counterexamples=[
        body(
            ASK,
            tools=[{"name": "add", "strict": True, "input_schema": {**NODE, "$defs": {"Node": NODE}}}],
        )
    ],
)
def strict_schemas_end(request: Request) -> Iterator[Finding]:
    """The schema of a strict tool is not recursive.

    Fix: unroll the schema to a fixed depth, or leave `strict` out.
    """
    for index, pointer, tool in _tools(request.body):
        found, place = circle(tool.get("input_schema")), f"{pointer}/input_schema"
        shown = " -> ".join(found)
        yield (
            broken(place, f"the schema is recursive: {shown}", index=index, circle=shown)
            if found
            else met(place)
        )


@book.rule(
    "SCH-012",
    MUST,
    REJECT,
    source=[MATRIX, "https://github.com/vercel/ai/issues/13789 (schemas that are too large together)"],
    refusal=refused("{text}"),
    formerly=[
        refused(
            "The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or "
            "reduce the number of strict tools."
        )
    ],
    examples=[body(ASK, tools=[_strict(**_object(*MANY[:24], required=False))])],
    counterexamples=[
        body(ASK, tools=[_strict(**_object(*MANY, required=False))]),
        body(ASK, tools=[_strict(**_object(*MANY[:17], required=True, kind=["number", "null"]))]),
        body(ASK, tools=[_strict(f"t{i}", **_object("x", required=True)) for i in range(21)]),
        body(ASK, model="claude-sonnet-5", output_config=_answer(**_object(*MANY, required=False))),
    ],
)
def strict_tools_are_few(request: Request) -> Iterator[Finding]:
    """A request has at most 20 strict tools. These tools and the output schema together have at most 24 optional and
    16 union-typed parameters.

    Fix: remove `strict` from the tools that need it least, or require the properties of the answer.
    """
    strict = [tool for _, _, tool in _tools(request.body)]
    schemas = [*(tool.get("input_schema") for tool in strict), *_answers(request.body)]
    if not schemas:
        return
    optional, unions = sum(map(optional_count, schemas)), sum(map(union_count, schemas))
    texts = []
    if len(strict) > 20:
        texts.append(
            f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported is 20. "
            "Try reducing the number of tools marked as strict."
        )
    if optional > 24:
        texts.append(
            f"Schemas contains too many optional parameters ({optional}), which would make grammar compilation "
            "inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24)."
        )
    if unions > 16:
        texts.append(
            f"Schemas contains too many parameters with union types ({unions} parameters with type arrays or anyOf). "
            "This causes exponential compilation cost. Reduce the number of nullable or union-typed parameters "
            "(limit: 16 parameters with unions)."
        )
    for text in texts:
        yield broken("/tools", text, text=text)
    if not texts:
        yield met("/tools")


@book.rule(
    "SCH-023",
    MUST,
    REJECT,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
        _LOST,
    ],
    refusal=refused("output_config.format.schema: {reason}"),
    examples=[body(ASK, model="claude-sonnet-5", output_config=_answer(**_object("x", required=True)))],
    counterexamples=[
        body(ASK, model="claude-sonnet-5", output_config=_answer(**NULLABLE_ENUM)),
        body(ASK, model="claude-sonnet-5", output_config=_answer(**{**NODE, "$defs": {"Node": NODE}})),
        body(ASK, model="claude-sonnet-5", output_config=_answer(**NODE)),
    ],
)
def answers_have_a_schema_that_compiles(request: Request) -> Iterator[Finding]:
    """The schema of `output_config.format` is not recursive, every `$ref` leads to a definition, and the values of an enum have one type.

    Fix: write a nullable enum as `anyOf`.
    """
    for schema in _answers(request.body):
        round_trip = " -> ".join(circle(schema))
        reason = lost(schema) or enum_problem(schema)
        if round_trip:
            reason = f"Invalid schema: Circular reference detected in schema definitions: {round_trip}. {_CIRCULAR}"
        place = "/output_config/format/schema"
        yield broken(place, reason, reason=reason) if reason else met(place)


def _answers(request: Json) -> list[Json]:
    """Returns the schema of the answer, if one is requested."""
    form = dict(answer_formats(request)).get("output_config.format", {})
    schema = form.get("schema")
    return [schema] if form.get("type") == "json_schema" and isinstance(schema, dict) else []


def _tools(request: Json) -> Iterator[tuple[int, str, Json]]:
    return (found for found in custom(request) if found[2].get("strict") is True)
