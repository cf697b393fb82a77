"""Strict schemas: the keywords that the grammar compiler accepts, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....exchange import Json, Request
from ....rule import Finding, broken, met
from .._rulebook import ASK, MUST, REJECT, body, book, refused
from ._client_tools import custom
from ._grammar import circle, optional_count, strict_problem, union_count

MATRIX = "recorded refusals (claude-sonnet-4-6)"


def _strict(name: str = "add", /, **schema: Any) -> Json:
    return {"name": name, "strict": True, "input_schema": {"additionalProperties": False, **schema}}


def _object(*names: str, required: bool, kind: Any = "number") -> Json:
    properties = {name: {"type": kind} for name in names}
    return {"type": "object", "properties": properties, "required": list(names) if required else []}


MANY = [f"p{i}" for i in range(25)]
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
    source=MATRIX,
    refusal=refused("tools.{index}.custom: {reason}"),
    examples=[body(ASK, tools=[_strict(**_object("x", required=True))])],
    counterexamples=[
        body(ASK, tools=[_strict(**{**_object("x", required=True), "additionalProperties": True})]),
        body(ASK, tools=[_strict(type="object", properties={"x": True})]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict tool, every object sets `additionalProperties: false` and every property has a schema.

    Fix: set `additionalProperties: false`, and replace `true` by a schema.
    """
    for index, pointer, tool in _tools(request.body):
        reason = strict_problem(tool.get("input_schema"))
        place = f"{pointer}/input_schema"
        yield broken(place, reason, index=index, reason=reason) if reason else met(place)


@book.rule(
    "SCH-011",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused(
        "tools.{index}.custom: Invalid schema: Circular reference detected in schema definitions: {circle}. "
        "Self-referencing or mutually-referencing definitions are not supported."
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
    """The schema of a strict tool is not recursive."""
    for index, pointer, tool in _tools(request.body):
        found, place = circle(tool.get("input_schema")), f"{pointer}/input_schema"
        shown = " -> ".join(found)
        yield broken(place, f"it goes round: {shown}", index=index, circle=shown) if found else met(place)


@book.rule(
    "SCH-012",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused("{text}"),
    examples=[body(ASK, tools=[_strict(**_object(*MANY[:24], required=False))])],
    counterexamples=[
        body(ASK, tools=[_strict(**_object(*MANY, required=False))]),
        body(ASK, tools=[_strict(**_object(*MANY[:17], required=True, kind=["number", "null"]))]),
        body(ASK, tools=[_strict(f"t{i}", **_object("x", required=True)) for i in range(21)]),
    ],
)
def strict_tools_are_few(request: Request) -> Iterator[Finding]:
    """A request has at most 20 strict tools, with at most 24 optional and 16 union-typed parameters in all.

    Fix: remove `strict` from the tools that need it least.
    """
    strict = [tool for _, _, tool in _tools(request.body)]
    if not strict:
        return
    schemas = [tool.get("input_schema") for tool in strict]
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


def _tools(request: Json) -> Iterator[tuple[int, str, Json]]:
    return (found for found in custom(request) if found[2].get("strict") is True)
