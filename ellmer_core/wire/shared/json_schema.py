"""Types as JSON Schema, plain and in the strict dialect of OpenAI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.type_values import TypeObject
from ...schemas.types import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema
from .json_bodies import json_text
from .schema_dialects import OPENAI

__all__ = ["closed", "in_words", "json_schema", "strict_schema"]

Json = dict[str, Any]


def json_schema(type: Type, *, strict: bool = False) -> Json:
    """JSON Schema. `strict` is OpenAI's dialect: every property is required, an optional one may be null.

    Definitions (`$defs`) of parts are the whole's: what refers to them starts at the root.
    """
    defs: Json = {}
    schema = _lifted(_schema(type, strict=strict), defs)
    return {**schema, "$defs": defs} if defs else schema


def _lifted(schema: Any, defs: Json) -> Any:
    """The schema without the definitions inside it, which are collected in `defs`."""
    if isinstance(schema, list):
        return [_lifted(item, defs) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    own = schema.get("$defs")
    if isinstance(own, Mapping) and all(defs.get(name, inner) == inner for name, inner in own.items()):
        schema = {key: value for key, value in schema.items() if key != "$defs"}
        defs.update(own)
    return {key: _lifted(value, defs) for key, value in schema.items()}


def _schema(type: Type, *, strict: bool) -> Json:
    match type:
        case TypeBasic():
            schema: Json = {"type": type.type}
        case TypeEnum():
            schema = {"type": "string", "enum": list(type.values)}
        case TypeArray():
            schema = {"type": "array", "items": _schema(type.items, strict=strict)}
        case TypeObject():
            schema = _object(type, strict=strict)
        case TypeJsonSchema():
            schema = dict(type.schema)
        case _:
            raise TypeError(f"{type!r} is not a supported type")
    if type.description:
        schema["description"] = type.description
    return schema


def in_words(type: Type) -> str:
    """Structured output, asked for where there is no parameter for it."""
    return f"Answer only with JSON according to this JSON Schema: {json_text(json_schema(type))}"


def _object(type: TypeObject, *, strict: bool) -> Json:
    properties = {}
    for name, inner in type.properties.items():
        schema = _schema(inner, strict=strict)
        properties[name] = _nullable(schema) if strict and not inner.required else schema
    required = [name for name, inner in type.properties.items() if strict or inner.required]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": type.additional_properties,
    }


def _nullable(schema: Json) -> Json:
    if not isinstance(schema.get("type"), str) or "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def strict_schema(type: Type) -> tuple[Json, bool]:
    """OpenAI's strict dialect and `True`; for a type that it cannot say, plain JSON Schema and `False`."""
    schema = OPENAI.say(json_schema(type, strict=True))
    return (schema, True) if closed(schema) else (json_schema(type), False)


#: What a schema in OpenAI's strict dialect must say one of, and what it must not say.
_SAYS = frozenset({"type", "$ref", "anyOf", "enum", "const"})
_UNSTRICT = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "contains", "uniqueItems", "prefixItems", "propertyNames"}
    | {"patternProperties", "unevaluatedProperties", "unevaluatedItems", "minProperties", "maxProperties"}
    | {"dependentSchemas", "dependentRequired"}
)


def closed(schema: object) -> bool:
    """Whether OpenAI takes the schema as strict: each schema in it has a type, in words that the dialect knows,
    and every object is closed and requires all it names."""
    if not isinstance(schema, Mapping) or not schema.keys() & _SAYS or schema.keys() & _UNSTRICT:
        return False
    said = schema.get("type")
    types: list[Any] = said if isinstance(said, list) else [said]
    named: Mapping[str, Any] = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False and set(named) == set(schema.get("required", ()))
    if not whole and ("object" in types or "properties" in schema):
        return False
    items = [schema.get("items")] if "array" in types else []
    return all(
        map(closed, [*named.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ()), *items])
    )
