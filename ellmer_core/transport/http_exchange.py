"""What the blocking and the async line share: a request for the client, the head of its answer, the open socket.

Over httpx, or anything with its `build_request()` and `send()` (httpx2).
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from logging import DEBUG
from socket import SHUT_RDWR, socket
from typing import Any, Protocol

from ..conversation.cancellation import StreamController
from ..conversation.effects import Answer, Send, Wait
from ..log import logger, place
from ..wire.framing.decoders import decoder
from .clients import Connection, Timeouts, user_agent
from .connection_errors import Watch

__all__ = ["LINGER", "Carrier", "hang_up", "some_time"]

LINGER = 0.2  # seconds to wait for the end of a finished stream, so that its connection can be used again


class Socket(Protocol):
    """A socket, or asyncio's view of one."""

    def shutdown(self, how: int, /) -> None:
        """Ends the connection."""


class Carrier:
    """What both lines are made of: everything that does not wait."""

    def __init__(self, connection: Connection, controller: StreamController) -> None:
        self.connection = connection
        self.controller = controller
        self.response: Any = None
        self.socket: Socket | None = None
        self.chunks: Any = None
        self.decoder: Any = None
        self.sent_at = 0.0
        self.watch = Watch(controller)

    def built(self, client: Any, sent: Send) -> Any:
        """The client's own request object."""
        headers = {"accept": "*/*", "content-type": "application/json", "user-agent": user_agent()}
        headers |= {name.lower(): value for name, value in sent.request.headers.items()}
        if sent.request.sign is not None:
            headers |= sent.request.sign(sent.body, time.time())
        self.sent_at = time.monotonic()
        if logger.isEnabledFor(DEBUG):
            where = place(sent.request.url)
            logger.debug("%s %s, %d bytes", sent.request.method, where, len(sent.body))
        limits = self.connection.timeouts
        self.watch.begin(sent.request.url, limits)
        extensions = {"timeout": _httpx_timeouts(limits)} if limits else {}
        url = self.connection.url(sent.request.url)
        return client.build_request(
            sent.request.method, url, headers=headers, content=sent.body, extensions=extensions
        )

    def opened(self, response: Any, sent: Send) -> Answer:
        """The head of the answer; its body is open."""
        self.response, self.socket = response, _socket(response)
        logger.debug("answered %d after %.3f s", response.status_code, time.monotonic() - self.sent_at)
        self.decoder = decoder(sent.request.framing)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Answer(response.status_code, headers, time.time())

    def flushed(self) -> list[Any] | None:
        """The last events after the last chunk, then `None`."""
        last, self.decoder = self.decoder, None
        return last.flush() if last else None


def _socket(response: Any) -> Socket | None:
    """The socket under an answer, if it is one that can be shut down from outside."""
    stream = response.extensions.get("network_stream")
    found = stream.get_extra_info("socket") if stream is not None else None
    return found if hasattr(found, "shutdown") else None


def hang_up(connection: Socket | None) -> None:
    """Ends a connection: whoever is reading from it, in whatever thread, sees its end."""
    with suppress(OSError):
        match connection:
            case socket():  # not SSLSocket's own method: it would pull the TLS layer from under the reader
                socket.shutdown(connection, SHUT_RDWR)
            case _ if connection is not None:
                connection.shutdown(SHUT_RDWR)


def some_time(wait: Wait) -> float:
    """Some time that the loop may wait, by chance: chats that failed together must not come back together."""
    return random.uniform(wait.at_least, wait.at_most)  # noqa: S311 - no secret


def _httpx_timeouts(limits: Timeouts) -> dict[str, float | None]:
    connect, idle = _least(limits.connect, limits.total), _least(limits.idle, limits.total)
    return {"connect": connect, "read": idle, "write": idle, "pool": None}


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
