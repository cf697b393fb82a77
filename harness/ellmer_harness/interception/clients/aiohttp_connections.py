"""Interception of aiohttp's requests, in its connector.

In a replay, the connection holds the recorded answer. In a recording, the bytes of the answer are recorded as
they arrive. aiohttp itself handles redirects, cookies, timeouts and exceptions.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import ssl
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientConnectorSSLError,
    ClientOSError,
    ClientProxyConnectionError,
    ConnectionTimeoutError,
    ServerDisconnectedError,
    SocketTimeoutError,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.payload import AsyncIterablePayload
from yarl import URL

from ...exchange.messages import Failure
from ...exchange.reply import Piece
from .. import network_guard, open_cassettes
from ..http1 import AnswerReader, BrokenError, Outgoing, Wire, os_error, sent_back
from ..open_cassettes import RequestInFlight
from .websocket_clients import bridged, wrapper_of

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("aiohttp")
_NOTED: WeakKeyDictionary[Any, _Incoming] = WeakKeyDictionary()
_CHOSEN: WeakKeyDictionary[Any, tuple[URL, list[str]]] = WeakKeyDictionary()
"""The URL and the accept-encoding of requests that are sent with other ones."""


def connecting(real: Any) -> Any:
    """Wraps `BaseConnector.connect` of aiohttp."""

    async def connect(connector: Any, req: Any, *args: Any, **options: Any) -> Any:
        cassette = None if network_guard.set_aside() else open_cassettes.current()
        if cassette is None or cassette.allows(req.url.host or "") or _upgrades(req):
            return await real(connector, req, *args, **options)
        timeout = options.get("timeout") or args[-1]
        _restore(req)
        body = await _body(req.body)
        request = Outgoing.of(
            req.method, str(req.url), req.headers, connect=timeout.sock_connect, read=timeout.sock_read
        )
        take = cassette.begin(_WIRE, request, body)
        if take.reply is not None:
            return played(connector, req, take)
        _route(cassette, req, request)
        try:
            connection = await real(connector, req, *args, **options)
        except TimeoutError as error:
            take.broke(Failure("ConnectTimeout", str(error)))
            raise
        except Exception as error:
            take.broke(_failure(error))
            raise
        _NOTED[connection.protocol] = _Incoming(take, getattr(req, "_timer", None))
        return connection

    return connect


def _upgrades(req: Any) -> bool:
    return "websocket" in req.headers.get("Upgrade", "").lower()


async def _body(body: Any) -> bytes:
    """Returns the bytes of a payload. An iterator is read, and aiohttp then sends the bytes that were read."""
    if isinstance(body, bytes):
        return body
    data: bytes = await body.as_bytes()
    if isinstance(body, AsyncIterablePayload):
        body._consumed = True  # noqa: SLF001  # it keeps what it has read, and aiohttp would send that after a redirect
    return data


def _restore(req: Any) -> None:
    """Gives a request that a middleware sends once more the URL and the accept-encoding that the client chose."""
    if (chosen := _CHOSEN.pop(req, None)) is not None:
        req.url, headers = chosen
        req.headers.popall("Accept-Encoding", None)
        req.headers.extend(("Accept-Encoding", each) for each in headers)


def _route(cassette: Any, req: Any, request: Outgoing) -> None:
    """Sends the request to the route's host, with our accept-encoding. Its answer has the original URL."""
    _CHOSEN[req] = req.url, req.headers.getall("Accept-Encoding", [])
    if cassette.accept_encoding is not None:
        req.headers["Accept-Encoding"] = cassette.accept_encoding
    if (target := cassette.target(request.url)) != request.url:
        req.url = URL(target, encoded=True)


class _Incoming(AnswerReader):
    """Reads the answer to one request from the bytes of its connection."""

    def __init__(self, take: RequestInFlight, timer: Any) -> None:
        super().__init__(take)
        self._timer = timer

    arriving: bytes = b""

    def arrived(self) -> None:
        """Reads what aiohttp has taken without an exception."""
        data, self.arriving = self.arriving, b""
        if data:
            self.feed(data)

    def failed(self, error: BaseException) -> None:
        """Notes that aiohttp raised an exception, for what is arriving if anything is."""
        failure = _failure(error)
        if self.arriving and failure.error == "RemoteProtocolError":
            self.refused(failure, self.arriving)
            self.arriving = b""
        else:
            self.arrived()
            self.broke(failure)

    def closed(self) -> None:
        """Ends the answer because the client closed it, or because its total timeout was over."""
        self.arrived()
        if getattr(self._timer, "_cancelled", False):
            self.failed(TimeoutError("timed out"))
        else:
            super().closed()


