"""Tool results, which the server does not check. Without ids or names, the model cannot match them."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.ollama import messages, read
from ...rule import Finding, broken, met
from ..common import names_of_results
from ._refusals_and_examples import ASK, LOSS, MUST, SERVER, SHOULD, body, book, call, result

NAMELESS = {"role": "tool", "content": "5"}
NAMES = ("add", "multiply")
WITHOUT_IDS = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": name, "arguments": {"x": 2, "y": 3}}} for name in NAMES],
}
NAMED_ONLY = [{**NAMELESS, "tool_name": name} for name in NAMES]


@book.rule(
    "PAIR-008",
    SHOULD,
    LOSS,
    source="https://github.com/ollama/ollama/blob/main/docs/api.md (tool_name)",
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[body(ASK, call("a"), NAMELESS)],
)
def results_name_their_tool(request: Request) -> Iterator[Finding]:
    """A tool result has a `tool_name`, a `tool_call_id`, or both.

    Why: prompt templates show the name, and without it the model guesses by position. Fix: send both.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "tool":
            named = message.get("tool_name") or message.get("tool_call_id")
            yield (
                met(pointer)
                if named
                else broken(pointer, "the result has neither `tool_name` nor `tool_call_id`")
            )


@book.rule(
    "PAIR-022",
    MUST,
    LOSS,
    source=[
        "https://github.com/microsoft/agent-framework/pull/6822",
        "https://github.com/ollama/ollama/blob/main/docs/api.md (tool_name)",
    ],
    examples=[body(ASK, call("a"), result("a")), body(ASK, WITHOUT_IDS, *NAMED_ONLY)],
    counterexamples=[
        body(ASK, call("a"), result("a", tool_name="a")),
        body(ASK, WITHOUT_IDS, {**NAMELESS, "tool_name": "divide"}),
    ],
)
def results_have_the_name_of_their_tool(request: Request) -> Iterator[Finding]:
    """The `tool_name` of a result is the name of the tool that was called.

    Why: the server does not refuse another name, and the prompt of the model then has the result of a tool that it did
    not call. Fix: copy the name from the call.
    """
    yield from names_of_results(messages(request.body), "tool_name")


@book.rule(
    "PAIR-001",
    SHOULD,
    LOSS,
    source=SERVER,
    examples=[body(ASK, call("a", "b"), result("a"), result("b"))],
    counterexamples=[body(ASK, call("a", "b"), result("a"), ASK)],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every tool call has a result before the next message.

    Why: otherwise the model sees a call without an answer, because the server does not refuse it. Fix: send a result that says what
    happened.
    """
    items = [item for item in read(request) if item.kind in {"call", "result"}]
    answered = {item.id for item in items if item.kind == "result"}
    loose = sum(item.kind == "result" and not item.id for item in items)
    for item in items:
        if item.kind == "call":
            fine = item.id in answered if item.id else loose > 0
            yield (
                met(item.pointer)
                if fine
                else broken(item.pointer, f"there is no result for {item.id or item.name!r}")
            )


@book.rule(
    "PAIR-002",
    SHOULD,
    LOSS,
    source=SERVER,
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[body(ASK, result("a"))],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """A tool result comes after a tool call.

    Fix: when you shorten the history, drop a call and its results together.
    """
    called = False
    for item in read(request):
        called = called or item.kind == "call"
        if item.kind == "result":
            yield met(item.pointer) if called else broken(item.pointer, "the result has no call before it")
