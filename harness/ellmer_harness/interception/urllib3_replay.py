"""A connection of urllib3 whose socket holds a recorded answer.

`http.client` and urllib3 parse the bytes like those of a server. Responses and exceptions are therefore
theirs.
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
    """A socket that ignores writes and returns the recorded answer."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Ignores the data, because the request was looked up before."""

    def settimeout(self, seconds: float | None) -> None:
        """Does nothing, because the tape knows the timeout."""

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