def receiving(real: Any) -> Any:
    """Wraps `ResponseHandler.data_received` of aiohttp."""

    def data_received(protocol: Any, data: bytes) -> None:
        incoming = _NOTED.get(protocol) if data else None
        if incoming is None:
            real(protocol, data)
            return
        incoming.arriving = data
        real(protocol, data)
        incoming.arrived()

    return data_received


def losing(real: Any) -> Any:
    """Wraps `ResponseHandler.connection_lost` of aiohttp."""

    def connection_lost(protocol: Any, error: BaseException | None) -> None:
        if incoming := _NOTED.pop(protocol, None):
            if error is None:
                incoming.lost()
            else:
                incoming.failed(error)
        real(protocol, error)

    return connection_lost


def failing(real: Any) -> Any:
    """Wraps `ResponseHandler.set_exception` of aiohttp."""

    def set_exception(protocol: Any, error: BaseException, *cause: Any) -> None:
        if incoming := _NOTED.pop(protocol, None):
            incoming.failed(error)
        real(protocol, error, *cause)

    return set_exception


def closing(real: Any) -> Any:
    """Wraps `ResponseHandler.close` of aiohttp."""

    def close(protocol: Any) -> None:
        if incoming := _NOTED.pop(protocol, None):
            incoming.closed()
        real(protocol)

    return close


