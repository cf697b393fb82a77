"""Limits the time for one file, because even a small file can cause unlimited work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["MAX_SECONDS", "TooSlow", "time_limit"]

MAX_SECONDS = 120.0  # of the clock, for one file; a recording of 100 MB takes some ten


class TooSlow(BaseException):
    """A file takes too long. The class is not an `Exception`, because readers that try several formats catch those."""


@contextmanager
def time_limit(seconds: float | None = None) -> Iterator[None]:
    """Raises `TooSlow` inside the block after a number of seconds (default: `MAX_SECONDS`).

    It uses a signal, which only the main thread of a process gets. On Windows and in threads of Dask, there is no
    limit.
    """
    limit = MAX_SECONDS if seconds is None else seconds
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_too_slow(*_: Any) -> None:
        raise TooSlow(f"it took longer than {limit:g} seconds (MAX_SECONDS)")

    before = signal.signal(signal.SIGALRM, raise_too_slow)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
