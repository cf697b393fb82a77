"""Joins neighbouring messages of one role, for the APIs that want the roles to alternate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import eq, itemgetter

from .json_bodies import Json

__all__ = ["alternate", "joined"]


def alternate(messages: Sequence[Json]) -> bool:
    """Tells whether no two neighbours have the same role, as in nearly every conversation. It runs no Python code for
    each message, because a history may be long.
    """
    roles = list(map(itemgetter("role"), messages))
    return not any(map(eq, roles, roles[1:]))


def joined(messages: Sequence[Json], field: str, roles: Collection[str]) -> list[Json]:
    """Returns the messages, where neighbours of one of these roles are one message with the `field` of both."""
    if alternate(messages):
        return list(messages)
    found: list[Json] = []
    for message in messages:
        before = found[-1] if found else None
        if before and before["role"] == message["role"] and message["role"] in roles:
            found[-1] = {**message, field: [*before[field], *message[field]]}
        else:
            found.append(message)
    return found
