"""Calls and results. Where the provider's page of errors has no words, a rule is a preview with our own."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.cohere import messages
from ...readers.json_access import elements
from ...rule import Finding, Refusal, broken, met
from ._refusals_and_examples import ASK, ERRORS, IMAGE, MUST, REJECT, body, book, call, refused, result

GUIDE = "https://docs.cohere.com/docs/tool-use-overview; the wording here is ours"


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source="https://docs.cohere.com/reference/chat (ToolCallV2Function); the wording here is ours",
    refusal=refused("the arguments of a tool call must be a string"),
    preview=True,
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[body(ASK, call("a", arguments={"x": 2}), result("a"))],
)
def arguments_are_text(request: Request) -> Iterator[Finding]:
    """The arguments of a call are sent back as JSON text, not as an object.

    Fix: keep the model's text, or write the object with `json.dumps`.
    """
    for pointer, message in messages(request.body):
        for place, tool_call in _calls(message, pointer):
            function = tool_call.get("function")
            if isinstance(function, dict) and "arguments" in function:
                text = isinstance(function["arguments"], str)
                where = f"{place}/function/arguments"
                yield met(where) if text else broken(where, "the arguments are not text")


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=GUIDE,
    refusal=refused("no tool message responds to the tool call {ids}"),
    preview=True,
    examples=[body(ASK, call("a", "b"), result("a"), result("b"))],
    counterexamples=[body(ASK, call("a", "b"), result("a")), body(ASK, call("a"), ASK)],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every tool call has a result in the tool messages after it.

    Why: the tool was cancelled, crashed, or ran into a limit. Fix: send a result that says what happened.
    """
    found = list(messages(request.body))
    for index, (pointer, message) in enumerate(found):
        ids = [str(tool_call.get("id")) for _, tool_call in _calls(message, pointer)]
        results = set(_row(found, index + 1)) if ids else set()
        missing = ", ".join(id for id in ids if id not in results)
        if ids:
            place = f"{pointer}/tool_calls"
            yield broken(place, f"there is no result for {missing}", ids=missing) if missing else met(place)


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=ERRORS,
    refusal=Refusal("tool call id not found in previous tool calls"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[body(ASK, result("a")), body(ASK, call("a"), result("a"), result("b"))],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """Every tool message answers an earlier tool call.

    Fix: when you shorten the history, drop a call and its results together.
    """
    ids: set[str] = set()
    for pointer, message in messages(request.body):
        ids |= {str(tool_call.get("id")) for _, tool_call in _calls(message, pointer)}
        if message.get("role") == "tool":
            id = str(message.get("tool_call_id"))
            yield met(pointer) if id in ids else broken(pointer, f"no call has the id {id!r}")


@book.rule(
    "PAIR-018",
    MUST,
    REJECT,
    source=ERRORS,
    refusal=Refusal("cannot have duplicate tool ids"),
    examples=[body(ASK, call("a", "b"), result("a"), result("b"))],
    counterexamples=[body(ASK, call("a", "a"), result("a"), result("a"))],
)
def calls_of_a_message_have_ids_of_their_own(request: Request) -> Iterator[Finding]:
    """Each tool call of a message has an id of its own.

    Fix: give a call that repeats an id a new one, and its result the same.
    """
    for pointer, message in messages(request.body):
        seen: set[str] = set()
        for place, tool_call in _calls(message, pointer):
            id = str(tool_call.get("id"))
            yield broken(f"{place}/id", f"another call has the id {id!r}") if id in seen else met(place)
            seen.add(id)


@book.rule(
    "TRM-003",
    MUST,
    REJECT,
    source="https://docs.cohere.com/reference/chat (ToolContent); the wording here is ours",
    refusal=refused("tool messages have text and documents only"),
    preview=True,
    examples=[body(ASK, call("a"), result("a", [{"type": "document", "document": {"data": {"sum": "5"}}}]))],
    counterexamples=[body(ASK, call("a"), result("a", [IMAGE]))],
)
def results_are_text(request: Request) -> Iterator[Finding]:
    """A tool message has only text and documents. An image from a tool goes into a user message after the
    tool messages.

    Fix: write into the result that the image follows, and send it after the last result.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "tool":
            for place, part in elements(message.get("content"), f"{pointer}/content"):
                fine = part.get("type") in {"text", "document"}
                yield (
                    met(place)
                    if fine
                    else broken(place, f"a tool message has a part of type {part.get('type')}")
                )


def _calls(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    if message.get("role") == "assistant":
        yield from elements(message.get("tool_calls"), f"{pointer}/tool_calls")


def _row(found: list[tuple[str, Json]], start: int) -> Iterator[str]:
    """Yields the ids of the consecutive tool messages from an index on."""
    for index in range(start, len(found)):
        message = found[index][1]
        if message.get("role") != "tool":
            return
        yield str(message.get("tool_call_id"))
