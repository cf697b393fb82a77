"""Interception of urllib3's connections, which requests and botocore use, too.

In a replay, the connection gets a socket that holds the recorded answer. In a recording, the answer's bytes
are recorded as the client reads them. urllib3 itself handles retries, redirects, proxies and exceptions.
"""

from __future__ import annotations

import http.client
import io
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3 import exceptions
from urllib3.connectionpool import HTTPConnectionPool, connection_from_url

from ..exchange.messages import Failure
from . import network_guard, open_tapes
from .http1 import BodyReader, BrokenError, Outgoing, Wire, framing, sent_back
from .request_in_flight import RequestInFlight

__all__ = ["wrappers"]


# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire()
_FUTURE = hasattr(urllib3, "ResponsePromise")
_UNSUPPORTED = (
    "urllib3-future, which niquests installs in the place of urllib3, is neither recorded nor replayed. Install urllib3 "
    "(`pip install --force-reinstall urllib3`), or let the host through with allow_hosts=[…]"
)
_SENDING: ContextVar[tuple[RequestInFlight, Callable[[], None]] | None] = ContextVar("_SENDING", default=None)


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    yield HTTPConnectionPool, "_make_request", _exchange
    yield http.client.HTTPResponse, "begin", _begun


def _exchange(real: Any) -> Any:
    def make_request(pool: Any, connection: Any, method: str, url: str, **options: Any) -> Any:
        tape = None if network_guard.set_aside() else open_tapes.current()
        if tape is None or tape.allows(pool.host):
            return real(pool, connection, method, url, **options)
        if _FUTURE:
            raise tape.missed(f"{_UNSUPPORTED}: {method} {_address(pool, url)}")
        options["body"] = body = _bytes(options.get("body"))
        request = _outgoing(pool, method, url, options)
        take = tape.begin(_WIRE, request, body or b"")
        if take.reply is not None:
            return played(real, pool, connection, method, url, options, take)
        return _recorded(real, _routed(tape, pool, connection, url, request, options), method, options, take)

    return make_request


def _recorded(
    real: Any, way: tuple[Any, Any, str, Any], method: str, options: Any, take: RequestInFlight
) -> Any:
    pool, connection, url, done = way
    before = _SENDING.set((take, done))
    try:
        return real(pool, connection, method, url, **options)
    except BaseException as error:
        take.broke(_failure(error)) if isinstance(error, Exception) else take.closed()
        done()
        raise
    finally:
        _SENDING.reset(before)


def _failure(error: Exception) -> Failure:
    """Returns httpx's name for the failure. Cassettes use this name."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for name, ours in (
        ("NewConnectionError", "ConnectError"),  # which is a ConnectTimeoutError, too
        ("ConnectTimeoutError", "ConnectTimeout"),
        ("ReadTimeoutError", "ReadTimeout"),
        ("TimeoutError", "ReadTimeout"),
        ("SSLError", "ConnectError"),
        ("HTTPException", "RemoteProtocolError"),
    ):
        if name in kinds:
            return Failure(ours, _plain(error))
    return Failure("ReadError", _plain(error))


def _plain(error: Exception) -> str:
    """Returns the error's text without memory addresses."""
    return str(error).rpartition(">: ")[2] or type(error).__name__


def _begun(real: Any) -> Any:
    def begin(response: Any) -> None:
        real(response)
        sending = _SENDING.get()
        if sending is not None and not isinstance(response.fp, _NotedBody):
            take, done = sending
            pairs = [(name.lower(), value) for name, value in response.headers.items()]
            version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
            take.answered(response.status, response.reason, pairs, version)
            body = BodyReader(take, *framing(take.request.method, response.status, pairs))
            if response.fp is not None:
                response.fp = _NotedBody(response.fp, body, done)

    return begin


class _NotedBody:
    """Records the bytes that `http.client` and urllib3 read from a file object."""

    def __init__(self, file: Any, body: BodyReader, done: Callable[[], None]) -> None:
        self._file, self._body, self._done = file, body, done

    def read(self, *size: int) -> bytes:
        data = self._noted(self._file.read, *size)
        if not size or size[0] is None or size[0] < 0 or len(data) < size[0]:
            self._body.eof()  # a buffered file gives less only at its end
        return data

    def read1(self, *size: int) -> bytes:
        return self._noted(self._file.read1, *size)

    def readline(self, *size: int) -> bytes:
        line = self._noted(self._file.readline, *size)
        if not line.endswith(b"\n") and not (size and len(line) == size[0]):
            self._body.eof()
        return line

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._body.closed()
        self._file.close()
        self._done()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _noted(self, read: Any, *size: int) -> bytes:
        try:
            data: bytes = read(*size)
        except Exception as error:
            self._body.broke(*_said(_failure(error)))
            raise
        self._body.feed(data)
        if not data and size[:1] != (0,):
            self._body.eof()
        return data


