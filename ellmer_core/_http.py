"""The only I/O of a conversation: does what `_loop.converse()` asks for, blocking (`drive`) or async (`adrive`).

A `Line` (`_line.py`) or its twin (`_async_line.py`) carries one conversation; `_clients.py` makes the HTTP clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar

from ._async_line import AsyncLine
from ._effects import Effect, Emit, Loop
from ._line import Line
from .content import Content
from .turns import Turn

__all__ = ["AsyncLine", "Line", "adrive", "drive"]

T = TypeVar("T")


def drive(loop: Loop[T], line: Line) -> Generator[Content | Turn, None, T]:
    """Does what the loop asks for; yields what it shows; returns what it returns."""
    step: Callable[[Any], Effect] = loop.send
    outcome: Any = None
    with line.controller.waking(line.wake):
        try:
            while True:
                effect = step(outcome)
                step, outcome = loop.send, None
                if isinstance(effect, Emit):
                    yield effect.content
                    continue
                try:
                    outcome = line.do(effect)
                except BaseException as error:  # noqa: BLE001 - the loop lets through what is not its own
                    step, outcome = loop.throw, error
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter
        finally:
            loop.close()
            line.drop()


async def adrive(loop: Loop[Any], line: AsyncLine) -> AsyncGenerator[Content | Turn, None]:
    """The async twin of `drive` (an async generator returns nothing)."""
    step: Callable[[Any], Effect] = loop.send
    outcome: Any = None
    line.running = asyncio.get_running_loop()
    with line.controller.waking(line.wake):
        try:
            while True:
                try:
                    effect = step(outcome)
                except StopIteration:
                    return
                step, outcome = loop.send, None
                if isinstance(effect, Emit):
                    yield effect.content
                    continue
                try:
                    outcome = await line.do(effect)
                except BaseException as error:  # noqa: BLE001 - likewise; a task's cancellation above all
                    step, outcome = loop.throw, error
        finally:
            loop.close()
            await line.drop()
