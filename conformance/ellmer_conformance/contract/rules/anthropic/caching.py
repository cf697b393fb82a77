"""Cache breakpoints: their number, their order, and the blocks that may carry one."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.anthropic import messages, tools
from ...readers.json_access import elements, object_of
from ...readers.read_cache import read_once
from ...rule import Finding, broken, met
from ._rulebook import ASK, MUST, REJECT, TOOL, body, book, refused, user
from ._turns import all_blocks

MARK: Json = {"cache_control": {"type": "ephemeral"}}
HOUR: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
CACHED: Json = {"type": "text", "text": "Hi", **MARK}


@book.rule(
    "REQ-024",
    MUST,
    REJECT,
    source=[
        "https://github.com/griffinmartin/opencode-claude-auth/issues/121",
        "https://github.com/tghamm/Anthropic.SDK/issues/50",
    ],
    refusal=refused("A maximum of 4 blocks with cache_control may be provided. Found {count}."),
    examples=[body(*[user(CACHED)] * 4)],
    counterexamples=[body(*[user(CACHED)] * 3, tools=[{**TOOL, **MARK}], system=[CACHED])],
)
def cache_marks_are_few(request: Request) -> Iterator[Finding]:
    """At most four blocks of a request have `cache_control`, counted over tools, system prompt and messages."""
    places = [pointer for pointer, _, _ in _marked(request.body)]
    if places:
        few = len(places) <= 4
        yield (
            met(places[-1])
            if few
            else broken(places[4], f"{len(places)} blocks have `cache_control`", count=len(places))
        )


@book.rule(
    "REQ-026",
    MUST,
    REJECT,
    source=[
        "https://github.com/cnighswonger/claude-code-cache-fix/issues/44",
        "https://github.com/headroomlabs-ai/headroom/issues/2939",
    ],
    refusal=refused(
        "{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
        "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    ),
    examples=[body(user({**CACHED, **HOUR}, CACHED))],
    counterexamples=[
        body(user(CACHED, {**CACHED, **HOUR})),
        body(ASK, tools=[{**TOOL, **MARK}], system=[{**CACHED, **HOUR}]),
    ],
)
def long_marks_come_first(request: Request) -> Iterator[Finding]:
    """Cache breakpoints with a lifetime of one hour come before those with five minutes, in the order tools,
    system prompt, messages."""
    brief = False
    for pointer, place, mark in _marked(request.body):
        long = mark.get("ttl") == "1h"
        where, problem = f"{pointer}/cache_control", "an hour's mark behind one of five minutes"
        yield broken(where, problem, place=place) if long and brief else met(where)
        brief = brief or not long


@book.rule(
    "EMP-010",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/54013",
        "https://github.com/anthropics/claude-code/issues/55302",
    ],
    refusal=refused("{place}: cache_control cannot be set for empty text blocks"),
    examples=[body(user(CACHED), system=[CACHED])],
    counterexamples=[body(user({**CACHED, "text": ""})), body(ASK, system=[{**CACHED, "text": ""}])],
)
def empty_text_is_not_cached(request: Request) -> Iterator[Finding]:
    """A text block with `cache_control` is not empty.

    Fix: leave out an empty system prompt, or set the breakpoint on the block before it.
    """
    for pointer, place, block in _texts(request.body):
        if block.get("cache_control") and isinstance(block.get("text"), str):
            yield met(pointer) if block["text"] else broken(pointer, "it is empty", place=f"{place}.text")


@read_once
def _marked(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields every breakpoint in the order in which the API reads them: pointer of its block, the API's name of it,
    the breakpoint.
    """
    listed = [*tools(request), *elements(request.get("system"), "/system")]
    found = [(pointer, pointer.strip("/").replace("/", "."), block) for pointer, block in listed]
    found += [(pointer, place.rpartition(".")[0], block) for pointer, place, block in all_blocks(request)]
    for pointer, place, block in found:
        if block.get("cache_control"):
            yield pointer, place, object_of(block["cache_control"])


@read_once
def _texts(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields the text blocks of the system prompt and of the messages: pointer, the API's name of the place,
    block.
    """
    for pointer, block in elements(request.get("system"), "/system"):
        yield pointer, pointer.strip("/").replace("/", "."), block
    for pointer, message in messages(request):
        for place, block in elements(message.get("content"), f"{pointer}/content"):
            if block.get("type") == "text":
                yield place, place.strip("/").replace("/", "."), block
