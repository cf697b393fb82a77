"""The thoughts that a request to Claude sends back, in the forms of Anthropic's API and of Bedrock's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....contract.exchange import Json
from ....contract.readers.json_access import object_of, text_of
from ...signatures import decoded, is_ours
from ...thinking_prefix import Block, Conversation, unsealed

__all__ = ["anthropic_blocks", "as_blocks", "bedrock_blocks", "objection", "thought_shown"]

#: They show their thoughts to who asks for thinking, and for nothing more.
_SHOWS_THOUGHTS = re.compile(r"claude-(3|(opus|sonnet|haiku)-4(?!-[7-9]))")


def thought_shown(text: str, asked: Any, model: str) -> str | None:
    """Returns what is seen of a thought where `thinking` is `asked` for: newer models hide its text by default."""
    match asked:
        case {"type": "enabled" | "adaptive", "display": str(display)}:
            return text if display == "summarized" else ""
        case {"type": "enabled" | "adaptive"}:
            return text if _SHOWS_THOUGHTS.search(model) else ""
    return None


def as_blocks(content: Any) -> list[Any]:
    """Returns content as blocks. A plain text becomes one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def anthropic_blocks(asked: Json) -> Iterator[Block]:
    """Yields the blocks of a request to Messages."""
    for place, role, block in _blocks(asked):
        if text_of(object_of(block).get("type")) in {"thinking", "redacted_thinking"}:
            thought = block.get("thinking")
            yield Block(place, role, thought, text_of(block.get("signature")))
        else:
            yield Block(place, role, block)


def bedrock_blocks(asked: Json) -> Iterator[Block]:
    """Yields the blocks of a request to Converse, without cache points."""
    for place, role, block in _blocks(asked):
        reasoning = object_of(block).get("reasoningContent")
        if reasoning is not None:
            text = object_of(object_of(reasoning).get("reasoningText"))
            signed = text.get("text") if "signature" in text else None
            yield Block(place, role, signed, text_of(text.get("signature")))
        elif "cachePoint" not in object_of(block):
            yield Block(place, role, block)


def objection(said: Conversation, *, strict: bool, dropped: bool, beta: bool) -> str | None:
    """Returns the error for a changed thought, or for one with another prefix."""
    for block in said.blocks:
        if _is_changed(block, strict=strict):
            return f"{block.place}: Invalid `signature` in `thinking` block"
    return said.objection(dropped=dropped, beta=beta)


def _is_changed(thought: Block, *, strict: bool) -> bool:
    """Tells whether a block is a changed thought. If it is not `strict`, foreign signatures count as unchanged."""
    signature = thought.signature
    if signature is None or not isinstance(thought.value, str):
        return False
    blob = decoded(signature)
    if blob and not strict and not is_ours(blob):
        return False
    record = unsealed(signature)
    return record is None or record.text != thought.value


def _blocks(asked: Json) -> Iterator[tuple[str, str, Any]]:
    messages = asked.get("messages")
    for i, message in enumerate(messages if isinstance(messages, list) else ()):
        said = object_of(message)
        for j, block in enumerate(as_blocks(said.get("content"))):
            yield f"messages.{i}.content.{j}", text_of(said.get("role")), block
