"""The base class of all decoders of streamed answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Decoder", "no_constant"]


def no_constant(_: str) -> None:
    """What servers in Python write as NaN or Infinity is null in JSON: it must not come back in a request."""


class Decoder(ABC):
    """Cuts one answer into events; owned by one request, not shared."""

    @abstractmethod
    def feed(self, chunk: bytes) -> list[Any]:
        """Returns the events that `chunk` completes. Raises `ResponseError` for an event that is not JSON."""

    @abstractmethod
    def flush(self) -> list[Any]:
        """Returns what is left at the end of the answer. Half an event is no event."""
