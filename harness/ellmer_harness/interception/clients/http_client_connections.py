"""Interception of Python's own client, http.client, which urllib.request, xmlrpc and httplib2 use; and what urllib3 shares with it.

A request is held back until it is whole. In a replay, the connection then gets a socket that holds the recorded answer. In a
recording, the request is sent, and the answer's bytes are recorded as the program reads them. http.client itself parses them.
"""

from __future__ import annotations

import http.client
import io
import re
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ...exchange.messages import Failure
from .. import network_guard, open_cassettes
from ..http1 import BodyReader, BrokenError, Outgoing, Wire, framing, os_error, sent_back
from ..open_cassettes import RequestInFlight

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("http.client")
SENDING: ContextVar[tuple[RequestInFlight, Callable[[], None]] | None] = ContextVar("SENDING", default=None)
"""The request whose answer http.client is about to read, and a function to call at its end."""


@dataclass
class _Held:
    """A request that is held back until it is whole, and then the request in flight."""

    data: bytearray = field(default_factory=bytearray)
    take: RequestInFlight | None = None
    sending: bool = False
    away: http.client.HTTPConnection | None = None

    def whole(self) -> bool:
        """Tells whether the request is complete."""
        head, found, body = bytes(self.data).partition(b"\r\n\r\n")
        if not found:
            return False
        fields = _fields(head)
        if "chunked" in fields.get("transfer-encoding", "").lower():
            return body.endswith(b"0\r\n\r\n")
        return len(body) >= int(fields.get("content-length", "0") or 0)


_HELD: WeakKeyDictionary[http.client.HTTPConnection, _Held] = WeakKeyDictionary()


def _is_ours(connection: http.client.HTTPConnection, head: Any = b"") -> bool:
    """Tells whether the connection belongs to a cassette. Those of urllib3 have their own interception. The first line of a request
    to a proxy names the host that is asked.
    """
    urllib3 = sys.modules.get("urllib3.connection")
    if urllib3 is not None and isinstance(connection, urllib3.HTTPConnection):
        return False
    found = _ABSOLUTE.match(head) if isinstance(head, bytes) else None
    parts = urlsplit(found[1].decode("latin-1")) if found else None
    host, port = (parts.hostname or "", parts.port) if parts else _host(connection)
    return network_guard.wrapper_of(host, port) is not None


_ABSOLUTE = re.compile(rb"[A-Za-z]+ (https?://\S+) HTTP/")


def _host(connection: Any) -> tuple[str, int]:
    """Returns the host that is asked, behind a proxy, too."""
    return (
        getattr(connection, "_tunnel_host", None) or connection.host,
        getattr(connection, "_tunnel_port", None) or connection.port,
    )


def connecting(real: Any) -> Any:
    """Wraps `HTTPConnection.connect` of http.client."""

    def connect(connection: Any) -> None:
        held = _HELD.get(connection)
        if (held is not None and held.sending) or not _is_ours(connection):
            real(connection)

    return connect


def sending(real: Any) -> Any:
    """Wraps `HTTPConnection.send` of http.client."""

    def send(connection: Any, data: Any) -> None:
        held = _HELD.get(connection)
        collects = held is not None and held.take is None
        if (held is not None and held.sending) or not (collects or _is_ours(connection, data)):
            real(connection, data)
            return
        if held is None or held.take is not None:
            if held is not None and held.away is not None:
                held.away.close()  # nobody reads its answer any more
            held = _HELD[connection] = _Held()
        held.data += _bytes(data)
        if held.whole():
            _begin(connection, held, real)

    return send


