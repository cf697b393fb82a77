"""What goes wrong within the recorded answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

from ..exchange.messages import Failure
from ..exchange.reply import Piece, Reply, event_sizes, split
from .fault import At, Fault

__all__ = ["Corrupt", "Cut", "Duplicate", "ErrorEvent", "ReadTimeout", "Reset", "Slow", "Stall"]


@dataclass(frozen=True, kw_only=True)
class ReadTimeout(At):
    """Nothing more comes, for longer than the client waits."""

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadTimeout", "timed out"))


@dataclass(frozen=True, kw_only=True)
class Reset(At):
    """The connection is reset (RST)."""

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadError", "[Errno 104] Connection reset by peer"))


@dataclass(frozen=True, kw_only=True)
class Cut(At):
    """The connection is closed (FIN) too early. With `clean`, the body ends in good order, only too soon."""

    clean: bool = False

    def change(self, reply: Reply) -> Reply:
        if self.clean:
            return replace(reply, pieces=self.parts(reply)[0])
        text = "Server disconnected without sending a response."
        if self.after_event is not None or self.after_bytes is not None:
            text = "peer closed connection without sending complete message body (incomplete chunked read)"
        return self.broken(reply, Failure("RemoteProtocolError", text))


@dataclass(frozen=True)
class Stall(At):
    """Nothing comes for so many seconds, then the rest."""

    seconds: float
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        before, after = self.parts(reply)
        waiting = [after[0]._replace(wait=after[0].wait + self.seconds), *after[1:]] if after else []
        return replace(reply, pieces=[*before, *waiting])


@dataclass(frozen=True)
class Slow(Fault):
    """Every chunk takes so many seconds."""

    seconds: float
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        return replace(reply, pieces=[piece._replace(wait=self.seconds) for piece in reply.pieces])


@dataclass(frozen=True)
class Duplicate(Fault):
    """An event (counted from 0, or from the end) arrives twice."""

    event: int
    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        before, event, after = _around(reply, self.event)
        return replace(reply, pieces=[*before, *event, *event, *after])


@dataclass(frozen=True)
class Corrupt(Fault):
    """One byte of an event (counted from 0, or from the end) arrives as another; `seed` chooses which."""

    event: int
    seed: int = 0

    def change(self, reply: Reply) -> Reply:
        before, event, after = _around(reply, self.event)
        data = bytearray(b"".join(piece.data for piece in event))
        if data:
            data[Random(self.seed).randrange(len(data))] ^= 0xFF  # noqa: S311  # to be repeatable, not secret
        return replace(reply, pieces=[*before, Piece(bytes(data)), *after])


@dataclass(frozen=True)
class ErrorEvent(At):
    """The provider reports an error inside the stream, which then ends in good order.

    `data` goes out as JSON, `event` is the SSE event name, if the format has them; an NDJSON stream gets a line.
    """

    data: Any
    event: str | None = "error"

    def change(self, reply: Reply) -> Reply:
        text = json.dumps(self.data)
        if "event-stream" in reply.content_type:
            text = (f"event: {self.event}\n" if self.event else "") + f"data: {text}\n"
        return replace(reply, pieces=[*self.parts(reply)[0], Piece(f"{text}\n".encode())])


def _around(reply: Reply, event: int) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """The pieces before an event, of it, and after it."""
    sizes = event_sizes(reply.body, reply.content_type)
    event += len(sizes) if event < 0 else 0
    start = sum(sizes[:event])
    before, rest = split(reply.pieces, start)
    found, after = split(rest, sum(sizes[event : event + 1]))
    return before, found, after
