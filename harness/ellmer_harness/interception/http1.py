"""HTTP/1.1 as bytes, for clients that are intercepted at their connection. Answers are written, and read as
they pass.

The client gets the bytes that a server would send, and parses them itself. Status, headers, chunks and errors
are therefore those of a real connection.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..exchange.messages import Failure, Headers
from ..exchange.reply import Piece
from .open_cassettes import RequestInFlight

_SIZE = re.compile(rb"([0-9a-fA-F]++)[^\r\n]*+\r?\n")
_FOLD = re.compile(r"\r?\n([ \t])")  # a header goes on on the next line
_END = re.compile(rb"(?<=[^\r\n])\r?\n\r?\n")  # some clients ignore empty lines before a head
_ENDS_EARLY = "peer closed connection without sending complete message body"


class BrokenError(Exception):
    """A recorded failure. The connection turns it into the exception of the operating system."""

    def __init__(self, error: str, message: str = "", *, request: Any = None) -> None:
        super().__init__(message)
        self.error, self.request = error, request


class Wire:
    """Replaces the module httpx: every exception is a `BrokenError` of that name. `client` is the name of the library."""

    TransportError = BrokenError

    def __init__(self, client: str) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(BrokenError, name)


@dataclass(frozen=True)
class _Raw:
    raw: list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Outgoing:
    """A request that is about to be sent, in the form that a cassette reads."""

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

    take: RequestInFlight | UntilTaken
    chunked: bool = False
    length: int | None = None
    _raw: bytearray = field(default_factory=bytearray)
    _left: int = -1
    _skips: int = 0
    _done: bool = False

    def __post_init__(self) -> None:
        if self.length == 0 and not self.chunked:
            self._finish()

    @property
    def done(self) -> bool:
        """Whether the body is complete, or will not be."""
        return self._done

    @property
    def whole(self) -> bool:
        """Whether the rest is recorded that the client leaves unread."""
        return isinstance(self.take, RequestInFlight) and self.take.whole

    def feed(self, data: bytes) -> None:
        """Reads bytes of the body, with the framing of its chunks."""
        if self._done:
            return
        self._raw += data
        if self.chunked:
            self._chunks()
        elif self.length is not None and len(self._raw) >= self.length:
            del self._raw[self.length :]
            self._finish()

    def eof(self, *, strict: bool = False) -> None:
        """Notes that the connection ended. Only a strict client needs the empty line after the last chunk."""
        ended = not self.chunked and self.length is None
        if not self._done and not ended and (strict or not self._last):
            self.broke("RemoteProtocolError", _ENDS_EARLY)
        else:
            self._finish()

    def broke(self, error: str, message: str = "") -> None:
        """Notes that the client got an exception. Bytes between chunks that it refused are kept."""
        refused = self._raw.decode("latin-1") if self.chunked and self._left < 0 else ""
        self._rest()
        self._done = True
        self.take.broke(Failure(error, message, refused))

    def refused(self, failure: Failure, data: bytes) -> None:
        """Notes that the client did not accept these bytes as HTTP."""
        if not self._done:
            raw, self._raw, self._done = (self._raw + data)[self._skips :], bytearray(), True
            self.take.broke(replace(failure, refused=raw.decode("latin-1")))

    def closed(self) -> None:
        """Notes that the client closed the answer, or that it refused a chunk that has no size."""
        line = self._raw
        if not self._done and self.chunked and self._left < 0 and b"\n" in line and not _SIZE.match(line):
            self.refused(Failure("RemoteProtocolError", "a chunk has no size"), b"")
        if self._last:
            self._finish()
        if not self._done:
            self._rest()
            self._done = True
            self.take.closed()

    @property
    def _last(self) -> bool:
        """Whether the last chunk has come, and only lines may come after it."""
        return self.chunked and self._left == 0

    def _finish(self) -> None:
        if not self._done:
            self._rest()
            self._done = True
            self.take.eof()

    def _rest(self) -> None:
        if self._raw and not self._done and not (self.chunked and self._left <= 0):
            self.take.chunk(bytes(self._raw))
        self._raw = bytearray()

    def _chunks(self) -> None:
        """Reads chunks as http.client does: after a chunk, two bytes are dropped, whatever they are."""
        while self._raw and not self._done and self._step():
            pass

    def _step(self) -> bool:
        """Reads a size, a chunk, the end of one, or a line after the last one. Tells whether there were enough bytes."""
        if self._skips:
            dropped = min(self._skips, len(self._raw))
            del self._raw[:dropped]
            self._skips -= dropped
            return True
        if self._left < 0:
            return self._size()
        return self._line() if self._left == 0 else self._chunk()

    def _size(self) -> bool:
        if found := _SIZE.match(self._raw):
            self._left = int(found[1], 16)
            del self._raw[: found.end()]
        return found is not None

    def _chunk(self) -> bool:
        if len(self._raw) < self._left:
            return False
        self.take.chunk(bytes(self._raw[: self._left]))
        del self._raw[: self._left]
        self._left, self._skips = -1, 2
        return True

    def _line(self) -> bool:
        line, end, rest = self._raw.partition(b"\n")
        if end:
            self._raw = rest
            if not line.rstrip(b"\r"):
                self._finish()
        return bool(end)


class UntilTaken:
    """A request in flight whose answer ends only when the client has taken it: some clients refuse bytes that look well."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take, self.request, self.whole = take, take.request, False

    def answered(self, status: int, reason: str, headers: Headers, version: str = "HTTP/1.1") -> None:
        """Notes that the status and the headers have arrived."""
        self._take.answered(status, reason, headers, version)

    def chunk(self, data: bytes) -> None:
        """Notes a chunk of the body."""
        self._take.chunk(data)

    def eof(self) -> None:
        """Notes that the body is complete."""
        self.whole = True

    def closed(self) -> None:
        """Does nothing: the exchange ends when the client takes the answer."""

    def broke(self, failure: Failure) -> None:
        """Does nothing: the exchange ends when the client takes the answer."""

    def taken(self) -> None:
        """Notes that the client has taken the answer."""
        self._take.eof()

    def refused(self, failure: Failure, raw: bytes) -> None:
        """Notes that the client got an exception, and the bytes if they looked well."""
        if failure.error == "RemoteProtocolError" and (self.whole or not self._take.exchange.status):
            it = self._take.exchange
            it.status, it.headers = 0, []
            self._take.forget_body()
            failure = replace(failure, refused=raw.decode("latin-1"))
        self._take.broke(failure)


