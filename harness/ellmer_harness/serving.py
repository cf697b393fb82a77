"""Replays a cassette on a port of this machine, for programs in other languages or other processes.

```python
with serving("tests/cassettes/chat.json") as server:
    subprocess.run(["node", "chat.js"], env={"OPENAI_BASE_URL": f"{server.url}/v1"})
server.missed  # what it asked for in vain
```
"""

from __future__ import annotations

import io
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ellmer_core.base.budget import SERVER

from .cassette.cassette import Cassette
from .errors import CassetteError, Miss
from .exchange.reply import Piece
from .interception.http1 import BrokenError, Outgoing, Wire, sent_back

__all__ = ["CassetteServer", "serving"]


_HOP = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}
_LINE, _TRAILERS = 65_536, 100  # bytes of a line of a chunked body, and lines after it
_LONGEST = 60  # seconds that a recorded timeout lasts, if the client waits for it
_WIRE = Wire("serve")


class CassetteServer(ThreadingHTTPServer):
    """A server that replays a cassette; `serving()` makes one. `url` is its address. `missed` lists the requests that are not in
    the cassette.

    Args:
        cassette: The cassette to replay.
        host: The address to listen on.
        port: The port; 0 chooses a free one.

    Examples:
        >>> from ellmer_harness.serving import serving
        >>> with serving("weather.json") as server:
        ...     answer = httpx.get(f"{server.url}/forecast", timeout=60)
        >>> answer.status_code, len(server.missed)
        (404, 1)
    """

    daemon_threads = True
    request_queue_size = 128  # clients that connect at once; with the usual five, the others wait for seconds

    def __init__(self, cassette: Cassette, host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.cassette, self.missed, self.lock = cassette, list[str](), threading.Lock()
        self.origins: list[str] = []

    def server_bind(self) -> None:
        """Binds the socket without looking up the name of this machine."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a client that left before the end of its answer.

        Args:
            request: The client's socket.
            client_address: The client's host and port.
        """
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the server, for example `http://127.0.0.1:8123`."""
        host = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"http://{host}:{self.server_port}"

    def is_called(self, address: str) -> bool:
        """Tells whether a client addresses this server, and not a name that a web page pointed here (DNS rebinding).

        Args:
            address: The header `Host` of a request.

        Examples:
            >>> from ellmer_harness.serving import serving
            >>> with serving("weather.json") as server:
            ...     server.is_called("attacker.example")
            False
        """
        try:
            host = urlsplit(f"//{address}").hostname or ""
            own = {self.server_name, *(urlsplit(origin).hostname for origin in self.origins)}
            return host in own or "." not in host or host.endswith(".localhost") or bool(ip_address(host))
        except ValueError:
            return False

    def opened(self) -> None:
        """Reads which hosts the cassette has answers for. Raises `CassetteError` if there is no cassette."""
        index = self.cassette.index
        if index is None or self.cassette.absent:
            raise CassetteError(
                f"there is no cassette {self.cassette.name}. Check the path, or record it first"
            )
        found = (urlsplit(request.uri) for request, _ in index.data)
        self.origins = list(dict.fromkeys(f"{url.scheme}://{url.netloc}" for url in found))


@contextmanager
def serving(
    path: Path | str, *, host: str = "127.0.0.1", port: int = 0, **options: Any
) -> Iterator[CassetteServer]:
    """Starts a server that replays a cassette, for a subprocess or a program in another language.

    Args:
        path: The cassette's file.
        host: The address to listen on. Default: only this machine.
        port: The port. Default: 0, which chooses a free one.
        options: Options of `use_cassette`. Recordings may be replayed any number of times and stay unused.

    Returns:
        A context manager that gives the `CassetteServer`.

    Raises:
        CassetteError: If there is no such cassette.

    Examples:
        >>> from ellmer_harness.serving import serving
        >>> with serving("weather.json") as server:
        ...     httpx.get(f"{server.url}/weather", timeout=60).json()
        {'temperature': 21}
    """
    defaults = {"on_repeat": "cycle", "allow_unused": True, "allow_idle": True, "allow_hosts": (host,)}
    cassette = Cassette(path, **{**defaults, **options, "mode": "replay"})  # type: ignore[arg-type]  # options of any type
    with CassetteServer(cassette, host, port) as server, cassette:
        server.opened()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            cassette.misses.clear()  # they are answers here, and in `missed`


class _TimedSocket(socket.SocketIO):
    """A socket from which a request is read. Its time begins with its first bytes."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        super().__init__(connection, "r")
        self._connection, self._seconds = connection, seconds
        self.ends = 0.0  # when the request must be complete, by time.monotonic(); 0 before its first bytes

    def readinto(self, b: Any) -> int | None:
        """Reads as many bytes as there are. Raises `TimeoutError` if the request takes too long."""
        left = self.ends - time.monotonic() if self.ends else self._seconds
        if left <= 0:
            raise TimeoutError("the request took too long")
        self._connection.settimeout(left)
        size = super().readinto(b)
        self._connection.settimeout(self._seconds)
        self.ends = self.ends or time.monotonic() + self._seconds
        return size


class _Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    protocol_version = "HTTP/1.1"
    timeout = SERVER.seconds  # that a client may say nothing, or that a request may take
    server: CassetteServer  # pyright: ignore[reportIncompatibleVariableOverride]  # no other server makes one

    def setup(self) -> None:
        """Lets the whole request come in time, not only each of its bytes."""
        super().setup()
        self.rfile.close()
        self._timed = _TimedSocket(self.connection, self.timeout or SERVER.seconds)
        self.rfile = io.BufferedReader(self._timed)

    def handle_one_request(self) -> None:
        """Handles the next request of the connection."""
        self._timed.ends = 0.0
        super().handle_one_request()

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing; `missed` lists the requests without an answer."""

    def do_any(self) -> None:
        """Handles a request of any method."""
        if not self.server.is_called(self.headers.get("Host", "")):
            self._refuse(403, "This server is opened by an address, or by a host of its cassette.")
            return
        try:
            body = self._body()
        except (ValueError, OverflowError):
            self.close_connection = True
            self._refuse(400, f"The body has no valid length, or more than {SERVER.received:,} bytes.")
            return
        try:
            with self.server.lock:
                take = self.server.cassette.begin(_WIRE, self._request(body), body)
        except Miss as miss:
            self._missed(str(miss))
            return
        try:
            for piece in sent_back(take):
                self._send(piece)
        except BrokenError as broken:
            self._break(broken.error)
        except Miss as miss:  # the recording ends where its client stopped
            self.server.missed.append(str(miss))
            self.close_connection = True
        self.close_connection |= "content-length: " not in _head(take)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_any  # noqa: N815  # the base's names

    def _request(self, body: bytes) -> Outgoing:
        """Returns the request as it was recorded, for the first host that has an answer for it."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        candidates = [self.path] if "://" in self.path.partition("?")[0] else self._at_origins()
        asked = [Outgoing.of(self.command, url, headers) for url in candidates]
        return next((request for request in asked if self.server.cassette.holds(request, body)), asked[0])

    def _at_origins(self) -> list[str]:
        return [origin + self.path for origin in self.server.origins] or [self.server.url + self.path]

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(self._taken(int(self.headers.get("Content-Length") or 0)))
        body = bytearray()
        while size := int(self.rfile.readline(_LINE).partition(b";")[0], 16):
            body += self.rfile.read(self._taken(size, len(body)))
            self.rfile.readline(_LINE)
        for _ in range(_TRAILERS):
            if not self.rfile.readline(_LINE).strip():
                return bytes(body)
        raise ValueError("the trailers do not end")

    def _taken(self, size: int, before: int = 0) -> int:
        """Returns how many bytes to read. Raises an error if they are too many."""
        if size < 0 or before + size > SERVER.received:
            raise ValueError("the body is too large")
        return size

    def _send(self, piece: Piece) -> None:
        if piece.wait and self.server.cassette.clock.real:
            threading.Event().wait(piece.wait)
        data = piece.data
        for origin in self.server.origins if data.startswith(b"HTTP/1.1 3") else ():
            data = data.replace(f"location: {origin}".encode(), f"location: {self.server.url}".encode())
        self.wfile.write(data)
        self.wfile.flush()

    def _break(self, error: str) -> None:
        """Ends the connection as the recorded one ended."""
        self.close_connection = True
        if error == "ReadTimeout":
            self.connection.settimeout(_LONGEST)
            with suppress(OSError):
                self.connection.recv(1)
        if error != "RemoteProtocolError":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _missed(self, text: str) -> None:
        self.server.missed.append(text)
        self._refuse(404, text)

    def _refuse(self, status: int, text: str) -> None:
        data = f"{text}\n".encode()
        self.send_response(status, "Not in the cassette" if status == 404 else None)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _head(take: Any) -> str:
    """Returns the headers of the answer, as text."""
    if take.request.method == "HEAD" or take.exchange.status in (204, 304):
        return "content-length: 0"
    names = {name for name, _ in take.exchange.headers}
    return "content-length: " if names & {"content-length", "transfer-encoding"} else ""
