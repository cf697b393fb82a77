"""HTTP/1.1 on a socket: it parses requests and sends replies, one after another on each connection.

Everything that a client may send is answered: keep-alive and pipelining, chunked bodies, `Expect: 100-continue`,
HEAD, HTTP/1.0, malformed requests (400), excessive sizes (413, 431). The parser is httptools.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol, cast

import httptools

from ellmer_core.base.budget import SERVER, SERVER_HEAD, SERVER_TARGET

from .messages import (
    LENGTH,
    Broken,
    HttpRequest,
    KnownRequests,
    Relayed,
    Reply,
    Upgraded,
    is_quick,
    is_short,
    plain,
)

if TYPE_CHECKING:
    from .websocket import WebSocket

# --- requests, from bytes in any pieces ------------------------------------------------------------------


_AROUND = len(b": \r\n")  # bytes of a header beside its name and its value
_DIGITS = 15  # of a content length; Python counts no further than some thousands


@lru_cache(1024)
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


class Receiver(Protocol):
    """The callbacks for parsed requests. A request that was reported as too large is not reported again."""

    def came(self, request: HttpRequest) -> None:
        """Handles a whole request."""

    def waits(self) -> None:
        """Handles the headers of a request whose body arrives after the client is told to continue."""

    def too_large(self, request: HttpRequest) -> None:
        """Handles the headers of a request whose body is larger than the server takes."""

    def nonsense(self, status: int, message: str) -> None:
        """Handles an unreadable request, with the reason."""


class Reader:
    """Reads one connection. `cache` is `None` if no request may be stored."""

    def __init__(self, receiver: Receiver, cache: KnownRequests | None) -> None:
        self._receiver = receiver
        self._cache = cache
        self._parser = httptools.HttpRequestParser(self)
        self._between = True  # requests: the next byte begins one
        self._came: list[HttpRequest] = []  # of the bytes that are being read
        self._unfinished = 0  # bytes of a head, or around the pieces of a body, that have not become anything
        self._became = False  # something, of the bytes that are being read
        self._body_size = 0

    def feed(self, data: bytes) -> None:
        """Reads more bytes and calls the receiver."""
        cache = self._cache if self._between else None
        if cache is not None and (request := cache.find(data)):
            self._receiver.came(request)
            return
        self._came.clear()
        self._became = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # an offer to switch protocols may be ignored; the request itself was complete
        except httptools.HttpParserError as error:
            self._receiver.nonsense(400, f"This is not HTTP/1.1: {error}\n")
            return
        self._unfinished = 0 if self._became else self._unfinished + len(data)
        if self._unfinished > SERVER_HEAD.received and not self._between:
            self._receiver.nonsense(431, "The request's headers are larger than 64 KB.\n")
        if cache is not None and self._between and len(self._came) == 1:
            cache.remember(data, self._came[0])

    # from the parser --------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._between = False
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._head_size = self._body_size = 0

    def on_url(self, url: bytes) -> None:
        self._became = True
        self._target += url
        self._head_size += len(url)
        if len(self._target) > SERVER_TARGET.received:
            self._target = self._target[: SERVER_TARGET.received]
            self._receiver.nonsense(414, "The request's target is larger than 16 KB.\n")

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = _lower(name), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text
        self._became = True
        self._head_size += len(name) + len(value) + _AROUND
        if self._head_size > SERVER_HEAD.received:
            self._receiver.nonsense(431, "The request's headers are larger than 64 KB.\n")

    def on_headers_complete(self) -> None:
        length = self._headers.get(LENGTH, "")
        if length.isdecimal() and (len(length) > _DIGITS or int(length) > SERVER.received):
            self._receiver.too_large(self._request())
        elif self._headers.get("expect", "").lower() == "100-continue":
            self._receiver.waits()

    def on_body(self, body: bytes) -> None:
        self._became = True
        self._body_size += len(body)
        if self._body_size <= SERVER.received:
            self._body.append(body)
        else:
            self._body.clear()
            self._receiver.too_large(self._request())

    def on_message_complete(self) -> None:
        request = self._request()
        self._between, self._became = request.keep_alive, True
        self._came.append(request)
        self._receiver.came(request)

    def _request(self) -> HttpRequest:
        return HttpRequest(
            self._parser.get_method().decode("latin-1"),
            self._target.decode("latin-1"),
            self._headers,
            b"".join(self._body),
            self._parser.should_keep_alive(),
            self._parser.get_http_version(),
        )


# --- one client ------------------------------------------------------------------------------------------


PATIENCE = SERVER.seconds  # seconds in which a request must come whole, a silent client another one, and a client read some of its reply
LONGEST_WEBSOCKET = 3600.0  # seconds that OpenAI lets one last
_LINGER = 5.0  # seconds in which a refused client may finish sending
_PIPELINED = 16  # requests read ahead of a reply before the socket is left alone

_STATUS = {int(s): s.phrase for s in HTTPStatus} | {529: "Site Overloaded"}


class Handler(Protocol):
    """The functions that a connection calls. Both must be quick."""

    def answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        """Returns the reply to a whole request, or an awaitable of it."""
        ...

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the reply to a request whose body will not be read."""
        ...


