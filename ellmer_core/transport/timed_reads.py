"""Ends the reads of a blocking client when an answer must be complete. httpcore reads a head without an end, byte by byte, for as long
as each byte comes in time.

httpx tells a `trace` of each new connection. Its `read()` then asks whether the time of the thread's answer is over. So it does not
matter whose client it is, and whether the connection is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import local
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .http_exchange import ConnectionMonitor

_OPENED = ("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")


class _Thread(local):
    monitor: ConnectionMonitor | None = None  # of the answer that this thread reads


_thread = _Thread()


@contextmanager
def reading_in_time(monitor: ConnectionMonitor) -> Iterator[None]:
    """Ends the reads of this thread when the monitored answer must be complete."""
    before, _thread.monitor = _thread.monitor, monitor
    try:
        yield
    finally:
        _thread.monitor = before


def _traced(event: str, details: dict[str, Any]) -> None:
    if event.endswith(_OPENED):
        stream = details["return_value"]
        with suppress(AttributeError):  # a network of the caller's own, which has slots
            stream.read = _timed(stream.read)


def _timed(read: Callable[..., bytes]) -> Callable[..., bytes]:
    def timed(max_bytes: int, timeout: float | None = None) -> bytes:
        monitor = _thread.monitor
        if monitor is not None and monitor.left is not None:
            monitor.check()
            timeout = monitor.left if timeout is None else min(timeout, monitor.left)
        return read(max_bytes, timeout)

    return timed


#: The extension of a request that lets its connections be timed.
TRACE = {"trace": _traced}