def _begin(connection: Any, held: _Held, send: Any) -> None:
    """Looks the request up, and sends it if it has to be recorded."""
    cassette: Any = open_cassettes.current()
    head, _, body = bytes(held.data).partition(b"\r\n\r\n")
    request = _outgoing(connection, head)
    held.take = take = cassette.begin(_WIRE, request, _plain(head, body))
    if take.reply is not None:
        _raise_early(take)
        connection.sock = PlayedSocket(take)
        return
    held.sending = True
    try:
        there, data = _routed(cassette, connection, request, held.data)
        held.away = there if there is not connection else None
        if held.away is None:
            send(connection, data)
        else:
            _HELD[there] = held
            send(there, data)
    except OSError as error:
        take.broke(
            Failure("ConnectTimeout" if isinstance(error, TimeoutError) else "ConnectError", str(error))
        )
        _HELD.pop(connection, None)
        raise
    finally:
        held.sending = False


def answering(real: Any) -> Any:
    """Wraps `HTTPConnection.getresponse` of http.client."""

    def getresponse(connection: Any) -> Any:
        held = _HELD.pop(connection, None)
        if held is None or held.take is None:
            return real(connection)
        if held.take.reply is not None:
            try:
                return real(connection)
            finally:
                connection.sock = (
                    None  # the answer has a hold on what it needs of it; the next one begins anew
                )
        return _recorded(real, connection, held)

    return getresponse


def _recorded(real: Any, connection: Any, held: _Held) -> Any:
    there: Any = held.away or connection
    take = held.take
    if held.away is not None:
        _HELD.pop(there, None)
        there._HTTPConnection__state = connection._HTTPConnection__state  # noqa: SLF001  # it sent the request instead
        there._method = connection._method  # noqa: SLF001  # likewise
    assert take is not None, "asked only after the lookup"
    before = SENDING.set((take, there.close if there is not connection else lambda: None))
    try:
        return real(there)
    except Exception as error:
        take.broke(failure(error))
        raise
    except BaseException:
        take.closed()
        raise
    finally:
        SENDING.reset(before)
        if there is not connection:
            connection._HTTPConnection__state = there._HTTPConnection__state  # noqa: SLF001  # likewise


def failure(error: BaseException) -> Failure:
    """Returns httpx's name for a failure of http.client. Cassettes use this name."""
    text = str(error) or type(error).__name__
    if isinstance(error, TimeoutError):
        return Failure("ReadTimeout", text)
    if isinstance(error, http.client.HTTPException):  # RemoteDisconnected is a ConnectionResetError, too
        return Failure("RemoteProtocolError", text)
    return Failure("ReadError", text)


def _outgoing(connection: Any, head: bytes) -> Outgoing:
    method, target, _ = head.split(b"\r\n")[0].decode("latin-1").split(" ", 2)
    seconds = connection.timeout if isinstance(connection.timeout, int | float) else None
    pairs = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    headers = {name.decode("latin-1"): value.strip() for name, _, value in pairs}
    return Outgoing.of(method, _url(connection, target), headers, connect=seconds, read=seconds)


def _url(connection: Any, target: str) -> str:
    """Returns the whole URL. A proxy is asked for a whole one."""
    if "://" in target.partition("?")[0]:
        return target
    host, port = _host(connection)
    scheme = "https" if isinstance(connection, http.client.HTTPSConnection) else "http"
    usual = {"http": 80, "https": 443}[scheme]
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{scheme}://{name}" + (f":{port}" if port not in (None, usual) else "") + target


def _routed(cassette: Any, connection: Any, request: Outgoing, data: bytearray) -> tuple[Any, bytes]:
    """Returns the connection and the bytes to send, with our accept-encoding."""
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    if cassette.accept_encoding is not None:
        lines = [line for line in lines if not line.lower().startswith(b"accept-encoding:")]
        lines.append(b"Accept-Encoding: " + cassette.accept_encoding.encode())
    target = cassette.target(request.url)
    if target != request.url:
        parts = urlsplit(target)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=connection.timeout)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        first = b" ".join([first.split(b" ", 1)[0], path.encode("latin-1"), first.rpartition(b" ")[2]])
        lines = [line for line in lines if not line.lower().startswith(b"host:")] + [
            b"Host: " + parts.netloc.encode()
        ]
    return connection, b"\r\n".join([first, *lines, b"", body])


