"""Reads a tool's description from a Python function: parameters, type hints and docstring.

Hints may be strings (`from __future__ import annotations`). Docstrings may be in the style of Google, NumPy or
Sphinx. The model never sees `*args`, `**kwargs` and the arguments that a `functools.partial` has bound.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from inspect import Parameter
from typing import Annotated, Any, Optional, get_type_hints

from ..errors import UsageError
from ..schemas.type_classes import Type, TypeJsonSchema, TypeObject
from ..schemas.type_functions import inner_type
from .context import ToolContext, is_context

__all__ = ["Signature", "has_default", "is_field", "parameters"]

DOCUMENTED: dict[str | None, Any] = {
    "bool": bool, "boolean": bool, "int": int, "integer": int,
    "float": float, "number": float, "str": str, "string": str,
}  # fmt: skip


def parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Returns the parameters of a function. Raises `UsageError` if Python does not know them (some builtins)."""
    bound = function.keywords if isinstance(function, partial) else {}
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise UsageError(f"The parameters of {function!r} are unknown. Wrap it in a function.") from error
    return {name: p for name, p in known.items() if name not in bound}


@dataclass(frozen=True)
class Signature:
    """The part of a function that the model sees; `names` resolves hints that are local to the caller."""

    function: Callable[..., Any]
    names: Mapping[str, Any]

    @property
    def named(self) -> dict[str, Parameter]:
        """The parameters that a model can set, by name."""
        many = {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
        given = {name: p for name, p in parameters(self.function).items() if p.kind not in many}
        return {name: p for name, p in given.items() if not is_context(self._resolved(p.annotation))}

    @property
    def context(self) -> str | None:
        """The parameter that takes the `ToolContext` of the call."""
        given = parameters(self.function).items()
        return next((name for name, p in given if is_context(self._resolved(p.annotation))), None)

    def _resolved(self, hint: Any) -> Any:
        """Returns a hint, resolved if it is text that names a context. Other hints stay the same."""
        if not isinstance(hint, str):
            return hint
        scope = getattr(inspect.unwrap(_written(self.function)), "__globals__", {})
        with suppress(Exception):
            return eval(hint, scope, dict(self.names))  # noqa: S307 - the author's own annotation
        named = re.fullmatch(
            r"(\w+\.)*ToolContext(\[.*\])?( *\| *None)?", hint
        )  # imported for type checkers only
        return ToolContext if named else hint

    @property
    def open(self) -> bool:
        """Whether it takes arguments of any name."""
        return any(p.kind is Parameter.VAR_KEYWORD for p in parameters(self.function).values())

    def hints(self) -> dict[str, Any]:
        """Returns the type hints of the named parameters that have one."""
        hints = self._all_hints()
        return {name: _hint(hints[name], p) for name, p in self.named.items() if name in hints}

    def _all_hints(self) -> dict[str, Any]:
        resolve, scope = self._hinted()
        with suppress(NameError):
            return get_type_hints(resolve, scope, include_extras=True)
        try:  # only then: a name means first what it means where the function stands
            return get_type_hints(resolve, scope, dict(self.names), include_extras=True)
        except NameError as error:
            raise UsageError(f"A type hint of {self.function!r} cannot be resolved: {error}.") from error

    def _hinted(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Returns a function with the hints of the named parameters only, and the names for resolving them. The
        return type is left out, because it may be imported only for type checkers.
        """
        written = _written(self.function)
        hints = getattr(written, "__annotations__", {})

        def bearer() -> None: ...

        bearer.__annotations__ = {name: hint for name, hint in hints.items() if name in self.named}
        return bearer, getattr(inspect.unwrap(written), "__globals__", {})

    def description(self) -> str:
        """Returns the docstring before its parameters; `""` if there is none."""
        return (self._documentation().description or "").strip()

    def arguments(self) -> TypeObject:
        """Returns the named parameters as a type. Parameters with a default are optional."""
        hints, documented = self.hints(), {p.arg_name: p for p in self._documentation().params}
        properties = {}
        for name, parameter in self.named.items():
            documentation = documented.get(name)
            hint = hints.get(name, _implied(parameter, documentation))
            if hint is Parameter.empty:
                raise UsageError(
                    f"Argument `{name}` of {self.function!r} has no type hint; add one or use arguments=. "
                    "(For a method, use the bound method: tool(object.method).)"
                )
            argument = inner_type(hint, f"argument `{name}`", required=not has_default(parameter))
            said = _said(hint) or getattr(documentation, "description", None)
            properties[name] = _described(argument, _with_default(said, parameter))
        return TypeObject(properties=properties)

    def _documentation(self) -> Any:
        import docstring_parser  # noqa: PLC0415 - imported when first needed

        return docstring_parser.parse(inspect.getdoc(_whole(self.function)) or "")


def has_default(parameter: Parameter) -> bool:
    """Tells whether a parameter is optional. A default may be pydantic's `Field(…)`, with or without a value."""
    default = parameter.default
    return default is not Parameter.empty and not (is_field(default) and default.is_required())


def is_field(default: Any) -> bool:
    """Tells whether a default is pydantic's `Field(…)`, without importing pydantic."""
    return type(default).__name__ == "FieldInfo"


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, partial):
        function = function.func
    return function


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function that has the hints."""
    function = _whole(function)
    if inspect.isclass(function):
        return function.__init__
    return function if inspect.isroutine(function) else type(function).__call__


def _hint(hint: Any, parameter: Parameter) -> Any:
    if is_field(parameter.default):
        return Annotated[hint, parameter.default]
    return Optional[hint] if parameter.default is None else hint  # noqa: UP045 - `|` does not take every hint


def _implied(parameter: Parameter, documentation: Any) -> Any:
    """Returns the type of an argument without a hint, from its default or the docstring."""
    if type(parameter.default) in DOCUMENTED.values():
        return type(parameter.default)
    return DOCUMENTED.get(getattr(documentation, "type_name", None), Parameter.empty)


def _said(hint: Any) -> str | None:
    """Returns the description in `Annotated[int, "How many."]` or `Annotated[int, Field(description="How
    many.")]`.
    """
    for said in getattr(hint, "__metadata__", ()):
        text = said if isinstance(said, str) else getattr(said, "description", None)
        if isinstance(text, str):
            return text
    return None


def _with_default(description: str | None, parameter: Parameter) -> str | None:
    """Returns the description with the default, if that is a plain value."""
    default = parameter.default.default if is_field(parameter.default) else parameter.default
    default = default.value if isinstance(default, Enum) else default
    if not has_default(parameter) or type(default) not in (bool, int, float, str, list, dict):
        return description
    try:
        written = json.dumps(default, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        return description
    if "default" in (description or "").lower():
        return description
    return f"{(description or '').rstrip()} Default: {written}.".lstrip()


def _described(type: Type, description: str | None) -> Type:
    if not description:
        return type
    if isinstance(type, TypeJsonSchema):
        type = replace(type, schema={**type.schema, "description": description})
    return replace(type, description=description)
