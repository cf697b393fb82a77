"""The tools of a chat, and the callbacks around their calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..contents.content import ContentToolRequest, ContentToolResult, ToolDef
from ..contents.turns import Turn
from ..errors import UsageError

if TYPE_CHECKING:
    from ..tools.definition import FunctionTool

__all__ = ["ToolRegistry"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Callback = Callable[[T], Awaitable[object] | object]


class ToolRegistry:
    """The part of a `Chat` that has tools."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolDef] = {}
        self._on_request: list[Callback[ContentToolRequest]] = []
        self._on_result: list[Callback[ContentToolResult]] = []
        self._on_history: list[Callable[[list[Turn]], Iterable[Turn]]] = []

    def register_tool(self, tool_def: Callable[P, R]) -> FunctionTool[P, R]:
        """Registers a tool. It replaces a tool of the same name, and works as a decorator.

        Args:
            tool_def: A tool, or a function that `tool()` can make one of.

        Returns:
            The tool.

        Raises:
            UsageError: The function has a parameter without a type, or its name is not allowed.
        """
        from ..tools.definition import tool  # noqa: PLC0415 - it takes long to load, and many chats have no tools

        definition: Any = tool_def if isinstance(tool_def, ToolDef) else tool(tool_def)
        self._tools[definition.name] = definition
        return definition  # type: ignore[no-any-return]  # a class for type checkers only

    def register_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Registers several tools, or none if one of them is not a tool.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.
        """
        new = ToolRegistry()
        for one in tools:
            new.register_tool(one)
        self._tools.update(new._tools)

    def set_tools(self, tools: Iterable[ToolDef | Callable[..., Any]]) -> None:
        """Replaces all tools.

        Args:
            tools: The tools, or functions.

        Raises:
            UsageError: One of them is not a tool.
        """
        new = ToolRegistry()
        new.register_tools(tools)
        self._tools.clear()
        self._tools.update(new._tools)

    def get_tools(self) -> dict[str, ToolDef]:
        """Returns the tools by name."""
        return dict(self._tools)

    def on_tool_request(self, callback: Callback[ContentToolRequest]) -> Callable[[], None]:
        """Calls a function before each tool call.

        Args:
            callback: The function; it receives the `ContentToolRequest` and may raise `ToolReject` (see `tool_reject()`). An
                async function works only in async calls.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_request, callback)

    def on_tool_result(self, callback: Callback[ContentToolResult]) -> Callable[[], None]:
        """Calls a function after each tool call, also after one that was rejected.

        Args:
            callback: The function; it receives the `ContentToolResult`. An async function works only in async calls.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_result, callback)

    def on_history(self, callback: Callable[[list[Turn]], Iterable[Turn]]) -> Callable[[], None]:
        """Calls a function before each request. The turns that it returns are sent instead of the history, which does not
        change.

        Args:
            callback: The function; it receives the list of turns.

        Returns:
            A function that removes the callback.
        """
        return _registered(self._on_history, callback)


def _registered(callbacks: list[F], callback: F) -> Callable[[], None]:
    if not callable(callback):
        raise UsageError(f"A callback must be a function of one argument, not {callback!r}.")
    callbacks.append(callback)
    there = [callback]

    def remove() -> None:
        while there:  # once: the same function may have been registered twice
            callbacks.remove(there.pop())

    return remove
