"""Structured output of a chat: complete data of a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ...conversation.settings import Settings
from ...errors import UsageError
from ...wire.base import StructuredMode
from ..base import ChatBase, Input
from ..echo import EchoMode, echo_mode

if TYPE_CHECKING:
    from ...schemas.data_frames import Library
    from .validated_answer import Structured

__all__ = ["StructuredChat", "structured"]

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
        wanted = structured(type, convert=convert, frame=frame)
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
        wanted = structured(type, convert=convert, frame=frame)
        settings = self._plan_data(
            wanted, mode, max_retries, stream=echo != "none", tool_mode=tool_mode, params=params
        )
        await self._aexhaust(inputs, echo_mode(echo), settings)
        return wanted.value(self._answer)

    def _plan_data(
        self, wanted: Structured, mode: StructuredMode | None, max_retries: int, **how: Any
    ) -> Settings:
        """Returns the plan of a conversation for data. Raises `UsageError` if the mode does not work."""
        if not isinstance(max_retries, int) or max_retries < 0:
            raise UsageError(f"max_retries= must be a whole number, 0 or more, not {max_retries!r}.")
        plan = self._plan(type=wanted.sent, **how)
        plan.wire.structured_mode(wanted.sent, list(self._tools.values()), mode)
        return replace(plan, mode=mode, check=wanted.problem, max_retries=max_retries)


def structured(type: Any, *, convert: bool = True, frame: Library | None = None) -> Structured:
    from .validated_answer import Structured  # noqa: PLC0415 - what reads types takes long to load

    return Structured(type, convert=convert, frame=frame)
