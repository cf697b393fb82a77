"""A connection of aiohttp that holds a recorded answer.

aiohttp parses the bytes like those of a server. Its responses, streams and exceptions are therefore the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from aiohttp import (
    ClientConnectorError,
    ClientOSError,
    ConnectionTimeoutError,
    ServerDisconnectedError,
    SocketTimeoutError,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from ..exchange.reply import Piece
from .http1 import BrokenError, sent_back
from .request_in_flight import RequestInFlight

__all__ = ["played"]

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
            raise ClientConnectorError(req.connection_key, OSError(111, str(broken)))


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
            return ClientOSError(104, str(broken) or "Connection reset by peer")


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
    """Feeds aiohttp's protocol from a tape."""

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
        """Does nothing, because delays are counted on the tape's clock."""

    async def _play(self) -> None:
        try:
            if self._head:
                self.data_received(self._head)
            for data, wait in self._pieces:
                await self._read()
                if wait and self._take.clock.real:
                    await asyncio.sleep(wait)
                self.data_received(data)
            await self._read()
            self.connection_lost(None)  # the end of a body that has no other
        except BrokenError as broken:
            if self._head:
                await self._read()
            self._fail(broken)
        except BaseException as miss:  # noqa: BLE001  # the client has to get it, whatever it is
            if not isinstance(miss, asyncio.CancelledError):
                self._raise(miss)

    def _fail(self, broken: BrokenError) -> None:
        match broken.error:
            case "RemoteProtocolError":
                self.connection_lost(None)
            case "ReadError":
                self.connection_lost(ConnectionResetError(104, str(broken)))
            case _:
                self._raise(_as_aiohttp(broken))

    def _raise(self, error: BaseException) -> None:
        payload = self._payload
        self.set_exception(error)
        if payload is not None:
            payload.set_exception(error)

    async def _read(self) -> None:
        """Waits until the client has read the buffered data, so that chunks stay separate."""
        for turn in range(_TURNS * 20):
            await asyncio.sleep(0 if turn < _TURNS else 0.001)
            if self._payload is not None and not self._payload._buffer:  # noqa: SLF001  # nothing public tells
                return
