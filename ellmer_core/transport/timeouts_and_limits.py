"""The time limits and size limits of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from ..values import Value

__all__ = ["Limits", "Timeouts"]


@dataclass(frozen=True, eq=False, repr=False)
class Timeouts(Value):
    """How long to wait for an answer, in seconds. `None` means no limit.

    Args:
        connect: Until the connection is made. Default: 10.
        idle: Until the next data arrives. An answer that is not streamed arrives all at once. Default: 600.
        total: For the whole answer to one request. Default: 3,600.

    Examples:
        >>> chat = chat_openai(timeout=Timeouts(idle=30))
        >>> Timeouts().total
        3600.0
    """

    connect: float | None = 10.0
    idle: float | None = 600.0
    total: float | None = 3600.0


@dataclass(frozen=True, eq=False, repr=False)
class Limits(Value):
    """Limits on how much of an answer is read. An answer above a limit raises a `ResponseError` that names the limit.

    Args:
        answer: Bytes of one answer, decompressed. Default: 100 MB. `None` means no limit, here and below.
        events: Events of one stream. Default: 1,000,000.
        error: Bytes of the body of an error; the rest is not read. Default: 1 MB.

    Examples:
        >>> Limits(answer=5_000_000).events
        1000000
    """

    answer: int | None = 100_000_000
    events: int | None = 1_000_000
    error: int | None = 1_000_000
