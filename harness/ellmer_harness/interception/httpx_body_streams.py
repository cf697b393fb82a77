"""Response bodies that report their chunks to a `RequestInFlight`. One pair of classes records, and one
plays.

Chunks are passed on at once and with their sizes; nothing is read ahead.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

from .request_in_flight import RequestInFlight

__all__ = ["Streams", "streams"]


class Streams:
    """The stream classes for one module, httpx or httpx2 (each checks for its own base classes)."""

    def __init__(self, http: Any) -> None:
        self.recording: Any = type("Recording", (_Recording, http.SyncByteStream), {})
        self.recording_async: Any = type("RecordingAsync", (_RecordingAsync, http.AsyncByteStream), {})
        self.playing: Any = type("Playing", (_Playing, http.SyncByteStream, http.AsyncByteStream), {})


@cache
def streams(http: Any) -> Streams:
    """Returns the classes, which are made once for each module."""
    return Streams(http)


class _Recording:
    def __init__(self, inner: Any, take: RequestInFlight) -> None:
        self._inner, self._take = inner, take

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._take.chunk(chunk)
                yield chunk
        except BaseException as error:
            self._take.failed(error)
            raise
        self._take.eof()

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._take.closed()


class _RecordingAsync:
    def __init__(self, inner: Any, take: RequestInFlight) -> None:
        self._inner, self._take = inner, take

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._take.chunk(chunk)
                yield chunk
        except BaseException as error:
            self._take.failed(error)
            raise
        self._take.eof()

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._take.closed()


class _Playing:
    """Plays for blocking and async clients, because a virtual clock needs no waiting."""

    def __init__(self, take: RequestInFlight) -> None:
        self._take = take

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._take.play():
            if piece.wait and self._take.clock.real:
                time.sleep(piece.wait)
            yield piece.data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._take.play():
            if piece.wait and self._take.clock.real:
                import anyio  # noqa: PLC0415  # httpx has it; needed only to play in real time

                await anyio.sleep(piece.wait)
            yield piece.data

    def close(self) -> None:
        self._take.closed()

    async def aclose(self) -> None:
        self._take.closed()
