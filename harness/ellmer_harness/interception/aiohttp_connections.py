"""Interception of aiohttp's requests, in its connector.

In a replay, the connection holds the recorded answer. In a recording, the bytes of the answer are recorded as
they arrive. aiohttp itself handles redirects, cookies, timeouts and exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import BaseConnector
from yarl import URL

from ..exchange.messages import Failure, Headers
from . import network_guard, open_tapes
from .aiohttp_replay import played
from .http1 import BodyReader, Outgoing, Wire, framing
from .request_in_flight import RequestInFlight

__all__ = ["wrappers"]

_WIRE = Wire()
_NOTED: WeakKeyDictionary[Any, _Incoming] = WeakKeyDictionary()


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    yield BaseConnector, "connect", _connecting
    yield ResponseHandler, "data_received", _data_received
    yield ResponseHandler, "connection_lost", _connection_lost
    yield ResponseHandler, "set_exception", _set_exception
    yield ResponseHandler, "close", _closing


def _connecting(real: Any) -> Any:
    async def connect(connector: Any, req: Any, *args: Any, **options: Any) -> Any:
        tape = None if network_guard.set_aside() else open_tapes.current()
        if tape is None or tape.allows(req.url.host or "") or _upgrades(req):
            return await real(connector, req, *args, **options)
        timeout = options.get("timeout") or args[-1]
        body = await _body(req.body)
        request = Outgoing.of(
            req.method, str(req.url), req.headers, connect=timeout.sock_connect, read=timeout.sock_read
        )
        take = tape.begin(_WIRE, request, body)
        if take.reply is not None:
            return played(connector, req, take)
        _route(tape, req, request)
        try:
            connection = await real(connector, req, *args, **options)
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
    return data


def _route(tape: Any, req: Any, request: Outgoing) -> None:
    """Sends the request to the route's host, with our accept-encoding. Its answer has the original URL."""
    if tape.accept_encoding is not None:
        req.headers["Accept-Encoding"] = tape.accept_encoding
    if (target := tape.target(request.url)) != request.url:
        req.url = URL(target, encoded=True)


class _Incoming:
    """Reads the answer to one request from the bytes of its connection."""

    def __init__(self, take: RequestInFlight, timer: Any) -> None:
        self._take, self._timer, self._head = take, timer, b""
        self._body: BodyReader | None = None

    def feed(self, data: bytes) -> None:
        if self._body is not None:
            self._body.feed(data)
            return
        self._head += data
        while self._body is None and b"\r\n\r\n" in self._head:
            head, _, self._head = self._head.partition(b"\r\n\r\n")
            self._answered(head.decode("latin-1").split("\r\n"))

    def lost(self) -> None:
        if self._body is None:
            self._take.broke(
                Failure("RemoteProtocolError", "Server disconnected without sending a response.")
            )
        else:
            self._body.eof()

    def broke(self, error: BaseException) -> None:
        failure = _failure(error)
        if self._body is None:
            self._take.broke(failure)
        else:
            self._body.broke(failure.error, failure.message)

    def closed(self) -> None:
        """Ends the answer because the client closed it, or because its total timeout was over."""
        if getattr(self._timer, "_cancelled", False):
            self.broke(TimeoutError("timed out"))
        elif self._body is None:
            self._take.closed()
        else:
            self._body.closed()

    def _answered(self, lines: list[str]) -> None:
        version, status, *reason = lines[0].split(" ", 2)
        if 100 <= int(status) < 200:
            return
        pairs: Headers = [
            (name.strip().lower(), value.strip())
            for name, _, value in (line.partition(":") for line in lines[1:])
        ]
        self._take.answered(int(status), reason[0] if reason else "", pairs, version)
        self._body = BodyReader(self._take, *framing(self._take.request.method, int(status), pairs))
        self._body.feed(self._head)


def _data_received(real: Any) -> Any:
    def data_received(protocol: Any, data: bytes) -> None:
        if data and (incoming := _NOTED.get(protocol)):
            incoming.feed(data)
        real(protocol, data)

    return data_received


def _connection_lost(real: Any) -> Any:
    def connection_lost(protocol: Any, error: BaseException | None) -> None:
        if incoming := _NOTED.pop(protocol, None):
            if error is None:
                incoming.lost()
            else:
                incoming.broke(error)
        real(protocol, error)

    return connection_lost


def _set_exception(real: Any) -> Any:
    def set_exception(protocol: Any, error: BaseException, *cause: Any) -> None:
        if incoming := _NOTED.pop(protocol, None):
            incoming.broke(error)
        real(protocol, error, *cause)

    return set_exception


def _closing(real: Any) -> Any:
    def close(protocol: Any) -> None:
        if incoming := _NOTED.pop(protocol, None):
            incoming.closed()
        real(protocol)

    return close


def _failure(error: BaseException) -> Failure:
    """Returns httpx's name for the failure. Cassettes use this name."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for name, ours in (
        ("ConnectionTimeoutError", "ConnectTimeout"),
        ("ClientConnectorError", "ConnectError"),
        ("ServerDisconnectedError", "RemoteProtocolError"),
        ("SocketTimeoutError", "ReadTimeout"),
        ("TimeoutError", "ReadTimeout"),
    ):
        if name in kinds:
            return Failure(ours, str(error) or name)
    return Failure("ReadError", str(error) or type(error).__name__)
