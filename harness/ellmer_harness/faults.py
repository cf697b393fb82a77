"""What can go wrong with an answer, injected while a cassette replays.

```python
use_cassette(path, faults=[Status(429, headers={"retry-after": "2"}), Cut(after_event=3)])
```

Each fault takes the next request (the next `times`, those that satisfy `when`); `Pass()` lets one through, and a
tuple of faults befalls one request together. Requests left over get what was recorded. A recording whose answer
did not arrive whole is not used up: the retry gets it.

Positions count events of the stream (SSE, NDJSON) or bytes of the body: `after_event=2` lets two events through,
`after_event=-1` all but the last. Without a position a `Reset`, `Cut` or `ReadTimeout` strikes before the answer.
Waiting is done on the tape's virtual clock; a wait longer than the client's own timeout raises that timeout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from random import Random
from threading import Lock
from typing import Any, ClassVar

from .message import Failure, Sent
from .reply import Piece, Reply, event_sizes, split

__all__ = [
    "ConnectError",
    "ConnectTimeout",
    "Corrupt",
    "Cut",
    "Duplicate",
    "ErrorEvent",
    "Fault",
    "Pass",
    "PoolTimeout",
    "ReadTimeout",
    "Reset",
    "Schedule",
    "Slow",
    "Stall",
    "Status",
    "WriteTimeout",
]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Base of all faults; subclasses say what becomes of the recorded reply."""

    times: int = 1
    when: Callable[[Sent], bool] | None = None

    answers: ClassVar[bool] = False
    """Whether it stands in for the provider: the cassette is then not even asked."""

    spends: ClassVar[bool] = False
    """Whether the recording counts as played although something was done to it."""

    def change(self, reply: Reply) -> Reply:
        """What the client gets."""
        raise NotImplementedError


@dataclass(frozen=True)
class Pass(Fault):
    """Nothing: the request gets what was recorded."""

    spends: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        return reply


@dataclass(frozen=True)
class Status(Fault):
    """An answer of the provider's gateway instead: `Status(529)`, `Status(429, headers={"retry-after": "1"})`.

    `body` is bytes, text, or a value to send as JSON.
    """

    code: int
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    body: Any = field(default=b"", kw_only=True)

    answers: ClassVar[bool] = True

    def change(self, reply: Reply) -> Reply:
        plain = isinstance(self.body, bytes | str)
        data = self.body if plain else json.dumps(self.body)
        fields = {} if plain else {"content-type": "application/json"}
        fields |= {name.lower(): value for name, value in self.headers.items()}
        data = data.encode() if isinstance(data, str) else data
        return replace(
            reply, status=self.code, headers=[*fields.items()], pieces=[Piece(data)] if data else []
        )


@dataclass(frozen=True)
class _NoAnswer(Fault):
    """The client's exception of the same name, before any answer."""

    answers: ClassVar[bool] = True
    message: ClassVar[str] = "timed out"

    def change(self, reply: Reply) -> Reply:
        return replace(reply, status=0, ended="error", failure=Failure(type(self).__name__, self.message))


class ConnectTimeout(_NoAnswer):
    """The connection did not come about in time."""


class ConnectError(_NoAnswer):
    """The connection was refused."""

    message: ClassVar[str] = "[Errno 111] Connection refused"


class WriteTimeout(_NoAnswer):
    """The request could not be written in time."""


class PoolTimeout(_NoAnswer):
    """No connection of the pool became free in time."""


@dataclass(frozen=True, kw_only=True)
class _At(Fault):
    """A fault with a place in the body."""

    after_event: int | None = None
    after_bytes: int | None = None

    def parts(self, reply: Reply) -> tuple[list[Piece], list[Piece]]:
        """The pieces before and after the place; all are after it if none was given."""
        return split(reply.pieces, self.offset(reply))

    def offset(self, reply: Reply) -> int:
        """The place in bytes."""
        if self.after_event is None:
            return self.after_bytes or 0
        ends = [0, *accumulate(event_sizes(reply.body, reply.content_type))]
        place = self.after_event + (len(ends) - 1 if self.after_event < 0 else 0)
        return ends[min(max(place, 0), len(ends) - 1)]

    def broken(self, reply: Reply, failure: Failure) -> Reply:
        """The reply, failing at the place: before the answer, if there is none."""
        early = self.after_event is None and self.after_bytes is None
        before, _ = self.parts(reply)
        return replace(
            reply, status=0 if early else reply.status, pieces=before, ended="error", failure=failure
        )


@dataclass(frozen=True, kw_only=True)
class ReadTimeout(_At):
    """Nothing more comes, for longer than the client waits."""

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadTimeout", "timed out"))


@dataclass(frozen=True, kw_only=True)
class Reset(_At):
    """The connection is reset (RST)."""

    def change(self, reply: Reply) -> Reply:
        return self.broken(reply, Failure("ReadError", "[Errno 104] Connection reset by peer"))


@dataclass(frozen=True, kw_only=True)
class Cut(_At):
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
class Stall(_At):
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
class ErrorEvent(_At):
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


class Schedule:
    """Hands out the faults of a tape, each as often as it says."""

    def __init__(self, faults: Iterable[Fault | tuple[Fault, ...]]) -> None:
        self._faults = [[*(fault if isinstance(fault, tuple) else (fault,))] for fault in faults]
        self._lock = Lock()
        self._times = [together[0].times for together in self._faults]

    def next(self, sent: Sent) -> Sequence[Fault]:
        """What is to befall this request."""
        with self._lock:
            for index, together in enumerate(self._faults):
                when = together[0].when
                if self._times[index] > 0 and (when is None or when(sent)):
                    self._times[index] -= 1
                    return together
        return ()


def _around(reply: Reply, event: int) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """The pieces before an event, of it, and after it."""
    sizes = event_sizes(reply.body, reply.content_type)
    event += len(sizes) if event < 0 else 0
    start = sum(sizes[:event])
    before, rest = split(reply.pieces, start)
    found, after = split(rest, sum(sizes[event : event + 1]))
    return before, found, after
