"""The conversation: the order of roles, and the blocks of each role."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from ...observed.exchange import Request
from ...readers.anthropic import blocks, messages
from ...readers.json_access import first_after
from ...rule import Finding, broken, met
from ._refusals_and_examples import ASK, MUST, REJECT, assistant, body, book, refused, result, use, user
from ._turns import Turn, turns

NO_PREFILL = ["claude>=4.6"]
MIDWAY = ["claude-opus-4-8*", "claude-opus-5*", "claude-sonnet-5*", "claude-fable-5*", "claude-mythos-5*"]
#: They take no system message within the conversation.
UNMOVED = [
    *("claude-instant*", "claude-v2*", "claude-2*", "claude-3*", "claude-sonnet-4*", "claude-haiku-4*"),
    *("claude-opus-4-0", "claude-opus-4-1*", "claude-opus-4-2*", "claude-opus-4-5*", "claude-opus-4-6*"),
    "claude-opus-4-7*",
]
BRIEF = {"role": "system", "content": "Be brief."}


@book.rule(
    "ORD-012",
    MUST,
    REJECT,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    refusal=refused("messages.{index}: `{kind}` blocks can only be in `{role}` messages"),
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, assistant(result("a")), ASK), body(user(use("a")))],
)
def each_side_sends_its_blocks(request: Request) -> Iterator[Finding]:
    """Tool calls are in assistant messages, and tool results are in user messages.

    Fix: begin a new message when the side changes.
    """
    sides = {"tool_result": "user", "tool_use": "assistant"}
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, block in blocks(message, pointer):
            kind = str(block.get("type"))
            if kind in sides:
                role = sides[kind]
                wrong = message.get("role") != role
                facts = {"index": index, "kind": kind, "role": role}
                yield (
                    broken(place, f"a {kind} is in a message of the {message.get('role')}", **facts)
                    if wrong
                    else met(place)
                )


@book.rule(
    "ORD-009",
    MUST,
    REJECT,
    source=[
        "accepted since: recorded conversations with messages of one role in a row",
        "https://github.com/FlowiseAI/Flowise/issues/2006",
        "https://github.com/coaidev/coai/issues/209",
    ],
    refusal=refused(
        'messages: roles must alternate between "user" and "assistant", but found multiple "{role}" roles in a row'
    ),
    until=date(2024, 10, 1),
    examples=[body(ASK, assistant("5"), ASK)],
    counterexamples=[body(ASK, ASK)],
)
def roles_alternate(request: Request) -> Iterator[Finding]:
    """User and assistant messages alternate.

    The rule ended in October 2024: since then the API merges consecutive messages of one role. Fix: join consecutive
    messages of one role.
    """
    for (_, before), (pointer, message) in pairwise(messages(request.body)):
        role, place = message.get("role"), f"{pointer}/role"
        again = role == before.get("role")
        yield broken(place, f"two {role} messages follow each other", role=role) if again else met(place)


@book.rule(
    "SYS-006",
    MUST,
    REJECT,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "22 recorded conversations with a system message in legal places",
    ],
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
    """A system message in `messages` comes directly before an assistant message or at the end. It is not the first
    message.

    Fix: put the first system prompt into the top-level `system`.
    """
    found = list(messages(request.body))
    form = "the directive-only form (content: [] with output_config) is accepted at any position"
    following = first_after(found, lambda each: each[1].get("role") == "system")
    for index, (pointer, message) in enumerate(found):
        if message.get("role") != "system" or not message.get("content"):
            continue
        behind = following[index]
        after = behind[1].get("role") if behind else "assistant"
        first = f"messages.0: use the top-level 'system' parameter for the initial system prompt; {form}"
        later = (
            f"messages.{index}: role 'system' must precede an 'assistant' message or end the array; {form}"
        )
        if index == 0:
            yield broken(pointer, "the first message is a system message", text=first)
        else:
            wrong = after != "assistant"
            yield (
                broken(pointer, f"a system message comes before a message of the {after}", text=later)
                if wrong
                else met(pointer)
            )


@book.rule(
    "SYS-002",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/61412",
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "https://github.com/CherryHQ/cherry-studio/issues/12316 (the older text)",
        "https://github.com/Maol-1997/cursor-claude-connector/issues/3 (the older text)",
    ],
    refusal=refused("role 'system' is not supported on this model"),
    formerly=[
        refused(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )
    ],
    models=UNMOVED,
    examples=[body(ASK, system="Be brief.")],
    counterexamples=[body(BRIEF, ASK)],
)
def the_system_prompt_is_no_message(request: Request) -> Iterator[Finding]:
    """Older models accept a system prompt only in the top-level `system`, not as a message.

    Fix: move the text into the top-level `system`.
    """
    for pointer, message in messages(request.body):
        wrong = message.get("role") == "system"
        yield broken(pointer, "`messages` has a system message") if wrong else met(pointer)


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
    """From the 4.6 models on, the last message is not an assistant message with text.

    Older models accept such a prefill. A turn that paused for a server tool is sent back
    unchanged, and so is a turn that continues after a refusal. Fix: ask for structured output instead.
    """
    found = turns(request)
    if found and not request.body.get("fallback_credit_token"):
        last = found[-1]
        has_text = any(block.get("text") for _, block in last.blocks)
        prefill = last.role == "assistant" and has_text and not _paused(last) and not last.of("tool_use")
        yield (
            broken(last.pointer, "the last message is an assistant message with text")
            if prefill
            else met(last.pointer)
        )


@book.rule(
    "ORD-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/tailcallhq/forgecode/issues/1872",
        "https://github.com/langchain-ai/langchain-google/pull/1733",
    ],
    refusal=refused("messages: final assistant content cannot end with trailing whitespace"),
    models=["claude-*", *(f"!{name}" for name in NO_PREFILL)],
    examples=[body(ASK, assistant("The sum is"))],
    counterexamples=[body(ASK, assistant("The sum is "))],
)
def a_prefill_has_no_trailing_space(request: Request) -> Iterator[Finding]:
    """A prefill (a last assistant message) does not end in white space.

    Fix: strip the end of the last assistant message.
    """
    found = turns(request)
    if found and found[-1].role == "assistant" and found[-1].blocks and not _paused(found[-1]):
        pointer, block = found[-1].blocks[-1]
        content = block.get("text")
        if block.get("type") == "text" and isinstance(content, str):
            yield (
                met(pointer)
                if content == content.rstrip()
                else broken(pointer, "the prefill ends in white space")
            )


def _paused(turn: Turn) -> bool:
    """Tells whether a turn may have paused for a tool that the server runs."""
    kinds = (str(block.get("type")) for _, block in turn.blocks)
    return any(kind.startswith(("server_", "mcp_")) or kind.endswith("_tool_result") for kind in kinds)
