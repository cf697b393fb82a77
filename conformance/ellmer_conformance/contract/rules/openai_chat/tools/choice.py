"""The list of tools is not empty, and a choice among tools requires it."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Request
from ....rule import Finding, broken, met
from ..._openai.refusals import refused
from .._rulebook import ASK, MUST, REJECT, TOOL, body, book


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source=[
        "https://github.com/continuedev/continue/issues/3403",
        "https://github.com/vllm-project/vllm/pull/39780",
    ],
    refusal=refused(
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        code="empty_array",
        param="tools",
    ),
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[body(ASK, tools=[])],
)
def no_tools_is_no_list(request: Request) -> Iterator[Finding]:
    """A request without tools has no `tools` field."""
    if isinstance(request.body.get("tools"), list):
        yield met("/tools") if request.body["tools"] else broken("/tools", "the list of tools is empty")


@book.rule(
    "REQ-012",
    MUST,
    REJECT,
    source=[
        "https://github.com/RageAgainstThePixel/OpenAI-DotNet/issues/479",
        "https://github.com/writer/writer-framework/pull/1013",
    ],
    refusal=refused(
        "Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified.", param="{key}"
    ),
    examples=[body(ASK, tools=[TOOL], tool_choice="required")],
    counterexamples=[body(ASK, tool_choice="required"), body(ASK, parallel_tool_calls=False)],
)
def a_choice_has_tools(request: Request) -> Iterator[Finding]:
    """`tool_choice` and `parallel_tool_calls` require `tools`."""
    for key in ("tool_choice", "parallel_tool_calls"):
        if request.body.get(key) not in (None, "none"):
            problem = f"`{key}` without tools"
            yield met(f"/{key}") if request.body.get("tools") else broken(f"/{key}", problem, key=key)


@book.rule(
    "REQ-071",
    MUST,
    REJECT,
    source=[
        "https://github.com/PlexPt/chatgpt-java/issues/150",
        "https://github.com/Azure-Samples/azure-search-openai-demo/pull/1175",
    ],
    refusal=refused(
        "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.",
        param="function_call",
    ),
    examples=[body(ASK, functions=[TOOL["function"]], function_call="auto")],
    counterexamples=[body(ASK, function_call="auto"), body(ASK, function_call={"name": "add"}, tools=[TOOL])],
)
def a_function_call_has_functions(request: Request) -> Iterator[Finding]:
    """`function_call` requires `functions`, which `tools` are not.

    Fix: send `tools` and `tool_choice`.
    """
    if request.body.get("function_call") is not None:
        declared, place = request.body.get("functions"), "/function_call"
        yield met(place) if declared else broken(place, "`function_call` without functions")
