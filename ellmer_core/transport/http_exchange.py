"""Code that the blocking and the async driver share: the client's request, the beginning of its answer, the open
socket.

It works with httpx, and with any client that has its `build_request()` and `send()` (httpx2).
"""

from __future__ import annotations

import random
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from logging import DEBUG
from socket import SHUT_RDWR, socket
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from ..base.budget import UNLIMITED
from ..base.log import logger, place
from ..conversation.io_operations import Answer, Send, Wait
from ..conversation.settings import StreamController
from ..errors import ConnectError, IncompleteResponseError, RequestTimeoutError, ResponseError, UsageError
from ..version import VERSION
from ..wire.framing import decoder
from .http_clients import Connection, Timeouts
from .sent_keys import SentKeys, is_secret

# --- One exchange ----------------------------------------------------------------------------------------


LINGER = 0.2  # seconds to wait for the end of a finished stream, so that its connection can be used again


class Socket(Protocol):
    """A socket, or asyncio's view of one."""

    def shutdown(self, how: int, /) -> None:
        """Ends the connection."""


NO_KEYS = SentKeys({})


class HttpExchange:
    """The base of both drivers' exchanges: all code that does not wait."""

    extensions: Mapping[str, Any] = {}  # of each request of a caller's client that has a time limit

    def __init__(self, connection: Connection, controller: StreamController, *others: Connection) -> None:
        self.connection = connection
        self.connections = (connection, *others)
        self.controller = controller
        self.response: Any = None
        self.socket: Socket | None = None
        self.chunks: Any = None
        self.framing: Any = None  # of the open answer, until its end was read
        self.decoder: Any = None  # for an answer that is read as events
        self.raw = self.succeeded = True
        self.keys = NO_KEYS
        self.secrets: tuple[str, ...] = ()  # that are not in the headers of ours
        self.unpacker = NOT_PACKED
        self.sent_at = 0.0
        self.taken = 0
        self.bound = self.events_left = UNLIMITED
        self.watch = ConnectionMonitor(controller)

    def built(self, client: Any, sent: Send) -> Any:
        """Returns the client's own request object."""
        headers = {
            "accept": "*/*",
            "accept-encoding": "gzip, deflate",
            "content-type": "application/json",
            "user-agent": f"ellmer-core/{VERSION}",
        }
        headers |= {name.lower(): value for name, value in sent.request.headers.items()}
        if sent.request.sign is not None:
            headers |= sent.request.sign(sent.body, time.time())
        proxy = self.connection.proxy
        self.secrets = (*sent.request.secrets, *(user_of(proxy) if proxy else ()))
        self.keys = SentKeys(headers, self.secrets)
        self.sent_at = time.monotonic()
        if logger.isEnabledFor(DEBUG):
            where = self.keys.hidden_in_error(place(sent.request.url))
            logger.debug("%s %s, %d bytes", sent.request.method, where, len(sent.body))
        extensions = self.watch.begin(sent.request.url, self.connection.timeouts)
        if extensions and self.connection.client is not None:
            extensions |= self.extensions
        return client.build_request(
            sent.request.method, sent.request.url, headers=headers, content=sent.body, extensions=extensions
        )

    def opened(self, response: Any, sent: Send) -> Answer:
        """Returns the beginning of the answer. Its body stays open."""
        stream = response.extensions.get("network_stream")
        found = stream.get_extra_info("socket") if stream is not None else None
        self.response, self.socket = response, found if hasattr(found, "shutdown") else None
        if self.connection.client is not None:  # it may have added keys of its own
            self.keys = SentKeys(
                response.request.headers, (*self.secrets, *secrets_in_query(str(response.request.url)))
            )
        self.taken = 0
        self.succeeded = response.is_success
        limits = self.connection.limits
        bound = limits.answer if self.succeeded else limits.error
        self.bound = UNLIMITED if bound is None else bound
        self.events_left = UNLIMITED if limits.events is None else limits.events
        logger.debug("answered %d after %.3f s", response.status_code, time.monotonic() - self.sent_at)
        self.framing, self.decoder = sent.request.framing, None
        headers = {name.lower(): value for name, value in response.headers.items()}
        headers = self.keys.hidden_in_headers(headers, failed=not self.succeeded)
        encoding = headers.get("content-encoding", "").strip().lower()
        if encoding not in ENCODINGS:
            raise ResponseError(f"The answer is encoded as {encoding!r:.60}, which was not requested.")
        self.raw = not response.is_stream_consumed  # an answer that a client has read is unpacked already
        self.unpacker = Unpacker(encoding if self.raw else "", self.bound)
        if "retry-after" in headers:  # it may be a date, to be compared with this one
            headers.setdefault("date", _http_date())
        if self.connection.on_answer is not None:
            self.connection.on_answer(response.status_code, headers)
        return Answer(response.status_code, headers, self.without_keys)

    def fed(self, chunk: bytes) -> list[Any]:
        """Returns the events that a chunk completes. An error is the last of them: what came before it counts."""
        unpacker = self.unpacker
        self.watch.check()
        if unpacker.packed or len(chunk) > PIECE or not chunk:
            chunk = self.unpacked(chunk)
        self.taken += len(chunk)
        over = self.taken > self.bound or unpacker.oversized
        if over:
            chunk = chunk[: self.bound - self.taken + len(chunk)]
        reader = self.decoder = self.decoder or decoder(self.framing)
        try:
            events = reader.feed(chunk)
        except ResponseError:  # it is the decoder's `failure`, too
            events = []
        events = self.keys.hidden_in_events(chunk, events)
        self.events_left -= len(events)
        if over or self.events_left < 0 or reader.failure or unpacker.failure:
            return self._last_events(events, too_large=over)
        return events

    def _last_events(self, events: list[Any], *, too_large: bool) -> list[Any]:
        """Returns the last events of an answer that cannot be read further, and the reason."""
        failure: ResponseError | None = self.too_large() if too_large else self.unpacker.failure
        if self.events_left < 0:
            most = self.connection.limits.events
            failure = ResponseError(f"The answer has more than {most:,} events (limit: events).")
            events = events[: self.events_left]
        else:
            failure = self.decoder.failure or failure
        self.keys.hide_in_exception(failure)
        return [*events, *self.keys.hidden_in_events(b"", [], last=True), failure]

    def unpacked(self, chunk: bytes) -> bytes:
        """Returns the decompressed bytes of a chunk, and one more than allowed at most."""
        return self.unpacker.feed(chunk, self.bound - self.taken + 1)

    def added(self, body: list[bytes], chunk: bytes) -> bool:
        """Adds a chunk to a body that is read whole. Returns whether an error's body is long enough; for other answers,
        too many bytes are an error.
        """
        while True:
            self.watch.check()
            packed = self.unpacker.packed or len(chunk) > PIECE or not chunk
            body.append(self.unpacked(chunk) if packed else chunk)
            self.taken += len(body[-1])
            over = self.taken > self.bound or self.unpacker.oversized
            if over and self.response is not None and not self.response.is_success:
                return True
            if over:
                raise self.too_large()
            if self.unpacker.failure is not None:
                raise ConnectError(str(self.unpacker.failure))
            if not self.unpacker.pending:
                return False
            chunk = b""

    def too_large(self) -> ResponseError:
        """Returns the error for an answer with too many bytes."""
        return ResponseError(f"The answer is larger than {self.bound:,} bytes (limit: answer).")

    def flushed(self) -> list[Any] | None:
        """Returns the last events after the last chunk, then `None`."""
        self.watch.check()
        if self.framing is None:
            return None
        last = self.decoder or decoder(self.framing)
        self.framing = None
        return self.keys.hidden_in_events(b"", last.flush(), last=True)

    def without_keys(self, error: BaseException) -> BaseException:
        """Returns an exception, in which the keys of the request are replaced."""
        if isinstance(error, Exception):
            self.keys.hide_in_exception(error)
        return error


