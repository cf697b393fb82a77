"""Moonshot: tool calls need results, reasoning is sent back, messages are not empty, and the schemas of tools say each type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ....observed.exchange import Json, Request
from ....readers.json_access import object_of
from ....readers.openai_chat import calls_of, messages, tools
from ....rule import Finding, broken, met
from ..._openai.refusals import refused
from ..._openai.schemas import nested_schemas
from ..._references import references
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, call, result
from ._elsewhere import elsewhere


def _referring(**more: object) -> dict[str, object]:
    """Returns a tool whose schema refers to the definition `X`."""
    properties = {"x": {"$ref": "#/$defs/X"}}
    parameters: dict[str, object] = {"type": "object", "properties": properties, **more}
    return {"type": "function", "function": {"name": "add", "parameters": parameters}}


_OPEN: dict[str, object] = {
    "refusal": refused(
        "an assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    ),
    "source": ("https://github.com/MoonshotAI/kimi-cli/issues/2405",),
}
_UNKNOWN_ID: dict[str, object] = {
    "refusal": refused("tool_call_id {id} is not found"),
    "source": (
        "https://github.com/langbot-app/LangBot/issues/1040 (an empty id)",
        "https://github.com/Gentleman-Programming/gentle-pi/issues/1052 (kimi-k3, an empty id)",
    ),
}
moonshot = elsewhere(
    "moonshot",
    only=["PAIR-001", "PAIR-002", "PAIR-014", "ORD-002", "ORD-003"],
    without=["REQ-017", "SCH-001"],
    PAIR_001=_OPEN,
    PAIR_002=_UNKNOWN_ID,
    PAIR_014=_UNKNOWN_ID,
    ORD_002=_OPEN,
    ORD_003=_OPEN,
)


@moonshot.rule(
    "THK-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/mastra-ai/mastra/issues/12592",
        "https://github.com/continuedev/continue/issues/11600",
    ],
    refusal=refused(
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
    ),
    models=["kimi-k2-thinking*"],
    examples=[body(ASK, call("a", reasoning_content="…"), result("a"), model="kimi-k2-thinking")],
    counterexamples=[body(ASK, call("a"), result("a"), model="kimi-k2-thinking")],
)
def thoughts_come_back(request: Request) -> Iterator[Finding]:
    """An assistant message with tool calls has its `reasoning_content` on thinking models.

    Fix: keep `reasoning_content` of each answer with calls, and send it back as a field of that message.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if calls_of(message):
            there = "reasoning_content" in message
            yield met(pointer) if there else broken(pointer, "`reasoning_content` is missing", index=index)


