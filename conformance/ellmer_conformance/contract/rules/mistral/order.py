"""The order of messages: the roles that may follow each role."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from ...exchange import Json, Request
from ...readers.mistral import messages
from ...rule import Finding, Refusal, broken, met
from ._rulebook import (
    ASK,
    MUST,
    REJECT,
    VALIDATOR,
    A,
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
    """There is at least one message, and a single message has the role `user` or `system`."""
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

    The rule ended in April 2026: since then the service accepts it. Older servers of Mistral's models
    elsewhere still refuse it.
    """
    for (_, before), (pointer, message) in pairwise(messages(request.body)):
        if before.get("role") == "tool":
            wrong = message.get("role") == "user"
            yield (
                broken(f"{pointer}/role", "a user message follows a tool message") if wrong else met(pointer)
            )
