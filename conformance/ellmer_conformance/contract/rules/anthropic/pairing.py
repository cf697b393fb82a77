"""Calls and results: which result answers which call. Consecutive messages of one role are merged first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Request
from ...readers.anthropic import continues_thread
from ...rule import Finding, broken, met
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MUST,
    REJECT,
    THOUGHT,
    THREAD,
    assistant,
    body,
    book,
    refused,
    result,
    use,
    user,
)
from ._turns import exchanges, turns

CHECKED = date(2024, 10, 1)  # results for no call are recorded as accepted in July 2024 (claude-3-opus)

UNANSWERED = refused(
    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
#: Its words in 2025, seen at Bedrock: https://github.com/langchain-ai/langchain-aws/issues/451, https://github.com/nulib/dc-api-v2/pull/296
IN_2025 = refused(
    "messages.{index}: Did not find {number} `tool_result` block(s) at the beginning of this message. "
    "Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks."
)
#: Its words in March 2025: https://github.com/aaif-goose/goose/issues/1600
IN_SPRING = refused(
    "messages.{index}: Messages containing `tool_use` blocks must be followed by a user message with `tool_result` blocks"
)
ISSUES = [
    "recorded refusal (claude-3-5-sonnet)",
    "https://github.com/anthropics/claude-code/issues/1237",
    "https://github.com/anthropics/claude-code/issues/5989",
]


@book.rule(
    "PAIR-005",
    MUST,
    REJECT,
    source=[
        "https://github.com/trycua/cua/issues/524",
        "https://github.com/anthropics/claude-code/issues/20700",
    ],
    refusal=refused("messages.{turn}.content.{index}: `tool_use` ids must be unique"),
    examples=[body(ASK, assistant(use("a"), use("b")), user(result("a"), result("b")))],
    counterexamples=[body(ASK, assistant(use("a"), use("a")), user(result("a")))],
)
def calls_have_ids_of_their_own(request: Request) -> Iterator[Finding]:
    """Each tool call of a turn has its own id.

    Fix: give a call that repeats an id a new one, and its result the same.
    """
    for number, turn, _ in exchanges(request):
        seen: set[object] = set()
        for index, pointer, block in turn.of("tool_use"):
            id = block.get("id")
            problem = f"a second call {id!r}"
            yield broken(pointer, problem, turn=number, index=index) if id in seen else met(pointer)
            seen.add(id)


@book.rule(
    "ORD-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/37",
        "https://github.com/QwenLM/qwen-code/issues/8161",
        "https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
    ],
    refusal=UNANSWERED,
    examples=[body(ASK, assistant(use("a")), user(result("a"), "And 3 + 4?", IMAGE))],
    counterexamples=[
        body(ASK, assistant(use("a")), user("Here you are:", result("a"))),
        body(ASK, assistant(use("a"), use("b")), user(result("a"), IMAGE, result("b"))),
    ],
)
def results_come_first(request: Request) -> Iterator[Finding]:
    """In the user turn after tool calls, all tool results come before any text, image or document.

    Why: the API reads results only from the start of the turn, and reports any later one as missing. Fix:
    send the results first, in the order of the calls, then the rest.
    """
    for number, turn, answer in exchanges(request):
        asked = {block.get("id") for _, _, block in turn.of("tool_use")}
        found = answer.of("tool_result") if answer else []
        head = next((i for i, (_, _, _) in enumerate(found) if found[i][0] != i), len(found))
        for place, (_, pointer, block) in enumerate(found):
            late = place >= head and block.get("tool_use_id") in asked
            facts = {"index": number + 1, "ids": block.get("tool_use_id")}
            yield (
                broken(pointer, "a tool result comes after other content", **facts) if late else met(pointer)
            )


@book.rule(
    "ORD-007",
    MUST,
    REJECT,
    source=[
        "recorded refusal of text behind a call `srvtoolu_…` (claude-3-5-sonnet)",
        (
            "https://github.com/deepagent-ltd/deepagent-code/blob/342222d143bb0d18946920276fab69355594b8e2/packages/llm/test/"
            "fixtures/recordings/anthropic-messages/rejects-malformed-assistant-tool-order-without-patch.json (claude-haiku-4-5)"
        ),
        "https://github.com/stacklok/mecatl/issues/1465",
        "https://github.com/anthropics/claude-code/issues/473",
    ],
    refusal=UNANSWERED,
    examples=[
        body(ASK, assistant(THOUGHT, "Let me see.", use("a")), user(result("a"))),
        body(ASK, assistant(use("a"), "And", use("b")), user(result("a"), result("b"))),
    ],
    counterexamples=[
        body(ASK, assistant(use("a"), "Let me see."), user(result("a"))),
        body(ASK, assistant(THOUGHT, use("a"), "Let me see."), user(result("a"))),
        body(ASK, assistant(use("srvtoolu_1"), "Found it."), user(result("srvtoolu_1"))),
    ],
)
def calls_end_the_turn(request: Request) -> Iterator[Finding]:
    """In an assistant turn, no text follows the last tool call.

    Why: the API expects the results right after the calls, and the model calls tools last. Fix: send the text before the calls.
    """
    for number, turn, answer in exchanges(request):
        last, pointer, block = turn.of("tool_use")[-1]
        if answer:
            after = any(each.get("type") == "text" for _, each in turn.blocks[last + 1 :])
            facts = {"index": number, "ids": block.get("id")}
            yield broken(pointer, "text follows the call", **facts) if after else met(pointer)


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=ISSUES,
    refusal=UNANSWERED,
    formerly=[IN_2025, IN_SPRING],
    since=CHECKED,
    examples=[
        body(ASK, assistant(use("a")), user(result("a"))),
        body(ASK, assistant(use("a")), assistant(use("b")), user(result("a")), user(result("b"))),
        body(assistant(use("a")), user(result("a"))),
    ],
    counterexamples=[
        body(ASK, assistant(use("a")), user("Never mind.")),
        body(ASK, assistant(use("a"), use("b")), user(result("a"))),
        body(ASK, assistant(use("a")), user("Wait."), assistant("Yes?"), user(result("a"))),
    ],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every tool call of an assistant turn has its result in the next user turn.

    Why: the tool was cancelled, crashed, or ran into a limit. Fix: send a result with `is_error` that says
    what happened.
    """
    for number, turn, answer in exchanges(request):
        ids_of_results = (
            {block.get("tool_use_id") for _, _, block in answer.of("tool_result")} if answer else set()
        )
        calls = turn.of("tool_use")
        missing = [
            (place, block.get("id")) for _, place, block in calls if block.get("id") not in ids_of_results
        ]
        ids = ", ".join(str(id) for _, id in missing)
        facts = {"index": number + 1 if answer else number, "number": len(missing), "ids": ids}
        yield broken(missing[0][0], f"there is no result for {ids}", **facts) if missing else met(calls[0][1])


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=[
        "recorded refusal (claude-haiku-4-5)",
        "https://github.com/router-for-me/CLIProxyAPI/issues/497",
        "https://github.com/anthropics/claude-code/issues/13460",
    ],
    refusal=refused(
        "messages.{turn}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
    ),
    since=CHECKED,
    examples=[body(ASK, assistant(use("a")), user(result("a"))), body(user(result("a")), thread=THREAD)],
    counterexamples=[body(ASK, user(result("a"))), body(ASK, assistant("5"), user(result("a")))],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """Every tool result answers a tool call of the turn before it.

    Why: the history was truncated between the two, or the call was dropped. Fix: keep a call and its result
    together, or drop both. The call can be in the message thread that the request continues.
    """
    asked: set[object] = set()
    for number, turn in enumerate(turns(request)):
        in_thread = not number and continues_thread(request.body)
        if turn.role == "user":
            for index, pointer, block in turn.of("tool_result"):
                id = block.get("tool_use_id")
                facts = {"turn": number, "index": index, "id": id}
                problem = f"{id!r} is not a call of the turn before"
                yield met(pointer) if in_thread or id in asked else broken(pointer, problem, **facts)
        asked = (
            {block.get("id") for _, _, block in turn.of("tool_use")} if turn.role == "assistant" else set()
        )


@book.rule(
    "PAIR-013",
    MUST,
    REJECT,
    source="a live run before and after the fix",
    refusal=refused(
        "messages.{turn}.content.{index}: each tool_use must have a single result. "
        "Found multiple `tool_result` blocks with id: {id}"
    ),
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, assistant(use("a")), user(result("a"), result("a", "6")))],
)
def one_result_for_a_call(request: Request) -> Iterator[Finding]:
    """Each tool call has exactly one result.

    Fix: keep only the last result.
    """
    for number, turn in enumerate(turns(request)):
        seen: set[object] = set()
        for index, pointer, block in turn.of("tool_result"):
            id = block.get("tool_use_id")
            facts = {"turn": number, "index": index, "id": id}
            yield (
                broken(pointer, f"there is a second result for {id!r}", **facts)
                if id in seen
                else met(pointer)
            )
            seen.add(id)
