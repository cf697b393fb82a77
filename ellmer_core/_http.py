"""The only I/O of a conversation: does what `_loop.converse()` asks for, blocking (`drive`) or async (`adrive`).

Over httpx, or anything with its `build_request()` and `send()` (httpx2). A `Line` carries one conversation, one
answer at a time; `AsyncLine` is its twin, with `await` where there is something to wait for.
"""

from __future__ import annotations

import asyncio
import builtins
import inspect
import random
import time
from asyncio.trsock import TransportSocket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any, TypeVar

from . import _loop
from ._cancel import StreamController
from ._clients import Connection, Timeouts, user_agent
from ._decoders import decoder
from ._watch import Watch
from .content import Content
from .errors import AsyncToolError
from .tools import ainvoke, invoke
from .turns import Turn

__all__ = ["AsyncLine", "Line", "adrive", "drive"]

T = TypeVar("T")

LINGER = 0.2  # seconds to wait for the end of a finished stream, so that its connection can be used again


def drive(loop: _loop.Loop[T], line: Line) -> Generator[Content | Turn, None, T]:
    """Does what the loop asks for; yields what it shows; returns what it returns."""
    step: Callable[[Any], _loop.Effect] = loop.send
    outcome: Any = None
    with line.controller.waking(line.wake):
        try:
            while True:
                effect = step(outcome)
                step, outcome = loop.send, None
                if isinstance(effect, _loop.Emit):
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


async def adrive(loop: _loop.Loop[Any], line: AsyncLine) -> AsyncGenerator[Content | Turn, None]:
    """The async twin of `drive` (an async generator returns nothing)."""
    step: Callable[[Any], _loop.Effect] = loop.send
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
                if isinstance(effect, _loop.Emit):
                    yield effect.content
                    continue
                try:
                    outcome = await line.do(effect)
                except BaseException as error:  # noqa: BLE001 - likewise; a task's cancellation above all
                    step, outcome = loop.throw, error
        finally:
            loop.close()
            await line.drop()


class _Either:
    """What both lines are made of: everything that does not wait."""

    def __init__(self, connection: Connection, controller: StreamController) -> None:
        self.connection = connection
        self.controller = controller
        self.response: Any = None
        self.socket: socket | TransportSocket | None = None
        self.chunks: Any = None
        self.decoder: Any = None
        self.watch = Watch(controller)

    def built(self, client: Any, sent: _loop.Send) -> Any:
        """The client's own request object."""
        headers = {"accept": "*/*", "content-type": "application/json", "user-agent": user_agent()}
        headers |= {name.lower(): value for name, value in sent.request.headers.items()}
        if sent.request.sign is not None:
            headers |= sent.request.sign(sent.body, time.time())
        limits = self.connection.timeouts
        self.watch.begin(sent.request.url, limits)
        extensions = {"timeout": _httpx_timeouts(limits)} if limits else {}
        return client.build_request(
            sent.request.method, sent.request.url, headers=headers, content=sent.body, extensions=extensions
        )

    def opened(self, response: Any, sent: _loop.Send) -> _loop.Answer:
        """The head of the answer; its body is open."""
        self.response, self.socket = response, _socket(response)
        self.decoder = decoder(sent.request.framing)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _loop.Answer(response.status_code, headers, time.time())

    def flushed(self) -> list[Any] | None:
        """The last events after the last chunk, then `None`."""
        last, self.decoder = self.decoder, None
        return last.flush() if last else None


