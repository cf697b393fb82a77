"""HTTP/1.1 on a socket: it parses requests and plays replies, one after another on each connection.

Everything that a client may send is answered: keep-alive and pipelining, chunked bodies, `Expect: 100-continue`,
HEAD, HTTP/1.0, malformed requests (400), excessive sizes (413, 431).
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from http import HTTPStatus
from typing import Protocol, cast

from .http_request import HttpRequest, KnownRequests
from .reply import Broken, Relayed, Reply, is_short, plain
from .request_parser import Reader

__all__ = ["PATIENCE", "Connection", "Handler"]

PATIENCE = 120.0  # seconds in which a request must come whole, and a silent client another one
_LINGER = 5.0  # seconds in which a refused client may finish sending
_PIPELINED = 16  # requests read ahead of a reply before the socket is left alone

_STATUS = {int(s): s.phrase for s in HTTPStatus} | {529: "Site Overloaded"}


class Handler(Protocol):
    """The functions that a connection calls. Both must be quick."""

    def answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        """Returns the reply to a whole request, or an awaitable of it."""

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request whose body will not be read."""


class Connection(asyncio.Protocol):
    """One client. The server holds the set of open connections, and closes them when it stops.

    `known` are the requests that it recognizes, or `None` if none may be stored.
    """

    def __init__(
        self, handler: Handler, connections: set[Connection], known: KnownRequests | None = None
    ) -> None:
        self._handler = handler
        self._connections = connections
        self._reader = Reader(self, known)
        self._transport: asyncio.Transport
        self._waiting: deque[HttpRequest] = deque()
        self._playing: asyncio.Task[None] | None = None
        self._writable: asyncio.Event | None = None
        self._closing = self._half_closed = self._held = self._left = False
        self._silent = False  # nothing more is due from here: when the client's side ends, it has left
        self._written = 0  # bytes of the body that is being played
        self.heard = 0.0  # when the client last began a request, or was answered, by the loop's clock

    # from the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # other loops' transports have other classes
        self._connections.add(self)
        self.heard = asyncio.get_running_loop().time()
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._left = not self._closing
        self._closing = True
        self._connections.discard(self)
        self._waiting.clear()
        if self._playing:
            self._playing.cancel()

    def data_received(self, data: bytes) -> None:
        if not self._closing:
            self._reader.feed(data)

    def eof_received(self) -> bool:
        self._half_closed = True
        busy = bool(self._playing or self._waiting)
        return busy and not self._silent  # a client that half-closes still gets its reply

    def pause_writing(self) -> None:
        self._writable = asyncio.Event()

    def resume_writing(self) -> None:
        if self._writable:
            self._writable.set()
        self._writable = None

    def weary(self, now: float) -> None:
        """Ends an idle connection: one with an incomplete request, or without any."""
        if not self._playing and not self._waiting and now - self.heard > PATIENCE:
            self.close()

    def close(self) -> None:
        """Ends the connection in any state."""
        self._closing = True
        self._transport.abort()

    # from the reader --------------------------------------------------------------------------------------

    def waits(self) -> None:
        if not self._playing:
            self._write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def came(self, request: HttpRequest) -> None:
        if self._closing:
            return
        self.heard = asyncio.get_running_loop().time()
        self._waiting.append(request)
        if len(self._waiting) > _PIPELINED and not self._held:
            self._held = True
            self._transport.pause_reading()
        if self._playing is None:
            self._next()

    def too_large(self, request: HttpRequest) -> None:
        if not self._closing:
            self._finish(self._handler.too_large(request))

    def nonsense(self, status: int, message: str) -> None:
        if not self._closing:
            self._finish(plain(status, [("content-type", "text/plain")], message.encode()))

    # replies ----------------------------------------------------------------------------------------------

    def _next(self) -> None:
        """Answers the next request: at once if the reply is one write, else in a task."""
        while self._waiting and not self._closing and self._playing is None:
            request = self._waiting.popleft()
            reply = self._answer(request)
            if isinstance(reply, Reply) and is_short(reply):
                self._write(head(reply, request) + (b"" if request.method == "HEAD" else reply.body))
                self._after(reply, request)
            else:
                self._playing = asyncio.ensure_future(self._play(reply, request))
        if self._held and len(self._waiting) <= _PIPELINED and not self._closing:
            self._held = False
            self._transport.resume_reading()

    def _answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        try:
            return self._handler.answer(request)
        except Exception as error:  # noqa: BLE001 - a client must not hang on our own defects
            return defect(error)

    async def _play(self, coming: Reply | Awaitable[Reply], request: HttpRequest) -> None:
        self._silent = not isinstance(coming, Reply)  # how long the upstream takes is not known
        reply = coming if isinstance(coming, Reply) else await settled(coming)
        try:
            self._write(head(reply, request))
            await self._body_of(reply, request)
            await self._end(reply)
        except Broken:
            self.close()
            return
        except asyncio.CancelledError:
            if self._left and reply.left and reply.ending != "half-close":
                reply.left(self._written)
            raise
        self._playing, self._silent = None, False
        self._after(reply, request)
        self._next()

    async def _body_of(self, reply: Reply, request: HttpRequest) -> None:
        chunked, silent = reply.length is None and request.version == "1.1", request.method == "HEAD"
        self._written = 0
        async with aclosing(pieces(reply)) as body:
            async for data in body:
                if self._writable:
                    await self._writable.wait()
                if data and not silent:
                    self._write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
                    self._written += len(data)
        if chunked and reply.ending == "end" and not silent:
            self._write(b"0\r\n\r\n")

    async def _end(self, reply: Reply) -> None:
        match reply.ending:
            case "reset":
                linger = struct.pack("ii", 1, 0)  # closing discards what is unsent and sends RST
                self._transport.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
                self.close()
            case "half-close":
                self._transport.write_eof()
                await self._silence()
            case "stall":
                await self._silence()

    async def _silence(self) -> None:
        """Waits until the client leaves, which cancels this."""
        self._silent = True
        if self._half_closed:
            self._transport.close()
        await asyncio.Event().wait()

    def _after(self, reply: Reply, request: HttpRequest) -> None:
        self.heard = asyncio.get_running_loop().time()
        if self._half_closed or not persistent(reply, request):
            self._closing = True
            self._transport.close()

    def _write(self, data: bytes) -> None:
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _finish(self, reply: Reply) -> None:
        """Sends the last reply and continues to read, because closing with unread bytes would reset the connection."""
        self._write(head(reply, HttpRequest("", "", {}, keep_alive=False)) + reply.body)
        self._closing = True
        if not self._transport.is_closing():
            self._transport.write_eof()
            asyncio.get_running_loop().call_later(_LINGER, self._transport.abort)


