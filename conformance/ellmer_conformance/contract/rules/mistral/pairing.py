"""Calls and results: their numbers are equal, ids and names are valid, and messages have content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.json_access import elements
from ...readers.mistral import messages
from ...rule import Finding, Refusal, broken, met
from ._rulebook import (
    ASK,
    MUST,
    REJECT,
    TOOL,
    VALIDATOR,
    A,
    B,
    body,
    book,
    call,
    misplaced,
    result,
    says,
    untyped,
)

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9]{9}")
FUNCTION = Refusal(
    "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, "
    "with a maximum length of 64.",
    type="invalid_function_call",
    code="3280",
)
SPEECHLESS = Refusal(
    "Assistant message must have either content or tool_calls, but not none.",
    type="invalid_request_assistant_message",
    code="3240",
)
MISCOUNTED = misplaced("Not the same number of function calls and responses")
COUNT = [
    "https://github.com/mistralai/client-ts/issues/106",
    "https://github.com/camel-ai/camel/issues/1467",
    VALIDATOR,
]


def _function(name: str) -> Json:
    return {"type": "function", "function": {**TOOL["function"], "name": name}}


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=COUNT,
    refusal=MISCOUNTED,
    formerly=[untyped(MISCOUNTED)],
    examples=[body(ASK, call(A, B), result(B), result(A)), body(ASK, call(A), result(A), ASK)],
    counterexamples=[
        body(ASK, call(A), ASK),
        body(ASK, call(A, B), result(A)),
        body(ASK, call(A), result(A), result(A)),
        body(ASK, says("5"), result(A)),
    ],
)
def as_many_results_as_calls(request: Request) -> Iterator[Finding]:
    """An assistant message with N tool calls is followed by N tool messages before the next assistant message.

    Why: the tool was cancelled or crashed, or the history was truncated. Fix: send a result that says what happened.
    """
    found = list(messages(request.body))
    for start, (pointer, message) in enumerate(found):
        if start and message.get("role") == "assistant":
            end = next(
                (i for i in range(start + 1, len(found)) if found[i][1].get("role") == "assistant"),
                len(found),
            )
            calls = len(list(_calls(message, pointer)))
            given = sum(each.get("role") == "tool" for _, each in found[start + 1 : end])
            if calls or given:
                yield (
                    met(pointer) if calls == given else broken(pointer, f"{given} results for {calls} calls")
                )


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/mistralai/mistral-vibe/issues/1075 (devstral-medium-2512)",
        "https://github.com/nearai/ironclaw/issues/1241 (mistral-large-latest)",
        "https://github.com/anomalyco/opencode/issues/1680 (mistral-large-latest)",
        VALIDATOR,
    ],
    refusal=Refusal(
        "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        type="invalid_function_call",
        code="3280",
    ),
    models=["devstral*", "mistral-large*"],  # others are recorded to accept longer ids
    examples=[body(ASK, call(A), result(A), model="devstral-medium-2512")],
    counterexamples=[body(ASK, call("call_1"), result("call_1"), model="devstral-medium-2512")],
)
def ids_have_nine_letters(request: Request) -> Iterator[Finding]:
    """The id of a tool call has nine letters and digits, in the call and in its result.

    Fix: derive nine characters from a hash of the other id.
    """
    for pointer, message in messages(request.body):
        named = [(f"{place}/id", each.get("id")) for place, each in _calls(message, pointer)]
        if message.get("role") == "tool":
            named.append((f"{pointer}/tool_call_id", message.get("tool_call_id")))
        for place, id in named:
            if isinstance(id, str):
                yield met(place) if ID.fullmatch(id) else broken(place, f"{id!r} is not a valid id", id=id)


@book.rule(
    "SCH-002",
    MUST,
    REJECT,
    source=VALIDATOR,
    refusal=FUNCTION,
    formerly=[untyped(FUNCTION)],
    examples=[body(ASK, tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_function("math.add")]),
        body(ASK, tools=[_function("a" * 65)]),
        body(ASK, call(A, name="add numbers"), result(A)),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a function has 1 to 64 letters, digits, `_` and `-`, in its declaration and in every call."""
    for place, tool in elements(request.body.get("tools"), "/tools"):
        yield from _named(tool, f"{place}/function/name")
    for pointer, message in messages(request.body):
        for place, made in _calls(message, pointer):
            yield from _named(made, f"{place}/function/name")


@book.rule(
    "EMP-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/OpenHands/OpenHands/issues/8685",
        "https://github.com/solbrowse/extension/issues/16",
    ],
    refusal=SPEECHLESS,
    formerly=[untyped(SPEECHLESS)],
    examples=[body(ASK, call(A), result(A)), body(ASK, says("5", tool_calls=None), ASK)],
    counterexamples=[body(ASK, says(""), ASK), body(ASK, {"role": "assistant"}, ASK)],
)
def the_assistant_said_something(request: Request) -> Iterator[Finding]:
    """An assistant message has content or tool calls.

    Fix: leave out an empty assistant message.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "assistant":
            something = message.get("content") or message.get("tool_calls")
            yield met(pointer) if something else broken(pointer, "the message has neither content nor calls")


@book.rule(
    "PAIR-014",
    MUST,
    REJECT,
    source=f"{VALIDATOR}: newer tokenizers; not seen at the service",
    refusal=misplaced("Unexpected tool call id {id} in tool results"),
    preview=True,
    examples=[body(ASK, call(A), result(A))],
    counterexamples=[body(ASK, call(A), result(B))],
)
def results_name_their_call(request: Request) -> Iterator[Finding]:
    """The `tool_call_id` of a result is the id of a call before it."""
    known: set[str] = set()
    for pointer, message in messages(request.body):
        known |= {str(each.get("id")) for _, each in _calls(message, pointer)}
        if message.get("role") == "tool":
            id, place = str(message.get("tool_call_id")), f"{pointer}/tool_call_id"
            yield met(place) if id in known else broken(place, f"no call has the id {id!r}", id=id)


def _calls(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    if message.get("role") == "assistant":
        yield from elements(message.get("tool_calls"), f"{pointer}/tool_calls")


def _named(value: Json, pointer: str) -> Iterator[Finding]:
    function = value.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if isinstance(name, str):
        yield (
            met(pointer)
            if NAME.fullmatch(name)
            else broken(pointer, f"{name!r} is not a valid name", name=name)
        )