def _http_date() -> str:
    from email.utils import formatdate  # noqa: PLC0415 - few answers need it

    return formatdate(time.time(), usegmt=True)


#: One requested encoding. Nobody asked for another one, or for several around each other.
ENCODINGS = {"", "identity", "gzip", "x-gzip", "deflate"}
PIECE = 64 * 1024  # bytes that are read before the clock and the limits are looked at again


class Unpacker:
    """Decompresses a body in pieces of limited size. All bytes before damaged ones are returned, wherever chunks end, and
    `failure` is the damage. While a chunk is `pending`, an empty one returns its next piece. What follows the end of the compressed
    data is dropped. No more than `bound` compressed bytes are read; with one more, the body is `oversized`.
    """

    def __init__(self, encoding: str, bound: int = UNLIMITED) -> None:
        self.failure: IncompleteResponseError | None = None
        self.pending = self.oversized = False
        self._chunk, self._place = b"", 0  # the last chunk, and how far it was read
        self._left = bound
        self._engine: Any = None
        self._begun: bytes | None = None  # of a deflated body: some servers leave out the header of zlib
        if encoding in {"gzip", "x-gzip"}:
            self._engine = zlib.decompressobj(zlib.MAX_WBITS | 16)
        elif encoding == "deflate":
            self._engine, self._begun = zlib.decompressobj(), b""
        self.packed = self._engine is not None

    def feed(self, chunk: bytes, most: int) -> bytes:
        """Returns the next bytes that a chunk contains, `most` at most."""
        if self._engine is None:
            return self._piece_of(chunk)
        if self._begun is not None:
            self._begun += chunk
            if len(self._begun) < 2:
                return b""
            chunk, self._begun = self._begun, None
            if not _has_zlib_header(chunk):
                self._engine = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpacked(chunk, min(most or PIECE, PIECE))

    def _unpacked(self, chunk: bytes, most: int) -> bytes:
        if self._engine.eof:  # what follows counts, and is dropped
            self._received(chunk)
            return b""
        before = self._engine.copy()
        data = self._engine.unconsumed_tail or self._received(self._piece_of(chunk))
        try:
            piece = bytes(self._engine.decompress(data, most))
        except zlib.error as error:
            self.failure, self.pending = IncompleteResponseError(f"The answer is damaged: {error}"), False
            return b"".join(_until_damage(before, data))
        if self._engine.eof:
            self._received(self._chunk[self._place :])
        unread = self._place < len(self._chunk) or len(piece) == most
        self.pending = unread and not self._engine.eof and not self.oversized
        return piece

    def _received(self, data: bytes) -> bytes:
        """Returns compressed bytes up to the bound."""
        data, left = data[: max(self._left, 0)], self._left - len(data)
        self._left, self.oversized = left, left < 0
        return data

    def _piece_of(self, chunk: bytes) -> bytes:
        """Returns the next piece of the chunk that was given last."""
        if chunk:
            self._chunk, self._place = chunk, 0
        piece = self._chunk[self._place : self._place + PIECE]
        self._place += len(piece)
        self.pending = self._place < len(self._chunk)
        if not self.pending:
            self._chunk, self._place = b"", 0
        return piece


