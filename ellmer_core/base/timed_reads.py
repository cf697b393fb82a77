"""Reads from connections that end when an answer must be complete.

httpcore reads a head without an end, byte by byte, for as long as each byte comes in time. So each connection's `read()` asks whether the
time of the thread's answer is over. Connections of the library's own clients do so from the beginning; for others, the extension `TRACE`
of a request tells of each new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import local
from typing import Any, Protocol

__all__ = ["TRACE", "Deadline", "Late", "ended_by", "read_in_time", "thread"]

_OPENED = ("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")


class Monitor(Protocol):
    """Monitors one answer."""

    ends: float | None  # when it must be complete, by time.monotonic()

    def check(self) -> None:
        """Raises an error if the answer took longer than allowed."""


class _Thread(local):
    monitor: Monitor | None = None  # of the answer that this thread reads


thread = _Thread()


class Late(Exception):
    """An answer was not complete in time."""


@dataclass
class Deadline:
    """The time when an answer must be complete."""

    ends: float | None

    def check(self) -> None:
        """Raises `Late` if it is over."""
        if self.ends is not None and time.monotonic() >= self.ends:
            raise Late


@contextmanager
def ended_by(monitor: Monitor) -> Iterator[None]:
    """Reads the answers of this thread with a monitor, as long as the block runs."""
    before, thread.monitor = thread.monitor, monitor
    try:
        yield
    finally:
        thread.monitor = before


def read_in_time(read: Callable[..., bytes], max_bytes: int, timeout: float | None = None) -> bytes:
    """Reads from a connection as `read` does, but no longer than the thread's answer may take."""
    monitor = thread.monitor
    if monitor is not None and monitor.ends is not None:
        monitor.check()
        left = max(monitor.ends - time.monotonic(), 0.0)
        timeout = left if timeout is None else min(timeout, left)
    return read(max_bytes, timeout)


def _traced(event: str, details: dict[str, Any]) -> None:
    if event.endswith(_OPENED):
        stream = details["return_value"]
        with suppress(AttributeError):  # a network of the caller's own, which has slots
            stream.read = partial(read_in_time, stream.read)


#: The extension of a request that lets its connections be timed.
TRACE = {"trace": _traced}
