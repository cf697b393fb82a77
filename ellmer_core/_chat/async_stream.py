"""The asynchronous iterator that `stream_async()` returns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

__all__ = ["AsyncStream"]

T_co = TypeVar("T_co", covariant=True)


class AsyncStream(AsyncIterator[T_co], Generic[T_co]):
    """The pieces of an answer, for `async for`. The loop can be left early. As soon as the stream is
    garbage-collected, its received text is in the history and the chat is free. (An async generator would be closed
    some time later.)
    """

    def __init__(
        self,
        shown: AsyncGenerator[Any, None],
        pick: Callable[[Any], T_co | None],
        abandon: Callable[[], None],
    ) -> None:
        self._shown = shown
        self._pick = pick
        self._abandon = abandon

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T_co:
        async for one in self._shown:
            if (picked := self._pick(one)) is not None:
                return picked
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Ends the stream and its request."""
        await self._shown.aclose()
        self._abandon()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._abandon()
