"""HTTP/1.1 as bytes, for clients that are intercepted at their connection. Answers are written, and read as
they pass.

The client gets the bytes that a server would send, and parses them itself. Status, headers, chunks and errors
are therefore those of a real connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..exchange.messages import Failure, Headers
from ..exchange.reply import Piece
from .request_in_flight import RequestInFlight

__all__ = ["BodyReader", "BrokenError", "Outgoing", "Wire", "framing", "sent_back"]

_SIZE = re.compile(rb"([0-9a-fA-F]+)[^\r\n]*\r?\n")
_ENDS_EARLY = "peer closed connection without sending complete message body"


class BrokenError(Exception):
    """A recorded failure. The connection turns it into the exception of the operating system."""

    def __init__(self, error: str, message: str = "", *, request: Any = None) -> None:
        super().__init__(message)
        self.error, self.request = error, request


class Wire:
    """Replaces the module httpx: every exception is a `BrokenError` of that name."""

    TransportError = BrokenError

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(BrokenError, name)


@dataclass(frozen=True)
class _Raw:
    raw: list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Outgoing:
    """A request that is about to be sent, in the form that a tape reads."""

    method: str
    url: str
    headers: _Raw
    extensions: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, method: str, url: str, headers: Mapping[str, Any], **timeouts: Any) -> Outgoing:
        """Makes a request. Headers may be text or bytes; `timeouts` are in seconds, or `None` for no limit."""
        raw = [(_bytes(name), _bytes(value)) for name, value in headers.items()]
        return cls(_text(method), url, _Raw(raw), {"timeout": timeouts})


@dataclass
class BodyReader:
    """Reads the rest of an answer's body, chunk by chunk. A `length` of `None` means up to the end of the
    connection.
    """

    take: RequestInFlight
    chunked: bool = False
    length: int | None = None
    _raw: bytes = b""
    _left: int = -1
    _done: bool = False

    def __post_init__(self) -> None:
        if self.length == 0 and not self.chunked:
            self._finish()

    def feed(self, data: bytes) -> None:
        """Reads bytes of the body, with the framing of its chunks."""
        if self._done:
            return
        self._raw += data
        if self.chunked:
            self._chunks()
        elif self.length is not None and len(self._raw) >= self.length:
            self._raw = self._raw[: self.length]
            self._finish()

    def eof(self) -> None:
        """Notes that the connection ended."""
        if not self._done and (self.chunked or self.length is not None):
            self.broke("RemoteProtocolError", _ENDS_EARLY)
        else:
            self._finish()

    def broke(self, error: str, message: str = "") -> None:
        """Notes that the client got an exception."""
        self._rest()
        self._done = True
        self.take.broke(Failure(error, message))

    def closed(self) -> None:
        """Notes that the client closed the answer."""
        if not self._done:
            self._rest()
            self._done = True
            self.take.closed()

    def _finish(self) -> None:
        if not self._done:
            self._rest()
            self._done = True
            self.take.eof()

    def _rest(self) -> None:
        if self._raw and not self._done and not (self.chunked and self._left < 0):
            self.take.chunk(self._raw)
        self._raw = b""

    def _chunks(self) -> None:
        while not self._done:
            if self._left < 0:
                found = _SIZE.match(self._raw.lstrip(b"\r\n"))
                if not found:
                    return
                self._left = int(found[1], 16)
                self._raw = self._raw.lstrip(b"\r\n")[found.end() :]
            if self._left == 0:
                self._raw = b""
                self._finish()
            elif len(self._raw) < self._left:
                return
            else:
                self.take.chunk(self._raw[: self._left])
                self._raw, self._left = self._raw[self._left :], -1


def framing(method: str, status: int, headers: Headers) -> tuple[bool, int | None]:
    """Returns whether the body of an answer is chunked, and its length otherwise."""
    if method.upper() == "HEAD" or status in (204, 304) or 100 <= status < 200:
        return False, 0
    values = dict(headers)
    if "chunked" in values.get("transfer-encoding", "").lower():
        return True, None
    length = values.get("content-length", "")
    return False, int(length) if length.isdigit() else None


def sent_back(take: RequestInFlight) -> Iterator[Piece]:
    """Yields the bytes of the recorded answer, chunk by chunk. Raises `BrokenError` at a recorded failure."""
    reply = take.begin_reply()
    chunked, length = framing(take.request.method, reply.status, reply.headers)
    lines = [f"{name}: {value}" for name, value in reply.headers]
    if length == 0 and not chunked:
        take.eof()
    yield Piece("\r\n".join([f"HTTP/1.1 {reply.status} {reply.reason}", *lines, "", ""]).encode("latin-1"))
    for piece in take.play() if length != 0 else ():
        if length is not None and len(take.exchange.body) >= length:
            take.eof()  # the client knows, and does not ask again
        yield piece._replace(data=b"%x\r\n%s\r\n" % (len(piece.data), piece.data)) if chunked else piece
    if chunked:
        yield Piece(b"0\r\n\r\n")


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return str(value).encode("latin-1")
    except UnicodeEncodeError:
        return str(value).encode()
