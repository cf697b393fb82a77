"""The order of messages: the roles that may follow each role. Calls and results: their numbers are equal, ids and names are
valid, and messages have content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from ...observed.exchange import Json, Request
from ...readers.json_access import elements
from ...readers.mistral import messages
from ...rule import Finding, Refusal, broken, met
from ..common import names_of_results
from ._refusals_and_examples import (
    ASK,
    LOSS,
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

SYSTEM: Json = {"role": "system", "content": "Be brief."}


def _last(marked: str) -> Refusal:
    return misplaced(
        f"Expected last role User or Tool (or Assistant with {marked}) for serving but got assistant"
    )


@book.rule(
    "REQ-003",
    MUST,
    REJECT,
    source=VALIDATOR,
    refusal=misplaced("{text}"),
    examples=[body(ASK), body(SYSTEM), body(says("Hello!"), ASK)],
    counterexamples=[body(), body(says("Hello!"))],
)
def there_is_something_to_answer(request: Request) -> Iterator[Finding]:
    """There is at least one message, and a single message has the role `user` or `system`.

    Fix: send the question as a user message.
    """
    found = list(messages(request.body))
    if request.body.get("messages") == []:
        yield broken("/messages", "there is no message", text="Conversation must have at least one message")
    elif len(found) == 1 and found[0][1].get("role") not in {"user", "system"}:
        text = "Conversation must start with a user message or system message"
        yield broken("/messages/0/role", "the only message is not a user or system message", text=text)
    elif found:
        yield met("/messages")


@book.rule(
    "ORD-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/QuantumNous/new-api/issues/2858",
        "https://github.com/NEKOparapa/AiNiee/issues/641",
        VALIDATOR,
    ],
    refusal=_last("prefix or continue_final_message set to True"),
    formerly=[_last("prefix True"), untyped(_last("prefix True"))],
    examples=[body(ASK, says("The sum is", prefix=True)), body(ASK)],
    counterexamples=[body(ASK, says("The sum is"))],
)
def a_prefill_says_so(request: Request) -> Iterator[Finding]:
    """A last assistant message has `"prefix": true`.

    Fix: set `prefix`, or end with a user message.
    """
    found = list(messages(request.body))
    if found:
        pointer, message = found[-1]
        bare = message.get("role") == "assistant" and message.get("prefix") is not True
        unmarked = bare and len(found) > 1 and request.body.get("continue_final_message") is not True
        yield (
            broken(pointer, "the last message is an assistant message with text")
            if unmarked
            else met(pointer)
        )


@book.rule(
    "ORD-002",
    MUST,
    REJECT,
    source=[
        "recorded refusal of `system` after `assistant` (mistral-small)",
        "https://github.com/charmbracelet/crush/issues/279",
        VALIDATOR,
    ],
    refusal=misplaced("Unexpected role '{role}' after role '{before}'"),
    formerly=[untyped(misplaced("Unexpected role '{role}' after role '{before}'"))],
    examples=[body(SYSTEM, ASK, ASK, call(A), result(A), ASK), body(ASK, SYSTEM, says("Hello!"), ASK)],
    counterexamples=[
        body(ASK, says("5"), SYSTEM, ASK),
        body(ASK, result(A)),
        body(ASK, call(A), result(A), SYSTEM, ASK),
    ],
)
def roles_follow_each_other(request: Request) -> Iterator[Finding]:
    """A tool message follows a tool call or another tool message, and no system message follows an assistant
    or tool message.

    Fix: put all results directly after the calls, and put a reminder into the user's message.
    """
    for (_, before), (pointer, message) in pairwise(messages(request.body)):
        step = (str(before.get("role")), str(message.get("role")))
        facts = {"before": step[0], "role": step[1]}
        problem = f"a message of the role {step[1]} follows one of the role {step[0]}"
        yield broken(f"{pointer}/role", problem, **facts) if step in _WRONG else met(pointer)


_WRONG = {("user", "tool"), ("system", "tool"), ("assistant", "system"), ("tool", "system")}


@book.rule(
    "ORD-003",
    MUST,
    REJECT,
    source=[
        "https://github.com/datapizza-labs/datapizza-ai/issues/98",
        "https://github.com/pipecat-ai/pipecat-flows/issues/178",
        "accepted since: recorded 2026-08 (mistral-small-latest)",
    ],
    refusal=misplaced("Unexpected role 'user' after role 'tool'"),
    until=date(2026, 4, 27),
    examples=[body(ASK, call(A), result(A), says("OK"), ASK)],
    counterexamples=[body(ASK, call(A), result(A), ASK)],
)
def the_assistant_takes_the_results(request: Request) -> Iterator[Finding]:
    """An assistant message, not a user message, follows the tool messages.

    The rule ended in April 2026: since then the service accepts it. Older servers of Mistral's models elsewhere still
    refuse it. Fix: write a short assistant message, such as "OK.", between the results and the user.
    """
    for (_, before), (pointer, message) in pairwise(messages(request.body)):
        if before.get("role") == "tool":
            wrong = message.get("role") == "user"
            yield (
                broken(f"{pointer}/role", "a user message follows a tool message") if wrong else met(pointer)
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
    source=[*COUNT, "https://github.com/SnarfNL/HA_MistralAI/issues/21 (Conversations)"],
    refusal=MISCOUNTED,
    formerly=[
        untyped(MISCOUNTED),
        misplaced(
            "Cannot append other inputs while function results are still missing. Provide function results first for: {ids}"
        ),
    ],
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
            calls = [each.get("id") for _, each in _calls(message, pointer)]
            results = [
                each.get("tool_call_id") for _, each in found[start + 1 : end] if each.get("role") == "tool"
            ]
            if calls or results:
                missing = ", ".join(str(id) for id in calls if id not in results)
                problem = f"the calls are {len(calls)} and the results {len(results)}"
                yield met(pointer) if len(calls) == len(results) else broken(pointer, problem, ids=missing)


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
    examples=[body(ASK, tools=[TOOL]), body(ASK, call(A, name="add numbers"), result(A), tools=[TOOL])],
    counterexamples=[
        body(ASK, tools=[_function("math.add")]),
        body(ASK, tools=[_function("a" * 65)]),
    ],
)
def names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a declared function has 1 to 64 letters, digits, `_` and `-`.

    A call with a malformed name that the model had made was recorded as accepted. Fix: replace other characters by `_`,
    and map the name back when the model calls the function.
    """
    for place, tool in elements(request.body.get("tools"), "/tools"):
        yield from _named(tool, f"{place}/function/name")


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
    """The `tool_call_id` of a result is the id of a call before it.

    Fix: copy the id from the call, and map an id of another provider in both places.
    """
    ids: set[str] = set()
    for pointer, message in messages(request.body):
        ids |= {str(each.get("id")) for _, each in _calls(message, pointer)}
        if message.get("role") == "tool":
            id, place = str(message.get("tool_call_id")), f"{pointer}/tool_call_id"
            yield met(place) if id in ids else broken(place, f"no call has the id {id!r}", id=id)


@book.rule(
    "PAIR-022",
    MUST,
    LOSS,
    source="https://github.com/anvia-hq/anvia/pull/285",
    examples=[body(ASK, call(A), {**result(A), "name": "add"}), body(ASK, call(A), result(A))],
    counterexamples=[body(ASK, call(A), {**result(A), "name": A})],
)
def results_have_the_name_of_their_tool(request: Request) -> Iterator[Finding]:
    """The `name` of a result, if it has one, is the name of the tool that was called.

    Fix: copy the name from the call, or leave `name` out.
    """
    yield from names_of_results(messages(request.body), "name")


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
