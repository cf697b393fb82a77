"""Pairs tool messages with tool calls, in one pass over the messages for all rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from ...exchange import Json, Request
from ...readers.json_access import items_of
from ...readers.openai_chat import messages

__all__ = ["Block", "Pairing", "calls_of", "pairing"]


@dataclass
class Block:
    """An assistant message with tool calls, and the consecutive tool messages after it.

    `answers` and `strangers` are (message index, id) of these tool messages: the ids of `answers` are ids of the
    calls. `late` are the calls whose result comes after `end`, the index of the next other message.
    """

    index: int
    pointer: str
    ids: list[str]
    answers: list[tuple[int, str]] = field(default_factory=list)
    strangers: list[tuple[int, str]] = field(default_factory=list)
    late: dict[str, int] = field(default_factory=dict)
    end: int | None = None
    ended_by: str = ""

    @property
    def missing(self) -> list[str]:
        """The calls without any result."""
        answered = {id for _, id in self.answers} | self.late.keys()
        return [id for id in self.ids if id not in answered]


@dataclass
class Pairing:
    """`blocks`, and `orphans`: the tool messages (index, id) without an earlier call."""

    blocks: list[Block] = field(default_factory=list)
    orphans: list[tuple[int, str]] = field(default_factory=list)


def calls_of(message: Json) -> list[Json]:
    """Returns the calls of an assistant message."""
    made = message.get("tool_calls") if message.get("role") == "assistant" else None
    return [each for each in items_of(made) if isinstance(each, dict)]


@lru_cache(maxsize=4)
def pairing(request: Request) -> Pairing:
    """Returns the paired calls and results of a request."""
    found = Pairing()
    row: Block | None = None
    unanswered: dict[str, Block] = {}
    for index, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") == "tool":
            _file(found, row, unanswered, index, str(message.get("tool_call_id")))
            continue
        if row and row.end is None:
            row.end, row.ended_by = index, str(message.get("role"))
        made = calls_of(message)
        row = Block(index, pointer, [str(each.get("id")) for each in made]) if made else None
        if row:
            found.blocks.append(row)
            unanswered |= dict.fromkeys(row.ids, row)
    return found


def _file(found: Pairing, row: Block | None, unanswered: dict[str, Block], index: int, id: str) -> None:
    if row and id in row.ids:
        row.answers.append((index, id))
        unanswered.pop(id, None)
    elif id in unanswered:
        unanswered.pop(id).late[id] = index
    elif row:
        row.strangers.append((index, id))
    else:
        found.orphans.append((index, id))
