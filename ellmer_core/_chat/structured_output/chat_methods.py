"""Structured output of a chat: data of a type, complete or partial."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ...conversation.cancellation import StreamController
from ...conversation.settings import Settings
from ...errors import UsageError
from ...wire.structured_output import StructuredMode
from ..async_stream import AsyncStream
from ..base import ChatBase, Input, Shown
from ..echo import EchoMode, echo_mode

if TYPE_CHECKING:
    from ...schemas.data_frames import Library
    from .validated_answer import Structured

__all__ = ["StructuredChat"]

T = TypeVar("T")


class StructuredChat(ChatBase):
    """The part of `Chat` for structured output."""

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
        """Works as `chat()`, but the last answer is data of a type.

        The provider is asked in the first way that its model and this schema allow: `"native"` (the API enforces the schema),
        `"tool"` (the answer is a tool call), or `"prompt"` (the prompt describes the JSON).

        Args:
            *inputs: As in `chat()`.
            type: The type: a `type_…()`, a Python type, or a model class.
            convert: Whether the data are validated and converted to `type`. Default: `True`. Otherwise they are the JSON
                value.
            frame: `"pandas"` or `"polars"` turns an array of objects into a data frame; `None` (default) does not.
            mode: `"native"`, `"tool"` or `"prompt"` selects the way; `None` (default) selects the first that works.
            max_retries: How often invalid data are requested again, with the error. Default: 1.
            params: As in `chat()`.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`.

        Returns:
            The data.

        Raises:
            ConversionError: The data do not fit the type, after all retries.
            IncompleteResponseError: The answer was cut at a limit.
            UsageError: The schema cannot be requested; nothing was sent.

        Examples:
            >>> person = type_object(name=type_string(), born=type_integer())
            >>> chat_openai().chat_structured("Who wrote the first program?", type=person)
            {'name': 'Ada Lovelace', 'born': 1815}
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
        """Works as `chat_structured()`, for async code.

        Args:
            *inputs: As in `chat()`.
            type: As in `chat_structured()`.
            convert: As in `chat_structured()`. Default: `True`.
            frame: As in `chat_structured()`.
            mode: As in `chat_structured()`.
            max_retries: As in `chat_structured()`. Default: 1.
            params: As in `chat()`.
            echo: As in `chat()`. Default: `"none"`.
            tool_mode: As in `chat()`, but `"concurrent"` by default.

        Returns:
            The data.
        """
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
        """Works as `chat_structured()`, but yields the data while they arrive.

        Fields that have not arrived have their default, or `None`; lists and texts grow. The last object is complete and
        validated. When an answer is requested again, the data start anew. Nothing is sent before the first `next()`.

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
        """Returns the plan of a conversation for data. Raises `UsageError` if the mode does not work."""
        if not isinstance(max_retries, int) or max_retries < 0:
            raise UsageError(f"max_retries= must be a whole number, 0 or more, not {max_retries!r}.")
        plan = self._plan(type=wanted.sent, **how)
        plan.wire.structured_mode(wanted.sent, list(self._tools.values()), mode)
        return replace(plan, mode=mode, check=wanted.problem, max_retries=max_retries)


def _structured(type: Any, *, convert: bool = True, frame: Library | None = None) -> Structured:
    from .validated_answer import Structured  # noqa: PLC0415 - what reads types takes long to load

    return Structured(type, convert=convert, frame=frame)
