"""Preserved thinking: newer Claude models bind a thought to the conversation before it.

A thought's signature records the system prompt, the tools and the blocks of the request for which it was written, and
the previous thought. If a request sends it after another prefix, it is refused, or the thought is dropped.
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ..contract.exchange import Json
from ..contract.readers.anthropic import BINDING_BETA, PRESERVES_THINKING
from ..contract.readers.json_access import object_of
from .signatures import LONG, decoded, digest, encoded, opened, sign

__all__ = [
    "Block",
    "Conversation",
    "Mismatch",
    "binds",
    "sealed",
    "unsealed",
]

#: Claude Mythos 5.1 records the prefix, and does not check it.
_CHECKS = re.compile(r"claude-(?!mythos-5-1)")
#: The error for a thought that is sent back after another prefix.
_ELSEWHERE = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_UNSENT = f"That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header. "
_RECORD = "\0"  # what a signed text begins with that is a record


class Prefix(NamedTuple):
    """The prefix of a thought: digests of its parts, and the name of the model."""

    model: str
    system: str
    tools: str
    blocks: Sequence[str]
    thought: str

    def after(self, signature: str) -> Prefix:
        """Returns the prefix of the next thought of an answer."""
        return self._replace(thought=digest(signature))


class Block(NamedTuple):
    """A block of a request with its place. A thought also has its text and its signature."""

    place: str
    role: str
    value: Any
    signature: str | None = None


class Mismatch(NamedTuple):
    """A thought that the model does not use: the reason, and the provider's sentence about the difference, if there
    is one.
    """

    place: str
    reason: str
    sentence: str = ""


@dataclass(frozen=True, eq=False)
class Conversation:
    """A request in the form for the comparison."""

    model: str
    system: Sequence[Any]
    tools: Collection[Any]
    blocks: Sequence[Block]

    @cached_property
    def prefix(self) -> Prefix:
        """The prefix for thoughts in the answer to this request."""
        thoughts = [block.signature for block in self.blocks if block.signature is not None]
        before = digest(thoughts[-1]) if thoughts else ""
        return Prefix(self.model, self._system, self._tools, self._digests, before)

    @cached_property
    def _said(self) -> Sequence[Block]:
        """The blocks that are not thoughts."""
        return [block for block in self.blocks if block.signature is None]

    @cached_property
    def _digests(self) -> Sequence[str]:
        """The digests of these blocks."""
        return [digest([block.role, block.value]) for block in self._said]

    @cached_property
    def _system(self) -> str:
        return digest(self.system)

    @cached_property
    def _tools(self) -> str:
        """The set of tools. Tools that are loaded later are not in it."""
        return digest(
            sorted(digest(tool) for tool in self.tools if object_of(tool).get("defer_loading") is not True)
        )

    @cached_property
    def mismatches(self) -> Sequence[Mismatch]:
        """The unused thoughts. After the first one with another prefix, no thought is used."""
        found: list[Mismatch] = []
        thought, said, sentence = "", 0, None
        for block in self.blocks:
            if block.signature is None:
                said += 1
                continue
            record = unsealed(block.signature)
            bound = record.prefix if record else None
            if bound and not _reads(self.model, bound.model):
                found.append(Mismatch(block.place, "model_binding_mismatch"))
            elif bound and _CHECKS.search(self.model) and binds(self.model):
                sentence = self._differs(bound, said, block, thought) if sentence is None else ""
                if sentence is not None:
                    found.append(Mismatch(block.place, "prefix_binding_mismatch", sentence))
            thought = digest(block.signature)
        return found

    def objection(self, *, dropped: bool, beta: bool) -> str | None:
        """Returns the error for the first thought with another prefix, unless they are `dropped`; `beta` says that
        the header is sent.
        """
        if dropped or not binds(self.model):
            return None
        for place, reason, sentence in self.mismatches:
            if reason == "prefix_binding_mismatch":
                return f"{place}: {_ELSEWHERE} {'' if beta else _UNSENT}{sentence}".rstrip()
        return None

    def transformations(self) -> list[Json]:
        """Returns the dropped thoughts in the form of a reply."""
        return [
            {"type": "thinking_dropped", "path": place, "reason": reason}
            for place, reason, _ in self.mismatches
        ]

    def _differs(self, bound: Prefix, count: int, block: Block, thought: str) -> str | None:
        """Returns the difference from the prefix of a thought after a number of other blocks, or `None`."""
        if bound.system != self._system:
            return "The `system` prompt differs from the one this block was created with."
        if bound.tools != self._tools:
            return "The `tools` list differs from the one this block was created with."
        said, digests = self._said[:count], self._digests[:count]
        at = _first_difference(bound.blocks, digests)
        added = next((one for one in said[len(bound.blocks) :] if one.role != "assistant"), None)
        if at is None and added is None:
            gap = thought and bound.thought != thought
            missing = "The `thinking` block that preceded this one when it was created is missing from this request."
            return missing if gap else None
        first = added or [*said, block][at or 0]
        if at is not None and bound.blocks[at] not in digests and set(digests[at:]) <= set(bound.blocks):
            here = f"starting at `{first.place}`."
            return (
                f"Content that preceded this block when it was created is missing from this request, {here}"
            )
        return f"Content before this block differs from when it was created, first at `{first.place}`."


class Sealed(NamedTuple):
    """The content of a signature."""

    text: str
    prefix: Prefix | None


def binds(model: str) -> bool:
    """Tells whether the model binds its thoughts to the conversation before them."""
    return bool(PRESERVES_THINKING.search(model))


def sealed(text: str, prefix: Prefix | None) -> str:
    """Returns the signature of a thought."""
    record = _RECORD + json.dumps([text, *prefix]) if prefix else text
    return encoded(sign(record))


def unsealed(signature: str) -> Sealed | None:
    """Returns the content of an unchanged signature of this server. The latest are remembered."""
    return (_unsealed if len(signature) < LONG else _unsealed.__wrapped__)(signature)


@lru_cache(1024)
def _unsealed(signature: str) -> Sealed | None:
    blob = decoded(signature)
    text = opened(blob) if blob else None
    if text is None or not text.startswith(_RECORD):
        return None if text is None else Sealed(text, None)
    shown, *prefix = json.loads(text[1:])
    return Sealed(shown, Prefix(*prefix))


def _reads(model: str, author: str) -> bool:
    """Tells whether a model uses the thoughts of one that binds them."""
    ours, theirs = PRESERVES_THINKING.search(model), PRESERVES_THINKING.search(author)
    if theirs is None or theirs[1] == "haiku":
        return True
    greater = theirs[1] in {"fable", "mythos", "opus"} and ours is not None and ours[1] in {"fable", "mythos"}
    return greater or (ours is not None and ours[0] == theirs[0])


def _first_difference(before: Sequence[str], now: Sequence[str]) -> int | None:
    """Returns the first place of `before` that differs in `now`."""
    if list(before) == list(now[: len(before)]):
        return None
    for index, one in enumerate(before):
        if index >= len(now) or now[index] != one:
            return index
    return None
