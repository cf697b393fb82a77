"""Runs many prompts concurrently, up to a limit, until all are done, one fails, or Ctrl-C is pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, Literal, TypedDict, TypeVar

from .._chat.base import Input
from .._chat.chat import Chat
from ..errors import ConversionError, UsageError
from .progress_bar import progress_bar
from .prompts_and_results import Prompt, all_inputs, warn_of_failures, warn_of_interruption
from .rate_limit import Paced

__all__ = ["Many", "Parallel", "blocking"]

T = TypeVar("T")
Say = Callable[[Chat, tuple[Input, ...]], Awaitable[Any]]
#: Whether a cancellation is Ctrl-C, after which a blocking call returns what is there.
_INTERRUPTIBLE: ContextVar[bool] = ContextVar("interruptible", default=False)


class Many(TypedDict, total=False):
    """The options of parallel prompts.

    - `max_active`: how many are in work at once. Default: 10.
    - `rpm`: how many requests may go out per minute. Default: 500.
    - `on_error`: `"return"` (default) starts no further prompt after one that failed, and waits for those in work;
      `"continue"` goes on with all; `"stop"` raises the error.
    - `progress`: whether to show a bar, in a terminal, where rich is installed. Default: yes.
    """

    max_active: int
    rpm: float
    on_error: Literal["return", "continue", "stop"]
    progress: bool


class Parallel:
    """Sends all prompts, up to a number at once."""

    def __init__(self, chat: Chat, say: Say, options: Many) -> None:
        if unknown := options.keys() - Many.__annotations__.keys():
            raise TypeError(f"unknown option {min(unknown)!r}; there are {', '.join(Many.__annotations__)}")
        self.chat, self.say = chat, say
        self.max_active, rpm = options.get("max_active", 10), options.get("rpm", 500)
        self.on_error, self.progress = options.get("on_error", "return"), options.get("progress", True)
        if self.on_error not in {"return", "continue", "stop"}:
            raise UsageError(f'on_error must be "return", "continue" or "stop", not {self.on_error!r}.')
        if self.max_active < 1 or rpm <= 0:
            raise UsageError(
                f"max_active must be at least 1, and rpm must be more than 0, not {self.max_active} and {rpm}."
            )
        self.connection = Paced(chat._connection, rpm, self.max_active)  # noqa: SLF001 - of this package
        self.failed = False

    async def run(self, prompts: Iterable[Prompt]) -> list[Any]:
        """Returns the outcomes, in the order of the prompts."""
        asked = all_inputs(prompts)
        outcomes: list[Any] = [None] * len(asked)
        waiting = iter(enumerate(asked))
        with progress_bar(len(asked), shown=self.progress) as advance:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self.max_active, len(asked))):
                        group.create_task(self.work(waiting, outcomes, advance))
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
            except asyncio.CancelledError:
                if not _INTERRUPTIBLE.get():
                    raise
                warn_of_interruption(outcomes)
                return outcomes
        warn_of_failures(outcomes)
        return outcomes

    async def work(
        self,
        waiting: Iterator[tuple[int, tuple[Input, ...]]],
        outcomes: list[Any],
        advance: Callable[[], object],
    ) -> None:
        """Handles one prompt after the other until none is left."""
        for place, prompt in waiting:
            outcomes[place] = await self.outcome(prompt)
            advance()
            if self.failed and self.on_error == "return":
                break

    async def outcome(self, prompt: tuple[Input, ...]) -> Any:
        """Returns the result of one prompt. An error is returned, too, unless errors are raised."""
        fork = self.chat.fork()
        fork._connection = self.connection  # noqa: SLF001 - of this package
        try:
            return await self.say(fork, prompt)
        except Exception as error:
            if self.on_error == "stop":
                raise
            self.failed = self.failed or not isinstance(error, ConversionError)
            return error
        finally:
            fork._connection = self.chat._connection  # noqa: SLF001


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Runs the coroutine to its end or to Ctrl-C. If an event loop is running, as in notebooks, it uses another
    thread.
    """
    context = copy_context()
    context.run(_INTERRUPTIBLE.set, True)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return context.run(asyncio.run, work)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    with ThreadPoolExecutor(1, "ellmer_core parallel") as pool:
        outcome = pool.submit(context.run, asyncio.run, _noted(work, running))
        try:
            return outcome.result()
        except KeyboardInterrupt:
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel)
            return outcome.result()


async def _noted(work: Coroutine[Any, Any, T], running: list[Any]) -> T:
    """Runs the work as a task that can be cancelled from elsewhere."""
    task = asyncio.ensure_future(work)
    running.append((asyncio.get_running_loop(), task))
    return await task
