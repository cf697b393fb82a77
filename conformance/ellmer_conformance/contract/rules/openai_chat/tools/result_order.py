"""Each call has its result directly after the message with the call."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Json, Request
from ....rule import Finding, broken, met
from ..._openai.refusals import refused
from .._pairing import pairing
from .._rulebook import ASK, MUST, REJECT, body, book, call, result

UNANSWERED = refused(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {ids}",
    param="{param}",
)
ISSUES = [
    "https://github.com/BerriAI/litellm/issues/10083",
    "https://github.com/router-for-me/CLIProxyAPI/issues/2798",
    "recorded refusal (gpt-4.1-nano)",
]
SAYS: Json = {"role": "user", "content": "Never mind."}


@book.rule(
    "ORD-002",
    MUST,
    REJECT,
    source=ISSUES,
    refusal=UNANSWERED,
    examples=[body(ASK, call("a", "b"), result("b"), result("a"), SAYS)],
    counterexamples=[
        body(ASK, call("a"), {"role": "system", "content": "Be brief."}, result("a")),
        body(ASK, call("a", "b"), result("a"), {"role": "assistant", "content": "…"}, result("b")),
    ],
)
def results_come_at_once(request: Request) -> Iterator[Finding]:
    """Each tool result is its own message, directly after the assistant message with the calls.

    Why: the provider reads the tool messages after the calls and stops at the first message with another
    role. Fix: move the results up.
    """
    for block in pairing(request).blocks:
        for index, _ in block.answers:
            yield met(f"/messages/{index}")
        for id in block.late:
            problem = (
                f"messages[{block.end}] stands between the call in messages[{block.index}] and its result"
            )
            facts = {"ids": ", ".join(block.late), "param": f"messages.[{block.end}].role"}
            yield broken(f"/messages/{block.end}", f"{problem} for {id!r}", **facts)


@book.rule(
    "ORD-003",
    MUST,
    REJECT,
    source=[*ISSUES, "https://github.com/netease-lcap/wave-agent/issues/1368"],
    refusal=UNANSWERED,
    examples=[body(ASK, call("a", "b"), result("a"), result("b"), SAYS)],
    counterexamples=[
        body(ASK, call("a"), SAYS, result("a")),
        body(ASK, call("a", "b"), result("a"), SAYS, result("b")),
    ],
)
def the_user_waits_for_the_results(request: Request) -> Iterator[Finding]:
    """Text and media that accompany tool results are in a user message after all of the tool messages.

    Why: with parallel calls, content that was moved out of the first result must not separate the tool
    messages. Fix: send every tool message first, then one user message.
    """
    for block in pairing(request).blocks:
        if block.ended_by == "user":
            place, late = f"/messages/{block.end}", ", ".join(block.late)
            facts = {"ids": late, "param": f"messages.[{block.end}].role"}
            yield (
                broken(place, f"a user message before the results of {late}", **facts) if late else met(place)
            )


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=ISSUES,
    refusal=UNANSWERED,
    examples=[body(ASK, call("a"), result("a")), body(call("a"), result("a"))],
    counterexamples=[
        body(ASK, call("a"), SAYS),
        body(ASK, call("a", "b"), result("a")),
        body(ASK, call("a")),
    ],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every tool call has a result before the next user or assistant message.

    Why: the tool was cancelled, crashed, or ran into a limit. Fix: send a result that says what happened.
    """
    for block in pairing(request).blocks:
        missing = ", ".join(block.missing)
        param = "messages" if block.end is None else f"messages.[{block.end}].role"
        place = f"{block.pointer}/tool_calls"
        yield broken(place, f"no result for {missing}", ids=missing, param=param) if missing else met(place)