class AnswerReader:
    """Reads a whole answer, its head and its body, from the bytes of a connection."""

    def __init__(self, take: RequestInFlight | UntilTaken) -> None:
        self.take, self._head = take, b""
        self._body: BodyReader | None = None

    def feed(self, data: bytes) -> None:
        """Reads bytes as they arrive."""
        if self._body is not None:
            self._body.feed(data)
            return
        self._head += data
        while self._body is None and (end := _END.search(self._head)):
            head, self._head = self._head[: end.start()], self._head[end.end() :]
            if not self._answered(head, end[0]):
                return

    def lost(self) -> None:
        """Notes that the connection ended."""
        if self._body is None:
            self.broke(Failure("RemoteProtocolError", "Server disconnected without sending a response."))
        else:
            self._body.eof(strict=True)

    def broke(self, failure: Failure) -> None:
        """Notes that the client got an exception. Bytes that it refused are kept."""
        if self._body is None:
            self.take.broke(replace(failure, refused=self._head.decode("latin-1")))
        else:
            self._body.broke(failure.error, failure.message)

    def refused(self, failure: Failure, data: bytes) -> None:
        """Notes that the client did not accept these bytes as HTTP."""
        if self._body is None:
            self._head += data
            self.broke(failure)
        else:
            self._body.refused(failure, data)

    def closed(self) -> None:
        """Notes that the client closed the connection."""
        if self._body is None:
            self.take.closed()
        else:
            self._body.closed()

    def _answered(self, head: bytes, end: bytes) -> bool:
        """Notes status and headers. Returns False for bytes that are no head of an answer."""
        text = head.decode("latin-1").lstrip("\r\n")
        first, _, rest = text.partition("\n")
        lines = [line.removesuffix("\r") for line in _FOLD.sub(r"\1", rest).split("\n")]
        version, _, rest = first.removesuffix("\r").partition(" ")
        status, _, reason = rest.partition(" ")
        if not status.isdigit() or not version.startswith("HTTP/"):
            self._head = head + end + self._head
            return False
        if 100 <= int(status) < 200 and int(status) != 101:
            return True
        pairs: Headers = [
            (name.strip(), value.strip())
            for name, _, value in (line.partition(":") for line in lines if line[:1].strip())
        ]
        self.take.answered(int(status), reason, pairs, version)
        self._body = BodyReader(self.take, *framing(self.take.request.method, int(status), pairs))
        self._body.feed(self._head)
        return True


