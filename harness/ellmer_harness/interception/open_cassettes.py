"""Requests in flight, and the cassettes that are open: what a request sends, the record of its answer, the clock that
answers are replayed on, and the cassette that a request belongs to.

A `RequestInFlight` does no I/O. The transports ask it for the reply to replay. If there is none, they ask for
the request to send. The streams report every chunk and the end. In both cases, the same `Exchange` is filled.

A request belongs to the cassette of its own context (a task, or a thread with a context). A thread without a
context belongs to the cassette of the process if there is only one.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ..errors import Miss
from ..exchange.messages import Exchange, Failure, Headers
from ..exchange.reply import Piece, Reply

# --- The clock: recorded and injected delays are added up, not slept -------------------------------------


_SLEEPERS = ("time", "asyncio", "anyio")


def _today() -> datetime:
    return datetime.now(UTC)


@dataclass
class Clock:
    """The seconds since the cassette was opened, on its own clock. With `real`, delays are waited for.

    `today` gives the date and time for new recordings, and for the age of existing ones.
    """

    real: bool = False
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    today: Callable[[], datetime] = _today

    def pass_time(self, seconds: float) -> None:
        """Advances the clock."""
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Records a client's pause instead of waiting."""
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float, *_: Any) -> None:
        """Records a pause of an async client instead of waiting."""
        self.sleep(seconds)

    @contextmanager
    def in_place_of_sleep(self, modules: Iterable[str]) -> Iterator[None]:
        """Replaces `time.sleep`, `asyncio.sleep` and `anyio.sleep` by this clock, in these modules only."""
        undo: list[tuple[Any, str, Any]] = []
        try:
            for module in map(importlib.import_module, modules):
                for name in _SLEEPERS:
                    if (real := vars(module).get(name)) is not None:
                        undo.append((module, name, real))
                        setattr(
                            module, name, _Sleepless(real, self.sleep if name == "time" else self.sleep_async)
                        )
            yield
        finally:
            for module, name, real in undo:
                setattr(module, name, real)


class _Sleepless:
    """A module with another `sleep`."""

    def __init__(self, module: Any, sleep: Any) -> None:
        self._module, self.sleep = module, sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


# --- The request -----------------------------------------------------------------------------------------


_STOPPED_HERE = (
    "the recorded stream ends here because the client stopped reading when it was recorded, and this run continues to read. "
    "Record it again with a client that reads to the end."
)


@dataclass
class RequestInFlight:
    """A request in flight. `http` is the module in use (httpx, httpx2, or a replacement). `reply` is the
    answer to replay; `None` sends the request.

    `done` is called once, when the exchange is over. `place` is the reply's place in the index, and `spends`
    says whether a replay uses it up.
    """

    http: Any
    request: Any
    exchange: Exchange
    done: Callable[[RequestInFlight], None]
    clock: Clock
    reply: Reply | None = None
    waits: list[float] = field(default_factory=list)
    miss: Callable[[str], Miss] = Miss
    place: int | None = None
    spends: bool = True
    listens: bool = False
    """Whether the client waits for what a server of MCP has to say until it closes the answer itself."""
    whole: bool = False
    """Whether the rest of an answer is read and recorded that the client leaves unread, as vcrpy does."""
    last_words: Callable[[], None] | None = None
    """Called before it is taken for closed: something may be on its way."""
    named: Headers = field(default_factory=list)
    """The answer's headers with their names as they came, where the client tells."""

    def __post_init__(self) -> None:
        self._since = time.perf_counter()

    def answered(self, status: int, reason: str, headers: Headers, version: str = "HTTP/1.1") -> None:
        """Notes that the status and the headers have arrived."""
        self.named = headers
        self.exchange.status, self.exchange.reason = status, reason
        self.exchange.headers = [(name.lower(), value) for name, value in headers]
        self.exchange.http_version = version

    def chunk(self, data: bytes) -> None:
        """Notes a chunk of the body before the client gets it."""
        now = time.perf_counter()
        self.waits.append(now - self._since)
        self._since = now
        self.exchange.chunks.append(data)

    def forget_body(self) -> None:
        """Forgets the chunks that the client did not get."""
        self.exchange.chunks.clear()
        self.waits.clear()

    def eof(self) -> None:
        """Notes that the body is complete."""
        self._end("eof")

    def closed(self) -> None:
        """Notes that the client closed the stream, unless it had ended before."""
        last_words, self.last_words = self.last_words, None  # they may close it themselves
        if last_words is not None and not self.exchange.ended:
            last_words()
        self._end("closed")

    def failed(self, error: BaseException) -> None:
        """Notes that the client got an exception. Only exceptions of its transport are part of the exchange."""
        if isinstance(error, self.http.TransportError):
            self._end("error", Failure(type(error).__name__, str(error)))
        else:
            self._end("closed")

    def broke(self, failure: Failure) -> None:
        """Notes that the client's connection failed, under httpx's name for the failure."""
        self._end("error", failure)

    def seen(self) -> Reply:
        """Returns the answer as a reply that can be recorded."""
        it = self.exchange
        pieces = [Piece(*pair) for pair in zip(it.chunks, self.waits, strict=True)]
        return Reply(it.status, it.reason, it.headers, pieces, it.ended, it.failure, it.http_version)

    def begin_reply(self) -> Reply:
        """Returns the reply after noting its status and headers. Raises the client's exception if there is no
        answer.
        """
        reply = self.reply
        assert reply is not None, "only a take with a reply is played"
        if reply.status == 0:
            self._raise(reply.failure)
        self.answered(reply.status, reply.reason, reply.headers, reply.http_version)
        return reply

    def response(self, stream: Any) -> Any:
        """Returns the reply as httpx's own response object."""
        reply = self.begin_reply()
        phrase = {"reason_phrase": reply.reason.encode("latin-1")}  # HTTP/2 has none: httpx looks it up
        return self.http.Response(
            reply.status,
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers],
            stream=stream,
            extensions={
                "http_version": reply.http_version.encode(),
                **(phrase if reply.reason or reply.http_version.startswith("HTTP/1") else {}),
            },
        )

    def play(self) -> Iterator[Piece]:
        """Yields the chunks of the reply, and ends as the recorded reply did."""
        assert self.reply is not None, "only a take with a reply is played"
        timeout = self._timeout("read")
        for piece in self.reply.pieces:
            if timeout is not None and piece.wait > timeout:
                self._raise(Failure("ReadTimeout", "timed out"))
            self.clock.pass_time(piece.wait)
            self.exchange.chunks.append(piece.data)
            yield piece
        if self.reply.failure:
            self._raise(self.reply.failure)
        if self.listens:
            return
        if self.reply.ended == "closed":
            raise self.miss(_STOPPED_HERE)
        self.eof()

    def _raise(self, failure: Failure | None) -> None:
        """Raises the client's exception of that name, for a timeout after its time."""
        failure = failure or Failure("ReadError")
        self.clock.pass_time(self._timeout(failure.error.removesuffix("Timeout").lower()) or 0.0)
        self._end("error", failure)
        kind = getattr(self.http, failure.error, self.http.TransportError)
        raise kind(failure.message, request=self.request)

    def _timeout(self, kind: str) -> float | None:
        """Returns the client's timeout to `connect`, `read` and so on, in seconds; `None` means no limit."""
        found: float | None = (self.request.extensions.get("timeout") or {}).get(kind)
        return found

    def _end(self, ended: Any, failure: Failure | None = None) -> None:
        if not self.exchange.ended:
            self.exchange.ended, self.exchange.failure = ended, failure
            self.done(self)


