"""A server on 127.0.0.1 that sends what an exchange says, and counts what it is asked."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from threading import Thread
from typing import Self

from clients import WAIT
from exchanges import CLOSE, PAUSE, RESET, Exchange

__all__ = ["Server"]


class Server:
    """One connection after another, one answer a connection."""

    def __init__(self) -> None:
        self.exchange: Exchange | None = None
        self.asked = 0
        self._socket = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)

    def __enter__(self) -> Self:
        Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def serve(self, exchange: Exchange) -> str:
        """Begins an exchange anew; gives the address to ask."""
        self.exchange, self.asked = exchange, 0
        return f"http://{exchange.host}:{self._socket.getsockname()[1]}/here{exchange.path}"

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if not _read(connection) or self.exchange is None:
                return
            answers = self.exchange.answers
            self.asked += 1
            answer = answers[min(self.asked, len(answers)) - 1]
            for part in answer:
                if part == PAUSE:
                    time.sleep(WAIT * 1.5)
                elif part == RESET:
                    time.sleep(0.05)  # what was sent before must arrive
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                elif part != CLOSE and isinstance(part, bytes):
                    connection.sendall(part)
                    time.sleep(min(0.002, WAIT / 4 / len(answer)))  # tornado's limit is for the whole answer
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def _read(connection: socket.socket) -> bool:
    """Reads a request, its body by its length; false if none came."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            return False
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
    ]
    left = int(lengths[0]) - len(body) if lengths else 0
    while left > 0 and (more := connection.recv(65536)):
        left -= len(more)
    while b"transfer-encoding: chunked" in head.lower() and not body.endswith(b"0\r\n\r\n"):
        body += connection.recv(65536)
    return True