async def settled(coming: Awaitable[Reply]) -> Reply:
    """Returns a reply after awaiting it."""
    try:
        return await coming
    except Exception as error:  # noqa: BLE001 - a client must not hang on our own defects
        return defect(error)


def defect(error: Exception) -> Reply:
    """Returns the reply after an error of the server. The event loop gets the details."""
    context = {"message": "a defect of the strict server", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
    text = f"A defect of the strict server: {error!r}\n"
    return plain(500, [("content-type", "text/plain; charset=utf-8")], text.encode())


async def pieces(reply: Reply) -> AsyncGenerator[bytes, None]:
    """Yields the writes of a body, each at its time."""
    if isinstance(reply, Relayed):
        async with aclosing(reply.chunks) as chunks:
            async for data in chunks:
                yield data
    for number, data in enumerate(reply.writes):
        if number and reply.delay:
            await asyncio.sleep(reply.delay)
        yield data


def persistent(reply: Reply, request: HttpRequest) -> bool:
    """Tells whether the connection stays open. In HTTP/1.0, there are no chunks, and a stream ends with the
    connection.
    """
    return request.keep_alive and (reply.length is not None or request.version == "1.1")


def head(reply: Reply, request: HttpRequest) -> bytes:
    """Returns the status line and headers, with the framing that this request allows."""
    lines = [f"HTTP/1.1 {reply.status} {_STATUS.get(reply.status, 'Unknown')}"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    if reply.length is not None:
        lines.append(f"content-length: {reply.length}")
    elif request.version == "1.1":
        lines.append("transfer-encoding: chunked")
    if not persistent(reply, request):
        lines.append("connection: close")
    elif request.version != "1.1":
        lines.append("connection: keep-alive")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
