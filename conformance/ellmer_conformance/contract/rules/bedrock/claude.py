"""Anthropic's refusals of requests that Bedrock passes on. These rules get the request in Anthropic's terms.

Bedrock adds its own sentence before Anthropic's. The module has only rules whose refusal was recorded at Bedrock, or
that Anthropic applies everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.bedrock import blocks, messages, specs
from ...readers.json_access import object_of
from ...rule import Check, Finding, Refusal, broken, met
from ..anthropic import book as anthropic
from ..anthropic.tools._grammar import lost, strict_problem
from ._refusals_and_examples import (
    ASK,
    CLAUDE,
    IMAGE,
    MUST,
    PASSED_ON,
    REJECT,
    SCHEMA,
    THOUGHT,
    TOOLS,
    assistant,
    body,
    book,
    loop,
    refused,
    result,
    spec,
    use,
    user,
)
from ._role_changes import pointer_before, translation

CLOSED: Json = {**SCHEMA, "additionalProperties": False}
TINY: Json = {**CLOSED, "properties": {"x": {"type": "integer", "multipleOf": 5}}, "required": ["x"]}
LOST: Json = {**CLOSED, "properties": {"x": {"$ref": "#/$defs/X"}}, "required": ["x"]}
LIST: Json = {**CLOSED, "properties": {"x": {"type": "array", "maxItems": 5}}, "required": ["x"]}
THINKING: Json = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
ADAPTIVE: Json = {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}}
CACHED: Json = {"cachePoint": {"type": "default"}}
HOUR: Json = {"cachePoint": {"type": "default", "ttl": "1h"}}
CACHED_TOOLS: Json = {"tools": [*TOOLS["tools"], CACHED]}
SONNET_5 = "us.anthropic.claude-sonnet-5"
OPUS_5_5 = "us.anthropic.claude-opus-5-5"
HAIKU_3 = "anthropic.claude-3-haiku-20240307-v1:0"


def _format(schema: Json) -> Json:
    definition = {"name": "sum", "schema": json.dumps(schema)}
    return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": definition}}}


def _strict(schema: Json) -> Json:
    return spec(strict=True, inputSchema={"json": schema})


#: Rules of Anthropic's book, each with bodies that conform and bodies that do not.
_SAME: dict[str, tuple[list[Json], list[Json]]] = {
    "EMP-008": ([body(ASK)], [body(user(" \n"))]),
    "EMP-007": (
        [loop(result("a", {"text": "It failed."}, status="error"))],
        [loop({"toolResult": {"toolUseId": "a", "content": [], "status": "error"}})],
    ),
    "IMG-010": (
        [body(user({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}, "What is this?"))],
        [body(user({"image": {"format": "png", "source": {"bytes": "bm90IGFuIGltYWdl"}}}, "What is this?"))],
    ),
    "IMG-015": (
        [body(user(IMAGE, "What is this?"))],
        [body(user({"image": {**IMAGE["image"], "format": "jpeg"}}, "What is this?"))],
    ),
    "ORD-001": (
        [loop(result("a"), "And 3 + 4?")],
        [loop("Here you are:", result("a")), loop(result("a"), "and", result("b"), calls=("a", "b"))],
    ),
    "ORD-007": (
        [body(ASK, assistant(THOUGHT, "I add.", use("a")), user(result("a")), toolConfig=TOOLS)],
        [body(ASK, assistant(THOUGHT, use("a"), "I add."), user(result("a")), toolConfig=TOOLS)],
    ),
    "REQ-024": (
        [body(*[user("Hi", CACHED)] * 4)],
        [body(*[user("Hi", CACHED)] * 3, system=[{"text": "Hi"}, CACHED], toolConfig=CACHED_TOOLS)],
    ),
    "REQ-026": (
        [body(user("Hi", HOUR, "you", CACHED))],
        [
            body(user("Hi", CACHED, "you", HOUR)),
            body(ASK, system=[{"text": "Hi"}, HOUR], toolConfig=CACHED_TOOLS),
        ],
    ),
    "REQ-028": (
        [body(ASK, toolConfig=TOOLS, model=OPUS_5_5)],
        [body(ASK, toolConfig={**TOOLS, "toolChoice": {"any": {}}}, model=OPUS_5_5)],
    ),
    "SCH-016": (
        [body(ASK, toolConfig=TOOLS)],
        [body(ASK, toolConfig=spec(inputSchema={"json": {**SCHEMA, "anyOf": [{"required": ["x"]}]}}))],
    ),
    "SCH-017": (
        [body(ASK, toolConfig=TOOLS)],
        [body(ASK, toolConfig=spec(inputSchema={"json": {"type": "object", "properties": {"a/b": {}}}}))],
    ),
    "ORD-013": ([body(ASK, model=SONNET_5)], [body(ASK, assistant("{"), model=SONNET_5)]),
    "ORD-011": ([body(ASK, assistant("The sum is"))], [body(ASK, assistant("The sum is "))]),
    "THK-001": (
        [body(ASK, assistant(THOUGHT, "5"), ASK)],
        [body(ASK, assistant({"reasoningContent": {"reasoningText": {"text": "2 + 3 …"}}}, "5"), ASK)],
    ),
    "THK-009": (
        [body(ASK, assistant(THOUGHT, use("a")), user(result("a")), toolConfig=TOOLS, **THINKING)],
        [loop(result("a"), **THINKING)],
    ),
    "THK-015": (
        [body(ASK, model=SONNET_5, **ADAPTIVE)],
        [body(ASK, model=SONNET_5, **THINKING)],
    ),
    "THK-016": ([body(ASK, **THINKING)], [body(ASK, **ADAPTIVE)]),
    "THK-011": (
        [body(ASK, toolConfig=TOOLS, **THINKING)],
        [body(ASK, toolConfig={**TOOLS, "toolChoice": {"any": {}}}, **THINKING)],
    ),
    "THK-012": (
        [body(ASK, inferenceConfig={"temperature": 1}, **THINKING)],
        [body(ASK, inferenceConfig={"temperature": 0}, **THINKING)],
    ),
}


#: Ids in this book, where Anthropic's are ids of other rules here.
_NAMED = {"REQ-024": "REQ-030", "REQ-026": "REQ-031"}
#: Threads with Bedrock's own words.
_SEEN = {
    "REQ-024": ["https://github.com/Bike4Mind/bike4mind/issues/2208"],
    "REQ-026": ["https://github.com/Portkey-AI/gateway/issues/1762"],
    "EMP-007": [
        "https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15"
    ],
}
#: Refusals that differ at Bedrock: it has its own words, or reports a missing field where Anthropic reports a wrong one.
_ELSE: dict[str, list[Refusal]] = {
    "EMP-007": [
        refused("The content field at {place}.toolResult cannot be empty when status value is error.")
    ],
    "THK-001": [refused(f"{PASSED_ON}{{place}}.thinking.signature: Field required")],
}


def _enter(id: str, examples: list[Json], counterexamples: list[Json]) -> None:
    theirs = anthropic.rules[id]
    assert theirs.refusal is not None
    book.rule(
        _NAMED.get(id, id),
        theirs.level,
        theirs.kind,
        source=[*theirs.source, *_SEEN.get(id, ()), f"Bedrock passes it on (Anthropic's {id})"],
        refusal=refused(PASSED_ON + theirs.refusal.message),
        formerly=[
            *(refused(PASSED_ON + each.message) for each in theirs.formerly),
            *_ELSE.get(id, ()),
        ],
        models=_passed_on(theirs.models),
        preview=theirs.preview,
        examples=examples,
        counterexamples=counterexamples,
    )(_handed_over(theirs.check))


def _passed_on(models: Sequence[str]) -> list[str]:
    """Returns Anthropic's patterns of model names in Bedrock's form."""
    named = [re.sub(r"^(!?)claude(?!.*[<>])", r"\1*anthropic.claude", name) for name in models]
    return named if any(not name.startswith("!") for name in named) else [*CLAUDE, *named]


def _handed_over(check: Check) -> Check:
    """Returns the check of the request in Anthropic's terms, with pointers into Bedrock's body."""

    def handed_over(request: Request) -> Iterator[Finding]:
        translated, places = translation(request)
        for finding in check(translated):
            yield finding._replace(pointer=pointer_before(finding.pointer, places))

    handed_over.__doc__ = check.__doc__
    return handed_over


for _id, _bodies in _SAME.items():
    _enter(_id, *_bodies)


@book.rule(
    "ORD-015",
    MUST,
    REJECT,
    source="recorded refusal behind a turn with results, recorded acceptance behind one without (claude-3-haiku)",
    refusal=refused(
        f"{PASSED_ON}Your API request included an `assistant` message in the final position, which would pre-fill the "
        "`assistant` response. When using tools, pre-filling the `assistant` response is not supported."
    ),
    models=["*anthropic.claude-3-haiku*", "*anthropic.claude-3-sonnet*", "*anthropic.claude-3-opus*"],
    examples=[
        loop(result("a"), model=HAIKU_3),
        body(
            *(ASK, assistant(use("a")), user(result("a")), assistant("5"), ASK, assistant("{")),
            toolConfig=TOOLS,
            model=HAIKU_3,
        ),
    ],
    counterexamples=[
        body(
            ASK, assistant(use("a")), user(result("a")), ASK, assistant("{"), toolConfig=TOOLS, model=HAIKU_3
        )
    ],
)
def no_prefill_follows_a_result(request: Request) -> Iterator[Finding]:
    """For Claude 3, no assistant message follows a tool result at the end of the conversation.

    Fix: end the conversation with the user message that has the results.
    """
    *before, (place, last) = [*messages(request.body)] or [("/messages", {})]
    answered = takewhile(lambda each: each[1].get("role") == "user", reversed(before))
    resulting = any("toolResult" in block for pointer, each in answered for _, block in blocks(each, pointer))
    wrong = last.get("role") == "assistant" and resulting
    yield broken(place, "the last message is an assistant message with text") if wrong else met(place)


@book.rule(
    "SCH-003",
    MUST,
    REJECT,
    source=[
        "recorded refusals (claude-sonnet-4-5)",
        "https://github.com/langchain4j/langchain4j/pull/5097 (`$ref`)",
    ],
    refusal=refused(f"{PASSED_ON}tools.{{index}}.custom: {{reason}}"),
    models=CLAUDE,
    examples=[body(ASK, toolConfig=_strict(CLOSED)), body(ASK, toolConfig=TOOLS)],
    counterexamples=[body(ASK, toolConfig=_strict(each)) for each in (SCHEMA, TINY, LIST, LOST)],
)
def strict_tools_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict tool, every object sets `additionalProperties: false`, numbers and lists have no bounds, and every `$ref`
    leads to a definition.

    Fix: close every object of the schema, and write bounds into the description.
    """
    for index, (pointer, tool) in enumerate(specs(request.body)):
        if tool.get("strict") is True:
            schema = object_of(tool.get("inputSchema")).get("json")
            reason = lost(schema) or strict_problem(schema)
            place = f"{pointer}/inputSchema/json"
            yield broken(place, reason, index=index, reason=reason) if reason else met(place)


