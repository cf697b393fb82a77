"""Tools: Python functions that the model may call.

    @tool
    def get_weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        '''Get the weather now.

        Args:
            city: Name of the city.
        '''

`tool()` makes the description from signature, hints and docstring, or takes it from the caller.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, Protocol, TypeVar, overload

from ..contents.content import ContentToolRequest, ToolDef, in_words
from ..errors import ToolReject, UsageError
from ..schemas.type_classes import TypeObject
from ..schemas.type_functions import inner_type
from .signature_and_docstring import Signature, has_default

__all__ = ["tool", "tool_annotations", "tool_reject"]

Approval = bool | Callable[[dict[str, Any]], bool]
P = ParamSpec("P")
R = TypeVar("R")


if TYPE_CHECKING:

    class FunctionTool(ToolDef, Generic[P, R]):
        """A `ToolDef` that type checkers can call like its function."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class Decorator(Protocol):
    """The type of `tool(name=…)`, which makes a tool of a function."""

    def __call__(self, function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    function: Callable[P, R],
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
) -> FunctionTool[P, R]: ...
@overload
def tool(
    function: None = None,
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
) -> Decorator: ...
def tool(
    function: Callable[..., Any] | None = None,
    description: str | None = None,
    *,
    name: str | None = None,
    arguments: Mapping[str, Any] | TypeObject | None = None,
    convert: bool = True,
    annotations: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    request: type[ContentToolRequest] = ContentToolRequest,
    needs_approval: Approval | None = None,
) -> Any:
    """Makes a tool of a function. It also works as a decorator: `@tool` or `@tool(name="…")`.

    Args:
        function: The function. It may be async, or a generator whose last value is the result. It returns what
            `check_tool_result()` accepts. A parameter of type `ToolContext` receives the context of the call.
        description: Description for the model. Default: the function's docstring.
        name: Name for the model. Default: the function's name.
        arguments: A type for each parameter, `type_string("…")` or a Python type. Default: the signature.
        convert: Whether the arguments are validated and converted to those types. Default: `True`.
        annotations: What people and programs may want to know, from `tool_annotations()`.
        timeout: Seconds after which a call becomes an error result; a blocking function continues in its thread.
            `None` (default) means no limit.
        request: Subclass of `ContentToolRequest` for requests of this tool, with a title or display of its own. It
            is made from the fields of its base class.
        needs_approval: Whether a person decides about each call: `True`, or a function of the arguments (a
            dictionary). Default: `False`.

    Returns:
        The tool; as a decorator, a decorator that returns it.

    Raises:
        UsageError: The function has no name or a parameter without a type.

    Examples:
        >>> def add(a: int, b: int) -> int:
        ...     "Adds two numbers."
        ...     return a + b
        >>> tool(add).description
        'Adds two numbers.'
    """
    if needs_approval is not None:
        annotations = {**(annotations or {}), "needs_approval": needs_approval}
    local = sys._getframe(1).f_locals  # noqa: SLF001 - type hints may name what is local to the caller
    given = _Given(description, name, arguments, convert, annotations or {}, timeout, request, local)
    return given.tool if function is None else given.tool(function)


def tool_annotations(
    title: str | Callable[[dict[str, Any]], str] | None = None,
    *,
    read_only_hint: bool | None = None,
    open_world_hint: bool | None = None,
    idempotent_hint: bool | None = None,
    destructive_hint: bool | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Collects annotations of a tool for people and programs. The model never sees them.

    The names are those of the Model Context Protocol:
    <https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations>.

    Args:
        title: Title for people; it may be a function of the arguments.
        read_only_hint: Whether the tool only reads.
        open_world_hint: Whether it reaches an open world, such as the web.
        idempotent_hint: Whether a repeated call changes nothing more.
        destructive_hint: Whether it may destroy something.
        **extra: Other annotations.

    Returns:
        The annotations that are not `None`.

    Examples:
        >>> tool_annotations("Delete a file", destructive_hint=True)["title"]
        'Delete a file'
    """
    hints = {
        "title": title,
        "read_only_hint": read_only_hint,
        "open_world_hint": open_world_hint,
        "idempotent_hint": idempotent_hint,
        "destructive_hint": destructive_hint,
    }
    return {name: value for name, value in (hints | extra).items() if value is not None}


def tool_reject(reason: str = "The user has chosen to disallow the tool call.") -> NoReturn:
    """Rejects a tool call, from inside the tool or from a callback.

    Args:
        reason: What the model is told.

    Raises:
        ToolReject: Always.

    Examples:
        >>> def delete(path: str) -> str:
        ...     "Deletes a file."
        ...     tool_reject("Files are never deleted.")
    """
    raise ToolReject(f"Tool call rejected. {reason}")


@dataclass(frozen=True)
class _Given:
    """The arguments of `tool()` except the function."""

    description: str | None
    name: str | None
    arguments: Mapping[str, Any] | TypeObject | None
    convert: bool
    annotations: Mapping[str, Any]
    timeout: float | None
    request: type[ContentToolRequest]
    local: Mapping[str, Any]

    def tool(self, function: Callable[..., Any]) -> ToolDef:
        if isinstance(function, ToolDef) or not callable(function):
            raise UsageError(f"The first argument of tool() must be a function, not {function!r}.")
        if not (isinstance(self.request, type) and issubclass(self.request, ContentToolRequest)):
            raise UsageError(f"request= must be a subclass of ContentToolRequest, not {self.request!r}.")
        name = _checked_name(self.name or _name_of(function))
        signature = Signature(function, self.local)
        arguments = self.arguments
        return ToolDef(
            function,
            name,
            self.description or signature.description() or in_words(name),
            signature.arguments() if arguments is None else _checked_arguments(name, arguments, signature),
            self.convert,
            dict(self.annotations),
            self.timeout,
            signature.hints(),
            self.request,
            signature.context,
        )


def _name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise UsageError(
            f"A tool's name has 1 to 64 letters (A-Z), digits, _ and -; {name!r} is not valid. Set name=."
        )
    return name


def _checked_arguments(
    tool: str, arguments: Mapping[str, Any] | TypeObject, signature: Signature
) -> TypeObject:
    """Returns `arguments` if they agree with the parameters of the function."""
    given = arguments.properties if isinstance(arguments, TypeObject) else arguments
    named = signature.named
    extra = [] if signature.open else [name for name in given if name not in named]
    missing = [name for name in named if name not in given]
    if extra or missing:
        raise UsageError(
            f"The names of `arguments` must match the parameters of tool `{tool}`."
            + (f" Extra: {', '.join(map(repr, extra))}." if extra else "")
            + (f" Missing: {', '.join(map(repr, missing))}." if missing else "")
        )
    types = {name: inner_type(type, f"arguments[{name!r}]") for name, type in given.items()}
    for name, type in types.items():
        if not type.required and name in named and not has_default(named[name]):
            raise UsageError(
                f"Argument `{name}` of tool `{tool}` is optional, so the function needs a default for it."
            )
    return arguments if isinstance(arguments, TypeObject) else TypeObject(properties=types)