NOT_PACKED = Unpacker("")  # of an exchange that has no answer yet


def _has_zlib_header(data: bytes) -> bool:
    """Tells whether deflated data begin as RFC 1950 says."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _until_damage(engine: Any, chunk: bytes) -> Iterator[bytes]:
    with suppress(zlib.error):
        for place in range(len(chunk)):
            yield engine.decompress(chunk[place : place + 1])


def user_of(url: str) -> Iterator[str]:
    """Yields the user and the password of a URL, and both as a header has them."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.password:
            user, password = unquote(parts.username or ""), unquote(parts.password)
            yield from (password, b64encode(f"{user}:{password}".encode()).decode())


def secrets_in_query(url: str) -> Iterator[str]:
    """Yields the values of a URL's query whose names are those of keys, decoded and as they were sent."""
    with suppress(ValueError):
        for name, value in parse_qsl(urlsplit(url).query):
            if is_secret(name):
                yield from (value, quote(value, safe=""))


def hang_up(connection: Socket | None) -> None:
    """Ends a connection. A thread that reads from it sees its end."""
    with suppress(OSError):
        match connection:
            case socket():  # not SSLSocket's own method: it would pull the TLS layer from under the reader
                socket.shutdown(connection, SHUT_RDWR)
            case _ if connection is not None:
                connection.shutdown(SHUT_RDWR)


