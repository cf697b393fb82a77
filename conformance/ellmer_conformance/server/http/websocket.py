"""A WebSocket on a connection of the server: messages come in, and each is answered with messages.

The package `websockets` has the protocol (RFC 6455).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from ellmer_core.base.budget import SERVER

from .messages import Broken, HttpRequest, Reply, Turns

_QUEUED = 16  # messages read ahead of an answer before the socket is left alone
_DATA = {Opcode.TEXT, Opcode.BINARY, Opcode.CONT}


@dataclass(frozen=True)
class Line:
    """The connection below: its transport, what answers a request, and what waits until the client has read."""

    transport: asyncio.Transport
    answer: Callable[[HttpRequest], Awaitable[Reply]]
    pieces: Callable[[Reply], AsyncGenerator[bytes, None]]
    drained: Callable[[], Awaitable[None]]


class WebSocket:
    """One client after its handshake, which is answered at once."""

    def __init__(self, line: Line, turns: Turns, request: HttpRequest) -> None:
        self._line, self._turns = line, turns
        self._protocol = ServerProtocol(max_size=SERVER.received)
        self._protocol.receive_data(_head(request))
        self._parts: list[bytes] = []
        self._messages: deque[bytes] = deque()
        self._playing: asyncio.Task[None] | None = None
        for asked in self._protocol.events_received():
            if isinstance(asked, Request):
                self._protocol.send_response(self._protocol.accept(asked))
        self._flush()

    def received(self, data: bytes) -> None:
        """Takes bytes of the client."""
        self._protocol.receive_data(data)
        frames = (each for each in self._protocol.events_received() if isinstance(each, Frame))
        self._messages.extend(self._whole(frames))
        self._flush()
        if len(self._messages) > _QUEUED:
            self._line.transport.pause_reading()
        if self._messages and self._playing is None:
            self._playing = asyncio.ensure_future(self._play())

    def _whole(self, frames: Iterable[Frame]) -> Iterator[bytes]:
        for frame in frames:
            if frame.opcode in _DATA:
                self._parts += [bytes(frame.data)] if frame.data else []
                if frame.fin:
                    yield b"".join(self._parts)
                    self._parts.clear()

    def lost(self) -> None:
        """Ends the turn of a client that has left."""
        if self._playing:
            self._playing.cancel()

    def expire(self) -> None:
        """Ends a connection that has lasted as long as the API allows."""
        self._send(self._turns.over())
        self._close()

    async def _play(self) -> None:
        while self._messages:
            message = self._messages.popleft()
            if len(self._messages) == _QUEUED:
                self._line.transport.resume_reading()
            asked = self._turns.asked(message)
            reply = asked if isinstance(asked, Reply) else await self._line.answer(asked)
            await self._tell(reply)
        self._playing = None

    async def _tell(self, reply: Reply) -> None:
        """Sends the events of a reply, each as a message. A reply that breaks off breaks the connection."""
        if reply.status != 200:
            self._send(self._turns.failed(reply))
            return
        written, rest = 0, b""
        try:
            async with aclosing(self._line.pieces(reply)) as pieces:
                async for data in pieces:
                    *events, rest = (rest + data).split(b"\n\n")
                    for event in events:
                        self._send(self._turns.event(event))
                    written += len(data)
                    await self._line.drained()
        except Broken:
            self._line.transport.abort()
        except asyncio.CancelledError:
            if reply.left:
                reply.left(written)
            raise
        if reply.ending != "end":
            self._line.transport.abort()
        elif not self._turns.ended:
            self._close()

    def _close(self) -> None:
        self._protocol.fail(1000)
        self._flush()

    def _send(self, message: str) -> None:
        if message and self._protocol.state is State.OPEN:
            self._protocol.send_text(message.encode("utf-8", "surrogatepass"))
            self._flush()

    def _flush(self) -> None:
        """Writes what the protocol has to say, and closes after its last word."""
        if self._line.transport.is_closing():
            return
        for data in self._protocol.data_to_send():
            if data:
                self._line.transport.write(data)
        if self._protocol.close_expected():
            self._line.transport.close()


def _head(request: HttpRequest) -> bytes:
    lines = [f"GET {request.target} HTTP/1.1", *(f"{name}: {each}" for name, each in request.headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
