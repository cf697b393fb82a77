"""Chat Completions: which call a tool message answers, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.openai_chat import messages, pairing
from ...rule import Finding, broken, met
from .._openai.refusals import refused
from ._refusals_and_examples import ASK, MUST, REJECT, body, book, call, result

# --- ids -------------------------------------------------------------------------------------------------


_CALLED: Json = {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": "{}"}}


@book.rule(
    "PAIR-018",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/issues/22600",
        "https://github.com/MadcowD/ell/issues/325",
    ],
    refusal=refused(
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        param="messages.[{index}].tool_call_id",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[body(ASK, call("call_1"), {"role": "tool", "content": "5"})],
)
def results_have_an_id(request: Request) -> Iterator[Finding]:
    """A tool message has a `tool_call_id`.

    Fix: store the id of the call with its result.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "tool":
            fine = message.get("tool_call_id") is not None
            yield met(pointer) if fine else broken(pointer, "no `tool_call_id`", index=index)


@book.rule(
    "PAIR-020",
    MUST,
    REJECT,
    source=[
        "https://github.com/open-compass/T-Eval/issues/66 (gpt-4o)",
        "https://github.com/langchain-ai/langchainjs/issues/6570",
        "https://github.com/rsmeowry/chatgpt_rs/issues/75",
    ],
    refusal=refused(
        "Missing parameter 'name': messages with role 'function' must have a 'name'.",
        param="messages.[{index}].name",
    ),
    examples=[body(ASK, _CALLED, {"role": "function", "name": "add", "content": "5"})],
    counterexamples=[body(ASK, _CALLED, {"role": "function", "content": "5"})],
)
def function_messages_are_named(request: Request) -> Iterator[Finding]:
    """A `function` message has the `name` of the function.

    Fix: send `name`, or use tools, whose results have the id of their call instead.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "function":
            fine = message.get("name") is not None
            yield met(pointer) if fine else broken(pointer, "no `name`", index=index)


@book.rule(
    "PAIR-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/miurla/morphic/issues/136",
        "https://github.com/smarter-sh/smarter/issues/264",
    ],
    refusal=refused(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param="messages.[{index}].role",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[
        body(ASK, result("call_1")),
        body(ASK, {"role": "assistant", "content": "5"}, result("call_1")),
    ],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """Every tool message answers an earlier tool call.

    Why: the history was truncated between the two, or the call was dropped. Fix: keep a call and its result
    together, or drop both.
    """
    for index, id in pairing(request).orphans:
        problem = f"the result for {id!r} has no call before it"
        yield broken(f"/messages/{index}", problem, id=id, index=index)
    for block in pairing(request).blocks:
        for index, _ in block.answers:
            yield met(f"/messages/{index}")


@book.rule(
    "PAIR-014",
    MUST,
    REJECT,
    source="https://github.com/dapr/dapr-agents/issues/145",
    refusal=refused(
        "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.",
        param="messages.[{index}].tool_call_id",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[body(ASK, call("call_1"), result("call_1"), result("call_2"))],
)
def results_name_their_call(request: Request) -> Iterator[Finding]:
    """The `tool_call_id` of a tool message is the id of a call in the assistant message before it.

    Fix: send the id back byte for byte.
    """
    for block in pairing(request).blocks:
        for index, _ in block.answers:
            yield met(f"/messages/{index}/tool_call_id")
        for index, id in block.strangers:
            problem = f"{id!r} is not the id of a call before it ({', '.join(block.ids)})"
            yield broken(f"/messages/{index}/tool_call_id", problem, id=id, index=index)


@book.rule(
    "PAIR-013",
    MUST,
    REJECT,
    source=[
        "https://github.com/agno-agi/agno/issues/5116",
        "https://github.com/neuron-core/neuron-ai/issues/46",
        "https://github.com/anomalyco/opencode/issues/1211",
    ],
    refusal=refused(
        "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', "
        "in messages[{first}] and messages[{index}].",
        param="messages.[{index}].tool_call_id",
    ),
    examples=[body(ASK, call("call_1"), result("call_1"))],
    counterexamples=[body(ASK, call("call_1"), result("call_1"), result("call_1", "6"))],
)
def one_result_for_a_call(request: Request) -> Iterator[Finding]:
    """Each tool call has exactly one result.

    Fix: keep only the last result.
    """
    for block in pairing(request).blocks:
        first: dict[str, int] = {}
        for index, id in block.answers:
            twice, facts = id in first, {"id": id, "first": first.get(id), "index": index}
            place = f"/messages/{index}/tool_call_id"
            yield broken(place, f"there is a second result for {id!r}", **facts) if twice else met(place)
            first.setdefault(id, index)


# --- order -----------------------------------------------------------------------------------------------


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
    source=[*ISSUES, "https://github.com/netease-lcap/wave-agent/pull/1368"],
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
                broken(place, f"a user message comes before the results of {late}", **facts)
                if late
                else met(place)
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
        yield (
            broken(place, f"there is no result for {missing}", ids=missing, param=param)
            if missing
            else met(place)
        )
