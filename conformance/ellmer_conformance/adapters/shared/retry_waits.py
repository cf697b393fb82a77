"""ellmer_core's pauses between two tries, on a clock that is only noted down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from ellmer_core import StreamController

__all__ = ["patience"]


@contextmanager
def patience(note: Callable[[float], None]) -> Iterator[None]:
    """While it is entered, `note(seconds)` is called in place of every pause, blocking or not."""

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