def _failure(error: BaseException) -> Failure:
    """Returns httpx's name for the failure. Cassettes use this name."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, ClientConnectorError):
        number = -2 if isinstance(error, ClientConnectorDNSError) else error.os_error.errno
        return Failure(
            "ConnectError", f"[Errno {number}] {error.os_error.strerror}" if number else str(error.os_error)
        )
    for name, ours in (
        ("ConnectionTimeoutError", "ConnectTimeout"),
        ("ServerDisconnectedError", "RemoteProtocolError"),
        ("HttpProcessingError", "RemoteProtocolError"),
        ("SocketTimeoutError", "ReadTimeout"),
        ("TimeoutError", "ReadTimeout"),
    ):
        if name in kinds:
            return Failure(ours, str(error) or name)
    return Failure("ReadError", str(error) or type(error).__name__)


def opening_websocket(real: Any) -> Any:
    """Wraps `ClientSession._ws_connect` of aiohttp."""

    async def ws_connect(session: Any, url: Any, **options: Any) -> Any:
        whole = str(session._build_url(url)).replace("http", "ws", 1)  # noqa: SLF001  # as aiohttp does
        if (cassette := wrapper_of(whole)) is None:
            return await real(session, url, **options)
        bridge = bridged(cassette, whole, options.get("headers"))
        return await real(session, bridge.url, **{**options, "proxy": None})

    return ws_connect


# --- Replay: a connection that holds a recorded answer ---------------------------------------------------


_TURNS = 50  # of the event loop for the client to read, before we look more seldom


def played(connector: Any, req: Any, take: RequestInFlight) -> Any:
    """Returns a connection that holds the recorded answer, or that fails with the recorded exception."""
    loop = asyncio.get_running_loop()
    pieces = sent_back(take)
    try:
        head = next(pieces).data
    except BrokenError as broken:
        _raise_early(broken, req)
        head, pieces = b"", _breaking(broken)
    protocol = _Playing(loop)
    protocol.connection_made(_Nowhere())
    protocol.force_close()  # never used for another request
    protocol.begin(head, pieces, take)
    return Connection(connector, req.connection_key, protocol, loop)


def _raise_early(broken: BrokenError, req: Any) -> None:
    """Raises the recorded error of a connection that could not be established."""
    match broken.error:
        case "ConnectTimeout":
            raise ConnectionTimeoutError(f"Connection timeout to host {req.url}")
        case "ConnectError":
            raise _unconnected(os_error(str(broken)), req)


def _unconnected(error: OSError, req: Any) -> Exception:
    key = req.connection_key
    if isinstance(error, ssl.SSLCertVerificationError):
        return ClientConnectorCertificateError(key, error)
    if isinstance(error, ssl.SSLError):
        return ClientConnectorSSLError(key, error)
    if isinstance(error, socket.gaierror):
        return ClientConnectorDNSError(key, error)
    if req.proxy is None:
        return ClientConnectorError(key, error)
    is_ssl = req.proxy.scheme == "https"
    return ClientProxyConnectionError(
        key._replace(host=req.proxy.host, port=req.proxy.port, is_ssl=is_ssl), error
    )


def _breaking(broken: BrokenError) -> Iterator[Piece]:
    """Raises the recorded failure."""
    raise broken
    yield  # it is a generator


def _as_aiohttp(broken: BrokenError) -> Exception:
    match broken.error:
        case "ReadTimeout":
            return SocketTimeoutError("Timeout on reading data from socket")
        case "RemoteProtocolError":
            return ServerDisconnectedError()
        case _:
            return ClientOSError(*_reset(broken).args)


def _reset(broken: BrokenError) -> OSError:
    """Returns the error of the socket, whose text has its number in a cassette."""
    text = str(broken) or "Connection reset by peer"
    return os_error(text) if text.startswith("[Errno ") else ConnectionResetError(104, text)


class _Nowhere(asyncio.Transport):
    """Accepts and ignores all writes, because the request was looked up before."""

    def write(self, data: Any) -> None:
        """Ignores the data."""

    def writelines(self, list_of_data: Any) -> None:
        """Ignores the data."""

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def abort(self) -> None:
        """Does nothing: there is nothing to close."""

    def pause_reading(self) -> None:
        """Does nothing: each chunk is delivered when it is read."""

    def resume_reading(self) -> None:
        """Does nothing: each chunk is delivered when it is read."""


class _Playing(ResponseHandler):
    """Feeds aiohttp's protocol from a cassette."""

    _task: asyncio.Task[None] | None = None

    def begin(self, head: bytes, pieces: Iterator[Piece], take: RequestInFlight) -> None:
        self._head, self._pieces, self._take = head, pieces, take

    def set_response_params(self, **options: Any) -> None:
        super().set_response_params(**options)
        self._task = asyncio.get_running_loop().create_task(self._play())

    def close(self) -> None:
        self._take.closed()
        if self._task is not None:
            self._task.cancel()
        super().close()

    def _reschedule_timeout(self) -> None:
        """Does nothing, because delays are counted on the cassette's clock."""

    async def _play(self) -> None:
        try:
            if self._head:
                self.data_received(self._head)
                await self._read()
            for data, wait in self._pieces:
                if wait and self._take.clock.real:
                    await asyncio.sleep(wait)
                self.data_received(data)
                await self._read()
            self.connection_lost(None)  # the end of a body that has no other
        except BrokenError as broken:
            self._fail(broken)
        except BaseException as miss:  # noqa: BLE001  # the client has to get it, whatever it is
            if not isinstance(miss, asyncio.CancelledError):
                self._raise(miss)

    def _fail(self, broken: BrokenError) -> None:
        match broken.error:
            case "RemoteProtocolError":
                self.connection_lost(None)
            case "ReadError":
                self.connection_lost(_reset(broken))
            case _:
                self._raise(_as_aiohttp(broken))

    def _raise(self, error: BaseException) -> None:
        payload = self._payload
        self.set_exception(error)
        if payload is not None:
            payload.set_exception(error)

    async def _read(self) -> None:
        """Waits until the client has read the buffered data, so that chunks stay separate, and asks for more if the recorded
        client stopped there: this one may stop, too.
        """
        stopped = self._take.reply is not None and self._take.reply.ended == "closed"
        for turn in itertools.count():
            await asyncio.tasks.sleep(0 if turn < _TURNS else 0.001)  # suites replace `asyncio.sleep`
            payload = self._payload
            if payload is None:  # no body
                return
            asks = payload._waiter is not None  # noqa: SLF001  # nothing public tells
            if asks if stopped else not payload._buffer or turn > _TURNS * 20:  # noqa: SLF001  # likewise
                return
