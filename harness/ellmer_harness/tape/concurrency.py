"""Detects whether the requests of a tape are sent in sequence or concurrently."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Concurrency"]


@dataclass
class Concurrency:
    """Whether requests are concurrent. `concurrent` is True once two threads have sent requests, or two tasks
    that were alive at the same time.

    It depends on the program, not on timing: threads count even if they do not overlap. The objects
    themselves are kept, because their ids are reused.
    """

    concurrent: bool = False
    _threads: set[threading.Thread] = field(default_factory=set)
    _tasks: list[Any] = field(default_factory=list)

    def note(self) -> None:
        """Notes that the current thread or task sends a request."""
        self._threads.add(threading.current_thread())
        task = _current_task()
        if task is not None and task not in self._tasks:
            self.concurrent |= any(not other.done() for other in self._tasks)
            self._tasks.append(task)
        self.concurrent |= len(self._threads) > 1


def _current_task() -> Any:
    asyncio = sys.modules.get("asyncio")  # a program without it has no tasks; no reason to import it
    with suppress(RuntimeError):
        return asyncio.current_task() if asyncio else None
    return None
