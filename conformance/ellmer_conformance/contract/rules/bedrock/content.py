"""Content and schemas, for which Bedrock has its own error texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...readers.bedrock import blocks, messages
from ...rule import Finding, broken, met
from ._blocks import specs
from ._rulebook import (
    ASK,
    MUST,
    REJECT,
    SCHEMA,
    TOOLS,
    assistant,
    body,
    book,
    dotted,
    loop,
    refused,
    result,
    spec,
    use,
    user,
)


@book.rule(
    "SCH-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/cognitect-labs/aws-api/issues/272",
        "https://github.com/earendil-works/pi/issues/8279",
        "https://github.com/aws/aws-sdk-net/issues/3377",
    ],
    refusal=refused("{text}"),
    examples=[body(ASK, toolConfig=spec(inputSchema={"json": {"type": "object"}}))],
    counterexamples=[
        body(ASK, toolConfig=spec(inputSchema={"json": {}})),
        body(ASK, toolConfig=spec(inputSchema={"json": {"oneOf": [SCHEMA]}})),
        body(ASK, toolConfig=spec(inputSchema={"json": '{"type": "object"}'})),
    ],
)
def input_schemas_are_objects(request: Request) -> Iterator[Finding]:
    """The schema of a tool is a JSON Schema of type `object`, even if the tool has no arguments.

    Fix: send `{"type": "object", "properties": {}}`.
    """
    for pointer, tool in specs(request.body):
        schema = tool.get("inputSchema")
        if not isinstance(schema, dict) or "json" not in schema:
            continue
        place, found = f"{pointer}/inputSchema/json", schema["json"]
        if not isinstance(found, dict):
            yield _not_an_object(place)
        elif found.get("type") != "object":
            text = f"The value at {dotted(place)}.type must be one of the following: object."
            yield broken(place, "the schema is not of type object", text=text)
        else:
            yield met(place)


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source=["https://github.com/vercel/ai/pull/19023", "https://github.com/aws/aws-sdk-js-v3/issues/7330"],
    refusal=refused("{text}"),
    examples=[loop(result("a", {"json": {"sum": 5}}))],
    counterexamples=[
        body(ASK, assistant(use("a", input='{"x": 2}')), user(result("a")), toolConfig=TOOLS),
        loop(result("a", {"json": [5]})),
    ],
)
def json_is_an_object(request: Request) -> Iterator[Finding]:
    """The `input` of a call and the `json` of a result are objects, not text, lists or numbers.

    Fix: send other values as text. For arguments that were not valid JSON, send an object that says so.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            for where, value in _documents(block, place):
                yield met(where) if isinstance(value, dict) else _not_an_object(where)


@book.rule(
    "EMP-004",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/pull/3443",
        "https://github.com/archestra-ai/archestra/pull/4220",
    ],
    refusal=refused(
        "The content field in the Message object at {place} is empty. Add a ContentBlock object to the content field "
        "and try again."
    ),
    examples=[body(ASK)],
    counterexamples=[body(user()), body(ASK, assistant(), ASK)],
)
def messages_have_content(request: Request) -> Iterator[Finding]:
    """Every message has content, including assistant messages.

    Fix: leave out an answer that is empty.
    """
    for pointer, message in messages(request.body):
        if isinstance(message.get("content"), list):
            empty = not message["content"]
            yield broken(pointer, "the message is empty", place=dotted(pointer)) if empty else met(pointer)


@book.rule(
    "EMP-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/55092",
        "https://github.com/aws-samples/bedrock-engineer/issues/8",
    ],
    refusal=refused(
        "The text field in the ContentBlock object at {place} is blank. Add text to the text field, and try again."
    ),
    examples=[body(ASK, assistant("5"), user("Thanks."))],
    counterexamples=[body(user("")), body(ASK, assistant("", use("a")), user(result("a")), toolConfig=TOOLS)],
)
def text_blocks_have_text(request: Request) -> Iterator[Finding]:
    """A text block is not empty, even if the model produced it.

    Fix: remove empty blocks before you send an answer back.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            if isinstance(block.get("text"), str):
                said = block["text"]
                yield met(place) if said else broken(place, "the text is empty", place=dotted(place))


def _not_an_object(pointer: str) -> Finding:
    """Returns a finding for JSON that is not an object."""
    text = f"The format of the value at {dotted(pointer)} is invalid. Provide a json object for the field and try again."
    return broken(pointer, "the value is not an object", text=text)


def _documents(block: Json, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yields the free-form JSON of a block, each with its pointer."""
    match block:
        case {"toolUse": {"input": value}}:
            yield f"{pointer}/toolUse/input", value
        case {"toolResult": dict(result)}:
            for place, part in blocks(result, f"{pointer}/toolResult"):
                if "json" in part:
                    yield f"{place}/json", part["json"]