def framing(method: str, status: int, headers: Headers) -> tuple[bool, int | None]:
    """Returns whether the body of an answer is chunked, and its length otherwise."""
    if method.upper() == "HEAD" or status in (204, 304) or 100 <= status < 200:
        return False, 0
    values = {name.lower(): value for name, value in headers}
    if "chunked" in values.get("transfer-encoding", "").lower():
        return True, None
    length = values.get("content-length", "")
    return False, int(length) if length.isdigit() else None


def sent_back(take: RequestInFlight) -> Iterator[Piece]:
    """Yields the bytes of the recorded answer, chunk by chunk. Raises `BrokenError` at a recorded failure."""
    if take.reply is not None and not take.reply.status and (refused := _refused(take)):
        yield Piece(refused)
    reply = take.begin_reply()
    chunked, length = framing(take.request.method, reply.status, reply.headers)
    lines = [f"{name}: {value}" for name, value in reply.headers]
    if length == 0 and not chunked:
        take.eof()
    yield Piece("\r\n".join([f"HTTP/1.1 {reply.status} {reply.reason}", *lines, "", ""]).encode("latin-1"))
    try:
        for piece in take.play() if length != 0 else ():
            if length is not None and len(take.exchange.body) >= length:
                take.eof()  # the client knows, and does not ask again
            yield piece._replace(data=b"%x\r\n%s\r\n" % (len(piece.data), piece.data)) if chunked else piece
    except BrokenError:
        if refused := _refused(take):
            yield Piece(refused)
        raise
    if chunked:
        yield Piece(b"0\r\n\r\n")


def _refused(take: RequestInFlight) -> bytes:
    """Returns the bytes that the client refused when it was recorded."""
    failure = take.reply.failure if take.reply else None
    return failure.refused.encode("latin-1") if failure else b""


_BEFORE_TLS = re.compile(r"^\[Errno \d+\] (?=\[)")
_ERRNO = re.compile(r"\[Errno (-?\d+)\] (.*)", re.DOTALL)


def os_error(text: str) -> OSError:
    """Returns the exception of a connection that could not be established, from its text: of a lookup of a name, of TLS, or of
    a socket.
    """
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return ssl.SSLCertVerificationError(1, _BEFORE_TLS.sub("", text))
    if "[SSL" in text:
        return ssl.SSLError(1, _BEFORE_TLS.sub("", text))
    if found := _ERRNO.search(text):
        within = text[: found.start()].endswith("(")  # as urllib3 tells it
        number, words = int(found[1]), found[2].removesuffix(")") if within else found[2]
        return socket.gaierror(number, words) if number < 0 else OSError(number, words)
    return ConnectionRefusedError(111, text)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return str(value).encode("latin-1")
    except UnicodeEncodeError:
        return str(value).encode()