@book.rule(
    "STO-009",
    MUST,
    REJECT,
    source=[
        "recorded refusals (claude-sonnet-4-5)",
        "https://github.com/langchain4j/langchain4j/pull/5097 (`$ref`)",
    ],
    refusal=refused(f"{PASSED_ON}output_config.format.schema: {{reason}}"),
    models=[*CLAUDE, "!*claude-3*"],  # which have no such format
    examples=[body(ASK, outputConfig=_format(CLOSED))],
    counterexamples=[body(ASK, outputConfig=_format(each)) for each in (SCHEMA, TINY, LIST, LOST)],
)
def answers_are_closed(request: Request) -> Iterator[Finding]:
    """In an output schema, every object sets `additionalProperties: false`, numbers and lists have no bounds, and every `$ref`
    leads to a definition.

    Fix: set `additionalProperties: false`, and write the bounds into the description.
    """
    path = ("outputConfig", "textFormat", "structure", "jsonSchema")
    definition: Any = request.body
    for key in path:
        definition = object_of(definition).get(key)
    if isinstance(definition, dict) and isinstance(definition.get("schema"), str):
        schema = _loaded(definition["schema"])
        place, reason = f"/{'/'.join(path)}/schema", lost(schema) or strict_problem(schema)
        yield broken(place, reason, reason=reason) if reason else met(place)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


