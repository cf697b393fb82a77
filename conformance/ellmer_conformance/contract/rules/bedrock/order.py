"""Calls and results, message by message, because Bedrock does not merge messages before it counts them."""

from __future__ import annotations

from collections.abc import Iterator

from ...counts import counted
from ...observed.exchange import Json, Request
from ...readers.bedrock import blocks, messages
from ...rule import Finding, broken, met
from ..anthropic.pairing import IN_2025
from ..anthropic.pairing import UNANSWERED as CLAUDES
from ._refusals_and_examples import (
    ASK,
    LLAMA,
    MAVERICK,
    MISTRAL,
    MUST,
    NOVA,
    NOVA_LITE,
    PASSED_ON,
    REJECT,
    TITAN,
    TOOLS,
    assistant,
    body,
    book,
    dotted,
    loop,
    refused,
    result,
    use,
    user,
)

UNANSWERED = refused("Expected toolResult blocks at messages.{index}.content for the following Ids: {ids}")
ISSUES = [
    "https://github.com/genkit-ai/aws-bedrock-js-plugin/issues/664",
    "https://github.com/gethnet/litellm-connector-copilot/pull/101",
]


@book.rule(
    "REQ-002",
    MUST,
    REJECT,
    source="https://github.com/elastic/kibana/pull/246393",
    refusal=refused(
        "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    ),
    examples=[body(ASK)],
    counterexamples=[body()],
)
def messages_are_there(request: Request) -> Iterator[Finding]:
    """The request has at least one message. A system prompt alone is not enough.

    Fix: send the question as a user message, beside the system prompt.
    """
    found = request.body.get("messages")
    if isinstance(found, list):
        yield met("/messages") if found else broken("/messages", "there is no message")


@book.rule(
    "ORD-009",
    MUST,
    REJECT,
    source=[
        "pydantic-ai, provider notes (verified live 2026-07)",
        "https://github.com/elastic/kibana/pull/246393",
        "https://github.com/strands-agents/harness-sdk/issues/2085 (Nova 2 Lite)",
        "https://github.com/langchain-ai/langchain-aws/issues/238 (Command R+; Claude accepted the same)",
    ],
    refusal=refused(
        "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    ),
    models=[*NOVA, *TITAN, *LLAMA, *MISTRAL, "*cohere.command-r*"],
    examples=[body(ASK, assistant("5"), ASK, model=NOVA_LITE), body(ASK, ASK, model=NOVA_LITE)],
    counterexamples=[body(assistant("Hello!"), ASK, model=NOVA_LITE)],
)
def the_user_has_the_first_word(request: Request) -> Iterator[Finding]:
    """The first message has the role `user`; Claude and Qwen also accept `assistant`.

    Alternation is not required: two user messages in a row were recorded as accepted (Nova, Titan). Fix: when you
    shorten the history, begin it with a message of the user.
    """
    for pointer, message in list(messages(request.body))[:1]:
        first = message.get("role") != "assistant"
        yield met(pointer) if first else broken(pointer, "the first message is an assistant message")


@book.rule(
    "SCH-008",
    MUST,
    REJECT,
    source=[
        "https://github.com/vxcontrol/pentagi/pull/196",
        "https://github.com/patriceckhart/zot/pull/18",
        "https://github.com/experientiallabs/experiential/issues/399",
    ],
    refusal=refused("The toolConfig field must be defined when using toolUse and toolResult content blocks."),
    examples=[loop(result("a"))],
    counterexamples=[body(ASK, assistant(use("a")), user(result("a")))],
)
def tools_stay_declared(request: Request) -> Iterator[Finding]:
    """A request whose history has tool calls or results has a `toolConfig`.

    Fix: keep the tools in the request, even if none should be called (there is no tool choice `none`).
    """
    used = any(
        "toolUse" in block or "toolResult" in block
        for pointer, message in messages(request.body)
        for _, block in blocks(message, pointer)
    )
    if used:
        declared = request.body.get("toolConfig")
        yield (
            met("/toolConfig")
            if declared
            else broken("", "the history has tool calls, and there is no `toolConfig`")
        )


@book.rule(
    "PAR-002",
    MUST,
    REJECT,
    source=ISSUES,
    refusal=UNANSWERED,
    examples=[loop(result("b"), result("a"), calls=("a", "b"))],
    counterexamples=[
        body(ASK, assistant(use("a"), use("b")), user(result("a")), user(result("b")), toolConfig=TOOLS),
        body(ASK, assistant(use("a")), user("Wait."), user(result("a")), toolConfig=TOOLS),
    ],
)
def results_come_in_one_message(request: Request) -> Iterator[Finding]:
    """All results of parallel calls are in the next user message.

    Why: Bedrock does not merge messages of one role. Fix: put all results into one message.
    """
    found = list(messages(request.body))
    last = _last_results(found)
    for index, pointer, ids in _calls(found):
        results = _results(found, index + 1)
        split = ", ".join(id for id in ids if id not in results and last.get(id, index) > index)
        facts = {"index": index + 1, "ids": split}
        yield broken(pointer, f"the results of {split} come later", **facts) if split else met(pointer)


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=[*ISSUES, "https://github.com/continuedev/continue/issues/11929 (in Claude's words)"],
    refusal=UNANSWERED,
    formerly=[refused(f"{PASSED_ON}{each.message}") for each in (CLAUDES, IN_2025)],
    examples=[loop(result("a"), "And 3 + 4?", model=NOVA_LITE)],
    counterexamples=[loop("Never mind."), loop(result("a"), calls=("a", "b"))],
)
def every_call_is_answered(request: Request) -> Iterator[Finding]:
    """Every tool call has its result in the next message.

    Why: the tool was cancelled, crashed, or ran into a limit. Fix: send a result with status `error` that
    says what happened.
    """
    found = list(messages(request.body))
    last = _last_results(found)
    for index, pointer, ids in _calls(found):
        lost = [id for id in ids if last.get(id, index) <= index]
        missing = ", ".join(lost)
        facts = {"index": index + 1, "number": len(lost), "ids": missing}
        yield broken(pointer, f"there is no result for {missing}", **facts) if missing else met(pointer)


@book.rule(
    "PAIR-010",
    MUST,
    REJECT,
    source=[
        "https://github.com/bvcyber/Cyber-AutoAgent-ng/issues/72",
        "https://github.com/BerriAI/litellm/pull/20049",
    ],
    refusal=refused("The toolUse blocks at {place}.content contain duplicate Ids: {ids}"),
    examples=[loop(result("a"), result("b"), calls=("a", "b"))],
    counterexamples=[loop(result("a"), calls=("a", "a"))],
)
def calls_have_ids_of_their_own(request: Request) -> Iterator[Finding]:
    """The tool calls of a message have different ids.

    Why: a history was merged from two sources that have the same call, or a library uses the name of the tool as the id. Fix: send
    each call once, and use the id that the model gave.
    """
    for _, pointer, ids in _calls(list(messages(request.body))):
        twice = ", ".join(dict.fromkeys(id for id in ids if ids.count(id) > 1))
        problem = f"{twice} is the id of more than one call"
        yield broken(pointer, problem, place=dotted(pointer), ids=twice) if twice else met(pointer)


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/Just-Curieous/Curie/issues/16",
        "https://github.com/pydantic/pydantic-ai/issues/2327",
    ],
    refusal=refused(
        "The number of toolResult blocks at {place}.content exceeds the number of toolUse blocks of previous turn."
    ),
    examples=[loop(result("a"))],
    counterexamples=[
        body(ASK, user(result("a")), toolConfig=TOOLS),
        body(ASK, assistant("5"), user(result("a")), toolConfig=TOOLS),
        loop(result("a"), result("a")),
    ],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """A message does not have more tool results than the message before it has tool calls.

    Why: the history was truncated between the two, or a result was sent twice. Fix: keep a call and its
    result together, or drop both.
    """
    found = list(messages(request.body))
    calls = {index: len(ids) for index, _, ids in _calls(found)}
    for index, (pointer, message) in enumerate(found):
        count = len(_results(found, index)) if message.get("role") == "user" else 0
        if count:
            many = count > calls.get(index - 1, 0)
            made = counted(calls.get(index - 1, 0), "call")
            problem = f"the message has {counted(count, 'result')}, and the model made {made}"
            yield broken(pointer, problem, place=dotted(pointer)) if many else met(pointer)