@moonshot.rule(
    "EMP-002",
    MUST,
    REJECT,
    source="https://github.com/AstrBotDevs/AstrBot/pull/7202",
    refusal=refused(
        "Invalid request: the message at position {index} with role 'assistant' must not be empty"
    ),
    examples=[body(ASK, call("a", content="", reasoning_content="…"), result("a"))],
    counterexamples=[body(ASK, {"role": "assistant", "content": ""}, ASK)],
)
def the_assistant_said_something(request: Request) -> Iterator[Finding]:
    """An assistant message has content or tool calls.

    Fix: leave out an empty assistant message.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "assistant":
            something = message.get("content") or calls_of(message) or message.get("partial")
            yield (
                met(pointer)
                if something
                else broken(pointer, "the message has neither content nor calls", index=index)
            )


@moonshot.rule(
    "REQ-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/HKUDS/nanobot/pull/202 (kimi-k2.5)",
        "https://github.com/NousResearch/hermes-agent/pull/12668 (kimi-k2.5, tried value by value)",
        "https://github.com/HKUDS/nanobot/pull/4962 (kimi-k2.6 that does not think)",
        "https://platform.kimi.ai/docs/guide/migrating-from-openai-to-kimi",
    ],
    refusal=refused("invalid temperature: only {only} is allowed for this model"),
    models=["kimi-k2.5*", "kimi-k2.6*"],
    examples=[
        body(ASK, model="kimi-k2.5", temperature=1),
        body(ASK, model="kimi-k2.6", temperature=0.6, thinking={"type": "disabled"}),
    ],
    counterexamples=[
        body(ASK, model="kimi-k2.5", temperature=0.6),
        body(ASK, model="kimi-k2.6", temperature=1, thinking={"type": "disabled"}),
    ],
)
def the_temperature_is_the_models(request: Request) -> Iterator[Finding]:
    """From Kimi K2.5 on, the temperature is 1, or 0.6 if thinking is disabled.

    Fix: leave the temperature out.
    """
    value, place = request.body.get("temperature"), "/temperature"
    if isinstance(value, int | float):
        quiet = object_of(request.body.get("thinking")).get("type") == "disabled"
        only = 0.6 if quiet else 1
        yield met(place) if value == only else broken(place, f"the temperature is {value}", only=only)


_THINKING = ["kimi-k2.6*", "kimi-k2.7*"]
_FORCED = {"type": "function", "function": {"name": "add"}}


@moonshot.rule(
    "THK-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/can1357/oh-my-pi/issues/827 (kimi-k2.6)",
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152 (kimi-k2.6 and kimi-k2.7-code, tried value by value)",
    ],
    refusal=refused("tool_choice '{choice}' is incompatible with thinking enabled"),
    models=_THINKING,
    examples=[
        body(ASK, tools=[TOOL], tool_choice="auto", model="kimi-k2.6"),
        body(ASK, tools=[TOOL], tool_choice="required", model="kimi-k2.6", thinking={"type": "disabled"}),
    ],
    counterexamples=[
        body(ASK, tools=[TOOL], tool_choice="required", model="kimi-k2.6"),
        body(ASK, tools=[TOOL], tool_choice=_FORCED, model="kimi-k2.7-code"),
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `tool_choice` does not force a tool. These models think unless a request says otherwise.

    Fix: disable thinking for the request, or let the model choose.
    """
    choice = request.body.get("tool_choice")
    forced = "specified" if isinstance(choice, dict) else "required" if choice == "required" else ""
    if choice is not None and object_of(request.body.get("thinking")).get("type") != "disabled":
        place = "/tool_choice"
        yield broken(place, "`tool_choice` forces a call", choice=forced) if forced else met(place)


@moonshot.rule(
    "THK-016",
    MUST,
    REJECT,
    source="https://github.com/MoonshotAI/kimi-code/issues/797 (kimi-k2.7-code-highspeed)",
    refusal=refused("invalid thinking: only type=enabled is allowed for this model"),
    models=["kimi-k2.7-code*"],
    examples=[body(ASK, model="kimi-k2.7-code", thinking={"type": "enabled"})],
    counterexamples=[body(ASK, model="kimi-k2.7-code", thinking={"type": "disabled"})],
)
def thinking_is_not_disabled(request: Request) -> Iterator[Finding]:
    """Kimi K2.7 Code always thinks: a request does not disable thinking.

    Fix: leave `thinking` out for this model.
    """
    thinking = request.body.get("thinking")
    if isinstance(thinking, dict):
        quiet, place = thinking.get("type") == "disabled", "/thinking/type"
        yield broken(place, "thinking is disabled") if quiet else met(place)


@moonshot.rule(
    "SCH-024",
    MUST,
    REJECT,
    source=[
        "https://github.com/CommandCodeAI/command-code/issues/566",
        "https://github.com/github/copilot-cli/issues/3716 (a reference to another place)",
    ],
    refusal=refused(
        "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: "
        "<At path '{place}.$ref': {fault}>"
    ),
    formerly=[
        refused(
            "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '{place}.$ref': "
            "references must start with #/$defs/>"
        )
    ],
    examples=[body(ASK, tools=[_referring(**{"$defs": {"X": {"type": "string"}}})])],
    counterexamples=[
        body(ASK, tools=[_referring()]),
        body(ASK, tools=[_referring(properties={"x": {"$ref": "#/properties/y"}, "y": {"type": "string"}})]),
    ],
)
def references_lead_to_definitions(request: Request) -> Iterator[Finding]:
    """Where a tool's schema refers to a definition, it refers to one in `$defs`, and has `$defs`.

    Fix: rename `definitions` to `$defs`, and the references with it.
    """
    for pointer, tool in tools(request.body):
        schema = object_of(object_of(tool.get("function")).get("parameters"))
        found, where = [*references(schema)], f"{pointer}/function/parameters"
        outside = [each for each in found if not each[1].startswith("#/$defs/")]
        lost = [] if "$defs" in schema else found
        for place, name in (outside or lost)[:1]:
            told = (
                "references must start with #/$defs/" if outside else f"$defs not found for reference: {name}"
            )
            yield broken(where, f"{name} leads nowhere", place=".".join(place), fault=told)
        if found and not outside and not lost:
            yield met(where)