_FLAG: Json = {"disable_parallel_tool_use": True}
_AUTO: Json = {"type": "auto", **_FLAG}
_ANY: Json = {**TOOLS, "toolChoice": {"any": {}}}


def _chosen(choice: Json) -> Json:
    return {"additionalModelRequestFields": {"tool_choice": choice}}


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "https://github.com/BerriAI/litellm/pull/32605 (before and after, against Bedrock)",
        "https://github.com/VectifyAI/OpenKB/pull/177",
        "https://github.com/BerriAI/litellm/pull/22638",
    ],
    refusal=refused(f"{PASSED_ON}tool_choice.{{field}}: Field required"),
    models=CLAUDE,
    examples=[body(ASK, toolConfig=TOOLS, **_chosen(_AUTO))],
    counterexamples=[
        body(ASK, toolConfig=TOOLS, **_chosen(_FLAG)),
        body(ASK, toolConfig=TOOLS, **_chosen({"type": "tool", **_FLAG})),
    ],
)
def additional_choices_are_whole(request: Request) -> Iterator[Finding]:
    """A `tool_choice` in `additionalModelRequestFields` has its `type`, and the type `tool` has a `name`.

    Why: Claude's own field is needed to allow one call at a time, which Converse has no field for. Fix: send
    `{"type": "auto", "disable_parallel_tool_use": true}`.
    """
    choice = _additional_choice(request.body)
    if choice is None:
        return
    lacks = "type" if "type" not in choice else "tool.name"
    fine = "type" in choice and (choice["type"] != "tool" or "name" in choice)
    yield met(_CHOICE) if fine else broken(_CHOICE, f"`{lacks}` is missing", field=lacks)


