"""The arguments of tools that are described in JSON Schema by others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from .python_types import known_type
from .type_classes import Type, TypeJsonSchema, TypeObject
from .type_functions import to_json_schema

__all__ = ["arguments_of"]


def arguments_of(schema: Mapping[str, Any]) -> TypeObject:
    """Returns the arguments of a tool. An object of JSON Schema is open unless it says so; to a model the
    properties that are named are all there are. What our types cannot say (`oneOf` at the root, say) is left
    to the server to check.
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
    """Returns the type; one that refers to what is not there leaves open what it is."""
    try:
        to_json_schema(TypeObject(properties={"it": type}))
    except (UsageError, RecursionError):
        return TypeJsonSchema(type.description, type.required)
    return type