@book.rule(
    "ORD-014",
    MUST,
    REJECT,
    source=[
        "pydantic-ai, provider notes (verified live 2026-07)",
        "https://github.com/BerriAI/litellm/issues/6053",
    ],
    refusal=refused(
        "{place}.content: Conversation blocks and tool result blocks cannot be provided in the same turn."
    ),
    models=[*LLAMA, *MISTRAL],
    examples=[
        loop(result("a"), model=MAVERICK),
        body(
            ASK, assistant(use("a")), user(result("a")), assistant("."), ASK, toolConfig=TOOLS, model=MAVERICK
        ),
    ],
    counterexamples=[loop(result("a"), "And 3 + 4?", model=MAVERICK)],
)
def results_stand_alone(request: Request) -> Iterator[Finding]:
    """For Llama and Mistral models, a message with tool results has no other content.

    Fix: put an assistant message between the results and the user's text.
    """
    for pointer, message in messages(request.body):
        kinds = [next(iter(block), "") for _, block in blocks(message, pointer) if "cachePoint" not in block]
        if "toolResult" in kinds:
            mixed = set(kinds) != {"toolResult"}
            yield (
                broken(pointer, "a message has results and other content", place=dotted(pointer))
                if mixed
                else met(pointer)
            )


def _calls(found: list[tuple[str, Json]]) -> Iterator[tuple[int, str, list[str]]]:
    """Yields each assistant message with calls of client tools: index, pointer, ids. A server tool answers at once."""
    for index, (pointer, message) in enumerate(found):
        served = _ids(message, "toolResult")
        ids = [id for id in _ids(message, "toolUse") if id not in served]
        if message.get("role") == "assistant" and ids:
            yield index, pointer, ids


def _results(found: list[tuple[str, Json]], index: int) -> list[str]:
    """Returns the ids of the results in the user message at an index."""
    message = found[index][1] if index < len(found) else {}
    return _ids(message, "toolResult") if message.get("role") == "user" else []


def _last_results(found: list[tuple[str, Json]]) -> dict[str, int]:
    """Returns the index of the last message with a result, by the id of the call."""
    return {id: index for index in range(len(found)) for id in _results(found, index)}


def _ids(message: Json, kind: str) -> list[str]:
    found = (block.get(kind) for _, block in blocks(message, ""))
    return [
        str(each.get("toolUseId"))
        for each in found
        if isinstance(each, dict) and each.get("type") != "server_tool_use"
    ]
