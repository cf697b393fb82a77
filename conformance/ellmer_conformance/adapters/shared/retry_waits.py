"""Notes ellmer_core's pauses between retries instead of waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from ellmer_core import StreamController

__all__ = ["patience"]


@contextmanager
def patience(note: Callable[[float], None]) -> Iterator[None]:
    """Calls `note(seconds)` instead of every pause, blocking or not, inside the block."""

    def wait(_: StreamController, seconds: float) -> None:
        note(seconds)

    async def sleep(seconds: float) -> None:
        if seconds:
            note(seconds)
        else:  # lets others run
            await real(0)

    real = asyncio.sleep
    with mock.patch.object(StreamController, "wait", wait), mock.patch.object(asyncio, "sleep", sleep):
        yield
