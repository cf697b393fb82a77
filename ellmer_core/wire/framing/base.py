"""The base class of all decoders of streamed answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Decoder", "no_constant"]


def no_constant(_: str) -> None:
    """Returns `None` for NaN or Infinity, which servers in Python write and which must not be sent back."""


class Decoder(ABC):
    """Splits one answer into events. Each request has its own decoder."""

    @abstractmethod
    def feed(self, chunk: bytes) -> list[Any]:
        """Returns the events that `chunk` completes. Raises `ResponseError` for an event that is not JSON."""

    @abstractmethod
    def flush(self) -> list[Any]:
        """Returns the rest at the end of the answer. An incomplete event is dropped."""
