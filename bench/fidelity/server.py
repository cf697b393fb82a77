"""A server on 127.0.0.1 that sends what an exchange says, and counts what it is asked."""

from __future__ import annotations

import socket
import ssl
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Self

from clients import WAIT
from exchanges import CLOSE, PAUSE, RESET, Exchange

__all__ = ["Server"]


@dataclass
class Run:
    """An exchange, and how often it was asked for. A connection of an earlier run changes nothing in it."""

    exchange: Exchange | None
    asked: int = 0


class Server:
    """It sends an answer for each request, in their order; nearly all exchanges have a connection for each."""

    def __init__(self) -> None:
        import trustme  # noqa: PLC0415  # `run.py` reads the exchanges without any of the packages

        self.run = Run(None)
        self._socket = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self._closed = socket.socket()  # bound, so that nobody else gets the port
        self._closed.bind(("127.0.0.1", 0))
        self._full, self._waiting = socket.socket(), [socket.socket() for _ in range(3)]
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(self._context)

    def __enter__(self) -> Self:
        self._full.bind(("127.0.0.1", 0))
        self._full.listen(0)
        for each in self._waiting:
            each.setblocking(False)
            each.connect_ex(self._full.getsockname())
        Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._socket, self._closed, self._full, *self._waiting):
            each.close()

    @property
    def proxy(self) -> dict[str, str]:
        """The environment that makes clients ask this server as a proxy."""
        exchange = self.run.exchange
        if exchange is None or not exchange.proxy:
            return {}
        port = (self._socket if exchange.proxy == "on" else self._closed).getsockname()[1]
        return {"http_proxy": f"http://127.0.0.1:{port}", "no_proxy": ""}

    def serve(self, exchange: Exchange) -> str:
        """Begins an exchange anew; gives the address to ask."""
        self.run = Run(exchange)
        if exchange.proxy:
            return "http://api.example.com/here"
        asked = {"closed": self._closed, "full": self._full}.get(exchange.port, self._socket)
        return f"{exchange.scheme}://{exchange.host}:{asked.getsockname()[1]}/here"

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                Thread(target=self._answer, args=(connection, self.run), daemon=True).start()

    def _answer(self, connection: socket.socket, run: Run) -> None:
        exchange = run.exchange
        with connection, suppress(OSError):
            if exchange is None:
                return
            if exchange.scheme == "https" and exchange.port != "plain":
                connection = self._context.wrap_socket(connection, server_side=True)
            while connection.recv(65536) if exchange.port == "plain" else _read(connection):
                run.asked += 1
                answer = exchange.answers[min(run.asked, len(exchange.answers)) - 1]
                if not _send(connection, answer):
                    return
                if not exchange.keeps or CLOSE in answer:
                    break
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def _send(connection: socket.socket, answer: tuple[bytes | str, ...]) -> bool:
    """Sends an answer. Tells whether the connection is still there."""
    for part in answer:
        if part == PAUSE:
            time.sleep(WAIT * 1.5)
        elif part == RESET:
            time.sleep(0.05)  # what was sent before must arrive
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        elif part != CLOSE and isinstance(part, bytes):
            connection.sendall(part)
            time.sleep(min(0.002, WAIT / 4 / len(answer)))  # tornado's limit is for the whole answer
    return True


def _read(connection: socket.socket) -> bool:
    """Reads a request, its body by its length; false if none came."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            return False
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lower = head.lower()
    lengths = [
        line.partition(b":")[2] for line in lower.split(b"\r\n") if line.startswith(b"content-length:")
    ]
    if b"expect: 100-continue" in lower and not body:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    left = int(lengths[0]) - len(body) if lengths else 0
    while left > 0 and (more := connection.recv(65536)):
        left -= len(more)
    while b"transfer-encoding: chunked" in lower and not body.endswith(b"0\r\n\r\n"):
        if not (more := connection.recv(65536)):
            return False
        body = body[-8:] + more
    return True
