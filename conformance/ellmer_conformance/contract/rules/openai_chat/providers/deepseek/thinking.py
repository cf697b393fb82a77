"""Thinking: what must be sent back, and options that do not go with it."""

from __future__ import annotations

from collections.abc import Iterator

from .....exchange import Request
from .....readers.json_access import object_of
from .....readers.openai_chat import messages
from .....rule import Finding, broken, met
from ..._pairing import calls_of
from ..._rulebook import ASK, MUST, REJECT, TOOL, body, call, result
from ._refusals import refused
from ._rulebook import deepseek


@deepseek.rule(
    "THK-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/issues/3636",
        "https://github.com/BigPizzaV3/CodexPlusPlus/issues/252",
        "https://github.com/SaladDay/cc-switch-cli/issues/170 (deepseek-v4-pro, which thinks unless told not to)",
        "https://api-docs.deepseek.com/guides/thinking_mode",
    ],
    refusal=refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
    models=["deepseek-v4*", "deepseek-chat", "deepseek-reasoner"],
    examples=[
        body(
            ASK,
            call("a", reasoning_content=""),
            result("a"),
            thinking={"type": "enabled"},
            model="deepseek-v4-pro",
        )
    ],
    counterexamples=[
        body(ASK, call("a"), result("a"), thinking={"type": "enabled"}, model="deepseek-v4-pro"),
        body(ASK, call("a"), result("a"), model="deepseek-v4-flash"),
    ],
)
def thoughts_come_back(request: Request) -> Iterator[Finding]:
    """With thinking enabled, an assistant message with tool calls has its `reasoning_content`, which may be empty.

    V4 thinks unless it is told not to. Before V4, the reasoning of earlier user turns was not required.
    """
    if _thinks(request):
        found = list(messages(request.body))
        asked = [i for i, (_, message) in enumerate(found) if message.get("role") == "user"]
        start = 0 if request.model.startswith("deepseek-v4") else max(asked, default=0)
        for pointer, message in found[start:]:
            if calls_of(message):
                there = "reasoning_content" in message
                yield met(pointer) if there else broken(pointer, "`reasoning_content` is missing")


@deepseek.rule(
    "THK-011",
    MUST,
    REJECT,
    source=[
        "recorded refusals (deepseek-v4-flash; deepseek-v4-pro, which thinks unless told not to)",
        "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376 (both, by default)",
    ],
    refusal=refused("Thinking mode does not support this tool_choice"),
    examples=[
        body(ASK, tools=[TOOL], tool_choice="auto", thinking={"type": "enabled"}, model="deepseek-v4-pro")
    ],
    counterexamples=[
        body(
            ASK, tools=[TOOL], tool_choice="required", thinking={"type": "enabled"}, model="deepseek-v4-pro"
        ),
        body(ASK, tools=[TOOL], tool_choice="required", model="deepseek-v4-flash"),
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `tool_choice` does not force a tool."""
    if _thinks(request):
        choice = request.body.get("tool_choice")
        forced = choice == "required" or isinstance(choice, dict)
        yield broken("/tool_choice", "`tool_choice` forces a call") if forced else met("/thinking")


@deepseek.rule(
    "REQ-026",
    MUST,
    REJECT,
    source="recorded refusals of `logprobs` and a forced call (deepseek-reasoner)",
    refusal=refused("deepseek-reasoner does not support {what}"),
    models=["deepseek-reasoner"],
    examples=[body(ASK, model="deepseek-reasoner")],
    counterexamples=[
        body(ASK, logprobs=True, model="deepseek-reasoner"),
        body(ASK, tools=[TOOL], tool_choice="required", model="deepseek-reasoner"),
    ],
)
def the_reasoner_takes_less(request: Request) -> Iterator[Finding]:
    """The reasoner model does not accept log probabilities or a forced tool call."""
    choice = request.body.get("tool_choice")
    if request.body.get("logprobs"):
        yield broken(
            "/logprobs", "this model does not support log probabilities", what="the parameter `logprobs`"
        )
    elif choice == "required" or isinstance(choice, dict):
        yield broken("/tool_choice", "`tool_choice` forces a call", what="this tool_choice")
    else:
        yield met("/model")


def _told_to_think(request: Request) -> bool:
    return object_of(request.body.get("thinking")).get("type") == "enabled"


def _thinks(request: Request) -> bool:
    """Tells whether thinking is enabled. V4 thinks by default."""
    untold = request.body.get("thinking") is None and request.body.get("reasoning_effort") != "none"
    return _told_to_think(request) or (untold and request.model.startswith("deepseek-v4"))
