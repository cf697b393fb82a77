"""Whether the messages of a conversation alternate between roles, as nearly all do. They need no joining then."""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq, itemgetter

from .json_bodies import Json

__all__ = ["alternate"]


def alternate(messages: Sequence[Json]) -> bool:
    """Tells whether no two neighbours have the same role. It runs no Python code for each message, because a history
    may be long.
    """
    roles = list(map(itemgetter("role"), messages))
    return not any(map(eq, roles, roles[1:]))
