"""Structured output of a chat: partial data of a type, while they arrive."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ...conversation.cancellation import StreamController
from ...wire.base import StructuredMode
from ..async_stream import AsyncStream
from ..base import Input, Shown
from .chat_methods import StructuredChat, structured

if TYPE_CHECKING:
    from .validated_answer import Structured

__all__ = ["StructuredStreams"]

T = TypeVar("T")


class StructuredStreams(StructuredChat):
    """The part of `Chat` for streams of structured output."""

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
        """Works as `chat_structured()`, but yields the data while they arrive.

        Fields that have not arrived have their default, or `None`; lists and texts grow. Parts that are complete are the
        same objects in the next data. The last object is complete and validated. When an answer is requested again, the
        data start anew. Nothing is sent before the first `next()`.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            tool_mode: As in `chat()`.
            controller: As in `stream()`.

        Returns:
            A generator of objects of the type.

        Raises:
            ConversionError: The data do not fit the type, after all retries.
            UsageError: The schema cannot be requested; nothing was sent.

        Examples:
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> list(chat_openai().stream_structured("Who wrote the first program?", type=person))[-1]
            {'name': 'Ada Lovelace', 'born': 1815}
        """
        wanted = structured(type)
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
        """Works as `stream_structured()`, for async code: iterate with `async for`.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.
            controller: As in `stream()`.

        Returns:
            An asynchronous iterator of objects of the type.
        """
        wanted = structured(type)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=True, tool_mode=tool_mode, params=params, controller=controller
        )
        loop = self._converse(self._contents(inputs), settings)
        shown = self._atalk(loop, "none", settings)
        return AsyncStream(shown, self._picker(wanted, max_retries), lambda: self._abandon(loop))

    def _picker(self, wanted: Structured, max_retries: int) -> Callable[[Shown], Any]:
        from .partial_data import PartialData  # noqa: PLC0415 - few chats stream data

        return PartialData(wanted, max_retries, self.wire.paused).pick
