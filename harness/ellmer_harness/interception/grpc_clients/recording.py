"""Records one gRPC call. The client makes the call itself, and its messages are noted as they pass.

The body of the answer has one line for each message and one for the end: `{"received": …}`, `{"sent": …}` and
`{"half_closed": true}` (of calls whose requests are a stream), `{"status": "OK"}` with `details`, `metadata` and
`trailing_metadata`. There is no status if the client stopped before it came.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..request_in_flight import RequestInFlight
from .messages import as_written, compact, form, pairs

__all__ = ["Noted", "Status"]

_MOMENT = 2  # seconds
_BY_THE_CLIENT = (
    "Locally cancelled by application!",
    "Channel closed!",
    "Cancelled upon garbage collection!",
)


@dataclass(frozen=True)
class Status:
    """How a call ended."""

    code: str
    details: str
    metadata: Any
    trailing_metadata: Any


@dataclass
class Noted:
    """Records one call. `streams` says whether its requests are a stream; a single request is the body."""

    tape: Any
    take: RequestInFlight
    streams: bool
    _lock: Any = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.take.answered(200, "OK", [("content-type", "application/x-ndjson")], "HTTP/2")

    def serializer(self, real: Callable[[Any], bytes] | None) -> Callable[[Any], bytes]:
        """Returns the serializer that replaces the real one."""

        def serialize(value: Any) -> bytes:
            data = as_written(value, real)
            if self.streams:
                self._note({"sent": form(data)})
            return data

        return serialize

    def deserializer(self, real: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
        """Returns the deserializer that replaces the real one."""

        def deserialize(data: bytes) -> Any:
            self._note({"received": form(data)})
            return data if real is None else real(data)

        return deserialize

    def watched(self, requests: Iterator[Any]) -> Iterator[Any]:
        """Yields the client's requests and notes their end."""
        yield from requests
        self.half_closed()

    def half_closed(self) -> None:
        """Notes that the client will send no more messages."""
        self._note({"half_closed": True})

    def ended(self, status: Status) -> None:
        """Notes the end of the call, once."""
        self._over.set()
        if status.code == "CANCELLED" and status.details in _BY_THE_CLIENT:
            self.take.closed()
        elif not self.take.exchange.ended:
            self._note(self._line(status))
            self.take.eof()

    def wait(self) -> None:
        """Waits for a call whose end is about to be reported by a thread of gRPC."""
        self._over.wait(_MOMENT)

    def _line(self, status: Status) -> dict[str, Any]:
        line: dict[str, Any] = {"status": status.code}
        line |= {"details": status.details} if status.details else {}
        for name in ("metadata", "trailing_metadata"):
            saved: dict[str, list[str]] = {}
            for key, value in self.tape.scrub.metadata(pairs(getattr(status, name))):
                saved.setdefault(key, []).append(value)
            line |= {name: saved} if saved else {}
        return line

    def _note(self, line: dict[str, Any]) -> None:
        with self._lock:
            if not self.take.exchange.ended:
                self.take.chunk(compact(line) + b"\n")
