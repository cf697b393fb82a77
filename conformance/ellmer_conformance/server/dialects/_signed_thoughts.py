"""The thoughts that a request to Claude sends back, as Anthropic's API has them and as Bedrock's has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...contract.exchange import Json
from ...contract.readers.json_access import object_of, text_of
from ..signatures import decoded, is_ours
from ..thinking_prefix import Block, Conversation, unsealed

__all__ = ["anthropic_blocks", "as_blocks", "bedrock_blocks", "objection"]


def as_blocks(content: Any) -> list[Any]:
    """Content as blocks; one text may stand for one."""
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
    """Yields the blocks of a request to Converse; a mark for the cache is none."""
    for place, role, block in _blocks(asked):
        reasoning = object_of(block).get("reasoningContent")
        if reasoning is not None:
            text = object_of(object_of(reasoning).get("reasoningText"))
            signed = text.get("text") if "signature" in text else None
            yield Block(place, role, signed, text_of(text.get("signature")))
        elif "cachePoint" not in object_of(block):
            yield Block(place, role, block)


def objection(said: Conversation, *, strict: bool, dropped: bool, beta: bool) -> str | None:
    """Returns what is said of a thought that is not as it was sent, or else of one that is sent back behind another prefix."""
    for block in said.blocks:
        if _is_changed(block, strict=strict):
            return f"{block.place}: Invalid `signature` in `thinking` block"
    return said.objection(dropped=dropped, beta=beta)


def _is_changed(thought: Block, *, strict: bool) -> bool:
    """Tells whether a block is a thought that is not as it was sent. Not `strict`: one that was not written
    here is none.
    """
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
