"""The values that `types.py` makes and that the wire formats write in their dialects of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Type", "TypeArray", "TypeBasic", "TypeEnum", "TypeJsonSchema", "TypeObject"]


@dataclass(frozen=True)
class Type:
    """Base class. `description` is for the model; `required` counts inside an object only."""

    description: str | None = None
    required: bool = True


@dataclass(frozen=True)
class TypeBasic(Type):
    """`boolean`, `integer`, `number` or `string`."""

    type: Literal["boolean", "integer", "number", "string"] = "string"


@dataclass(frozen=True)
class TypeEnum(Type):
    """One of some strings."""

    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypeArray(Type):
    """A list of `items`."""

    items: Type = field(default_factory=TypeBasic)


@dataclass(frozen=True)
class TypeObject(Type):
    """Named properties, in order."""

    properties: Mapping[str, Type] = field(default_factory=dict)
    additional_properties: bool = False


@dataclass(frozen=True)
class TypeJsonSchema(Type):
    """JSON Schema given by the caller, sent as it is."""

    schema: Mapping[str, Any] = field(default_factory=dict)
