"""The type values of `type_functions.py`, which wire formats write in their dialects of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..base.values import Value
from ..errors import UsageError

__all__ = ["Type", "TypeArray", "TypeBasic", "TypeEnum", "TypeJsonSchema", "TypeObject"]


@dataclass(frozen=True, eq=False, repr=False)
class Type(Value):
    """Base class of types of arguments and structured data.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.

    Examples:
        >>> type_string("A city").description
        'A city'
    """

    description: str | None = None
    required: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.required, bool):
            raise UsageError(f"required= is True or False, not {self.required!r}.")


@dataclass(frozen=True, eq=False, repr=False)
class TypeBasic(Type):
    """The type of a single value. `type_string()` and its like make one.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.
        type: `"boolean"`, `"integer"`, `"number"` or `"string"` (default).

    Examples:
        >>> TypeBasic("Degrees Celsius", type="number").type
        'number'
    """

    type: Literal["boolean", "integer", "number", "string"] = "string"


@dataclass(frozen=True, eq=False, repr=False)
class TypeEnum(Type):
    """The type of one of several strings. `type_enum()` makes one.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.
        values: The strings. Default: none.

    Examples:
        >>> TypeEnum(values=("C", "F")).values
        ('C', 'F')
    """

    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class TypeArray(Type):
    """The type of a list. `type_array()` makes one.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.
        items: Type of each item. Default: a string.

    Examples:
        >>> TypeArray(items=TypeBasic(type="integer")).items.type
        'integer'
    """

    items: Type = field(default_factory=TypeBasic)


@dataclass(frozen=True, eq=False, repr=False)
class TypeObject(Type):
    """The type of an object with named properties. `type_object()` makes one.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.
        properties: Types of the properties, in order. Default: empty.
        additional_properties: Whether other properties are allowed. Default: `False`.

    Examples:
        >>> list(TypeObject(properties={"city": TypeBasic()}).properties)
        ['city']
    """

    properties: Mapping[str, Type] = field(default_factory=dict)
    additional_properties: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class TypeJsonSchema(Type):
    """A type as JSON Schema. `type_from_schema()` makes one.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`.
        schema: The JSON Schema; it is sent unchanged, except for keywords that the provider refuses. Default: empty.

    Examples:
        >>> TypeJsonSchema(schema={"type": "string"}).schema["type"]
        'string'
    """

    schema: Mapping[str, Any] = field(default_factory=dict)
