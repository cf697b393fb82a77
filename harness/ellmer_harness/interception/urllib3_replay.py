"""A connection of urllib3 whose socket holds a recorded answer.

`http.client` and urllib3 parse the bytes as they parse those of a server, so that responses and exceptions are theirs.
"""

from __future__ import annotations

import io
import time
from typing import Any

from urllib3 import exceptions

from .http1 import BrokenError, sent_back
from .request_in_flight import RequestInFlight

__all__ = ["played"]

_RESET = "Connection reset by peer"


def played(  # noqa: PLR0917  # as urllib3 has them
    real: Any, pool: Any, connection: Any, method: str, url: str, options: Any, take: RequestInFlight
) -> Any:
    """Returns the recorded answer as urllib3's response."""
    connection.sock = _Played(take)
    connection.is_verified = True
    try:
        return real(pool, connection, method, url, **options)
    except BrokenError as broken:
        raise _as_urllib3(broken, connection) from None
    finally:
        connection.sock = None  # the answer has a hold on what it needs of it; the next one begins anew


class _Played:
    """A socket that takes anything, and gives what was recorded."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Nobody reads it: the request was looked up already."""

    def settimeout(self, seconds: float | None) -> None:
        """The tape knows it."""

    def shutdown(self, how: int) -> None:
        """There is nobody at the other end."""

    def close(self) -> None:
        """Likewise."""

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        """Returns the answer."""
        return io.BufferedReader(_Answer(self._take))


class _Answer(io.RawIOBase):
    """The bytes of an answer; what was recorded as a failure is one of the socket."""

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
    """0 for an end that came too early; else the socket's exception."""
    match broken.error:
        case "ReadTimeout":
            raise TimeoutError("timed out")
        case "RemoteProtocolError":
            return 0
        case "ReadError":
            raise ConnectionResetError(104, _RESET)
        case _:
            raise broken


def _as_urllib3(broken: BrokenError, connection: Any) -> Exception:
    match broken.error:
        case "ConnectTimeout":
            return exceptions.ConnectTimeoutError(connection, f"Connection to {connection.host} timed out.")
        case "ConnectError":
            return exceptions.NewConnectionError(
                connection, f"Failed to establish a new connection: {broken}"
            )
        case _:
            return exceptions.ProtocolError("Connection aborted.", ConnectionResetError(104, str(broken)))
