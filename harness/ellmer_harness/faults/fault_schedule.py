"""The base class of faults, positions in a body, and the schedule of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Lock
from typing import ClassVar

from ..exchange.messages import Failure, Sent
from ..exchange.reply import Piece, Reply, event_sizes, split


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Base class of all faults. A subclass has a method `change`.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from dataclasses import dataclass, replace
        >>> from ellmer_harness.faults import Fault
        >>> class NoHeaders(Fault):
        ...     def change(self, reply):
        ...         return replace(reply, headers=[])
        >>> with use_cassette("weather.json", faults=[NoHeaders()], allow_unused=True):
        ...     len(httpx.get("https://api.example.com/weather").headers)
        0
    """

    times: int = 1
    when: Callable[[Sent], bool] | None = None

    answers: ClassVar[bool] = False
    """Whether it stands in for the provider: the cassette is then not even asked."""

    alone: ClassVar[bool] = False
    """Whether it is an answer, too, where the cassette has none."""

    spends: ClassVar[bool] = False
    """Whether the recording counts as played although something was done to it."""

    def change(self, reply: Reply) -> Reply:
        """Returns the reply that the client gets in place of the recorded one.

        Args:
            reply: The recorded reply. It is an empty one if the fault's `answers` is true, because no recording is needed.

        Returns:
            The changed reply; `reply` itself does not change.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Pass(Fault):
    """No fault: the request gets the recorded answer.

    Args:
        times: How many requests it applies to. Default: 1.
        when: A function that chooses requests: it receives a `Sent` and returns True for those that the fault applies to.
            Default: every request.

    Examples:
        >>> from ellmer_harness.faults import Pass, Status
        >>> with use_cassette("weather.json", faults=[Pass(), Status(503)]):
        ...     [httpx.get("https://api.example.com/weather").status_code for _ in range(2)]
        [200, 503]
    """

    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        return reply


@dataclass(frozen=True, kw_only=True)
class At(Fault):
    """A fault at a position in the body."""

    after_event: int | None = None
    after_bytes: int | None = None

    def parts(self, reply: Reply) -> tuple[list[Piece], list[Piece]]:
        """Returns the chunks before and after the position. Without a position, all chunks come after it."""
        return split(reply.pieces, self.offset(reply))

    def offset(self, reply: Reply) -> int:
        """Returns the position in bytes."""
        if self.after_event is None:
            return self.after_bytes or 0
        ends = [0, *accumulate(event_sizes(reply.body, reply.content_type))]
        place = self.after_event + (len(ends) - 1 if self.after_event < 0 else 0)
        return ends[min(max(place, 0), len(ends) - 1)]

    def broken(self, reply: Reply, failure: Failure) -> Reply:
        """Returns the reply with a failure at the position, or before the answer if there is no position."""
        early = self.after_event is None and self.after_bytes is None
        before, _ = self.parts(reply)
        return replace(
            reply, status=0 if early else reply.status, pieces=before, ended="error", failure=failure
        )


class Schedule:
    """The faults of a run, one for each request.

    Args:
        faults: The faults in order; a tuple of faults applies to one request together.

    Examples:
        >>> from ellmer_harness.faults import Schedule, Status
        >>> schedule = Schedule([Status(503)])
        >>> sent = Sent("GET", "https://api.example.com/weather", {}, b"")
        >>> [len(schedule.next(sent)) for _ in range(2)]
        [1, 0]
    """

    def __init__(self, faults: Iterable[Fault | tuple[Fault, ...]]) -> None:
        self._faults = [[*(fault if isinstance(fault, tuple) else (fault,))] for fault in faults]
        self._lock = Lock()
        self._times = [together[0].times for together in self._faults]

    def prefer(self, fault: Fault) -> None:
        """Adds a fault before all others.

        Args:
            fault: The fault.

        Examples:
            >>> from ellmer_harness.faults import Pass, Schedule, Status
            >>> schedule = Schedule([Status(503)])
            >>> schedule.prefer(Pass())
            >>> [type(fault).__name__ for fault in schedule.next(Sent("GET", "https://api.example.com/weather", {}, b""))]
            ['Pass']
        """
        with self._lock:
            self._faults.insert(0, [fault])
            self._times.insert(0, fault.times)

    def next(self, sent: Sent) -> Sequence[Fault]:
        """Returns the faults that apply to a request, and counts them as used.

        Args:
            sent: The request.

        Examples:
            >>> from ellmer_harness.faults import Schedule, Status
            >>> schedule = Schedule([Status(503)])
            >>> [fault.code for fault in schedule.next(Sent("GET", "https://api.example.com/weather", {}, b""))]
            [503]
        """
        with self._lock:
            for index, together in enumerate(self._faults):
                when = together[0].when
                if self._times[index] > 0 and (when is None or when(sent)):
                    self._times[index] -= 1
                    return together
        return ()
