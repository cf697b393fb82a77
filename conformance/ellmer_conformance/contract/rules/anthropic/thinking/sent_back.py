"""Thinking blocks that are sent back: signed, unchanged, and in their place."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ....observed.exchange import Request
from ....readers.anthropic import BINDING_BETA, kept_betas, messages
from ....readers.json_access import decoded, object_of
from ....rule import Finding, broken, met
from ..._media import redacted
from .._refusals_and_examples import (
    ASK,
    MUST,
    REJECT,
    THOUGHT,
    TOOL,
    assistant,
    body,
    book,
    refused,
    result,
    use,
    user,
)
from .._turns import all_blocks, turns

#: Before that day any signature was taken.
CHECKED = date(2025, 10, 7)
_BEGINNING, _SHORTEST = b"\x12", 32  # of all recorded signatures, whose bytes are hundreds
#: They think unless told not to.
THINKING_ANYWAY = ["claude-opus-5*", "claude-sonnet-5*", "claude-fable-*", "claude-mythos-*"]
THINKING = {"type": "enabled", "budget_tokens": 1024}
MORE = {"max_tokens": 2048, "tools": [TOOL], "thinking": THINKING}


@book.rule(
    "THK-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/reVrost/go-openrouter/pull/56",
        "https://github.com/CherryHQ/cherry-studio/issues/12996",
    ],
    refusal=refused("{text}"),
    formerly=[refused("{place}.thinking.signature: Field required")],
    examples=[body(ASK, assistant(THOUGHT, use("a")), user(result("a")), **MORE)],
    counterexamples=[
        body(ASK, assistant({**THOUGHT, "signature": ""}, use("a")), user(result("a")), **MORE),
        body(ASK, assistant({**THOUGHT, "thinking": "", "signature": ""}, "5"), ASK),
    ],
)
def thoughts_are_signed(request: Request) -> Iterator[Finding]:
    """A thinking block is sent back with the signature it came with.

    Why: the API checks the thinking against its signature. Fix: join the pieces of a streamed signature, and
    drop thinking from other models.
    """
    for pointer, place, block in all_blocks(request.body):
        if block.get("type") == "thinking":
            where = place.rpartition(".")[0]
            empty = f"{where}.thinking: each thinking block must contain thinking"
            text = f"{where}: Invalid `signature` in `thinking` block" if block.get("thinking") else empty
            problem, facts = "the thought is not signed", {"place": where, "text": text}
            yield met(pointer) if block.get("signature") else broken(pointer, problem, **facts)


@book.rule(
    "THK-031",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/pull/33391",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
        "https://github.com/code-yeongyu/oh-my-openagent/issues/2775",
    ],
    refusal=refused("{place}: Invalid `signature` in `thinking` block"),
    since=CHECKED,
    examples=[body(ASK, assistant(THOUGHT, use("a")), user(result("a")), **MORE)],
    counterexamples=[
        body(ASK, assistant({**THOUGHT, "signature": made_up}, use("a")), user(result("a")), **MORE)
        for made_up in ("signature", "not signed!")
    ],
)
def signatures_are_those_of_the_api(request: Request) -> Iterator[Finding]:
    """The signature of a thinking block was made by the API. It is base64 of many bytes.

    Why: the API checks it since October 2025. Only short texts are judged, because a longer text may be a signature of the API.
    Fix: send the block back unchanged, or leave it out if another model or a program wrote it.
    """
    for pointer, place, block in all_blocks(request.body):
        signature = block.get("signature")
        if block.get("type") == "thinking" and isinstance(signature, str) and signature:
            if redacted(signature):
                continue
            blob, where = decoded(signature), place.rpartition(".")[0]
            fine = blob is not None and (len(blob) >= _SHORTEST or blob.startswith(_BEGINNING))
            problem = "no API made this signature"
            yield met(pointer) if fine else broken(pointer, problem, place=where)


@book.rule(
    "THK-009",
    MUST,
    REJECT,
    source=[
        "https://github.com/deepset-ai/haystack-core-integrations/issues/2146",
        "https://github.com/Kilo-Org/kilocode/issues/5219",
        "https://github.com/anthropics/claude-code/issues/20692",
        "newer versions of the API are said to turn thinking off for such a request instead",
    ],
    preview=True,
    refusal=refused(
        "messages.{turn}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
        "set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. "
        "To avoid this requirement, disable `thinking`. Please consult our documentation at "
        "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
    ),
    formerly=[
        refused(
            "messages.{turn}.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. "
            "Found `{kind}`."
        )
    ],
    examples=[
        body(ASK, assistant(THOUGHT, use("a")), user(result("a")), **MORE),
        body(
            *(ASK, assistant(use("a")), user(result("a"))),
            **{**MORE, "model": "claude-opus-4-6", "thinking": {"type": "adaptive"}},
        ),
    ],
    counterexamples=[body(ASK, assistant(use("a")), user(result("a")), **MORE)],
)
def a_tool_loop_starts_with_a_thought(request: Request) -> Iterator[Finding]:
    """With thinking enabled, the assistant turn whose tool calls are being answered starts with a thinking block.

    Fix: send thinking blocks back, or use `adaptive`, which does not require them.
    """
    thinking, found = request.body.get("thinking"), turns(request)
    enabled = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    if enabled and len(found) > 1 and found[-1].role == "user" and found[-1].of("tool_result"):
        turn = found[-2]
        pointer, first = turn.blocks[0] if turn.blocks else (turn.pointer, {})
        kind = first.get("type")
        thought = kind in {"thinking", "redacted_thinking"} or not turn.of("tool_use")
        problem = f"the turn starts with {kind}"
        yield met(pointer) if thought else broken(pointer, problem, turn=len(found) - 2, kind=kind)


@book.rule(
    "THK-010",
    MUST,
    REJECT,
    source="https://github.com/tailcallhq/forgecode/issues/1853",
    models=["claude-*", *(f"!{name}" for name in THINKING_ANYWAY)],
    refusal=refused(
        "messages.{index}.content.0: When thinking is disabled, an `assistant` message in the final position cannot "
        "contain `thinking`. To use thinking blocks, enable `thinking` in your request."
    ),
    examples=[body(ASK, assistant(THOUGHT, "5"), ASK), body(ASK, assistant("5"))],
    counterexamples=[body(ASK, assistant(THOUGHT, "5"))],
)
def a_prefill_does_not_think(request: Request) -> Iterator[Finding]:
    """With thinking disabled, a last assistant message has no thinking block.

    Fix: leave the thinking block out of the last message, or enable thinking.
    """
    found, thinking = list(messages(request.body)), request.body.get("thinking")
    on = isinstance(thinking, dict) and thinking.get("type") in {"enabled", "adaptive"}
    if found and not on and found[-1][1].get("role") == "assistant":
        pointer, message = found[-1]
        content = message.get("content")
        kinds = (
            {block.get("type") for block in content if isinstance(block, dict)}
            if isinstance(content, list)
            else ()
        )
        thought = "thinking" in kinds
        problem = "a thinking block is sent while thinking is disabled"
        yield broken(pointer, problem, index=len(found) - 1) if thought else met(pointer)


@book.rule(
    "THK-024",
    MUST,
    REJECT,
    source="https://platform.claude.com/docs/en/build-with-claude/preserved-thinking",
    refusal=refused("thinking.{kind}.block_binding: Extra inputs are not permitted"),
    examples=[
        body(ASK, model="claude-opus-5-5", anthropic_version="2023-06-01", thinking={"type": "adaptive"}),
        # recorded without its headers: pydantic-ai, test_anthropic_fable_5_1_drops_a_stale_thinking_block
        body(
            ASK,
            model="claude-fable-5-1",
            thinking={"block_binding": {"prefix_mismatch_behavior": "drop_block"}},
        ),
    ],
    counterexamples=[
        body(
            ASK,
            model="claude-opus-5-5",
            anthropic_version="2023-06-01",
            thinking={"type": "adaptive", "block_binding": {}},
        )
    ],
)
def binding_takes_a_header(request: Request) -> Iterator[Finding]:
    """`thinking.block_binding` requires its value in the header `anthropic-beta`.

    A recording that may have lost its headers is not judged. Fix: send `anthropic-beta: thinking-binding-controls-2026-08-01`.
    """
    thinking, betas = object_of(request.body.get("thinking")), kept_betas(request)
    if thinking and betas is not None:
        wrong = thinking.get("block_binding") is not None and BINDING_BETA not in betas
        place, problem = "/thinking/block_binding", f"the header has no {BINDING_BETA}"
        yield broken(place, problem, kind=thinking.get("type")) if wrong else met("/thinking")
