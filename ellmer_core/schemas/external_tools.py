"""The arguments of tools that are described in JSON Schema by others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .python_types import known_type
from .type_values import TypeObject

__all__ = ["arguments_of"]


def arguments_of(schema: Mapping[str, Any]) -> TypeObject:
    """The arguments of a tool. An object of JSON Schema is open unless it says so; to a model the properties that are
    named are all there are. What our types cannot say (`oneOf` at the root, say) is left to the server to check."""
    properties = schema.get("properties") or {}
    closed = {"additionalProperties": False, **schema} if properties else schema
    found = known_type(closed, closed=False)
    if isinstance(found, TypeObject):
        return found
    needed, defs = schema.get("required", ()), {"$defs": schema.get("$defs", {})}
    types = {k: known_type({**defs, **v}, closed=False, required=k in needed) for k, v in properties.items()}
    return TypeObject(schema.get("description"), True, types, not properties)
