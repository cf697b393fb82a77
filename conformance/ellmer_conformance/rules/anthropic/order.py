"""The conversation: whose turn it is, and which result answers which call. Judged after merging turns."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...rule import Finding, broken, met
from ...wires.anthropic import blocks, messages
from ._book import ASK, IMAGE, MUST, REJECT, THOUGHT, assistant, body, book, refused, result, use, user
from ._turns import exchanges, turns

UNANSWERED = refused(
    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
NO_PREFILL = [
    *("claude-opus-4-6*", "claude-opus-4-7*", "claude-opus-4-8*", "claude-sonnet-4-6*"),
    *("claude-sonnet-5*", "claude-opus-5*", "claude-fable-5*"),
]
MIDWAY = ["claude-opus-4-8*", "claude-opus-5*", "claude-sonnet-5*", "claude-fable-5*"]
ISSUES = [
    "recorded refusal (claude-3-5-sonnet)",
    "https://github.com/anthropics/claude-code/issues/1237",
    "https://github.com/anthropics/claude-code/issues/5989",
]
BRIEF = {"role": "system", "content": "Be brief."}


@book.rule(
    "ORD-012",
    MUST,
    REJECT,
    source="measured on the live API",
    refusal=refused("messages.{index}: `{kind}` blocks can only be in `{role}` messages"),
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, assistant(result("a")), ASK), body(user(use("a")))],
)
def each_side_sends_its_blocks(request: Request) -> Iterator[Finding]:
    """Calls stand in assistant messages, results in user messages."""
    sides = {"tool_result": "user", "tool_use": "assistant"}
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, block in blocks(message, pointer):
            kind = str(block.get("type"))
            if kind in sides:
                role = sides[kind]
                wrong = message.get("role") != role
                facts = {"index": index, "kind": kind, "role": role}
                yield (
                    broken(place, f"a {kind} of the {message.get('role')}", **facts) if wrong else met(place)
                )


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
    """No two calls of a turn have one id."""
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
    """In the turn that answers tool calls, every result stands before any text, image or document.

    Why: the API looks for results at the head of the turn, and says that they are missing.
    Fix: results first, in the order of the calls, then the rest.
    """
    for number, turn, answer in exchanges(request):
        asked = {block.get("id") for _, _, block in turn.of("tool_use")}
        found = answer.of("tool_result") if answer else []
        head = next((i for i, (_, _, _) in enumerate(found) if found[i][0] != i), len(found))
        for place, (_, pointer, block) in enumerate(found):
            late = place >= head and block.get("tool_use_id") in asked
            facts = {"index": number + 1, "ids": block.get("tool_use_id")}
            yield broken(pointer, "a result behind other content", **facts) if late else met(pointer)


@book.rule(
    "ORD-007",
    MUST,
    REJECT,
    source=[
        "recorded refusal of text behind a call `srvtoolu_…` (claude-3-5-sonnet)",
        "https://github.com/stacklok/mecatl/issues/1465",
    ],
    refusal=UNANSWERED,
    examples=[
        body(ASK, assistant(THOUGHT, "Let me see.", use("a")), user(result("a"))),
        body(ASK, assistant(use("a"), "Let me see."), user(result("a"))),
    ],
    counterexamples=[
        body(ASK, assistant(THOUGHT, use("a"), "Let me see."), user(result("a"))),
        body(ASK, assistant(use("srvtoolu_1"), "Found it."), user(result("srvtoolu_1"))),
    ],
)
def calls_end_the_turn(request: Request) -> Iterator[Finding]:
    """In a turn with thoughts, or with a server tool's call, no text follows the last call.

    Why: the blocks go back in the order they were made, and the model calls last. Of turns without thoughts it is
    not known.
    """
    for number, turn, answer in exchanges(request):
        calls = turn.of("tool_use")
        last, pointer, block = calls[-1]
        thought = bool(turn.of("thinking") or turn.of("redacted_thinking"))
        if answer and (thought or str(block.get("id")).startswith("srvtoolu_")):
            after = any(each.get("type") == "text" for _, each in turn.blocks[last + 1 :])
            facts = {"index": number, "ids": block.get("id")}
            yield broken(pointer, "text follows the call", **facts) if after else met(pointer)


@book.rule(
    "PAIR-001",
    MUST,
    REJECT,
    source=ISSUES,
    refusal=UNANSWERED,
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
    """Every call of a turn has its result in the next turn.

    Why: the tool was cancelled, crashed, or hit a limit. Fix: send a result that says so, with `is_error`.
    """
    for number, turn, answer in exchanges(request):
        given = {block.get("tool_use_id") for _, _, block in answer.of("tool_result")} if answer else set()
        calls = turn.of("tool_use")
        missing = ", ".join(str(block.get("id")) for _, _, block in calls if block.get("id") not in given)
        facts = {"index": number + 1 if answer else number, "ids": missing}
        yield broken(calls[0][1], f"no result for {missing}", **facts) if missing else met(calls[0][1])


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
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, user(result("a"))), body(ASK, assistant("5"), user(result("a")))],
)
def results_follow_calls(request: Request) -> Iterator[Finding]:
    """A result answers a call of the turn before.

    Why: history was cut between the two, or the call dropped. Fix: drop or keep both sides together.
    """
    asked: set[object] = set()
    for number, turn in enumerate(turns(request)):
        if turn.role == "user":
            for index, pointer, block in turn.of("tool_result"):
                id = block.get("tool_use_id")
                facts = {"turn": number, "index": index, "id": id}
                problem = f"{id!r} is no call of the turn before"
                yield met(pointer) if id in asked else broken(pointer, problem, **facts)
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
    """A call has one result.

    Fix: keep the last one.
    """
    for number, turn in enumerate(turns(request)):
        seen: set[object] = set()
        for index, pointer, block in turn.of("tool_result"):
            id = block.get("tool_use_id")
            facts = {"turn": number, "index": index, "id": id}
            yield broken(pointer, f"a second result for {id!r}", **facts) if id in seen else met(pointer)
            seen.add(id)


@book.rule(
    "SYS-002",
    MUST,
    REJECT,
    source="measured on the live API; 22 recorded conversations with a system message in legal places",
    refusal=refused("{text}"),
    models=MIDWAY,
    examples=[
        body(ASK, BRIEF, model="claude-opus-4-8"),
        body(ASK, BRIEF, assistant("5"), ASK, model="claude-opus-4-8"),
    ],
    counterexamples=[
        body(BRIEF, ASK, model="claude-opus-4-8"),
        body(ASK, BRIEF, ASK, model="claude-opus-4-8"),
    ],
)
def a_system_message_precedes_the_assistant(request: Request) -> Iterator[Finding]:
    """A system message within the conversation is not its first and stands before an assistant message or at the end.

    Fix: the first system prompt goes to the top-level `system`.
    """
    found = list(messages(request.body))
    form = "the directive-only form (content: [] with output_config) is accepted at any position"
    for index, (pointer, message) in enumerate(found):
        if message.get("role") != "system" or message.get("content") == []:
            continue
        after = next((m.get("role") for _, m in found[index + 1 :] if m.get("role") != "system"), "assistant")
        first = f"messages.0: use the top-level 'system' parameter for the initial system prompt; {form}"
        later = (
            f"messages.{index}: role 'system' must precede an 'assistant' message or end the array; {form}"
        )
        if index == 0:
            yield broken(pointer, "the first message is the system's", text=first)
        else:
            wrong = after != "assistant"
            yield (
                broken(pointer, f"a system message before the {after}'s", text=later)
                if wrong
                else met(pointer)
            )


@book.rule(
    "SYS-005",
    MUST,
    REJECT,
    source="from memory",
    refusal=refused(
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
        'not "system" as an input message role.'
    ),
    models=["claude-*", *(f"!{name}" for name in MIDWAY)],
    preview=True,
    examples=[body(ASK, system="Be brief.")],
    counterexamples=[body(BRIEF, ASK)],
)
def the_system_prompt_is_no_message(request: Request) -> Iterator[Finding]:
    """The system prompt is the top-level `system`; older models take no system messages."""
    for pointer, message in messages(request.body):
        wrong = message.get("role") == "system"
        yield broken(pointer, "a system message") if wrong else met(pointer)


@book.rule(
    "ORD-013",
    MUST,
    REJECT,
    source=[
        "recorded refusal (claude-sonnet-5)",
        "https://github.com/smallmain/vscode-unify-chat-provider/issues/249",
    ],
    refusal=refused(
        "This model does not support assistant message prefill. The conversation must end with a user message."
    ),
    models=NO_PREFILL,
    examples=[body(ASK, model="claude-sonnet-5")],
    counterexamples=[body(ASK, assistant("{"), model="claude-sonnet-5")],
)
def the_user_has_the_last_word(request: Request) -> Iterator[Finding]:
    """From the 4.6 models on, a conversation does not end with the assistant's text.

    Why not always: older models take such a prefill, and a turn that paused for a server tool is sent back as it is.
    Fix: ask for structured output instead.
    """
    found = turns(request)
    if found:
        last = found[-1]
        kinds = {str(block.get("type")) for _, block in last.blocks}
        paused = any(kind.startswith(("server_", "mcp_")) or kind.endswith("_tool_result") for kind in kinds)
        said = any(block.get("text") for _, block in last.blocks)
        prefill = last.role == "assistant" and said and not paused and "tool_use" not in kinds
        yield broken(last.pointer, "the assistant has the last word") if prefill else met(last.pointer)


@book.rule(
    "ORD-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/tailcallhq/forgecode/issues/1872",
        "https://github.com/langchain-ai/langchain-google/issues/1733",
    ],
    refusal=refused("messages: final assistant content cannot end with trailing whitespace"),
    models=["claude-*", *(f"!{name}" for name in NO_PREFILL)],
    examples=[body(ASK, assistant("The sum is"))],
    counterexamples=[body(ASK, assistant("The sum is "))],
)
def a_prefill_has_no_trailing_space(request: Request) -> Iterator[Finding]:
    """A prefill does not end in white space."""
    found = turns(request)
    if found and found[-1].role == "assistant" and found[-1].blocks:
        pointer, block = found[-1].blocks[-1]
        said = block.get("text")
        if block.get("type") == "text" and isinstance(said, str):
            yield (
                met(pointer) if said == said.rstrip() else broken(pointer, "the prefill ends in white space")
            )