# --- The cassettes that are open -------------------------------------------------------------------------


class OpenCassette(Protocol):
    """The interface of a cassette in use, for the transports and the network guard."""

    path: Path
    misses: list[Miss]
    accept_encoding: str | None
    allow_hosts: Sequence[str]
    as_vcrpy: bool
    """Whether it is a cassette of vcrpy or cassetter: the last one serves threads without a context."""
    any_message: bool
    """Whether a client of WebSockets may send other messages than the recorded ones."""

    @property
    def offline(self) -> bool:
        """Whether sockets are blocked."""
        ...

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Looks up a request that is about to be sent. Raises `Miss` if it is not recorded."""
        ...

    def holds(self, request: Any, body: bytes) -> bool:
        """Tells whether the cassette has an answer for a request."""
        ...

    def routed(self, http: Any, request: Any) -> Any:
        """Returns the request that is really sent."""
        ...

    def target(self, url: str) -> str:
        """Returns the URL that a request is sent to."""
        ...

    def allows(self, host: str) -> bool:
        """Tells whether a host is reached as if there were no cassette."""
        ...

    def takes(self, protocol: str) -> bool:
        """Tells whether the cassette can hold `websockets`, `grpc` or `mcp` (servers of MCP that are processes)."""
        ...

    def plays_port(self, port: int) -> bool:
        """Tells whether the cassette has answers of a server on this port of this machine."""
        ...

    def missed(self, text: str, kind: type[Miss] = Miss) -> Miss:
        """Returns a miss to raise, and notes it for the verdict."""
        ...


_ACTIVE: ContextVar[OpenCassette | None] = ContextVar("ellmer_harness_cassette", default=None)
_OPEN: list[OpenCassette] = []
_AFTERWARDS: dict[int, list[Callable[[], None]]] = {}


def all_open() -> list[OpenCassette]:
    """Returns all cassettes that are open in the process."""
    return [*_OPEN]


def any_open() -> bool:
    """Tells whether a cassette is open anywhere in the process."""
    return bool(_OPEN)


def push(cassette: OpenCassette) -> OpenCassette | None:
    """Makes the cassette the current one of this context, and returns the previous one."""
    _OPEN.append(cassette)
    before = _ACTIVE.get()
    _ACTIVE.set(cassette)
    return before


def remove(cassette: OpenCassette, before: OpenCassette | None) -> None:
    """Removes the cassette, and makes the previous one current again."""
    _ACTIVE.set(before)
    _OPEN.remove(cassette)
    for close in _AFTERWARDS.pop(id(cassette), ()):
        close()


def when_closed(cassette: OpenCassette, close: Callable[[], None]) -> None:
    """Adds a function to call after the cassette was removed."""
    _AFTERWARDS.setdefault(id(cassette), []).append(close)


def current() -> OpenCassette | None:
    """Returns the cassette that this request belongs to."""
    cassette = _ACTIVE.get()
    if cassette is not None and cassette in _OPEN:
        return cassette
    if len(_OPEN) > 1 and not _OPEN[-1].as_vcrpy:
        miss = Miss(
            "a request came from a thread or task without a cassette of its own, and several cassettes are open: "
            f"{', '.join(str(open_cassette.path) for open_cassette in _OPEN)}. "
            "Start the thread with contextvars.copy_context().run, or open the cassette inside it."
        )
        for open_cassette in _OPEN:
            open_cassette.misses.append(miss)
        raise miss
    return _OPEN[-1] if _OPEN else None


def offline() -> OpenCassette | None:
    """Returns the cassette that forbids this context to open sockets."""
    cassette = _ACTIVE.get()
    if cassette is not None and cassette in _OPEN:
        return cassette if cassette.offline else None
    return _OPEN[0] if _OPEN and all(open_cassette.offline for open_cassette in _OPEN) else None
