"""How long an answer is waited for, and how much of it is read."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits", "Timeouts"]


@dataclass(frozen=True)
class Timeouts:
    """Seconds to wait for an answer; `None` is no limit.

    `connect`: for the connection. `idle`: for anything at all to arrive; an answer that is not streamed
    arrives all at once, when the model is done. `total`: for the whole answer to one request. One that is set ends a
    silence, too; the default of an hour ends an answer that goes on and on, when the next piece of it comes.
    """

    connect: float | None = 10.0
    idle: float | None = 600.0
    total: float | None = 3600.0


@dataclass(frozen=True)
class Limits:
    """How much of an answer is read; `None` is no limit. What is more is a `ResponseError` that names the limit.

    `answer`: bytes of one answer, unpacked; an answer of many images is the longest. `events`: events of one stream.
    `error`: bytes of the body of an error, of which the rest is left unread.
    """

    answer: int | None = 100_000_000
    events: int | None = 1_000_000
    error: int | None = 1_000_000