class Line(_Either):
    """Carries one conversation, blocking."""

    alarm: Timer | None = None

    def do(self, effect: _loop.Effect) -> Any:  # noqa: PLR0911 - one return per effect
        """Performs one effect; returns its outcome, or raises its failure."""
        match effect:
            case _loop.Send():
                return self.send(effect)
            case _loop.ReadEvents():
                return self.events()
            case _loop.ReadBody():
                return self.body()
            case _loop.Finish():
                return self.finish()
            case _loop.CallTools():
                return self.call(effect)
            case _loop.Notify():
                return self.notify(effect)
            case _loop.Wait():
                return self.controller.wait(_within(effect))
            case _loop.Clock():
                return time.monotonic()
            case _loop.Emit():
                raise AssertionError("shown by the driver")

    def send(self, sent: _loop.Send) -> _loop.Answer:
        self.drop()
        client = self.connection.blocking()
        with self.watch:
            response = client.send(self.built(client, sent), stream=True)
            self.chunks = response.iter_bytes()
            answer = self.opened(response, sent)
        if self.watch.left is not None:
            self.set_alarm(self.watch.left)
        return answer

    def events(self) -> list[Any] | None:
        with self.watch:
            chunk = next(self.chunks, None)
        self.watch.check()
        return self.flushed() if chunk is None else self.decoder.feed(chunk)

    def body(self) -> bytes:
        with self.watch:
            body = b"".join(self.chunks)
        self.watch.check()
        return body

    def finish(self) -> None:
        if self.decoder is not None:  # the end of the stream was not read
            self.set_alarm(LINGER)
            with suppress(Exception):
                for _ in self.chunks:
                    pass
        self.drop()

    def call(self, effect: _loop.CallTools) -> None:
        if len(effect.requests) == 1:
            [(place, request)] = effect.requests.items()
            effect.keep(place, invoke(request))
            return
        with ThreadPoolExecutor(len(effect.requests), "ellmer_core tool") as pool:
            running = [
                pool.submit(copy_context().run, lambda p=place, r=request: effect.keep(p, invoke(r)))
                for place, request in effect.requests.items()
            ]
        for one in running:
            one.result()

    def notify(self, effect: _loop.Notify) -> None:
        for callback in effect.callbacks:
            answer = callback(effect.content)
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()
                raise AsyncToolError(
                    f"The callback {getattr(callback, '__name__', callback)!r} is async, and chat() and stream() "
                    "are not: use chat_async() or stream_async()."
                )

    def set_alarm(self, seconds: float) -> None:
        """Ends the open answer's connection after so long, unless it is dropped before."""
        self.stop_alarm()
        self.alarm = Timer(seconds, _hang_up, [self.socket])
        self.alarm.daemon = True
        self.alarm.start()

    def stop_alarm(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
        self.alarm = None

    def wake(self) -> None:
        """Interrupts a read from another thread."""
        _hang_up(self.socket)

    def drop(self) -> None:
        """Lets go of the open answer, if there is one."""
        self.stop_alarm()
        response, self.response, self.socket = self.response, None, None
        if response is not None:
            response.close()


class AsyncLine(_Either):
    """Carries one conversation, async."""

    scope: asyncio.Timeout | None = None
    running: asyncio.AbstractEventLoop | None = None

    async def do(self, effect: _loop.Effect) -> Any:  # noqa: PLR0911 - one return per effect
        """Performs one effect; returns its outcome, or raises its failure."""
        match effect:
            case _loop.Send():
                return await self.send(effect)
            case _loop.ReadEvents():
                return await self.events()
            case _loop.ReadBody():
                return await self.body()
            case _loop.Finish():
                return await self.finish()
            case _loop.CallTools():
                return await self.call(effect)
            case _loop.Notify():
                return await self.notify(effect)
            case _loop.Wait():
                return await self.within(asyncio.sleep(_within(effect)))
            case _loop.Clock():
                return time.monotonic()
            case _loop.Emit():
                raise AssertionError("shown by the driver")

    async def send(self, sent: _loop.Send) -> _loop.Answer:
        await self.drop()
        client = await self.connection.concurrent()
        with self.watch:
            response = await self.within(client.send(self.built(client, sent), stream=True))
            self.chunks = response.aiter_bytes()
            return self.opened(response, sent)

    async def events(self) -> list[Any] | None:
        with self.watch:
            if self.socket is None or self.watch.ends is not None:
                chunk = await self.within(anext(self.chunks, None))
            else:  # faster, and wake() ends it
                chunk = await anext(self.chunks, None)
        return self.flushed() if chunk is None else self.decoder.feed(chunk)

    async def body(self) -> bytes:
        with self.watch:
            return await self.within(self._rest())

    async def finish(self) -> None:
        if self.decoder is not None:  # the end of the stream was not read
            with suppress(Exception):
                async with asyncio.timeout(LINGER):
                    await self._rest()
        await self.drop()

    async def call(self, effect: _loop.CallTools) -> None:
        async def one(place: int) -> None:
            effect.keep(place, await ainvoke(effect.requests[place]))

        if len(effect.requests) == 1:
            return await one(next(iter(effect.requests)))
        outcomes = await asyncio.gather(*map(one, effect.requests), return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
        return None

    async def notify(self, effect: _loop.Notify) -> None:
        for callback in effect.callbacks:
            answer = callback(effect.content)
            if inspect.isawaitable(answer):
                await answer

    async def within(self, awaitable: Awaitable[T]) -> T:
        """Awaits, until the whole answer takes too long or the controller is used."""
        try:
            async with asyncio.timeout(self.watch.left) as self.scope:
                return await awaitable
        except builtins.TimeoutError:
            self.controller.check()
            self.watch.check()
            raise
        finally:
            self.scope = None

    def wake(self) -> None:
        """Interrupts what is awaited, from this thread or another."""
        _hang_up(self.socket)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            if self.running is not None:
                self.running.call_soon_threadsafe(self._expire)

    def _expire(self) -> None:
        with suppress(RuntimeError):  # what was awaited has ended meanwhile
            if self.scope is not None:
                self.scope.reschedule(0)

    async def _rest(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks])

    async def drop(self) -> None:
        """Lets go of the open answer, if there is one."""
        response, self.response, self.socket = self.response, None, None
        if response is not None:
            await response.aclose()


def _socket(response: Any) -> socket | TransportSocket | None:
    """The socket under an answer, if it is one that can be shut down from outside."""
    stream = response.extensions.get("network_stream")
    found = stream.get_extra_info("socket") if stream is not None else None
    return found if isinstance(found, socket | TransportSocket) else None


def _hang_up(connection: socket | TransportSocket | None) -> None:
    """Ends a connection: whoever is reading from it, in whatever thread, sees its end."""
    with suppress(OSError):
        match connection:
            case socket():  # not SSLSocket's own method: it would pull the TLS layer from under the reader
                socket.shutdown(connection, SHUT_RDWR)
            case TransportSocket():
                connection.shutdown(SHUT_RDWR)


def _within(wait: _loop.Wait) -> float:
    """Some time that the loop may wait, by chance: chats that failed together must not come back together."""
    return random.uniform(wait.at_least, wait.at_most)  # noqa: S311 - no secret


def _httpx_timeouts(limits: Timeouts) -> dict[str, float | None]:
    connect, idle = _least(limits.connect, limits.total), _least(limits.idle, limits.total)
    return {"connect": connect, "read": idle, "write": idle, "pool": None}


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
