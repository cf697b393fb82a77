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
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from socket import SHUT_RDWR
from threading import Timer
from typing import Any, TypeVar

from . import _loop
from ._cancel import StreamController
from ._clients import Connection, Timeouts, user_agent
from ._decoders import decoder
from .content import Content
from .errors import AsyncToolError, ConnectError, TimeoutError, UsageError
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
        self.chunks: Any = None
        self.decoder: Any = None
        self.where = ""
        self.ends: float | None = None  # when the answer must be complete, by time.monotonic()

    def built(self, client: Any, sent: _loop.Send) -> Any:
        """The client's own request object."""
        headers = {"accept": "*/*", "content-type": "application/json", "user-agent": user_agent()}
        headers |= {name.lower(): value for name, value in sent.request.headers.items()}
        if sent.request.sign is not None:
            headers |= sent.request.sign(sent.body, time.time())
        limits = self.connection.timeouts
        extensions: dict[str, Any] = {}
        self.where, self.ends = sent.request.url, None
        if limits is not None:
            self.ends = time.monotonic() + limits.total if limits.total is not None else None
            connect, idle = _least(limits.connect, limits.total), _least(limits.idle, limits.total)
            times = {"connect": connect, "read": idle, "write": idle, "pool": None}
            extensions["timeout"] = times
        try:
            return client.build_request(
                sent.request.method,
                sent.request.url,
                headers=headers,
                content=sent.body,
                extensions=extensions,
            )
        except UnicodeEncodeError:  # its message would quote the header, which may be the key
            raise UsageError("A header of the request is not ASCII. Is the API key right?") from None

    def opened(self, response: Any, sent: _loop.Send) -> _loop.Answer:
        """The head of the answer; its body is open."""
        self.response = response
        self.decoder = decoder(sent.request.framing)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _loop.Answer(response.status_code, headers, time.time())

    def flushed(self) -> list[Any] | None:
        """The last events after the last chunk, then `None`."""
        last, self.decoder = self.decoder, None
        return last.flush() if last else None

    def overdue(self) -> bool:
        """Whether the answer took longer than it may."""
        return self.ends is not None and time.monotonic() >= self.ends

    @contextmanager
    def translating(self) -> Iterator[None]:
        """The client's errors as ours: told apart by name, since every client has its own classes."""
        try:
            yield
        except Exception as error:
            names = {kind.__name__ for kind in type(error).__mro__}
            if names & {"UnsupportedProtocol", "InvalidURL"}:
                raise UsageError(f"base_url is not one that can be called: {error}") from error
            if "LocalProtocolError" in names:  # its message would quote the header, which may be the key
                raise UsageError("A header of the request is not legal. Is the API key right?") from None
            if not names & {"RequestError", "StreamError"}:
                raise
            self.controller.check()
            raise self._error(error, names) from error

    def _error(self, error: Exception | None = None, names: Collection[str] = ()) -> ConnectError:
        """What went wrong with the connection, in our terms; without an error: the answer is overdue."""
        limits = self.connection.timeouts or Timeouts(None, None, None)
        if error is None or self.overdue():
            text = f"The answer of {self.where} was not complete after {_seconds(limits.total)} (timeout: total)."
            return TimeoutError(text, "total")
        if {"ConnectTimeout", "PoolTimeout"} & set(names):
            text = f"No connection to {self.where} after {_seconds(limits.connect)} (timeout: connect)."
            return TimeoutError(text, "connect")
        if "TimeoutException" in names:
            text = f"{self.where} sent nothing for {_seconds(limits.idle)} (timeout: idle)."
            return TimeoutError(text, "idle")
        return ConnectError(f"{self.where}: {str(error) or type(error).__name__}")


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
        with self.translating():
            response = client.send(self.built(client, sent), stream=True)
            self.chunks = response.iter_bytes()
            answer = self.opened(response, sent)
        if self.ends is not None:
            self.watch(self.ends - time.monotonic())
        return answer

    def events(self) -> list[Any] | None:
        with self.translating():
            chunk = next(self.chunks, None)
        if self.overdue():
            raise self._error()
        return self.flushed() if chunk is None else self.decoder.feed(chunk)

    def body(self) -> bytes:
        with self.translating():
            body = b"".join(self.chunks)
        if self.overdue():
            raise self._error()
        return body

    def finish(self) -> None:
        if self.decoder is not None:  # the end of the stream was not read
            self.watch(LINGER)
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

    def watch(self, seconds: float) -> None:
        """Ends the open answer's connection after so long, unless it is dropped before."""
        self.unwatch()
        self.alarm = Timer(max(seconds, 0), _hang_up, [self.response])
        self.alarm.daemon = True
        self.alarm.start()

    def unwatch(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
        self.alarm = None

    def wake(self) -> None:
        """Interrupts a read from another thread."""
        if self.response is not None:
            _hang_up(self.response)

    def drop(self) -> None:
        """Lets go of the open answer, if there is one."""
        self.unwatch()
        response, self.response = self.response, None
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
        with self.translating():
            response = await self.within(client.send(self.built(client, sent), stream=True))
            self.chunks = response.aiter_bytes()
            return self.opened(response, sent)

    async def events(self) -> list[Any] | None:
        with self.translating():
            chunk = await self.within(anext(self.chunks, None))
        return self.flushed() if chunk is None else self.decoder.feed(chunk)

    async def body(self) -> bytes:
        with self.translating():
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
            async with asyncio.timeout(
                None if self.ends is None else self.ends - time.monotonic()
            ) as self.scope:
                return await awaitable
        except builtins.TimeoutError:
            self.controller.check()
            if not self.overdue():
                raise
            raise self._error() from None
        finally:
            self.scope = None

    def wake(self) -> None:
        """Interrupts what is awaited, from this thread or another."""
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
        response, self.response = self.response, None
        if response is not None:
            await response.aclose()


def _hang_up(response: Any) -> None:
    """Ends the connection under an answer from outside: whoever is reading it sees its end."""
    stream = response.extensions.get("network_stream")
    sock = stream.get_extra_info("socket") if stream is not None else None
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(SHUT_RDWR)


def _within(wait: _loop.Wait) -> float:
    """Some time that the loop may wait, by chance: chats that failed together must not come back together."""
    return random.uniform(wait.at_least, wait.at_most)  # noqa: S311 - no secret


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _seconds(limit: float | None) -> str:
    return "the client's own limit" if limit is None else f"{limit:g} s"