def some_time(wait: Wait) -> float:
    """Returns a random wait within the limits, so that chats that failed together do not retry together."""
    return random.uniform(wait.at_least, wait.at_most)  # noqa: S311 - no secret


# --- Errors of a connection: unreachable, broken, silent, too late, cancelled ----------------------------


NO_LIMITS = Timeouts(None, None, None)


@dataclass(eq=False, repr=False)
class ConnectionMonitor:
    """Monitors one answer after the other, and converts the errors of an HTTP client to ours. It recognizes them by
    name, because every client has its own classes.
    """

    controller: StreamController
    where: str = ""
    limits: Timeouts = NO_LIMITS
    ends: float | None = None  # when the answer must be complete, by time.monotonic()
    interrupts: bool = False  # whether a silence is ended then, too

    def begin(self, url: str, limits: Timeouts | None) -> dict[str, Any]:
        """Begins a request, and returns the extensions of httpx that set its timeouts. Without `limits`, the client's own
        limits hold.
        """
        self.where, self.limits = url, limits or NO_LIMITS
        total = self.limits.total
        self.interrupts = total not in (None, Timeouts.total)
        self.ends = None if total is None else time.monotonic() + total
        if limits is None:
            return {}
        connect, idle = (
            limit if total is None or (limit is not None and limit <= total) else total
            for limit in (limits.connect, limits.idle)
        )
        return {"timeout": {"connect": connect, "read": idle, "write": idle, "pool": None}}

    @property
    def left(self) -> float | None:
        """The seconds until the answer must be complete."""
        return None if self.ends is None else max(self.ends - time.monotonic(), 0.0)

    def check(self) -> None:
        """Raises `RequestTimeoutError` if the answer took longer than allowed."""
        if self.ends is not None and time.monotonic() >= self.ends:
            raise self.overdue()

    def overdue(self) -> RequestTimeoutError:
        """Returns the error for an answer that took longer than allowed."""
        text = f"The answer of {self.where} was not complete after {_seconds(self.limits.total)} (timeout: total)."
        return RequestTimeoutError(text, "total")

    def translate(self, error: Exception) -> None:
        """Raises our error for an error of the client. Other errors pass."""
        names = {kind.__name__ for kind in type(error).__mro__}
        if {"UnsupportedProtocol", "InvalidURL"} & names:
            raise UsageError(
                f"The base URL of {self.where} is invalid: {error} Check base_url=, or its environment variable."
            ) from error
        if "LocalProtocolError" in names or isinstance(error, UnicodeEncodeError):
            # Its message would quote the header, which may be the key.
            raise UsageError("A header of the request is not valid HTTP. Check the API key.") from None
        if not {"RequestError", "StreamError"} & names:
            return
        self.controller.check()
        self.check()
        raise self._failure(error, names) from error

    def _failure(self, error: Exception, names: set[str]) -> ConnectError:
        if {"ConnectTimeout", "PoolTimeout"} & names:
            text = f"No connection to {self.where} after {_seconds(self.limits.connect)} (timeout: connect)."
            return RequestTimeoutError(text, "connect")
        if "TimeoutException" in names:
            return RequestTimeoutError(
                f"{self.where} sent nothing for {_seconds(self.limits.idle)} (timeout: idle).", "idle"
            )
        return ConnectError(f"The connection to {self.where} failed: {str(error) or type(error).__name__}")


def _seconds(limit: float | None) -> str:
    return "the client's own limit" if limit is None else f"{limit:g} s"
