"""The arguments of tools whose JSON Schema comes from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from .python_types import known_type
from .type_classes import Type, TypeJsonSchema, TypeObject
from .type_functions import to_json_schema

__all__ = ["arguments_of"]


def arguments_of(schema: Mapping[str, Any]) -> TypeObject:
    """Returns the arguments of a tool. A JSON Schema object is open by default; for the model, only the named
    properties exist. The server checks the rest, such as `oneOf` at the root.
    """
    properties = schema.get("properties") or {}
    closed = {"additionalProperties": False, **schema} if properties else schema
    found = known_type(closed, closed=False)
    if isinstance(found, TypeObject):
        return found
    needed = schema.get("required", ())
    defs = {home: schema[home] for home in ("$defs", "definitions") if isinstance(schema.get(home), Mapping)}
    types = {k: known_type({**defs, **v}, closed=False, required=k in needed) for k, v in properties.items()}
    known = {k: _whole(t) for k, t in types.items()}
    return TypeObject(schema.get("description"), True, known, not properties)


def _whole(type: Type) -> Type:
    """Returns the type. A type with an unresolved reference allows any value."""
    try:
        to_json_schema(TypeObject(properties={"it": type}))
    except (UsageError, RecursionError):
        return TypeJsonSchema(type.description, type.required)
    return type
