"""Lets one conversation at a time use a chat. Others fail, or wait in the order in which they came (`when_busy="wait"`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Literal

from ..errors import UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future

WhenBusy = Literal["raise", "wait"]

BUSY = (
    "This chat is in the middle of an answer. Wait until it finishes, close() the stream, use a fork() for two requests at "
    'once, or set when_busy="wait".'
)
INSIDE = "This chat is in the middle of an answer that waits for this call, so this call cannot wait for it. Use a fork()."

_numbers = count()
_inside: ContextVar[frozenset[int]] = ContextVar("ellmer_core_inside", default=frozenset())


def when_busy(value: object) -> WhenBusy:
    """Returns the setting, or raises `UsageError`."""
    if value not in ("raise", "wait"):
        raise UsageError(f'when_busy= must be "raise" or "wait", not {value!r}.')
    return value


class OneAtATime:
    """The conversation that has reserved a chat, and those that wait for it. Threads and event loops may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holder: object = None
        self._number = -1  # of the holder, by which a call knows that it is part of that conversation
        self._queue: deque[tuple[object, int, Future[None]]] = deque()

    @contextmanager
    def idle(self, what: str) -> Iterator[None]:
        """Allows a change of the history, while no conversation has reserved the chat."""
        with self._lock:
            if self._holder is not None:
                raise UsageError(f"{what} cannot be used while the chat is answering.")
            yield

    def take(self, talk: object, mode: WhenBusy) -> Future[None] | None:
        """Reserves the chat. Returns `None`, or what is done when it is this conversation's turn. Each call of it needs a
        `leave()`, unless it raises.
        """
        with self._lock:
            if self._holder is not None and self._number in _inside.get():
                raise UsageError(INSIDE if mode == "wait" else BUSY)
            if self._holder is not None and mode != "wait":
                raise UsageError(BUSY)
            number, ahead = next(_numbers), None
            if self._holder is None:
                self._holder, self._number = talk, number
            else:
                self._queue.append((talk, number, ahead := _future()))
            _inside.set(_inside.get() | {number})
            return ahead

    def leave(self, talk: object) -> None:
        """Ends a conversation, or its waiting. The next one has its turn."""
        with self._lock:
            self._queue = deque(each for each in self._queue if each[0] is not talk)
            if self._holder is not talk:
                return
            _inside.set(_inside.get() - {self._number})
            self._holder = None
            while self._queue and self._holder is None:
                following, number, ahead = self._queue.popleft()
                if ahead.set_running_or_notify_cancel():
                    self._holder, self._number = following, number
                    ahead.set_result(None)


def _future() -> Future[None]:
    from concurrent.futures import Future  # noqa: PLC0415 - few chats wait

    return Future()
