"""Types of tool arguments and structured output: JSON Schema from and to Python.

The `type_*` functions take the description first. Each type argument may also be a Python type: `int`, `list[str]`,
an `Enum`, a dataclass, a `TypedDict`, a pydantic model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.budget import SETTINGS
from ..base.regular_files import file_bytes
from ..errors import UsageError
from .json_schema import Definitions
from .python_types import convert, known_type, type_of
from .type_classes import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject

__all__ = [
    "Type", "TypeArray", "TypeBasic", "TypeEnum", "TypeJsonSchema", "TypeObject", "convert", "to_json_schema",
    "type_array", "type_boolean", "type_enum", "type_from_schema", "type_integer", "type_number",
    "type_object", "type_of", "type_string",
]  # fmt: skip


def type_boolean(description: str | None = None, required: bool = True) -> TypeBasic:
    """Describes a value that is true or false.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Examples:
        >>> type_boolean("Whether it rains").type
        'boolean'
    """
    return TypeBasic(_description("type_boolean", description), required, "boolean")


def type_integer(description: str | None = None, required: bool = True) -> TypeBasic:
    """Describes a whole number.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Examples:
        >>> type_integer("Year").type
        'integer'
    """
    return TypeBasic(_description("type_integer", description), required, "integer")


def type_number(description: str | None = None, required: bool = True) -> TypeBasic:
    """Describes a number.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Examples:
        >>> type_number("Degrees Celsius").type
        'number'
    """
    return TypeBasic(_description("type_number", description), required, "number")


def type_string(description: str | None = None, required: bool = True) -> TypeBasic:
    """Describes a text. For dates and the like, name the format in the description.

    Args:
        description: Description for the model; `None` (default) sends none.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Examples:
        >>> type_string("A date, YYYY-MM-DD").type
        'string'
    """
    return TypeBasic(_description("type_string", description), required, "string")


def type_enum(
    description: str | None = None, values: Sequence[str] | None = None, required: bool = True
) -> TypeEnum:
    """Describes one of several strings.

    Args:
        description: Description for the model; `None` (default) sends none.
        values: The strings. It has no usable default: without it, `UsageError` is raised.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Raises:
        UsageError: `values` is missing or wrong.

    Examples:
        >>> type_enum("Unit", ["C", "F"]).values
        ('C', 'F')
    """
    _description("type_enum", description, "values=")
    if values is None or isinstance(values, str) or not all(isinstance(v, str) for v in values):
        raise UsageError(f"type_enum() needs values=, a list of strings; it got {values!r}.")
    if not values or len(set(values)) < len(values):
        raise UsageError(
            f"The values of type_enum() must be one or more different strings; it got {values!r}."
        )
    return TypeEnum(description, required, tuple(values))


def type_array(description: str | None = None, items: Any = None, required: bool = True) -> TypeArray:
    """Describes a list.

    Args:
        description: Description for the model; `None` (default) sends none.
        items: Type of each item: a `type_…()` or a Python type. It has no usable default: without it, `UsageError` is raised.
        required: Whether the property of an object is required. Default: `True`. If it describes a tool's
            argument and is not required, the tool's function must give that parameter a default.

    Returns:
        The type.

    Raises:
        UsageError: `items` is missing or wrong.

    Examples:
        >>> type_array("Cities", type_string()).items.type
        'string'
    """
    _description("type_array", description, "items=")
    if items is None:
        raise UsageError("type_array() needs items=, the type of its items: type_array(items=type_string()).")
    return TypeArray(description, required, inner_type(items, "items="))


def type_object(
    description: str | None = None,
    /,
    *,
    _required: bool = True,
    _additional_properties: bool = False,
    **properties: Any,
) -> TypeObject:
    """Describes an object with named properties. A property may have any name, also that of a parameter:
    `type_object(description=type_string())`.

    Args:
        description: Description for the model; `None` (default) sends none.
        _required: Whether the property of an object is required. Default: `True`.
        _additional_properties: Whether other properties are allowed; few providers allow them. Default: `False`.
        **properties: The types of the properties.

    Returns:
        The type.

    Examples:
        >>> list(type_object("A person", name=type_string(), born=type_integer()).properties)
        ['name', 'born']
    """
    _description("type_object", description)
    named = {"_required": _required, "_additional_properties": _additional_properties}
    properties |= {name: value for name, value in named.items() if not isinstance(value, bool)}
    inner = {name: inner_type(value, f"property `{name}`") for name, value in properties.items()}
    return TypeObject(description, _required is not False, inner, _additional_properties is True)


def type_from_schema(
    text: str | Mapping[str, Any] | None = None, path: str | Path | None = None
) -> TypeJsonSchema:
    """Describes a value by JSON Schema.

    Args:
        text: The schema, as JSON text or as a dictionary. Default: `None`.
        path: Path of a file with the schema, instead of `text`. Default: `None`.

    Returns:
        The type. It is sent unchanged, except for keywords that the provider refuses.

    Raises:
        UsageError: The text is not a JSON Schema, or both or neither of `text` and `path` are given.

    Examples:
        >>> type_from_schema('{"type": "string"}').schema
        {'type': 'string'}
        >>> type_from_schema({"type": "string"}).schema
        {'type': 'string'}
    """
    if (text is None) == (path is None):
        raise UsageError("type_from_schema() needs either text= (JSON Schema as a string) or path= (a file).")
    source = "text=" if path is None else str(path)
    schema = dict(text) if isinstance(text, Mapping) else _read_schema(text, path, source)
    if not isinstance(schema, dict):
        raise UsageError(f"A JSON Schema is an object; {source} holds {type(schema).__name__}.")
    return TypeJsonSchema(schema.get("description"), schema=schema)


def _read_schema(text: str | None, path: str | Path | None, source: str) -> Any:
    try:
        return json.loads(file_bytes(path, SETTINGS.received).decode() if path is not None else text or "")
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{source} does not contain a JSON Schema: {error!s:.200}") from error


def to_json_schema(type: Type) -> dict[str, Any]:
    """Returns `type` as JSON Schema with a fixed key order. The wire formats have their own dialects."""
    if isinstance(type, TypeJsonSchema):
        return dict(type.schema)
    definitions = Definitions()
    return definitions.rooted(_json_schema(type, definitions))


def _json_schema(type: Type, definitions: Definitions) -> dict[str, Any]:
    match type:
        case TypeJsonSchema():
            return definitions.embedded(type.schema)
        case TypeBasic():
            return _described(type, type.type)
        case TypeEnum():
            return _described(type, "string") | {"enum": list(type.values)}
        case TypeArray():
            return _described(type, "array") | {"items": _json_schema(type.items, definitions)}
        case TypeObject():
            return _described(type, "object") | {
                "properties": {name: _json_schema(t, definitions) for name, t in type.properties.items()},
                "required": [name for name, t in type.properties.items() if t.required],
                "additionalProperties": type.additional_properties,
            }
    raise UsageError(f"{type!r} cannot be described as JSON Schema.")


def inner_type(value: Any, where: str, *, required: bool = True) -> Type:
    """Returns the type of an argument: a `Type`, or a Python type that JSON Schema can describe in place."""
    if value is None or isinstance(value, (str, bytes, int, float, list, dict)):
        hint = " A description comes first and without a name." if where.startswith("property") else ""
        raise UsageError(f"{where} must be a type (type_string(), int, a model …), not {value!r}.{hint}")
    try:
        return type_of(value, required=required)
    except UsageError as error:
        raise UsageError(f"{where} must be a type: {error}") from error


def _described(type: Type, name: str) -> dict[str, Any]:
    return {"type": name} | ({} if type.description is None else {"description": type.description})


def _description(function: str, description: object, instead: str = "") -> str | None:
    if description is None or isinstance(description, str):
        return description
    hint = f"; write {function}({instead}…)" if instead else ""
    raise UsageError(
        f"The first argument of {function}() must be the description, not {description!r}{hint}."
    )


# --- schemas of tools from elsewhere ---------------------------------------------------------------------


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
    converted = {k: _whole(t) for k, t in types.items()}
    return TypeObject(schema.get("description"), True, converted, not properties)


def _whole(type: Type) -> Type:
    """Returns the type. A type with an unresolved reference allows any value."""
    try:
        to_json_schema(TypeObject(properties={"it": type}))
    except (UsageError, RecursionError):
        return TypeJsonSchema(type.description, type.required)
    return type
