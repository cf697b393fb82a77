"""The content of blocks: text, valid ids, and arguments that are objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.anthropic import messages
from ...readers.json_access import elements
from ...rule import Finding, broken, met
from ._refusals_and_examples import ASK, MUST, REJECT, assistant, body, book, refused, result, use, user
from ._turns import all_blocks, turns

CALLED = re.compile(r"[a-zA-Z0-9_-]{1,200}")


@book.rule(
    "EMP-001",
    MUST,
    REJECT,
    source="https://github.com/anthropics/claude-code/issues/59812",
    refusal=refused("messages: text content blocks must be non-empty"),
    examples=[body(ASK, assistant("5"), user("Thanks."))],
    counterexamples=[body(user("")), body(ASK, assistant("", use("a")), user(result("a")))],
)
def text_blocks_have_text(request: Request) -> Iterator[Finding]:
    """A text block is not empty, even if the model produced it.

    Fix: remove empty blocks before you send an answer back.
    """
    for pointer, message in messages(request.body):
        for place, block in elements(message.get("content"), f"{pointer}/content"):
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                yield met(place) if block["text"] else broken(place, "the text is empty")


@book.rule(
    "EMP-008",
    MUST,
    REJECT,
    source="https://github.com/block/goose/pull/7343",
    refusal=refused("messages: text content blocks must contain non-whitespace text"),
    examples=[body(ASK, assistant(" ", use("a")), user(result("a")))],
    counterexamples=[body(user(" \n"))],
)
def the_user_says_something(request: Request) -> Iterator[Finding]:
    """A text block in a user message has at least one character that is not white space.

    Assistant messages are exempt: a recorded request with blank text before a call was accepted. Fix: leave blank texts
    out.
    """
    for turn in turns(request):
        for _, pointer, block in turn.of("text"):
            content = block.get("text")
            if turn.role == "user" and isinstance(content, str) and content:
                yield met(pointer) if content.strip() else broken(pointer, "the text is blank")


@book.rule(
    "EMP-011",
    MUST,
    REJECT,
    source=[
        "https://github.com/agentjido/req_llm/issues/711",
        "https://github.com/BoltAI/BoltAI/issues/165",
    ],
    refusal=refused("system: text content blocks must contain non-whitespace text"),
    examples=[body(ASK, system=[{"type": "text", "text": "Be brief."}])],
    counterexamples=[body(ASK, system=[{"type": "text", "text": text} for text in ("Be brief.", "\n\n")])],
)
def blocks_of_the_prompt_have_text(request: Request) -> Iterator[Finding]:
    """Each text block of the system prompt has at least one character that is not white space.

    Why: a client that joins prompts by a block of white space is refused. Fix: leave empty blocks out.
    """
    for place, block in elements(request.body.get("system"), "/system"):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield met(place) if block["text"].strip() else broken(place, "the text is blank")


@book.rule(
    "EMP-004",
    MUST,
    REJECT,
    source=[
        "recorded refusal (claude-haiku-4-5)",
        "https://github.com/glowingjade/obsidian-smart-composer/pull/156",
    ],
    refusal=refused("messages.{index}: user messages must have non-empty content"),
    formerly=[
        refused(
            "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
        )
    ],
    examples=[body(ASK), body(ASK, {"role": "user", "content": ""})],
    counterexamples=[body({"role": "user", "content": ""}), body({"role": "user", "content": []})],
)
def the_user_sends_content(request: Request) -> Iterator[Finding]:
    """A user message has content.

    Fix: leave the message out.
    """
    for index, turn in enumerate(turns(request)):
        if turn.role == "user":
            empty = all(block.get("type") == "text" and block.get("text") == "" for _, block in turn.blocks)
            listed = any(pointer.count("/") > 3 for pointer, _ in turn.blocks)  # EMP-001's, then
            wrong = empty and not listed
            yield broken(turn.pointer, "the turn is empty", index=index) if wrong else met(turn.pointer)


@book.rule(
    "EMP-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/glowingjade/obsidian-smart-composer/issues/157",
        "https://github.com/anthropics/claude-code/issues/6774",
        "https://github.com/langchain-ai/langchain/pull/33390",
    ],
    refusal=refused(
        "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
    ),
    examples=[body(ASK, assistant("5"), ASK), body(ASK, {"role": "assistant", "content": ""})],
    counterexamples=[body(ASK, {"role": "assistant", "content": ""}, ASK)],
)
def the_assistant_said_something(request: Request) -> Iterator[Finding]:
    """An assistant message has content, unless it is the last message.

    Fix: leave the message out. The API merges the user messages around it.
    """
    found = list(messages(request.body))
    for index, (pointer, message) in enumerate(found[:-1]):
        if message.get("role") == "assistant":
            empty = message.get("content") in ("", [])
            yield broken(pointer, "the message is empty", index=index) if empty else met(pointer)


@book.rule(
    "EMP-007",
    MUST,
    REJECT,
    source="https://github.com/anthropics/claude-agent-sdk-python/issues/248",
    refusal=refused("{place}: content cannot be empty if `is_error` is true"),
    examples=[
        body(ASK, assistant(use("a")), user(result("a", ""))),
        body(ASK, assistant(use("a")), user(result("a", "It failed.", is_error=True))),
    ],
    counterexamples=[
        body(ASK, assistant(use("a")), user(result("a", "", is_error=True))),
        body(ASK, assistant(use("a")), user({"type": "tool_result", "tool_use_id": "a", "is_error": True})),
    ],
)
def errors_say_what(request: Request) -> Iterator[Finding]:
    """A tool result with `is_error` has content.

    Fix: send the exception's text, or "(no output)".
    """
    for pointer, place, block in all_blocks(request.body):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            fine = bool(block.get("content"))
            yield met(pointer) if fine else broken(pointer, "the failed result has no content", place=place)


@book.rule(
    "PAIR-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/farion1231/cc-switch/issues/1181",
        "https://github.com/openclaw/openclaw/issues/12277",
        "https://github.com/langchain-ai/langchain/pull/37756",
    ],
    refusal=refused("{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
    examples=[body(ASK, assistant(use("call-1_a")), user(result("call-1_a")))],
    counterexamples=[body(ASK, assistant(use("functions.add:0")), user(result("functions.add:0")))],
)
def ids_are_plain(request: Request) -> Iterator[Finding]:
    """The id of a tool call has only letters, digits, `_` and `-`.

    Why: ids from other providers have dots and colons. Fix: map the id to a valid one, in the call and in its result.
    """
    for pointer, place, block in all_blocks(request.body):
        id = block.get("id")
        if block.get("type") == "tool_use" and isinstance(id, str):
            legal = bool(id) and id.replace("_", "a").replace("-", "a").isalnum() and id.isascii()
            where = f"{pointer}/id"
            yield met(where) if legal else broken(where, f"{id!r} has other characters", place=place)


@book.rule(
    "SCH-019",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ToolUseBlockParam)",
    preview=True,  # nothing of it can be opened
    refusal=refused("{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"),
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, assistant({**use("a"), "name": "math.add"}), user(result("a")))],
)
def called_names_are_plain(request: Request) -> Iterator[Finding]:
    """The tool name in a call that is sent back has only letters, digits, `_` and `-`.

    Why: the call came from another provider, or the model invented the name. Fix: map the name as you do in
    the declaration.
    """
    for pointer, place, block in all_blocks(request.body):
        name, where = block.get("name"), f"{pointer}/name"
        if block.get("type") == "tool_use" and isinstance(name, str):
            problem = f"{name!r} has characters other than letters, digits, `_` and `-`"
            yield met(where) if CALLED.fullmatch(name) else broken(where, problem, place=place)


@book.rule(
    "PAIR-009",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ToolUseBlockParam)",
    refusal=refused("{place}.input: Input should be an object"),
    formerly=[refused("{place}.input: Input should be a valid dictionary")],
    examples=[body(ASK, assistant(use("a")), user(result("a")))],
    counterexamples=[body(ASK, assistant({**use("a"), "input": '{"x": 2}'}), user(result("a")))],
)
def input_is_an_object(request: Request) -> Iterator[Finding]:
    """The `input` of a call is sent back as an object, not as JSON text.

    Fix: join and parse the fragments of a stream. No fragments mean `{}`.
    """
    for pointer, place, block in all_blocks(request.body):
        if block.get("type") == "tool_use" and "input" in block:
            right, where = isinstance(block["input"], dict), f"{pointer}/input"
            yield met(where) if right else broken(where, "the input is not an object", place=place)
