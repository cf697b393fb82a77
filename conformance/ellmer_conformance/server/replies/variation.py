"""A reply under a variation: it says the same in another way, or fails to."""

from __future__ import annotations

from dataclasses import replace

from ...scenarios.variations import VariedAnswer, variation
from ..http.reply import Reply

__all__ = ["varied"]


def varied(reply: Reply, wire: str, name: str) -> Reply:
    """The reply as the variation of that name has it travel; as it is where there is no name."""
    if not name:
        return reply
    before = VariedAnswer(wire, reply.status, dict(reply.headers), tuple(reply.writes), reply.ending)
    after = variation(name).change(before)
    return replace(
        reply,
        status=after.status,
        headers=tuple(after.headers.items()),
        writes=after.writes,
        length=None if reply.length is None else len(after.body),
        ending=after.ending,
    )
