"""Finds the part of a long conversation that decides about its next request.

The earlier part of a conversation was judged in an earlier request, and no rule was broken. For the next request,
rules need the new messages, the messages that these answer, and the marks of the earlier part: ids, names of
documents, cache marks. The window has these messages: those before the first question, and those of the last units. A
unit is a question of the user with what follows, or one round of calls and results. The whole conversation is judged
if a rule is broken in the window, or if a new mark repeats an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...contract.exchange import Item

__all__ = ["Marks", "Units", "by_message", "marks"]

_ID = re.compile(rb'"(?:id|[A-Za-z_]*_id|[A-Za-z]*Id)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(rb'"name"\s*:\s*"((?:[^"\\]|\\.)*)"')
_DOCUMENT = b'"document"'  # the name of a document must be unique
_CACHED = re.compile(rb"cache_control|cachePoint")  # the number of marks is limited
_HIDDEN = re.compile(rb"\\u00[2-7]")  # an escape that may hide a key


class Units(NamedTuple):
    """The division of the first `size` messages into units.

    `lead` is the number of messages before the first question. `start` is the first message of the last unit, and
    `question` is the first message of the question that this unit belongs to; both are -1 if there is none. `open`
    counts the calls without a result.
    """

    size: int = 0
    lead: int = -1
    start: int = -1
    question: int = -1
    open: int = 0
    answered: bool = False  # the last message has results

    def followed_by(self, messages: Iterable[Sequence[Item]]) -> Units:
        """Returns the division of the conversation with more messages."""
        units = self
        for message in messages:
            units = units._with(message)
        return units

    def _with(self, message: Sequence[Item]) -> Units:
        calls = sum(item.kind == "call" for item in message)
        results = sum(item.kind == "result" for item in message)
        role = next((item.role for item in message), "system")
        size, lead, start, question, open, answered = self
        if not (open or results):
            if role == "user":
                lead, start, question = (lead if lead >= 0 else size), size, size
            elif role == "assistant" and answered and question >= 0:
                start = size
        return Units(size + 1, lead, start, question, max(0, open + calls - results), results > 0)

    def window(self, count: int) -> Sequence[int] | None:
        """Returns the indexes of the messages to judge, for a conversation of `count` messages that continues this
        one. `None` means all messages.
        """
        if self.question < 0:
            return None
        lead = range(min(self.lead, self.question))
        places = [*lead, *([self.question] if self.question < self.start else []), *range(self.start, count)]
        return places if len(places) < count else None


class Marks(NamedTuple):
    """The parts of a conversation that must be unique or are limited in number."""

    names: frozenset[bytes]
    cached: bool

    def allow(self, new: Marks) -> bool:
        """Tells whether no new mark repeats an existing one."""
        return not (self.cached and new.cached) and self.names.isdisjoint(new.names)

    def joined(self, new: Marks) -> Marks:
        """Returns the marks of both."""
        return Marks(self.names | new.names, self.cached or new.cached)


def marks(text: bytes) -> Marks | None:
    """Returns the ids and names in a piece of a request, or `None` if an escape may hide one."""
    names = frozenset(_ID.findall(text) + (_NAME.findall(text) if _DOCUMENT in text else []))
    if _HIDDEN.search(text) or any(b"\\" in name or not name.isascii() for name in names):
        return None
    return Marks(names, _CACHED.search(text) is not None)


def by_message(items: Iterable[Item], count: int) -> list[list[Item]]:
    """Returns the items of each of the given messages."""
    said: list[list[Item]] = [[] for _ in range(count)]
    for item in items:
        if 0 <= item.turn < count:
            said[item.turn].append(item)
    return said