_CHOICE = "/additionalModelRequestFields/tool_choice"


def _additional_choice(body: Json) -> Json | None:
    """Returns the choice of tools in Claude's own field."""
    choice = object_of(body.get("additionalModelRequestFields")).get("tool_choice")
    return choice if isinstance(choice, dict) else None


@book.rule(
    "REQ-145",
    MUST,
    REJECT,
    source="https://github.com/BerriAI/litellm/issues/36536",
    refusal=refused(
        "The additional field tool_choice/type conflicts with the existing field toolConfig.toolChoice.{kind}. Remove "
        "tool_choice/type and try again."
    ),
    models=CLAUDE,
    examples=[body(ASK, toolConfig=_ANY), body(ASK, toolConfig=TOOLS, **_chosen(_AUTO))],
    counterexamples=[body(ASK, toolConfig=_ANY, **_chosen({"type": "any", **_FLAG}))],
)
def tools_are_chosen_once(request: Request) -> Iterator[Finding]:
    """A request has `toolConfig.toolChoice` or a `tool_choice` in `additionalModelRequestFields`, and not both.

    Why: a forced call and one call at a time are sent in two places. Fix: send both in
    `additionalModelRequestFields.tool_choice`, and leave `toolChoice` out.
    """
    choice = _additional_choice(request.body)
    native = object_of(object_of(request.body.get("toolConfig")).get("toolChoice"))
    if choice is not None and "type" in choice:
        kind = next(iter(native), "")
        problem = "the choice of tools is sent twice"
        yield broken(f"{_CHOICE}/type", problem, kind=kind) if native else met(_CHOICE)
