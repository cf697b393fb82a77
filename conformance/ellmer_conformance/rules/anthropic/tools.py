"""Declared tools, the choice among them, and strict schemas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...rule import Finding, broken, met
from ...wires.anthropic import blocks, messages, tools
from ._book import ASK, MUST, REJECT, TOOL, assistant, body, book, refused, result, use, user
from ._schemas import circle, optional_count, strict_problem, union_count

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MEASURED = "measured on the live API, 2026-08"
MATRIX = "recorded refusals (claude-sonnet-4-6)"


def _schema(**schema: Any) -> Json:
    return {"name": "add", "input_schema": schema}


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
    "REQ-012",
    MUST,
    REJECT,
    source=MEASURED,
    refusal=refused("tool_choice: {text}"),
    examples=[body(ASK, tools=[TOOL], tool_choice={"type": "any"})],
    counterexamples=[
        body(ASK, tools=[TOOL], tool_choice="auto"),
        body(ASK, tools=[TOOL], tool_choice={"type": "required"}),
    ],
)
def the_choice_is_an_object(request: Request) -> Iterator[Finding]:
    """`tool_choice` is an object of type `auto`, `any`, `tool` or `none`.

    Why: other providers write strings, and `required`. Fix: `{"type": "any"}` forces a call.
    """
    choice, tags = request.body.get("tool_choice"), "'auto', 'any', 'tool', 'none'"
    if choice is None:
        return
    if not isinstance(choice, dict):
        yield broken("/tool_choice", "it is no object", text="Input should be an object")
    elif f"'{choice.get('type')}'" not in tags:
        said = f"Input tag '{choice.get('type')}' found using 'type' does not match any of the expected tags: {tags}"
        yield broken("/tool_choice/type", f"{choice.get('type')!r} is no choice", text=said)
    else:
        yield met("/tool_choice")


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source=[MATRIX, MEASURED],
    refusal=refused("tools.{index}.custom.{text}"),
    examples=[body(ASK, tools=[TOOL, {**TOOL, "name": "noop", "input_schema": {"type": "object"}}])],
    counterexamples=[
        body(ASK, tools=[{"name": "add"}]),
        body(ASK, tools=[_schema(properties={})]),
        body(ASK, tools=[_schema(type="string")]),
        body(ASK, tools=[{"name": "add", "input_schema": True}]),
    ],
)
def input_schemas_are_objects(request: Request) -> Iterator[Finding]:
    """A tool's `input_schema` is a JSON Schema of type `object`, also where there are no arguments.

    Fix: send `{"type": "object", "properties": {}}`.
    """
    for index, pointer, tool in _custom(request.body):
        place, wrong = f"{pointer}/input_schema", _misshapen(tool)
        yield broken(place, wrong, index=index, text=wrong) if wrong else met(place)


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=MEASURED,
    refusal=refused("tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[{**TOOL, "name": "math.add"}]),
        body(ASK, tools=[{**TOOL, "name": ""}]),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """A tool's name has 1 to 128 letters, digits, `_` and `-`."""
    for index, pointer, tool in _custom(request.body):
        name, place = tool.get("name"), f"{pointer}/name"
        if isinstance(name, str):
            problem = f"{name!r} is no name"
            yield met(place) if NAME.fullmatch(name) else broken(place, problem, index=index)


@book.rule(
    "SCH-010",
    MUST,
    REJECT,
    source="https://github.com/danny-avila/LibreChat/issues/13162",
    refusal=refused("tools: Tool names must be unique."),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[TOOL, TOOL])],
)
def names_are_unique(request: Request) -> Iterator[Finding]:
    """No two tools have one name."""
    seen: set[str] = set()
    for pointer, tool in tools(request.body):
        name, place = tool.get("name"), f"{pointer}/name"
        if isinstance(name, str):
            yield broken(place, f"a second {name!r}") if name in seen else met(place)
            seen.add(name)


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=[MATRIX, MEASURED],
    refusal=refused("tools.{index}.custom: {reason}"),
    examples=[body(ASK, tools=[_strict(**_object("x", required=True))])],
    counterexamples=[
        body(ASK, tools=[_strict(**{**_object("x", required=True), "additionalProperties": True})]),
        body(ASK, tools=[_strict(type="object", properties={"x": True})]),
    ],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict tool every object sets `additionalProperties: false`, and every property has a schema.

    Fix: close the objects; replace `true` by a schema.
    """
    for index, pointer, tool in _strict_tools(request.body):
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
    """A strict tool's schema refers to itself nowhere."""
    for index, pointer, tool in _strict_tools(request.body):
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
    """Strict tools have together at most 24 optional and 16 union-typed parameters, and are at most 20.

    Fix: drop `strict` where it matters least.
    """
    strict = [tool for _, _, tool in _strict_tools(request.body)]
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


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source="a single report; requests with `mcp_servers` are known to pass without tools",
    refusal=refused("Requests which include `tool_use` or `tool_result` blocks must define tools."),
    preview=True,
    examples=[body(ASK, assistant(use("a")), user(result("a")), tools=[TOOL])],
    counterexamples=[body(ASK, assistant(use("a")), user(result("a")))],
)
def tools_stay_declared(request: Request) -> Iterator[Finding]:
    """While the history has calls and results, the tools stay declared."""
    used = any(
        block.get("type") in {"tool_use", "tool_result"}
        for pointer, message in messages(request.body)
        for _, block in blocks(message, pointer)
    )
    if used:
        declared = request.body.get("tools") or request.body.get("mcp_servers")
        yield met("/tools") if declared else broken("", "calls in the history, and no `tools`")


def _custom(request: Json) -> Iterator[tuple[int, str, Json]]:
    """The tools the client runs and describes itself; Anthropic's own have a type."""
    for index, (pointer, tool) in enumerate(tools(request)):
        if tool.get("type") in {None, "custom"}:
            yield index, pointer, tool


def _strict_tools(request: Json) -> Iterator[tuple[int, str, Json]]:
    return (found for found in _custom(request) if found[2].get("strict") is True)


def _misshapen(tool: Json) -> str | None:
    if "input_schema" not in tool:
        return "input_schema: Field required"
    schema = tool["input_schema"]
    if not isinstance(schema, dict):
        return "input_schema: Input does not match the expected shape."
    if "type" not in schema:
        return "input_schema.type: Field required"
    return None if schema["type"] == "object" else "input_schema.type: Input should be 'object'"
