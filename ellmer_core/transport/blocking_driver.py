"""The blocking I/O of a conversation. `drive()` carries out the effects of `conversation.loop.converse()` with a
`BlockingDriver`.

`async_driver.py` is the async version; `http_clients.py` makes the HTTP clients.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import copy_context
from threading import Timer
from typing import Any, TypeVar

from ..base.budget import TRACE, thread
from ..contents.content import ContentImageInline
from ..conversation import io_operations as io
from ..conversation.approval import DecisionLike, ask_for_decision
from ..errors import AsyncToolError
from .http_exchange import LINGER, HttpExchange, hang_up, some_time

T = TypeVar("T")


def drive(loop: io.Loop[T], line: BlockingDriver) -> Generator[io.Shown, None, T]:
    """Carries out the effects of a loop, yields the shown contents, and returns the loop's result."""
    step: Callable[[Any], io.Effect] = loop.send
    outcomes: list[Any] = [None]  # empty while the loop runs: trackers of errors show variables
    with line.controller.waking(line.wake):
        try:
            while True:
                effect = step(outcomes.pop())
                while isinstance(effect, io.SHOWN):
                    yield effect
                    effect = loop.send(None)
                step = loop.send
                try:
                    outcomes.append(line.events() if type(effect) is io.ReadEvents else line.do(effect))
                except BaseException as error:  # noqa: BLE001 - the loop lets through what is not its own
                    step = loop.throw
                    outcomes.append(line.without_keys(error))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # StopIteration has no type parameter
        finally:
            loop.close()
            line.drop()


class BlockingDriver(HttpExchange):
    """Carries out the effects of one conversation with blocking I/O."""

    alarm: Timer | None = None
    extensions = TRACE

    def do(self, effect: io.Effect) -> Any:  # noqa: C901, PLR0911 - one case per effect
        """Performs one effect. Returns its outcome, or raises its failure."""
        match effect:
            case io.Send():
                return self.send(effect)
            case io.ReadBody():
                return self.body()
            case io.Clock(wall=wall):
                return time.time() if wall else time.monotonic()
            case io.Finish():
                return self.finish()
            case io.Fetch(url):
                return self.fetch(url)
            case io.CallTools():
                return self.call(effect)
            case io.Decide():
                return self.decide(effect)
            case io.Notify():
                return self.notify(effect)
            case io.Wait():
                return self.controller.wait(some_time(effect))
            case io.ReadEvents():
                return self.events()
        raise AssertionError("unreachable: drive() yields all other effects")

    def send(self, sent: io.Send) -> io.Answer:
        self.drop()
        self.connection = self.connections[sent.provider]
        client = self.connection.blocking()
        before, thread.monitor = thread.monitor, self.watch
        try:
            response = client.send(self.built(client, sent), stream=True, follow_redirects=False)
            answer = self.opened(response, sent)
            self.chunks = iter(response.stream) if self.raw else response.iter_bytes()
        except Exception as error:
            self.watch.translate(error)
            raise
        finally:
            thread.monitor = before
        if self.watch.interrupts and self.watch.left is not None:
            self.set_alarm(self.watch.left)
        return answer

    def events(self) -> list[Any] | None:
        if self.unpacker.pending:
            return self.fed(b"")
        before, thread.monitor = thread.monitor, self.watch
        try:
            chunk = next(self.chunks, None)
        except Exception as error:
            self.watch.translate(error)
            raise
        finally:
            thread.monitor = before
        return self.flushed() if chunk is None else self.fed(chunk)

    def body(self) -> bytes:
        body: list[bytes] = []
        before, thread.monitor = thread.monitor, self.watch
        try:
            for chunk in self.chunks:
                if self.added(body, chunk):
                    break
        except Exception as error:
            self.watch.translate(error)
            raise
        finally:
            thread.monitor = before
        return self.keys.hidden_in_body(b"".join(body), failed=not self.succeeded)

    def finish(self) -> None:
        if self.framing is not None:  # the end of the stream was not read
            self.set_alarm(LINGER)
            with suppress(Exception):
                for _ in self.chunks:
                    pass
        self.drop()

    def fetch(self, url: str) -> ContentImageInline:
        from ..contents.files import fetched_image  # noqa: PLC0415 - few chats fetch

        return fetched_image(url)

    def call(self, effect: io.CallTools) -> None:
        from ..tool_execution import invoke  # noqa: PLC0415 - many chats have no tools

        if len(effect.requests) == 1:
            [(place, request)] = effect.requests.items()
            effect.keep(place, invoke(request, scope=effect.scope))
            return
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - as above

        with ThreadPoolExecutor(len(effect.requests), "ellmer_core tool") as pool:
            running = [
                pool.submit(
                    copy_context().run,
                    lambda p=place, r=request: effect.keep(p, invoke(r, scope=effect.scope)),
                )
                for place, request in effect.requests.items()
            ]
        for future in running:
            future.result()

    def decide(self, effect: io.Decide) -> DecisionLike:
        decision = ask_for_decision(effect.request, effect.approve)
        if not inspect.isawaitable(decision):
            return decision
        if inspect.iscoroutine(decision):
            decision.close()
        raise AsyncToolError(
            "The approval function is async, but chat() and stream() are not: use chat_async() or "
            "stream_async()."
        )

    def notify(self, effect: io.Notify) -> None:
        for callback in effect.callbacks:
            answer = callback(effect.content)
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()
                raise AsyncToolError(
                    f"The callback {getattr(callback, '__name__', callback)!r} is async, but chat() and stream() are not: use chat_async() or stream_async()."
                )

    def set_alarm(self, seconds: float) -> None:
        """Sets a timer that ends the open answer's connection, unless the answer is dropped before."""
        self.stop_alarm()
        self.alarm = Timer(seconds, hang_up, [self.socket])
        self.alarm.daemon = True
        self.alarm.start()

    def stop_alarm(self) -> None:
        if self.alarm is not None:
            self.alarm.cancel()
        self.alarm = None

    def wake(self) -> None:
        """Interrupts a read from another thread."""
        hang_up(self.socket)

    def drop(self) -> None:
        """Closes the open answer, if there is one."""
        if self.alarm is not None:
            self.stop_alarm()
        response, self.response, self.socket = self.response, None, None
        if response is not None:
            response.close()