def _said(failure: Failure) -> tuple[str, str]:
    return failure.error, failure.message


def _outgoing(pool: Any, method: str, url: str, options: dict[str, Any]) -> Outgoing:
    timeout = pool._get_timeout(options.get("timeout"))  # noqa: SLF001  # urllib3's own way to read one
    connect, read = timeout.clone().connect_timeout, timeout.clone()
    read.start_connect()
    headers = options.get("headers") or {}
    seconds = {"connect": _seconds(connect), "read": _seconds(read.read_timeout)}
    return Outgoing.of(method, _address(pool, url), headers, **seconds)


def _seconds(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _address(pool: Any, url: str) -> str:
    """Returns the whole URL. urllib3 has only its path, except with a proxy."""
    if "://" in url.partition("?")[0]:
        return url
    host = f"[{pool.host}]" if ":" in pool.host and not pool.host.startswith("[") else pool.host
    usual = {"http": 80, "https": 443}.get(pool.scheme)
    return f"{pool.scheme}://{host}" + (f":{pool.port}" if pool.port not in (None, usual) else "") + url


def _routed(  # noqa: PLR0917  # as urllib3 has them
    tape: Any, pool: Any, connection: Any, url: str, request: Outgoing, options: dict[str, Any]
) -> tuple[Any, Any, str, Callable[[], None]]:
    """Returns the pool, connection and path to use, with our accept-encoding, and a function to call at the
    end.
    """
    target, headers = tape.target(request.url), dict(options.get("headers") or {})
    if tape.accept_encoding is not None:
        headers = {name: value for name, value in headers.items() if name.lower() != "accept-encoding"}
        headers["Accept-Encoding"] = tape.accept_encoding
    options["headers"] = headers
    if target == request.url:
        return pool, connection, url, lambda: None
    other, parts = connection_from_url(target), urlsplit(target)
    there = other._get_conn()  # noqa: SLF001  # as urlopen does
    return other, there, parts.path + (f"?{parts.query}" if parts.query else ""), there.close


def _bytes(body: Any) -> bytes | None:
    """Returns the body as it is sent. Files and iterators are read."""
    match body:
        case None | bytes():
            return body
        case str():
            return body.encode()
        case bytearray() | memoryview():
            return bytes(body)
        case _ if hasattr(body, "read"):
            return _bytes(body.read())
        case Iterable():
            return b"".join(_bytes(part) or b"" for part in body)
    return str(body).encode()


# --- Replay: a connection whose socket holds a recorded answer -------------------------------------------


_RESET = "Connection reset by peer"


def played(  # noqa: PLR0917  # as urllib3 has them
    real: Any, pool: Any, connection: Any, method: str, url: str, options: Any, take: RequestInFlight
) -> Any:
    """Returns the recorded answer as urllib3's response."""
    connection.sock = _Played(take)
    connection.is_verified = True
    try:
        return real(pool, connection, method, url, **options)
    except BrokenError as broken:
        raise _as_urllib3(broken, connection) from None
    finally:
        connection.sock = None  # the answer has a hold on what it needs of it; the next one begins anew


class _Played:
    """A socket that ignores writes and returns the recorded answer."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Ignores the data, because the request was looked up before."""

    def settimeout(self, seconds: float | None) -> None:
        """Does nothing, because the tape knows the timeout."""

    def shutdown(self, how: int) -> None:
        """Does nothing: there is no other end."""

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        """Returns the answer as a file object."""
        return io.BufferedReader(_Answer(self._take))


class _Answer(io.RawIOBase):
    """The bytes of an answer. A recorded failure is raised as a failure of the socket."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take, self._pieces, self._left = take, sent_back(take), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            while not self._left:
                self._left, wait = next(self._pieces)
                if wait and self._take.clock.real:
                    time.sleep(wait)
        except StopIteration:
            return 0
        except BrokenError as broken:
            return _raised(broken)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._take.closed()
        super().close()


def _raised(broken: BrokenError) -> int:
    """Returns 0 for a premature end. Raises the socket's exception otherwise."""
    match broken.error:
        case "ReadTimeout":
            raise TimeoutError("timed out")
        case "RemoteProtocolError":
            return 0
        case "ReadError":
            raise ConnectionResetError(104, _RESET)
        case _:
            raise broken


def _as_urllib3(broken: BrokenError, connection: Any) -> Exception:
    match broken.error:
        case "ConnectTimeout":
            return exceptions.ConnectTimeoutError(connection, f"Connection to {connection.host} timed out.")
        case "ConnectError":
            return exceptions.NewConnectionError(
                connection, f"Failed to establish a new connection: {broken}"
            )
        case _:
            return exceptions.ProtocolError("Connection aborted.", ConnectionResetError(104, str(broken)))
