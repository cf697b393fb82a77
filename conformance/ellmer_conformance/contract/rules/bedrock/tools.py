"""What Palmyra and Llama refuse about tools."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.bedrock import blocks, messages
from ...readers.json_access import elements, object_of
from ...rule import Finding, broken, met
from ._rulebook import (
    ASK,
    LLAMA,
    MAVERICK,
    MUST,
    NOVA,
    NOVA_LITE,
    PASSED_ON,
    REJECT,
    TOOLS,
    body,
    book,
    loop,
    refused,
    result,
)


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source="pydantic-ai, provider notes (verified live 2026-07)",
    refusal=refused("This model doesn't support the status field. Remove status and try again."),
    models=["*writer.palmyra*"],
    examples=[loop(result("a"), model="us.writer.palmyra-x5-v1:0")],
    counterexamples=[loop(result("a", status="success"), model="us.writer.palmyra-x5-v1:0")],
)
def palmyra_has_no_status(request: Request) -> Iterator[Finding]:
    """A tool result for Palmyra has no `status`.

    Fix: say in the text of the result that the tool failed.
    """
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            if isinstance(block.get("toolResult"), dict):
                told = "status" in block["toolResult"]
                yield (
                    broken(f"{place}/toolResult/status", "the result has a `status`") if told else met(place)
                )


@book.rule(
    "REQ-079",
    MUST,
    REJECT,
    source=[
        "https://github.com/NousResearch/hermes-agent/issues/97281",
        "https://github.com/danny-avila/LibreChat/issues/13838",
    ],
    refusal=refused(
        f"{PASSED_ON}Malformed input request: #/toolConfig/tools/{{index}}: extraneous key [cachePoint] is not permitted, "
        "please reformat your input and try again."
    ),
    models=NOVA,
    examples=[body(ASK, toolConfig=TOOLS, model=NOVA_LITE)],
    counterexamples=[
        body(
            ASK, toolConfig={"tools": [*TOOLS["tools"], {"cachePoint": {"type": "default"}}]}, model=NOVA_LITE
        )
    ],
)
def nova_caches_no_tools(request: Request) -> Iterator[Finding]:
    """The tools for Nova have no cache point. Its system prompt and messages may have one.

    Fix: set the cache point in `system`.
    """
    for place, tool in elements(object_of(request.body.get("toolConfig")).get("tools"), "/toolConfig/tools"):
        marked, index = "cachePoint" in tool, place.rpartition("/")[2]
        yield broken(place, "a cache point", index=index) if marked else met(place)


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusal (llama3-2-3b)",
    refusal=refused("This model doesn't support tool use."),
    models=["*meta.llama3-2-1b*", "*meta.llama3-2-3b*"],
    examples=[body(ASK, model="us.meta.llama3-2-3b-instruct-v1:0")],
    counterexamples=[body(ASK, toolConfig=TOOLS, model="us.meta.llama3-2-3b-instruct-v1:0")],
)
def small_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """The smallest Llama models do not support tools."""
    yield broken("/toolConfig", "tools") if request.body.get("toolConfig") else met("/messages")


@book.rule(
    "SCH-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/strands-agents/harness-sdk/issues/1241",
        "https://github.com/strands-agents/harness-sdk/pull/1981",
    ],
    refusal=refused(
        "This model doesn't support the toolConfig.toolChoice.{choice} field. "
        "Remove toolConfig.toolChoice.{choice} and try again."
    ),
    models=LLAMA,
    examples=[body(ASK, toolConfig=TOOLS, model=MAVERICK)],
    counterexamples=[body(ASK, toolConfig={**TOOLS, "toolChoice": {"any": {}}}, model=MAVERICK)],
)
def llama_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """`toolChoice` does not force a tool on Llama models."""
    config = request.body.get("toolConfig")
    if isinstance(config, dict):
        chosen = config.get("toolChoice")
        choice = next(iter(chosen), "") if isinstance(chosen, dict) else ""
        place = "/toolConfig/toolChoice"
        forced = choice in {"any", "tool"}
        yield broken(place, f"the choice is {choice!r}", choice=choice) if forced else met("/toolConfig")
