"""A request that its caller cancels in the middle of the answer, and the server's view of it."""

from __future__ import annotations

import asyncio
import time
from asyncio import sleep  # the real one: adapters' pauses may be put forward
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..scenarios.messages import Reply

__all__ = ["Answers", "given_up"]

_STEP = 0.005  # seconds between two looks
_PATIENCE = 5.0  # seconds until a request must have come
_LEAVING = 1.0  # seconds in which a client must have left


@dataclass
class Answers:
    """The server's knowledge of a conversation's answers: the number of started ones, and the number of clients that
    left early.

    `left` notes for each cancelled request whether the server saw the client close the connection.
    """

    begun: Callable[[], int]
    abandoned: Callable[[], int]
    left: list[bool]


async def given_up(sending: Awaitable[Reply], answers: Answers) -> Reply:
    """Cancels a send after its answer has begun, and notes whether the connection was closed within a second."""
    before, gone = answers.begun(), answers.abandoned()
    task = asyncio.ensure_future(sending)
    await _until(lambda: answers.begun() > before or task.done(), _PATIENCE)
    await sleep(_STEP * 4)  # some of the answer is read
    task.cancel()
    try:
        reply = await task
    except asyncio.CancelledError as error:
        reply = Reply(complete=False, error=error)
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its reply
        reply = Reply(complete=False, error=error)
    answers.left.append(await _until(lambda: answers.abandoned() > gone, _LEAVING))
    return reply


async def _until(there: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not there() and time.monotonic() < end:  # noqa: ASYNC110 - the server is another thread
        await sleep(_STEP)
    return there()
