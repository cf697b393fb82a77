"""Mode `verify`: while a cassette replays, every request is also sent to the real server, and the answers are
compared.

The program gets the recorded answers. Separate threads send copies of the program's requests.
"""

from __future__ import annotations

import http.client
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from ..errors import Drift
from ..exchange.reply import Piece, Reply
from ..interception import network_guard
from .response_structure_drift import drift

__all__ = ["LiveCheck"]

_SECONDS = 300
_OURS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


class LiveCheck:
    """Compares recorded answers with live ones. `target` gives the real address of a request; `told` is its
    name in messages.
    """

    def __init__(self, target: Callable[[str], str]) -> None:
        self._target = target
        self._pool = ThreadPoolExecutor(4, "ellmer-harness-verify")
        self._asked: list[tuple[str, Reply, Future[Reply]]] = []

    def ask(self, told: str, request: Any, body: bytes, recorded: Reply) -> None:
        """Sends a copy of the request. Conversations of WebSockets and gRPC have no copy."""
        if recorded.status == 101 or str(request.url).startswith("grpc://"):
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
        url = self._target(str(request.url))
        self._asked.append((told, recorded, self._pool.submit(_answer, request.method, url, headers, body)))

    def close(self, name: str) -> None:
        """Waits for the answers. Raises `Drift` if an answer has another structure than the recorded one."""
        self._pool.shutdown()
        found = [
            f"{told}\n    {line}"
            for told, recorded, live in self._asked
            for line in _compared(recorded, live)
        ]
        if found:
            raise Drift(
                f"the live answers have another structure than those in cassette {name}:\n  "
                + "\n  ".join(found[:20])
                + "\nRecord it again (--cassette-mode=rewrite), and check how the program handles the new answers."
            )


def _compared(recorded: Reply, live: Future[Reply]) -> list[str]:
    if error := live.exception():
        return [] if recorded.failure else [f"no answer: {type(error).__name__}: {error}"]
    return [*drift(recorded, live.result())]


def _answer(method: str, url: str, headers: list[tuple[str, str]], body: bytes) -> Reply:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    with network_guard.aside():
        connection = kind(parts.hostname or "", parts.port, timeout=_SECONDS)
        try:
            connection.putrequest(
                method,
                (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
                skip_accept_encoding=True,
            )
            for name, value in headers:
                if name.lower() not in _OURS:
                    connection.putheader(name, value)
            connection.putheader("accept-encoding", "identity")
            if body or method in ("POST", "PUT", "PATCH"):
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            fields = [(name.lower(), value) for name, value in response.getheaders()]
            return Reply(response.status, response.reason, fields, [Piece(response.read())])
        finally:
            connection.close()
