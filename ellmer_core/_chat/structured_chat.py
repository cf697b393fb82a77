"""Structured output of a chat: data of a type, whole or as they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..conversation.cancellation import StreamController
from ..conversation.settings import Settings
from ..errors import UsageError
from ..wire.structured import StructuredMode
from .async_stream import AsyncStream
from .base import ChatBase, Input, Shown
from .echo import EchoMode, echo_mode

if TYPE_CHECKING:
    from ..schemas.data_frames import Library
    from .structured import Structured

__all__ = ["StructuredChat"]

T = TypeVar("T")


class StructuredChat(ChatBase):
    """The part of `Chat` that is about structured output."""

    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: type[T],
        convert: Literal[True] = True,
        frame: None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
    ) -> T: ...
    @overload
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
    ) -> Any: ...
    def chat_structured(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
    ) -> Any:
        """As `chat()`, but the last answer is data of `type` (a `type_…()`, a Python type, a model class).

        With `convert`, it is checked and made what the type says; without, it is the JSON as it came. An array of
        objects becomes a data frame with `frame="pandas"` or `frame="polars"`.

        The provider is asked in the first way that its model and this schema allow: `"native"` (the API holds the
        answer to the schema), `"tool"` (the answer is a call), `"prompt"` (a message says which JSON is wanted);
        `mode` names one. An answer of another shape is asked for again, up to `max_retries` times, with what was
        wrong. Raises `ConversionError` if it stays so, `IncompleteResponseError` for an answer that was cut at a
        limit, `UsageError` before anything is sent for what cannot be asked.
        """
        wanted = _structured(type, convert=convert, frame=frame)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=echo != "none", tool_mode=tool_mode, params=params
        )
        self._exhaust(inputs, echo_mode(echo), settings)
        return wanted.value(self._answer)

    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: type[T],
        convert: Literal[True] = True,
        frame: None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
    ) -> T: ...
    @overload
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
    ) -> Any: ...
    async def chat_structured_async(
        self,
        *inputs: Input,
        type: Any,
        convert: bool = True,
        frame: Library | None = None,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        echo: EchoMode = "none",
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
    ) -> Any:
        """`chat_structured()` without blocking."""
        wanted = _structured(type, convert=convert, frame=frame)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=echo != "none", tool_mode=tool_mode, params=params
        )
        await self._aexhaust(inputs, echo_mode(echo), settings)
        return wanted.value(self._answer)

    @overload
    def stream_structured(
        self,
        *inputs: Input,
        type: type[T],
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[T, None, None]: ...
    @overload
    def stream_structured(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[Any, None, None]: ...
    def stream_structured(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "sequential",
        controller: StreamController | None = None,
    ) -> Generator[Any, None, None]:
        """As `chat_structured()`, but yields the data as they come: objects of `type` of which fields that have not come
        yet have their default, or else are None; lists and texts that grow. The last one is whole, and checked.

        Where an answer is asked for again, the data begin anew. Nothing is sent before the first `next()`.
        """
        wanted = _structured(type)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=True, tool_mode=tool_mode, params=params, controller=controller
        )
        return self._stream(self._contents(inputs), "none", settings, self._picker(wanted, max_retries))

    @overload
    def stream_structured_async(
        self,
        *inputs: Input,
        type: type[T],
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[T]: ...
    @overload
    def stream_structured_async(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[Any]: ...
    def stream_structured_async(
        self,
        *inputs: Input,
        type: Any,
        mode: StructuredMode | None = None,
        max_retries: int = 1,
        params: Mapping[str, Any] | None = None,
        tool_mode: Literal["sequential", "concurrent"] = "concurrent",
        controller: StreamController | None = None,
    ) -> AsyncStream[Any]:
        """`stream_structured()` for `async for`."""
        wanted = _structured(type)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=True, tool_mode=tool_mode, params=params, controller=controller
        )
        loop = self._converse(self._contents(inputs), settings)
        shown = self._atalk(loop, "none", settings)
        return AsyncStream(shown, self._picker(wanted, max_retries), lambda: self._abandon(loop))

    def _picker(self, wanted: Structured, max_retries: int) -> Callable[[Shown], Any]:
        from .partial_data import PartialData  # noqa: PLC0415 - few chats stream data

        return PartialData(wanted, max_retries, self.wire.paused).pick

    def _plan_data(
        self, wanted: Structured, mode: StructuredMode | None, max_retries: int, **how: Any
    ) -> Settings:
        """The plan of a conversation for data. Raises `UsageError` where the mode does not work."""
        if not isinstance(max_retries, int) or max_retries < 0:
            raise UsageError(f"max_retries= is a whole number, 0 or more, not {max_retries!r}.")
        plan = self._plan(type=wanted.sent, **how)
        plan.wire.structured_mode(wanted.sent, list(self._tools.values()), mode)
        return replace(plan, mode=mode, check=wanted.problem, max_retries=max_retries)


def _structured(type: Any, *, convert: bool = True, frame: Library | None = None) -> Structured:
    from .structured import Structured  # noqa: PLC0415 - what reads types takes long to load

    return Structured(type, convert=convert, frame=frame)
