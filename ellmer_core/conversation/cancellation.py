"""Stops a stream from elsewhere: another thread, another task, a signal handler, or the loop over the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock

__all__ = ["Cancelled", "StreamController"]


class Cancelled(Exception):  # not an EllmerError: it never leaves the chat
    """The controller was cancelled; the message is the reason."""


class StreamController:
    """Cancels the streams that it is passed to.

    A cancelled stream ends without an error. What was received stays in the history as an `AssistantPartialTurn`
    with the reason. No further tool starts; one that runs is finished first. A blocking `stream()` that has not
    received the headers of an answer yet ends when they arrive.

    Examples:
        >>> controller = StreamController()
        >>> for piece in chat_openai().stream("Hi", controller=controller):
        ...     controller.cancel()
        >>> controller.reason
        'cancelled'
    """

    def __init__(self) -> None:
        self._reason: str | None = None
        self._lock = Lock()
        self._wakers: list[Callable[[], object]] = []

    @property
    def reason(self) -> str | None:
        """The reason of the cancellation, or `None`."""
        return self._reason

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._reason is not None

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancels the streams. It can be called from any thread.

        Args:
            reason: Why; the first reason counts. Default: `"cancelled"`.
        """
        with self._lock:
            self._reason = self._reason or reason or "cancelled"
            wakers = [*self._wakers]
        for wake in wakers:
            wake()

    def reset(self) -> None:
        """Resets the controller for another stream."""
        self._reason = None

    def check(self) -> None:
        """Raises `Cancelled` if it was cancelled."""
        if self._reason is not None:
            raise Cancelled(self._reason)

    def wait(self, seconds: float) -> None:
        """Blocks until the time has passed or the controller is cancelled.

        Args:
            seconds: The longest time to block.
        """
        event = Event()
        with self.waking(event.set):
            event.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Calls a function when the controller is cancelled while the block runs.

        Args:
            wake: The function, without arguments.
        """
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
