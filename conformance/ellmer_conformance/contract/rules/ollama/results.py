"""Results, where the server looks at nothing: what the model then cannot know."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.ollama import messages, read
from ...rule import Finding, broken, met
from ._rulebook import ASK, LOSS, SERVER, SHOULD, body, book, call, result

NAMELESS = {"role": "tool", "content": "5"}


@book.rule(
    "PAIR-008",
    SHOULD,
    LOSS,
    source="https://github.com/ollama/ollama/blob/main/docs/api.md (tool_name)",
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[body(ASK, call("a"), NAMELESS)],
)
def results_name_their_tool(request: Request) -> Iterator[Finding]:
    """A result names its tool or its call: `tool_name`, `tool_call_id`, or both.

    Why: templates show the name; without it the model guesses by position. Fix: send both.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "tool":
            named = message.get("tool_name") or message.get("tool_call_id")
            yield met(pointer) if named else broken(pointer, "neither `tool_name` nor `tool_call_id`")


@book.rule(
    "PAIR-001",
    SHOULD,
    LOSS,
    source=SERVER,
    examples=[body(ASK, call("a", "b"), result("a"), result("b"))],
    counterexamples=[body(ASK, call("a", "b"), result("a"), ASK)],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every call has a result before the conversation goes on.

    Why: the server lets it pass, and the model sees a call that nobody answered. Fix: send a result that says so.
    """
    items = [item for item in read(request) if item.kind in {"call", "result"}]
    answered = {item.id for item in items if item.kind == "result"}
    loose = sum(item.kind == "result" and not item.id for item in items)
    for item in items:
        if item.kind == "call":
            fine = item.id in answered if item.id else loose > 0
            yield (
                met(item.pointer) if fine else broken(item.pointer, f"no result for {item.id or item.name!r}")
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
    """A result comes behind a call."""
    called = False
    for item in read(request):
        called = called or item.kind == "call"
        if item.kind == "result":
            yield met(item.pointer) if called else broken(item.pointer, "a result, and no call before it")