def _fields(head: bytes) -> dict[str, str]:
    pairs = (line.decode("latin-1").partition(":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _plain(head: bytes, body: bytes) -> bytes:
    """Returns a body without the framing of chunks."""
    if "chunked" not in _fields(head).get("transfer-encoding", "").lower():
        return body
    plain = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        plain, body = plain + rest[:length], rest[length + 2 :] if length else b""
    return plain


def _bytes(data: Any) -> bytes:
    """Returns the bytes of what is sent. Files and iterators are read."""
    if hasattr(data, "read"):
        data = data.read()
    if isinstance(data, str):
        return data.encode("iso-8859-1")
    if isinstance(data, Iterable) and not isinstance(data, bytes | bytearray | memoryview):
        return b"".join(map(_bytes, data))
    return bytes(data)


def begun(real: Any) -> Any:
    """Wraps `HTTPResponse.begin` of http.client."""

    def begin(response: Any) -> None:
        sending = SENDING.get()
        if sending is None or isinstance(response.fp, _NotedBody):
            real(response)
            return
        take, done = sending
        head = response.fp = _NotedHead(response.fp)
        try:
            real(response)
        except http.client.HTTPException as error:
            take.broke(replace(failure(error), refused=head.seen.decode("latin-1")))
            raise
        pairs = [*response.headers.items()]
        version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
        take.answered(response.status, response.reason, pairs, version)
        body = BodyReader(take, *framing(take.request.method, response.status, pairs))
        if response.fp is not None:
            response.fp = _NotedBody(head.file, body, done)
            if take.whole:
                take.last_words = response.fp.read_on

    return begin


_STEP = 65536


class _NotedHead:
    """Keeps the lines that http.client reads of a head, for one that it refuses."""

    def __init__(self, file: Any) -> None:
        self.file, self.seen = file, b""

    def readline(self, *size: int) -> bytes:
        line: bytes = self.file.readline(*size)
        self.seen += line
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class _NotedBody:
    """Records the bytes that `http.client` and urllib3 read from a file object."""

    def __init__(self, file: Any, body: BodyReader, done: Callable[[], None]) -> None:
        self._file, self._body, self._done = file, body, done
        self._real: list[Any] = []

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

    def read_on(self) -> None:
        """Reads the rest of the answer for the recording. The client may read it later."""
        rest, file = b"", self._file
        with suppress(OSError, ValueError):  # the connection is closed
            while not self._body.done and (data := self.read1(_STEP)):
                rest += data
        self._file = io.BytesIO(rest)
        self._real.append(file)

    def close(self) -> None:
        if self._body.whole and not self._body.done:
            self.read_on()
        self._body.closed()
        for file in (self._file, *self._real):
            file.close()
        self._done()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _noted(self, read: Any, *size: int) -> bytes:
        try:
            data: bytes = read(*size)
        except Exception as error:
            self._body.broke(*_class_and_message(failure(error)))
            raise
        self._body.feed(data)
        if not data and size[:1] != (0,):
            self._body.eof()
        return data


def _class_and_message(failure: Failure) -> tuple[str, str]:
    return failure.error, failure.message


# --- Replay: a connection whose socket holds a recorded answer -------------------------------------------


def _raise_early(take: RequestInFlight) -> None:
    """Raises the recorded error of a connection that could not be established."""
    reply = take.reply
    if reply is None or reply.status or reply.failure is None:
        return
    if reply.failure.error not in ("ConnectError", "ConnectTimeout"):
        return
    try:
        take.begin_reply()
    except BrokenError as broken:
        timed_out = broken.error == "ConnectTimeout"
        raise (TimeoutError(str(broken) or "timed out") if timed_out else os_error(str(broken))) from None


_RESET = "Connection reset by peer"


class PlayedSocket:
    """A socket that ignores writes and returns the recorded answer."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Ignores the data, because the request was looked up before."""

    def settimeout(self, seconds: float | None) -> None:
        """Does nothing, because the cassette has the timeout."""

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
