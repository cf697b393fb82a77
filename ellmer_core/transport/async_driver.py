"""The async version of `blocking_driver.py`. It is loaded when it is first needed, because asyncio takes as long to
import as this whole package.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, TypeVar

from ..contents.files import fetched_image
from ..conversation import io_operations as io
from ..conversation.approval import DecisionLike, ask_for_decision
from ..errors import UsageError
from ..tool_execution import ainvoke
from .http_exchange import LINGER, HttpExchange, hang_up, some_time

T = TypeVar("T")


async def adrive(
    loop: io.Loop[Any],
    line: AsyncDriver,
    *,
    around: AbstractContextManager[Future[None] | None] = nullcontext(),  # noqa: B008 - it can be entered again
    show: Callable[[Any], object] = id,
) -> AsyncGenerator[io.Shown, None]:
    """Yields as `drive` does, in async code (an async generator returns nothing).

    It runs inside `around`, which may give a future to wait for, and calls `show` with each value before it yields it. A generator around this one could
    do both, but an event loop that ends closes all of its generators at once, and reports an error if one is closed
    by another.
    """
    step: Callable[[Any], io.Effect] = loop.send
    outcomes: list[Any] = [None]  # empty while the loop runs: trackers of errors show variables
    line.running = _loop_of_asyncio()
    with around as ahead, line.controller.waking(line.wake):
        try:
            if ahead is not None:
                await asyncio.wrap_future(ahead)
            while True:
                try:
                    effect = step(outcomes.pop())
                except StopIteration:
                    return
                step = loop.send
                if isinstance(effect, io.SHOWN):
                    show(effect)
                    yield effect
                    outcomes.append(None)
                    continue
                try:
                    outcomes.append(await line.do(effect))
                except BaseException as error:  # noqa: BLE001 - likewise; a task's cancellation above all
                    step = loop.throw
                    outcomes.append(line.without_keys(error))
        finally:
            loop.close()
            await line.drop()


def _loop_of_asyncio() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError as error:
        raise UsageError(
            "Async chats need a running asyncio event loop, and none is running. Under trio, call the blocking methods in a "
            "thread: `await trio.to_thread.run_sync(chat.chat, …)`."
        ) from error


class AsyncDriver(HttpExchange):
    """Carries out the effects of one conversation with async I/O."""

    scope: asyncio.Timeout | None = None
    running: asyncio.AbstractEventLoop | None = None

    async def do(self, effect: io.Effect) -> Any:  # noqa: C901, PLR0911 - one case per effect
        """Performs one effect. Returns its outcome, or raises its failure."""
        match effect:
            case io.Send():
                return await self.send(effect)
            case io.ReadEvents():
                return await self.events()
            case io.ReadBody():
                return await self.body()
            case io.Clock(wall=wall):
                return time.time() if wall else time.monotonic()
            case io.Finish():
                return await self.finish()
            case io.Fetch(url):
                return await asyncio.to_thread(fetched_image, url)
            case io.CallTools():
                return await self.call(effect)
            case io.Decide():
                return await self.decide(effect)
            case io.Notify():
                return await self.notify(effect)
            case io.Wait():
                return await self.within(asyncio.sleep(some_time(effect)))
        raise AssertionError("unreachable: adrive() yields all other effects")

    async def send(self, sent: io.Send) -> io.Answer:
        await self.drop()
        self.connection = self.connections[sent.provider]
        client = await self.connection.concurrent()
        try:
            response = await self.within(
                client.send(self.built(client, sent), stream=True, follow_redirects=False)
            )
            answer = self.opened(response, sent)
            self.chunks = aiter(response.stream) if self.raw else response.aiter_bytes()
        except Exception as error:
            self.watch.translate(error)
            raise
        return answer

    async def events(self) -> list[Any] | None:
        if self.unpacker.pending:
            return self.fed(b"")
        try:
            if self.socket is None or self.watch.interrupts:
                chunk = await self.within(anext(self.chunks, None))
            else:  # faster, and wake() ends it
                chunk = await anext(self.chunks, None)
        except Exception as error:
            self.watch.translate(error)
            raise
        return self.flushed() if chunk is None else self.fed(chunk)

    async def body(self) -> bytes:
        try:
            return await self.within(self._rest())
        except Exception as error:
            self.watch.translate(error)
            raise

    async def finish(self) -> None:
        if self.framing is not None:  # the end of the stream was not read
            with suppress(Exception):
                async with asyncio.timeout(LINGER):
                    await self._rest()
        await self.drop()

    async def call(self, effect: io.CallTools) -> None:
        """Runs the tools concurrently. An error of one waits for the others. `asyncio.gather()` is not used, because
        it loses the message of a cancellation, by which anyio recognizes its own.
        """
        if len(effect.requests) == 1:
            [(place, request)] = effect.requests.items()
            return effect.keep(place, await ainvoke(request, scope=effect.scope))
        raised: dict[int, BaseException] = {}

        async def run(place: int) -> None:
            try:
                effect.keep(place, await ainvoke(effect.requests[place], scope=effect.scope))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - SystemExit and the like, for the caller
                raised[place] = error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(run(place)) for place in effect.requests]
        for place in sorted(raised):
            raise raised[place]
        for task in tasks:
            task.result()  # a tool may have cancelled itself
        return None

    async def decide(self, effect: io.Decide) -> DecisionLike:
        decision = ask_for_decision(effect.request, effect.approve)
        if not inspect.isawaitable(decision):
            return decision
        try:
            async with asyncio.timeout(None) as self.scope:  # people take their time; wake() ends it
                return await decision
        except TimeoutError:
            self.controller.check()
            raise
        finally:
            self.scope = None

    async def notify(self, effect: io.Notify) -> None:
        for callback in effect.callbacks:
            answer = callback(effect.content)
            if inspect.isawaitable(answer):
                await answer

    async def within(self, awaitable: Awaitable[T]) -> T:
        """Awaits a result until the answer takes too long or the conversation is cancelled."""
        try:
            async with asyncio.timeout(self.watch.left) as self.scope:
                return await awaitable
        except TimeoutError:
            self.controller.check()
            self.watch.check()
            raise
        finally:
            self.scope = None

    def wake(self) -> None:
        """Interrupts the current wait, from any thread."""
        hang_up(self.socket)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            if self.running is not None:
                self.running.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        with suppress(RuntimeError):  # what was awaited has ended meanwhile
            if self.scope is not None:
                self.scope.reschedule(0)

    async def _rest(self) -> bytes:
        body: list[bytes] = []
        async for chunk in self.chunks:
            if self.added(body, chunk):
                break
        return self.keys.hidden_in_body(b"".join(body), failed=not self.succeeded)

    async def drop(self) -> None:
        """Closes the open answer, if there is one."""
        response, self.response, self.socket = self.response, None, None
        if response is not None:
            await response.aclose()
