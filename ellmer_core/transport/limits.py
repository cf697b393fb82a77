"""How much of an answer is read."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """How much of an answer is read; `None` is no limit. What is more is a `ResponseError` that names the limit.

    `answer`: bytes of one answer, unpacked; an answer of many images is the longest. `events`: events of one stream.
    `error`: bytes of the body of an error, of which the rest is left unread.
    """

    answer: int | None = 100_000_000
    events: int | None = 1_000_000
    error: int | None = 1_000_000
