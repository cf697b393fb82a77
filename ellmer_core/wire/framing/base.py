"""The base class of all decoders of streamed answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ...errors import ResponseError

__all__ = ["Decoder", "no_constant"]


def no_constant(_: str) -> None:
    """Returns `None` for NaN or Infinity, which servers in Python write and which must not be sent back."""


class Decoder(ABC):
    """Splits one answer into events. Each request has its own decoder. The events do not depend on where chunks end:
    those before an unreadable one are returned, and the next call raises its error, which is in `failure` at once.
    """

    failure: ResponseError | None = None

    def feed(self, chunk: bytes) -> list[Any]:
        """Returns the events that `chunk` completes. Raises `ResponseError` if an event cannot be read."""
        if self.failure is not None:
            raise self.failure
        events: list[Any] = []
        try:
            self.decode(chunk, events)
        except ResponseError as error:
            self.failure = error
            if not events:
                raise
        return events

    @abstractmethod
    def decode(self, chunk: bytes, events: list[Any]) -> None:
        """Appends the events that `chunk` completes."""

    @abstractmethod
    def flush(self) -> list[Any]:
        """Returns the rest at the end of the answer. An incomplete event is dropped."""