def _typed(schema: Json) -> dict[str, object]:
    """Returns a tool with one parameter."""
    parameters = {"type": "object", "properties": {"view": schema}}
    return {"type": "function", "function": {"name": "show", "parameters": parameters}}


_INVALID = "tools.function.parameters is not a valid moonshot flavored json schema, details: "
_UNTYPED = "type is not defined"
_TWICE = "when using anyOf, type should be defined in anyOf items instead of the parent schema"
#: Keywords that say the type of a schema, or where it is said.
_TYPES = {"type", "anyOf", "oneOf", "allOf", "$ref"}


@moonshot.rule(
    "SCH-001",
    MUST,
    REJECT,
    source="https://github.com/14790897/MiqroForge-Desktop/issues/1165 (kimi-k3 and kimi-k2.6, with and without the type)",
    refusal=refused('tools.function.parameters.type is required and must be "object"'),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[{"type": "function", "function": {"name": "now", "parameters": {"properties": {}}}}])
    ],
)
def parameters_are_an_object(request: Request) -> Iterator[Finding]:
    """The `parameters` of a function, if given, have the type `object`.

    Fix: send `{"type": "object", "properties": {}}` for a function without arguments.
    """
    for pointer, tool in tools(request.body):
        schema, where = object_of(tool.get("function")).get("parameters"), f"{pointer}/function/parameters"
        if isinstance(schema, dict):
            typed = schema.get("type") == "object"
            yield met(where) if typed else broken(where, f"the type is {schema.get('type')}")


@moonshot.rule(
    "SCH-030",
    MUST,
    REJECT,
    source=[
        "https://github.com/MoonshotAI/kimi-cli/pull/2030 (a property without a type)",
        "https://github.com/anomalyco/opencode/issues/40127 (a property without a type)",
    ],
    refusal=refused(f"{_INVALID}<At path '{{place}}': {_UNTYPED}>"),
    examples=[
        body(ASK, tools=[_typed({"type": "string", "enum": ["text", "raw"]})]),
        body(ASK, tools=[_typed({"anyOf": [{"type": "string"}, {"type": "null"}]})]),
    ],
    counterexamples=[body(ASK, tools=[_typed({"enum": ["text", "raw"]})])],
)
def properties_say_their_types(request: Request) -> Iterator[Finding]:
    """In a tool's schema, each property has a type, or a keyword with the types of its branches.

    Why: servers of MCP leave out the type beside an `enum`. Fix: write the type into each property.
    """
    for where, context, inner in _schemas(request):
        if context[-2:-1] == ("properties",) and inner:
            typed = bool(_TYPES & inner.keys())
            place = ".".join(context)
            yield met(where) if typed else broken(where, f"{place} has no type of its own", place=place)


@moonshot.rule(
    "SCH-031",
    MUST,
    REJECT,
    source=[
        "https://github.com/MoonshotAI/kimi-code/issues/2661 (August 2026)",
        "https://github.com/nicobailon/pi-subagents/issues/127 (April 2026)",
        "https://github.com/14790897/MiqroForge-Desktop/issues/1165 (kimi-k3 and kimi-k2.6 accept it on 2026-09-21)",
    ],
    until=date(2026, 9, 21),
    refusal=refused(f"{_INVALID}<At path '{{place}}': {_TWICE}>"),
    examples=[body(ASK, tools=[_typed({"anyOf": [{"type": "string"}, {"type": "null"}]})])],
    counterexamples=[body(ASK, tools=[_typed({"type": "string", "anyOf": [{"maxLength": 3}]})])],
)
def branches_say_their_types(request: Request) -> Iterator[Finding]:
    """Until September 2026, a schema with `anyOf` had its types in the branches, and none beside them.

    Fix: write the type into each branch.
    """
    for where, context, inner in _schemas(request):
        if "anyOf" in inner:
            place = ".".join(context) or "root"
            twice = "type" in inner
            yield broken(where, f"{place} has a type beside `anyOf`", place=place) if twice else met(where)


def _schemas(request: Request) -> Iterator[tuple[str, tuple[str, ...], Json]]:
    """Yields the schemas in the parameters of each tool: the place of the parameters, the path in them, and the schema."""
    for pointer, tool in tools(request.body):
        schema = object_of(tool.get("function")).get("parameters")
        for context, inner in nested_schemas(schema):
            yield f"{pointer}/function/parameters", context, inner
