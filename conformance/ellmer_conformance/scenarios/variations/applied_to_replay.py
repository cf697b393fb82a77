"""Applies a variation to a recorded answer in the harness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from ellmer_harness.exchange.messages import Failure
from ellmer_harness.exchange.reply import Piece, Reply

from . import Variation, VariedAnswer

_FOREVER = 1e9  # seconds


def framing(variation: Variation, wire: str) -> Callable[[Reply], Reply]:
    """Returns a framing for the harness that applies a variation."""
    numbers = count()

    def frame(reply: Reply) -> Reply:
        later = next(numbers)
        return reply if later and variation.first else _changed(variation, wire, reply)

    return frame


def _changed(variation: Variation, wire: str, reply: Reply) -> Reply:
    writes = tuple(piece.data for piece in reply.pieces)
    after = variation.change(VariedAnswer(wire, reply.status, dict(reply.headers), writes))
    pieces = [Piece(data) for data in after.writes]
    changed = replace(reply, status=after.status, headers=list(after.headers.items()), pieces=pieces)
    if after.ending == "reset":
        return replace(
            changed, ended="error", failure=Failure("ReadError", "[Errno 104] Connection reset by peer")
        )
    return replace(changed, pieces=[*pieces, Piece(b"", _FOREVER)]) if after.ending == "stall" else changed
