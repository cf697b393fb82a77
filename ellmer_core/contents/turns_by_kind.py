"""Finds the turns of a kind, with as little Python code for each turn as possible, because a history may be long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, count
from operator import attrgetter, not_

from .content import Content
from .turns import SystemTurn, Turn

__all__ = ["kinds_not_plain", "not_plain", "system_turns"]


def not_plain(turns: Sequence[Turn]) -> list[int]:
    """Returns the places of the turns that are not plain (`Turn.is_plain`)."""
    is_plain = attrgetter("is_plain")
    return [] if all(map(is_plain, turns)) else list(compress(count(), map(not_, map(is_plain, turns))))


def kinds_not_plain(turns: Sequence[Turn]) -> set[type[Content]]:
    """Returns the classes of the contents in turns that are not plain."""
    return {type(content) for place in not_plain(turns) for content in turns[place].contents}


def system_turns(turns: Iterable[Turn]) -> list[Turn]:
    """Returns the system turns."""
    return [turn for turn in turns if isinstance(turn, SystemTurn)]
