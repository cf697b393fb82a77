"""The cassettes that are open, and which of them a request belongs to.

A request belongs to the tape of its own context (a task, or a thread with a context). A thread without a
context belongs to the tape of the process if there is only one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

from ..errors import Miss
from .request_in_flight import RequestInFlight

__all__ = ["OpenTape", "all_open", "any_open", "current", "offline", "push", "remove", "when_closed"]


class OpenTape(Protocol):
    """The interface of a cassette in use, for the transports and the network guard."""

    path: Path
    misses: list[Miss]
    accept_encoding: str | None
    allow_hosts: Sequence[str]

    @property
    def offline(self) -> bool:
        """Whether sockets are blocked."""

    def begin(self, http: Any, request: Any, body: bytes) -> RequestInFlight:
        """Looks up a request that is about to be sent. Raises `Miss` if it is not recorded."""

    def routed(self, http: Any, request: Any) -> Any:
        """Returns the request that is really sent."""

    def target(self, url: str) -> str:
        """Returns the URL that a request is sent to."""

    def allows(self, host: str) -> bool:
        """Tells whether a host is reached as if there were no cassette."""

    def plays_port(self, port: int) -> bool:
        """Tells whether the cassette has answers of a server on this port of this machine."""

    def missed(self, text: str, kind: type[Miss] = Miss) -> Miss:
        """Returns a miss to raise, and notes it for the verdict."""


_ACTIVE: ContextVar[OpenTape | None] = ContextVar("ellmer_harness_tape", default=None)
_OPEN: list[OpenTape] = []
_AFTERWARDS: dict[int, list[Callable[[], None]]] = {}


def all_open() -> list[OpenTape]:
    """Returns all cassettes that are open in the process."""
    return [*_OPEN]


def any_open() -> bool:
    """Tells whether a cassette is open anywhere in the process."""
    return bool(_OPEN)


def push(tape: OpenTape) -> OpenTape | None:
    """Makes the tape the current one of this context, and returns the previous one."""
    _OPEN.append(tape)
    before = _ACTIVE.get()
    _ACTIVE.set(tape)
    return before


def remove(tape: OpenTape, before: OpenTape | None) -> None:
    """Removes the tape, and makes the previous one current again."""
    _ACTIVE.set(before)
    _OPEN.remove(tape)
    for close in _AFTERWARDS.pop(id(tape), ()):
        close()


def when_closed(tape: OpenTape, close: Callable[[], None]) -> None:
    """Adds a function to call after the tape was removed."""
    _AFTERWARDS.setdefault(id(tape), []).append(close)


def current() -> OpenTape | None:
    """Returns the tape that this request belongs to."""
    tape = _ACTIVE.get()
    if tape is not None and tape in _OPEN:
        return tape
    if len(_OPEN) > 1:
        miss = Miss(
            "a request came from a thread or task without a cassette of its own, and several cassettes are open: "
            f"{', '.join(str(one.path) for one in _OPEN)}. "
            "Start the thread with contextvars.copy_context().run, or open the cassette inside it."
        )
        for one in _OPEN:
            one.misses.append(miss)
        raise miss
    return _OPEN[0] if _OPEN else None


def offline() -> OpenTape | None:
    """Returns the tape that forbids this context to open sockets."""
    tape = _ACTIVE.get()
    if tape is not None and tape in _OPEN:
        return tape if tape.offline else None
    return _OPEN[0] if _OPEN and all(one.offline for one in _OPEN) else None
