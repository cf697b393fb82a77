"""The constraints of the service model, which the service checks first and reports in one form; then content and schemas,
for which Bedrock has its own error texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...counts import listed
from ...observed.exchange import Json, Request
from ...readers.bedrock import FORMATS, blocks, media_of, messages, specs
from ...readers.json_access import elements, object_of
from ...rule import Finding, broken, met
from ._refusals_and_examples import (
    ASK,
    CONSTRAINT,
    IMAGE,
    MUST,
    PDF,
    REJECT,
    SCHEMA,
    SPEC,
    TOOLS,
    assistant,
    body,
    book,
    dotted,
    loop,
    refused,
    result,
    spec,
    unfit,
    use,
    user,
)

NAME = re.compile(r"[a-zA-Z0-9_-]+")
ID = re.compile(r"[a-zA-Z0-9_.:-]+")


@book.rule(
    "REQ-005",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[body(ASK, assistant("5"), ASK)],
    counterexamples=[body({"role": "tool", "content": [{"text": "5"}]})],
)
def roles_are_known(request: Request) -> Iterator[Finding]:
    """The role of a message is `user`, `assistant` or `system`.

    Fix: send results of tools as `user`, and the system prompt in `system`.
    """
    for pointer, message in messages(request.body):
        role, place = message.get("role"), f"{pointer}/role"
        if isinstance(role, str):
            must = "satisfy enum value set: [user, assistant, system]"
            fine = role in {"user", "assistant", "system"}
            yield met(place) if fine else unfit(place, f"{role!r} is not a role", must, role)


@book.rule(
    "REQ-010",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[loop(result("a"))],
    counterexamples=[
        body({"content": [{"text": "Hi"}]}),
        body({"role": "user"}),
        loop({"toolResult": {"content": [{"text": "5"}]}}),
        body(ASK, toolConfig={"tools": [{"toolSpec": {"name": "add"}}]}),
    ],
)
def required_fields_are_there(request: Request) -> Iterator[Finding]:
    """Messages, tool calls, tool results and tools have all their required fields.

    Fix: add the field that the error names.
    """
    for pointer, value, keys in _requirements(request.body):
        for key in keys:
            place = f"{pointer}/{key}"
            fine = value.get(key) is not None
            yield met(place) if fine else _null(place)


_TOOL_KEYS = ("toolSpec", "systemTool", "modelTool", "cachePoint")
_BLOCK_KEYS = (
    *("text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint"),
    *("reasoningContent", "citationsContent", "searchResult"),
)


@book.rule(
    "REQ-033",
    MUST,
    REJECT,
    source=["https://github.com/envoyproxy/ai-gateway/pull/2476", SPEC],
    refusal=refused("The value at {path} can only set one of the following keys: {keys}."),
    examples=[
        body(ASK, toolConfig={"tools": [*TOOLS["tools"], {"cachePoint": {"type": "default"}}]}),
        body(user("Hi", {"cachePoint": {"type": "default"}})),
    ],
    counterexamples=[
        body(ASK, toolConfig={"tools": [{**TOOLS["tools"][0], "cachePoint": {"type": "default"}}]}),
        body(ASK, toolConfig={"tools": [*TOOLS["tools"], {"toolSpec": None, "cachePoint": {}}]}),
        body(user({"text": "Hi", "cachePoint": {"type": "default"}})),
    ],
)
def alternatives_exclude_each_other(request: Request) -> Iterator[Finding]:
    """A tool of the list and a block of a message have one of their alternatives, such as `toolSpec` or `cachePoint`. A key with null counts, too.

    Fix: put a cache point into an element of its own.
    """
    tools = elements(object_of(request.body.get("toolConfig")).get("tools"), "/toolConfig/tools")
    found = (block for pointer, message in messages(request.body) for block in blocks(message, pointer))
    for known, each in ((_TOOL_KEYS, tools), (_BLOCK_KEYS, found)):
        for place, value in each:
            told = [key for key in known if key in value]
            keys = f"{', '.join(known[:-1])}, or {known[-1]}"
            fine = len(told) <= 1
            yield (
                met(place) if fine else broken(place, f"it has {listed(told)}", path=dotted(place), keys=keys)
            )


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/aws-samples/remote-swe-agents/pull/457",
        "https://github.com/openclaw/openclaw/issues/12892",
        SPEC,
    ],
    refusal=CONSTRAINT,
    examples=[body(ASK, toolConfig=TOOLS)],
    counterexamples=[
        body(ASK, toolConfig=spec(name="Add numbers")),
        body(ASK, toolConfig=spec(name="a" * 65)),
        body(ASK, assistant(use("a", name="math.add")), user(result("a")), toolConfig=TOOLS),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a tool has 1 to 64 letters, digits, `_` and `-`, in its declaration and in every call.

    Fix: map other names to valid ones, also in the history.
    """
    for place, name in _names(request.body):
        yield from _fits(place, name, NAME, 64)


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=[SPEC, "https://github.com/run-llama/llama_index/pull/22775"],
    refusal=CONSTRAINT,
    examples=[loop(result("tooluse_1"), calls=("tooluse_1",)), loop(result("fc:0.a"), calls=("fc:0.a",))],
    counterexamples=[
        loop(result("call|1"), calls=("call|1",)),
        loop(result(""), calls=("",)),
        loop(result("a" * 65), calls=("a" * 65,)),
    ],
)
def ids_are_plain(request: Request) -> Iterator[Finding]:
    """The id of a tool call has 1 to 64 letters, digits, `_`, `.`, `:` and `-`.

    Fix: map ids of other providers, in the call and in its result.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            for kind in ("toolUse", "toolResult"):
                if isinstance(block.get(kind), dict):
                    yield from _fits(f"{place}/{kind}/toolUseId", block[kind].get("toolUseId"), ID, 64)


@book.rule(
    "IMG-006",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[body(user(IMAGE, "What is this?")), body(user(PDF, "Sum it up."))],
    counterexamples=[
        body(user({"image": {**IMAGE["image"], "format": "image/png"}})),
        body(user({"image": {**IMAGE["image"], "format": "jpg"}})),
        body(user("Sum it up.", {"document": {**PDF["document"], "format": "application/pdf"}})),
    ],
)
def formats_are_known(request: Request) -> Iterator[Finding]:
    """The `format` of an image is `png`, `jpeg`, `gif` or `webp`; a document has a list of its own.

    Why: the value is neither a media type nor a file extension. Videos are exempt: `video/mp4` was recorded
    as accepted. Fix: send `jpeg`, not `jpg` or `image/jpeg`.
    """
    for pointer, kind, media in media_of(request.body):
        value, place = media.get("format"), f"{pointer}/{kind}/format"
        if isinstance(value, str) and kind != "video":
            must = f"satisfy enum value set: [{', '.join(FORMATS[kind])}]"
            fine = value in FORMATS[kind]
            yield met(place) if fine else unfit(place, f"{value!r} is not a format", must, value)


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[
        body(ASK, inferenceConfig={"temperature": 1, "maxTokens": 1}),
        body(ASK, inferenceConfig={"topP": 0.9}),
    ],
    counterexamples=[
        body(ASK, inferenceConfig={"temperature": 1.5}),
        body(ASK, inferenceConfig={"topP": -0.1}),
        body(ASK, inferenceConfig={"maxTokens": 0}),
    ],
)
def numbers_are_in_range(request: Request) -> Iterator[Finding]:
    """`temperature` and `topP` are between 0 and 1, and `maxTokens` is at least 1.

    Fix: check the caller's value before the request, and say that 1 is the highest here.
    """
    config = request.body.get("inferenceConfig")
    for key, low, high in (("temperature", 0, 1), ("topP", 0, 1), ("maxTokens", 1, None)):
        value = config.get(key) if isinstance(config, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield _in_range(f"/inferenceConfig/{key}", value, low, high)


@book.rule(
    "SCH-013",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[body(ASK, toolConfig=TOOLS)],
    counterexamples=[body(ASK, toolConfig={"tools": []})],
)
def no_tools_is_no_config(request: Request) -> Iterator[Finding]:
    """A request without tools has no `toolConfig`.

    Fix: add `toolConfig` only if there are tools.
    """
    config, place = request.body.get("toolConfig"), "/toolConfig/tools"
    if isinstance(config, dict) and isinstance(config.get("tools"), list):
        must = "have length greater than or equal to 1"
        yield met(place) if config["tools"] else unfit(place, "the list of tools is empty", must, [])


@book.rule(
    "SCH-014",
    MUST,
    REJECT,
    source=SPEC,
    refusal=CONSTRAINT,
    examples=[body(ASK, toolConfig=TOOLS)],
    counterexamples=[body(ASK, toolConfig=spec(description=""))],
)
def descriptions_say_something(request: Request) -> Iterator[Finding]:
    """The description of a tool is not empty, if it is given.

    Fix: leave out the key.
    """
    for pointer, tool in specs(request.body):
        description, place = tool.get("description"), f"{pointer}/description"
        if isinstance(description, str):
            must = "have length greater than or equal to 1"
            yield met(place) if description else unfit(place, "the description is empty", must, description)


def _null(pointer: str) -> Finding:
    finding = unfit(pointer, f"`{pointer.rpartition('/')[2]}` is missing", "not be null")
    return broken(pointer, str(finding.problem), **{**finding.facts, "shown": " null"})


def _requirements(request: Json) -> Iterator[tuple[str, Json, tuple[str, ...]]]:
    """Yields each object with its pointer and required keys."""
    for pointer, message in messages(request):
        yield pointer, message, ("role", "content")
        for place, block in blocks(message, pointer):
            for kind, keys in (
                ("toolUse", ("toolUseId", "name", "input")),
                ("toolResult", ("toolUseId", "content")),
            ):
                if isinstance(block.get(kind), dict):
                    yield f"{place}/{kind}", block[kind], keys
    for pointer, tool in specs(request):
        yield pointer, tool, ("name", "inputSchema")


def _names(request: Json) -> Iterator[tuple[str, Any]]:
    for pointer, tool in specs(request):
        yield f"{pointer}/name", tool.get("name")
    for pointer, message in messages(request):
        for place, block in blocks(message, pointer):
            if isinstance(block.get("toolUse"), dict):
                yield f"{place}/toolUse/name", block["toolUse"].get("name")


def _fits(pointer: str, value: Any, pattern: re.Pattern[str], limit: int) -> Iterator[Finding]:
    if not isinstance(value, str):
        return
    if len(value) > limit:
        yield unfit(pointer, f"longer than {limit}", f"have length less than or equal to {limit}", value)
    elif not value:
        yield unfit(pointer, "it is empty", "have length greater than or equal to 1", value)
    elif not pattern.fullmatch(value):
        must = f"satisfy regular expression pattern: {pattern.pattern}"
        yield unfit(pointer, f"{value!r} has other characters than {pattern.pattern}", must, value)
    else:
        yield met(pointer)


def _in_range(pointer: str, value: float, low: int, high: int | None) -> Finding:
    if value < low:
        return unfit(pointer, f"less than {low}", f"have value greater than or equal to {low}", value)
    if high is not None and value > high:
        return unfit(pointer, f"more than {high}", f"have value less than or equal to {high}", value)
    return met(pointer)


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
    """The `input` of a call is an object, and the `json` of a result is not a list.

    Why: other values of a result are not judged, because a number is recorded as accepted (nova-lite). Fix: send
    other values as text. For arguments that were not valid JSON, send an object that says so.
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
                content = block["text"]
                yield met(place) if content else broken(place, "the text is empty", place=dotted(place))


def _not_an_object(pointer: str) -> Finding:
    """Returns a finding for JSON that is not an object."""
    text = f"The format of the value at {dotted(pointer)} is invalid. Provide a json object for the field and try again."
    return broken(pointer, "the value is not an object", text=text)


def _documents(block: Json, pointer: str) -> Iterator[tuple[str, Any]]:
    """Yields the free-form JSON of a block that must be an object, each with its pointer."""
    match block:
        case {"toolUse": {"input": value}}:
            yield f"{pointer}/toolUse/input", value
        case {"toolResult": dict(result)}:
            for place, part in blocks(result, f"{pointer}/toolResult"):
                if isinstance(part.get("json"), dict | list):
                    yield f"{place}/json", part["json"]
