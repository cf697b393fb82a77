"""The conversation as the API judges it: consecutive messages of one role are one turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ...observed.exchange import Json, Request
from ...readers.anthropic import blocks, messages
from ...readers.json_access import read_once


@dataclass
class Turn:
    """Merged messages of one role: `blocks` with their pointers; `pointer` is that of the first message."""

    role: Literal["user", "assistant"]
    pointer: str
    blocks: list[tuple[str, Json]] = field(default_factory=list)

    def of(self, kind: str) -> list[tuple[int, str, Json]]:
        """Returns the blocks of a type: position in the turn, pointer, block."""
        return [
            (i, pointer, block) for i, (pointer, block) in enumerate(self.blocks) if block.get("type") == kind
        ]


@lru_cache(maxsize=4)
def turns(request: Request) -> list[Turn]:
    """Returns the turns of a request. System messages in the conversation belong to no turn."""
    found: list[Turn] = []
    for pointer, message in messages(request.body):
        role = message.get("role")
        if role not in {"user", "assistant"}:
            continue
        if not found or found[-1].role != role:
            found.append(Turn(role, pointer))
        found[-1].blocks += blocks(message, pointer)
    return found


def exchanges(request: Request) -> Iterator[tuple[int, Turn, Turn | None]]:
    """Yields each assistant turn that calls tools, with its index and the turn that answers it."""
    found = turns(request)
    for index, turn in enumerate(found):
        if turn.role == "assistant" and turn.of("tool_use"):
            yield index, turn, found[index + 1] if index + 1 < len(found) else None


@read_once
def all_blocks(request: Json) -> Iterator[tuple[str, str, Json]]:
    """Yields every block, also those inside results: pointer, the provider's name of the place, block."""
    for i, (pointer, message) in enumerate(messages(request)):
        listed = isinstance(message.get("content"), list)
        for j, (place, block) in enumerate(blocks(message, pointer) if listed else ()):
            kind = block.get("type")
            yield place, f"messages.{i}.content.{j}.{kind}", block
            content = block.get("content")
            if kind == "tool_result" and isinstance(content, list):
                for k, part in enumerate(content):
                    if isinstance(part, dict):
                        inner = f"messages.{i}.content.{j}.tool_result.content.{k}.{part.get('type')}"
                        yield f"{place}/content/{k}", inner, part