class Connection(asyncio.Protocol):
    """One client. The server holds the set of open connections, and closes them when it stops.

    `cache` has the requests that it recognizes, or `None` if none may be stored.
    """

    def __init__(
        self, handler: Handler, connections: set[Connection], cache: KnownRequests | None = None
    ) -> None:
        self._handler = handler
        self._connections = connections
        self._reader = Reader(self, cache)
        self._transport: asyncio.Transport
        self._loop: asyncio.AbstractEventLoop  # asking for the running one costs a system call in Python 3.11
        self._waiting: deque[HttpRequest] = deque()
        self._playing: asyncio.Task[None] | None = None
        self._writable: asyncio.Event | None = None
        self._full = 0.0  # since when the client reads nothing, by the loop's clock, if it is not writable
        self._closing = self._half_closed = self._held = self._left = False
        self._silent = False  # nothing more is due from here: when the client's side ends, it has left
        self._written = 0  # bytes of the body that is being played
        self._socket: WebSocket | None = None  # once the client has asked for one
        self.heard = 0.0  # when the client last began a request, or was answered, by the loop's clock

    # from the transport -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # other loops' transports have other classes
        self._connections.add(self)
        self._loop = asyncio.get_running_loop()
        self.heard = self._loop.time()
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._left = not self._closing
        self._closing = True
        self._connections.discard(self)
        self._waiting.clear()
        if self._playing:
            self._playing.cancel()
        if self._socket:
            self._socket.lost()

    def data_received(self, data: bytes) -> None:
        if self._socket:
            self._socket.received(bytes(memoryview(data)))
        elif not self._closing:
            # asyncio received it into 256 KB, which were shrunk where they are. If such bytes are kept, the next 256 KB are taken behind
            # them, and the heap grows with each request.
            self._reader.feed(bytes(memoryview(data)))

    def eof_received(self) -> bool:
        self._half_closed = True
        busy = bool(self._playing or self._waiting)
        return busy and not self._silent  # a client that half-closes still gets its reply

    def pause_writing(self) -> None:
        self._writable, self._full = asyncio.Event(), self._loop.time()

    def resume_writing(self) -> None:
        if self._writable:
            self._writable.set()
        self._writable = None

    def weary(self, now: float) -> None:
        """Ends an idle connection: one with an incomplete request, without any, or whose client does not read. A WebSocket may last
        longer.
        """
        if self._writable and now - self._full > PATIENCE:
            self.close()
        elif self._socket:
            if now - self.heard > LONGEST_WEBSOCKET:
                self._socket.expire()
        elif not self._playing and not self._waiting and now - self.heard > PATIENCE:
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
        self.heard = self._loop.time()
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
            if isinstance(reply, Upgraded):
                self._switch(reply, request)
            elif isinstance(reply, Reply) and (is_short(reply) or is_quick(reply)):
                self._write(head(reply, request) + framed(reply, request))
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

    def _switch(self, reply: Upgraded, request: HttpRequest) -> None:
        """Makes this connection a WebSocket. What is still waiting was no HTTP."""
        from .websocket import Line, WebSocket  # noqa: PLC0415 - its package is optional

        self._waiting.clear()
        line = Line(self._transport, self._settled, pieces, self._drained)
        self._socket = WebSocket(line, reply.turns, request)

    async def _settled(self, request: HttpRequest) -> Reply:
        reply = self._answer(request)
        return reply if isinstance(reply, Reply) else await settled(reply)

    async def _drained(self) -> None:
        if self._writable:
            await self._writable.wait()

    async def _play(self, coming: Reply | Awaitable[Reply], request: HttpRequest) -> None:
        self._silent = asyncio.iscoroutine(coming)  # how long an upstream takes is not known
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
                await self._drained()
                if self._transport.is_closing():
                    await asyncio.sleep(0)  # or else the loop cannot tell that the client left
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
        self.heard = self._loop.time()
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
            self._loop.call_later(_LINGER, self._transport.abort)


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
        pause = reply.delay if number else reply.first
        if pause:
            await asyncio.sleep(pause)
        yield data


def framed(reply: Reply, request: HttpRequest) -> bytes:
    """Returns the whole body of a reply, with one HTTP chunk for each write if its length is not known."""
    if request.method == "HEAD":
        return b""
    if reply.length is not None or request.version != "1.1":
        return reply.body
    chunks = [b"%x\r\n%b\r\n" % (len(data), data) for data in reply.writes if data]
    return b"".join([*chunks, b"0\r\n\r\n"])


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
