"""Stopping a stream from elsewhere: another thread, another task, a signal handler, the loop over it itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

__all__ = ["Cancelled", "StreamController"]


class Cancelled(Exception):  # not an EllmerError: it never leaves the chat
    """The controller was used; the message is its reason."""


class StreamController:
    """Cancels the streams it was given to: `chat.stream("…", controller=controller)`.

    The stream then ends without an error. What was received stays in the history as an
    `AssistantPartialTurn` with the reason; no tool is started any more, one that is running ends first. A
    blocking `stream()` that has no answer yet, not even its headers, ends when they come.
    """

    def __init__(self) -> None:
        self._reason: str | None = None
        self._event = Event()
        self._lock = Lock()
        self._wakers: list[Callable[[], object]] = []

    @property
    def reason(self) -> str | None:
        """Why it was cancelled; `None` while it was not."""
        return self._reason

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._reason is not None

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancels. The first reason counts; safe from any thread."""
        with self._lock:
            self._reason = self._reason or reason or "cancelled"
            wakers = [*self._wakers]
        self._event.set()
        for wake in wakers:
            wake()

    def reset(self) -> None:
        """Makes it good for another stream."""
        self._reason = None
        self._event.clear()

    def check(self) -> None:
        """Raises `Cancelled` if it was cancelled."""
        if self._reason is not None:
            raise Cancelled(self._reason)

    def wait(self, seconds: float) -> None:
        """Blocks for so long, or until it is cancelled."""
        self._event.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Has `wake()` called on cancelling, while the block waits for something."""
        with self._lock:
            self._wakers.append(wake)
        try:
            if self.cancelled:
                wake()
            yield
        finally:
            with self._lock:
                self._wakers.remove(wake)

    def __repr__(self) -> str:
        state = f"cancelled={self._reason!r}" if self.cancelled else "active"
        return f"<StreamController {state}>"
