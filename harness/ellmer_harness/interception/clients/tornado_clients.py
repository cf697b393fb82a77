"""Interception of tornado's AsyncHTTPClient (the simple one, not that of libcurl), where it connects.

In a replay, the connection is one end of a pair of local sockets; the recorded bytes are written to the other end. In a
recording, the bytes are recorded as they arrive. tornado itself handles redirects, timeouts and exceptions.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tornado.gen import convert_yielded
from tornado.iostream import IOStream, StreamClosedError
from tornado.simple_httpclient import HTTPTimeoutError

from ...errors import Miss
from ...exchange.messages import Failure
from .. import network_guard
from ..http1 import AnswerReader, BrokenError, Outgoing, UntilTaken, Wire, os_error, sent_back
from ..open_cassettes import RequestInFlight

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("tornado")


def running(real: Any) -> Any:
    """Wraps `_HTTPConnection.run` of tornado."""

    async def run(connection: Any) -> None:
        parts = urlsplit(connection.request.url)
        cassette = network_guard.wrapper_of(
            parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        )
        if cassette is not None:
            connection.tcp_client = _Connector(connection, cassette)
        await real(connection)

    return run


class _Connector:
    """Looks the request up where tornado connects, and returns the connection to use."""

    def __init__(self, connection: Any, cassette: Any) -> None:
        self._connection, self._cassette, self._real = connection, cassette, connection.tcp_client

    async def connect(self, host: str, port: int, **options: Any) -> Any:
        """Works like the method of tornado's TCPClient."""
        request = await _outgoing(self._connection.request)
        try:
            take = self._cassette.begin(_WIRE, request, self._connection.request.body or b"")
        except Miss as miss:  # tornado waits for ever for a request that ends with anything but an Exception
            self._connection._handle_exception(type(miss), miss, None)  # noqa: SLF001  # as tornado does
            raise StreamClosedError from None
        if take.reply is not None:
            return _played(self._connection, take)
        return await self._recorded(take, request, host, port, options)

    async def _recorded(
        self, take: RequestInFlight, request: Outgoing, host: str, port: int, options: Any
    ) -> Any:
        if self._cassette.accept_encoding is not None:
            _ask_for(self._connection, self._cassette.accept_encoding)
        target = self._cassette.target(request.url)
        if target != request.url:
            parts = urlsplit(target)
            self._connection.request.headers["Host"] = parts.netloc
            self._connection.parsed = parts
            host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
            if parts.scheme == "http":
                options["ssl_options"] = None
        try:
            stream = await self._real.connect(host, port, **options)
        except BaseException as error:
            take.broke(_failure(error))
            raise
        _note(self._connection, stream, take)
        return stream


def _ask_for(connection: Any, encoding: str) -> None:
    """Sends our accept-encoding. Decompresses the answer if tornado would do so with its own header."""
    decompresses, create = connection.request.decompress_response, connection._create_connection  # noqa: SLF001  # the only place between the two

    def created(stream: Any) -> Any:
        connection.request.decompress_response = decompresses
        return create(stream)

    connection.request.decompress_response = False
    connection.request.headers["Accept-Encoding"] = encoding
    connection._create_connection = created  # noqa: SLF001  # likewise


async def _outgoing(request: Any) -> Outgoing:
    """Returns the request with the headers that tornado adds. A body that is produced piece by piece is collected."""
    if request.body_producer is not None:
        pieces: list[bytes] = []

        async def write(data: bytes) -> None:
            pieces.append(data)

        await convert_yielded(request.body_producer(write))
        request.body, request.body_producer = b"".join(pieces), None
    pairs = dict(request.headers)
    if request.method == "POST" and "Content-Type" not in request.headers:
        pairs["Content-Type"] = "application/x-www-form-urlencoded"
    if request.auth_username is not None:
        pairs["Authorization"] = f"Basic {request.auth_username}:{request.auth_password or ''}"
    timeouts = {"connect": request.connect_timeout, "read": request.request_timeout}
    return Outgoing.of(request.method, request.url, pairs, **timeouts)


def _note(connection: Any, stream: Any, take: RequestInFlight) -> None:
    """Records the bytes that arrive, and how the exchange ends."""
    waiting, raw = UntilTaken(take), bytearray()
    reader = AnswerReader(waiting)
    read, handle, finish = stream.read_from_fd, connection._handle_exception, connection.finish  # noqa: SLF001  # tornado calls it for every failure
    receive, given = connection.data_received, list[bytes]()

    def noted(buffer: Any) -> Any:
        size = read(buffer)
        if size:
            raw.extend(buffer[:size])
            reader.feed(bytes(buffer[:size]))
        elif size == 0:
            reader.lost()
        return size

    def received(chunk: bytes) -> Any:
        given.append(chunk)
        return receive(chunk)

    def handled(kind: Any, error: Any, trace: Any) -> Any:
        reader.closed()
        if not given:  # tornado holds back small chunks, and what it cannot read
            take.forget_body()
        waiting.refused(_failure(error), bytes(raw))
        return handle(kind, error, trace)

    def finished() -> None:
        reader.closed()
        waiting.taken()
        finish()

    stream.read_from_fd, connection.finish, connection.data_received = noted, finished, received
    connection._handle_exception = handled  # noqa: SLF001  # likewise


