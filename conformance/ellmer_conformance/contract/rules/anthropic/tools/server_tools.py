"""Tools that Anthropic runs: their calls and results are both assistant blocks and go back together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....observed.exchange import Json, Request
from ....readers.anthropic import blocks, messages
from ....readers.json_access import text_of
from ....rule import Finding, broken, met
from ..._media import redacted
from .._refusals_and_examples import ASK, MUST, REJECT, assistant, body, book, refused
from .._turns import Turn, all_blocks, turns

ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "5"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


@book.rule(
    "PAIR-015",
    MUST,
    REJECT,
    source="https://github.com/betmoar/cc-proxy-plugin/issues/67",
    refusal=refused("{place}.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"),
    examples=[body(ASK, assistant(SEARCH, FOUND, "5"), ASK)],
    counterexamples=[
        body(ASK, assistant({**SEARCH, "id": "call_1"}, {**FOUND, "tool_use_id": "call_1"}, "5"), ASK)
    ],
)
def served_calls_bear_anthropics_ids(request: Request) -> Iterator[Finding]:
    """The id of a server tool call starts with `srvtoolu_`.

    Why: a client sent another provider's server tool call as one of Anthropic's. Fix: send its result as text.
    """
    for pointer, place, block in all_blocks(request.body):
        id = block.get("id")
        if block.get("type") == "server_tool_use" and isinstance(id, str) and not redacted(id):
            legal = ID.fullmatch(id)
            yield (
                met(f"{pointer}/id")
                if legal
                else broken(f"{pointer}/id", f"{id!r} does not start with `srvtoolu_`", place=place)
            )


@book.rule(
    "PAIR-016",
    MUST,
    REJECT,
    source="https://github.com/anthropics/claude-code/issues/64383",
    refusal=refused(
        "messages.{message}.content.{index}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` "
        "block must have a corresponding `server_tool_use` block before it."
    ),
    examples=[body(ASK, assistant(SEARCH), assistant(FOUND, "5"), ASK)],
    counterexamples=[body(ASK, assistant(FOUND, "5"), ASK), body(ASK, assistant(FOUND, SEARCH, "5"), ASK)],
)
def served_results_have_calls(request: Request) -> Iterator[Finding]:
    """A server tool result comes after its call.

    Why: the client dropped the call as an unknown block. Fix: send back both the call and the result, or neither.
    """
    asked: set[object] = set()
    for number, (pointer, message) in enumerate(messages(request.body)):
        for index, (place, block) in enumerate(blocks(message, pointer)):
            kind, id = text_of(block.get("type")), block.get("tool_use_id")
            if kind in {"server_tool_use", "compaction"}:  # what was compacted may have been the call
                asked.add(block.get("id"))
            elif kind.endswith("_tool_result") and kind != "mcp_tool_result" and None not in asked:
                facts = {"message": number, "index": index, "kind": kind, "id": id}
                fine = id in asked or redacted(text_of(id))
                yield met(place) if fine else broken(place, "the result has no call before it", **facts)


@book.rule(
    "PAIR-017",
    MUST,
    REJECT,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools",
    refusal=refused(
        "messages.{turn}: `{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block"
    ),
    formerly=[
        refused(
            "`{name}` tool use with id `{id}` was found without a corresponding `{name}_tool_result` block"
        )
    ],
    examples=[body(ASK, assistant(SEARCH, FOUND, "5"), ASK), body(ASK, assistant("I look.", SEARCH))],
    counterexamples=[body(ASK, assistant(SEARCH, "5"), ASK)],
)
def served_calls_have_results(request: Request) -> Iterator[Finding]:
    """A server tool call has its result, unless its turn is the last one or also calls client tools.

    Why: the client dropped the result as an unknown block. Fix: send back both the call and the result, or neither.
    """
    found = turns(request)
    answered = {block.get("tool_use_id") for turn in found for _, block in turn.blocks}
    hidden = any(redacted(text_of(id)) for id in answered)  # by a recorder
    for number, turn in enumerate(found[:-1]):
        for pointer, block in _searches(turn):
            id, name = block.get("id"), block.get("name")
            facts = {"turn": number, "name": name, "id": id}
            fine = id in answered or hidden
            yield met(pointer) if fine else broken(pointer, f"there is no result for {id}", **facts)


def _searches(turn: Turn) -> Iterator[tuple[str, Json]]:
    """Yields the finished searches of a turn. A pending search waits for the client's results."""
    if not turn.of("tool_use"):
        for _, pointer, block in turn.of("server_tool_use"):
            if block.get("name") in {"web_search", "web_fetch"}:
                yield pointer, block
