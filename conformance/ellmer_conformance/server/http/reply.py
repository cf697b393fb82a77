"""A reply on the connection: a status, headers, and a body in exact writes.

A api makes a `Reply`; `deliver()` changes the transport of its bytes, independently of the chat_apis; `http.py`
plays it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ...contract.exchange import Response
from ...scenarios.script import Delivery, Ending

__all__ = ["Broken", "Headers", "Relayed", "Reply", "deliver", "is_short", "plain"]

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Reply:
    """An answer. Each element of `writes` is written separately, `delay` seconds after the previous one.

    `length` is the content length to announce; `None` sends the body chunked, with one HTTP chunk for each write.
    `ending` says what happens after the last write. `left` is called if the client leaves early, with the number of
    bytes of the body that were written.
    """

    status: int
    headers: Headers
    writes: Sequence[bytes] = ()
    length: int | None = None
    delay: float = 0.0
    ending: Ending = "end"
    left: Callable[[int], None] | None = field(default=None, compare=False, repr=False)

    @property
    def body(self) -> bytes:
        """All bytes of the body."""
        return b"".join(self.writes)

    @property
    def size(self) -> int:
        """The size of the body in bytes."""
        return sum(map(len, self.writes))

    @property
    def response(self) -> Response:
        """The reply as a value of an `Exchange`."""
        return Response(self.status, dict(self.headers), self.body, ended=self.ending == "end")

    def noting(self, violations: str) -> Reply:
        """Returns the reply with the violations of the request in a header."""
        return replace(self, headers=(*self.headers, ("x-conformance-violations", violations)))


class Broken(Exception):
    """The rest of a relayed body will not arrive."""


@dataclass(frozen=True, kw_only=True)
class Relayed(Reply):
    """A reply that is still arriving: `chunks`, instead of `writes`, are passed on as they arrive.

    They raise `Broken` if the other side stopped; the client's connection then breaks as well.
    """

    chunks: AsyncGenerator[bytes, None]


def is_short(reply: Reply) -> bool:
    """Tells whether the reply is a single write."""
    short = reply.length is not None and len(reply.writes) <= 1 and reply.ending == "end"
    return short and not isinstance(reply, Relayed)


def plain(status: int, headers: Headers, body: bytes) -> Reply:
    """Returns a reply in one write, with its content length."""
    return Reply(status, headers, (body,), len(body))


def deliver(reply: Reply, delivery: Delivery) -> Reply:
    """Returns the reply split, delayed and ended as the delivery says."""
    writes: Iterable[bytes] = reply.writes
    if delivery.after is not None:
        writes = _first(delivery.after, writes)
    if delivery.slices:
        writes = _sliced(delivery.slices, b"".join(writes))
    ending = reply.ending if delivery.ending == "end" else delivery.ending
    return replace(reply, writes=tuple(writes), delay=delivery.delay, ending=ending)


def _first(count: int, writes: Iterable[bytes]) -> Iterable[bytes]:
    for write in writes:
        if count <= 0:
            return
        yield write[:count]
        count -= len(write)


def _sliced(sizes: Sequence[int], body: bytes) -> Iterable[bytes]:
    """Cuts a body at the given sizes; the last size repeats."""
    start = turn = 0
    while start < len(body):
        size = sizes[min(turn, len(sizes) - 1)]
        yield body[start : start + size]
        start, turn = start + size, turn + 1
