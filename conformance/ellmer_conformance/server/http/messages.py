"""An HTTP request as it arrived, and a reply before it is sent.

A chat API makes a `Reply`; `deliver()` changes the transport of its bytes, independently of the chat APIs; `connection.py`
sends it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from ellmer_core.base.budget import memory_of

from ...contract.observed.exchange import Response
from ...scenarios.script import Delivery, Ending

# --- requests --------------------------------------------------------------------------------------------


LENGTH = "content-length"  # the only header that depends on the body

_KNOWN, _SHORT = 1024, 16 * 1024  # requests that are remembered, and the bytes each may have
_HEADS, _SHORT_HEAD = 1024, 4096  # heads, likewise
_LENGTH = re.compile(rb"\r\ncontent-length: ?(0|[1-9][0-9]{0,7})\r\n", re.IGNORECASE)


class HttpRequest(NamedTuple):
    """A request as it arrived: the target of the request line, and header names in lower case. `head` are the bytes of a head
    that came before, without its content length, by which is found what is known about it.
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    keep_alive: bool = True
    version: str = "1.1"
    head: bytes = b""

    def __hash__(self) -> int:
        return hash(self.body)  # differs between requests, and bytes cache their hash

    @property
    def host(self) -> str:
        """The host that the client called. A proxy or a rerouting recorder names it in a header."""
        return self.headers.get("x-forwarded-host") or self.headers.get("host", "")


#: Memory that a request needs, from which on it takes long: 1 MB takes some 0.05 s.
_LONG = 1_000_000
_MAY_BE_LONG = _LONG // 71  # bytes that may need as much memory
#: Services with many answers to a short request.
_MANY = re.compile(r"batch|embed|moderations|rerank|/completions/?$")


def is_long(request: HttpRequest) -> bool:
    """Tells whether a request may take a tenth of a second or longer.

    Args:
        request: The request.

    Examples:
        >>> is_long(HttpRequest("POST", "/v1/chat/completions", {}, b"{}"))
        False
        >>> is_long(HttpRequest("GET", "/v1/batches/batch_1", {}))
        True
    """
    size = len(request.body)
    if size >= _MAY_BE_LONG and (size >= _LONG or memory_of(request.body) >= _LONG):
        return True
    path = request.target.partition("?")[0]
    return not path.endswith("/chat/completions") and _MANY.search(path) is not None


class KnownRequests:
    """A cache of short requests and short heads by their bytes. The oldest are dropped.

    A head is stored without its content length, because only that header depends on the body.
    """

    def __init__(self) -> None:
        self._requests: dict[bytes, HttpRequest] = {}
        self._heads: dict[bytes, HttpRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def find(self, data: bytes) -> HttpRequest | None:
        """Returns the request in the bytes if the whole request, or its head, is in the cache."""
        return self._requests.get(data) or self._with_known_head(data)

    def remember(self, data: bytes, request: HttpRequest) -> None:
        """Stores a request, unless it has headers about the connection."""
        usual = request.keep_alive and request.version == "1.1" and "expect" not in request.headers
        if usual:
            self._remember_whole(data, request)
        if usual and "transfer-encoding" not in request.headers and "upgrade" not in request.headers:
            head, _, _ = _parted(data)
            if head:
                _keep(self._heads, head, request._replace(body=b"", head=head), _HEADS)

    def _with_known_head(self, data: bytes) -> HttpRequest | None:
        head, length, body = _parted(data)
        if not head or len(body) != int(length):
            return None
        cache = self._heads.get(head)
        if cache is None:
            return None
        headers = {**cache.headers, LENGTH: str(length, "ascii")}
        request = HttpRequest(cache.method, cache.target, headers, body, head=cache.head)
        self._remember_whole(data, request)
        return request

    def _remember_whole(self, data: bytes, request: HttpRequest) -> None:
        if len(data) <= _SHORT:
            _keep(self._requests, data, request, _KNOWN)


def _parted(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns a head without its content length, that length, and the body. All three are empty if the head is long
    or has no content length.
    """
    end = data.find(b"\r\n\r\n", 0, _SHORT_HEAD) + 4
    length = _LENGTH.search(data, 0, end - 2)
    if end == 3 or length is None:
        return b"", b"", b""
    return data[: length.start(1)] + data[length.end(1) : end], length[1], data[end:]


def _keep(cache: dict[bytes, HttpRequest], data: bytes, request: HttpRequest, most: int) -> None:
    cache[data] = request
    if len(cache) > most:
        del cache[next(iter(cache))]


# --- replies ---------------------------------------------------------------------------------------------


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
    first: float = 0.0  # seconds before the first write
    sliced: bool = False  # where a script cut the body, so that the client gets its pieces one by one
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


class Turns(Protocol):
    """What a service makes of the messages of a WebSocket, one after another."""

    ended: bool
    """Whether the events so far end the answer to the last message."""

    def asked(self, message: bytes) -> HttpRequest | Reply:
        """Returns the request that a message stands for, or its reply if it is not a request to the server."""
        ...

    def event(self, data: bytes) -> str:
        """Returns the message for an event of the reply."""
        ...

    def failed(self, reply: Reply) -> str:
        """Returns the message for an error."""
        ...

    def over(self) -> str:
        """Returns the message at the end of the longest time that a connection may last."""
        ...


@dataclass(frozen=True, kw_only=True)
class Upgraded(Reply):
    """A reply that makes a connection a WebSocket: `turns` has the answers to its messages."""

    turns: Turns


def is_short(reply: Reply) -> bool:
    """Tells whether the reply is a single write."""
    short = reply.length is not None and len(reply.writes) <= 1 and reply.ending == "end" and not reply.first
    return short and not isinstance(reply, Relayed)


_AT_ONCE = 65_536  # bytes of a stream without pauses that is one write; of a longer one, a slow client takes its time


def is_quick(reply: Reply) -> bool:
    """Tells whether a stream has no pauses and is short, so that nothing can happen between its writes."""
    paced = reply.first or reply.delay or reply.ending != "end" or reply.sliced
    return not paced and not isinstance(reply, Relayed) and reply.size < _AT_ONCE


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
    sliced = bool(delivery.slices)
    return replace(reply, writes=tuple(writes), delay=delivery.delay, ending=ending, sliced=sliced)


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