def _failure(error: BaseException) -> Failure:
    """Returns httpx's name for a failure. Cassettes use this name."""
    if isinstance(error, StreamClosedError):
        error = error.real_error or error
    text = str(error) or type(error).__name__
    if isinstance(error, HTTPTimeoutError):
        return Failure("ReadTimeout", text)
    if isinstance(error, TimeoutError):
        return Failure("ConnectTimeout", text)
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return Failure("ReadError", text)
    if isinstance(error, StreamClosedError):
        return Failure("RemoteProtocolError", text)
    return Failure("ConnectError" if isinstance(error, OSError) else "RemoteProtocolError", text)


# --- Replay ----------------------------------------------------------------------------------------------


_LEAST = 65536
_TURNS, _WAITING = (
    10,
    200,
)  # of the event loop without a change: nothing is left to read, or tornado waits for more


def _played(connection: Any, take: RequestInFlight) -> IOStream:
    """Returns a stream that holds the recorded answer. Raises the recorded error of a connection that could not be established."""
    pieces = sent_back(take)
    try:
        first = next(pieces)
    except BrokenError as broken:
        if broken.error == "ConnectTimeout":
            raise TimeoutError(str(broken)) from None
        if broken.error == "ConnectError":
            raise os_error(str(broken)) from None
        first, pieces = None, _breaking(broken)
    ours, theirs = socket.socketpair()
    client = IOStream(theirs, max_buffer_size=connection.max_buffer_size)
    line = _Line(IOStream(ours), client)
    # A task that nobody holds may vanish.
    connection.feeding = asyncio.ensure_future(_feed(connection, line, first, pieces, take))
    return client


def _breaking(broken: BrokenError) -> Iterator[Any]:
    """Raises the recorded failure."""
    raise broken
    yield  # it is a generator


async def _feed(
    connection: Any, line: _Line, first: Any, pieces: Iterator[Any], take: RequestInFlight
) -> None:
    """Writes the recorded bytes, and ends as the recorded connection did."""
    with suppress(StreamClosedError):
        await line.server.read_bytes(
            _LEAST, partial=True
        )  # some of the request, so that a client without a body may have sent it
    try:
        with suppress(StreamClosedError):
            if first is not None:
                for part in _parts(first.data, take):
                    await line.deliver(part)
            for piece in pieces:
                if piece.wait and take.clock.real:
                    await asyncio.sleep(piece.wait)
                for part in _parts(piece.data, take):
                    await line.deliver(part)
    except BrokenError as broken:
        _end_broken(connection, line.server, broken)
        return
    except BaseException as miss:  # noqa: BLE001  # the client has to get it, whatever it is
        connection._handle_exception(type(miss), miss, None)  # noqa: SLF001  # as tornado does
    finally:
        take.closed()
    line.server.close()


def _parts(data: bytes, take: RequestInFlight) -> list[bytes]:
    """Returns the lines of an answer that tornado refused: it delivers a chunk before the next one arrives."""
    refused = take.reply is not None and not take.reply.status
    return data.splitlines(keepends=True) if refused else [data]


@dataclass
class _Line:
    """Both ends of a connection."""

    server: IOStream
    client: IOStream

    async def deliver(self, data: bytes) -> None:
        """Writes bytes, and waits until tornado has read them: it delivers nothing after the end of a connection."""
        await self.server.write(data)
        quiet = before = 0
        while quiet < (_WAITING if before else _TURNS) and not self.client.closed():
            await asyncio.tasks.sleep(0)  # suites replace `asyncio.sleep`
            left = self.client._read_buffer_size  # noqa: SLF001  # nothing public tells
            quiet, before = quiet + 1 if left == before else 0, left


def _end_broken(connection: Any, stream: IOStream, broken: BrokenError) -> None:
    if broken.error.endswith("Timeout"):
        connection._on_timeout("during request")  # noqa: SLF001  # as its own clock does
    elif broken.error == "ReadError":
        connection.stream.close(
            (ConnectionResetError, ConnectionResetError(104, "Connection reset by peer"), None)
        )
    stream.close()
