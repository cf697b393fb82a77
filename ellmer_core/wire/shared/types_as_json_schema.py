"""Types as JSON Schema, plain and in the strict dialect of OpenAI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...schemas.refs_and_defs import Definitions
from ...schemas.type_classes import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject
from .json_bodies import json_text
from .schema_dialects import OPENAI
from .schema_limits import allows_null, too_large

__all__ = ["closed", "function_schema", "in_words", "json_schema", "strict_schema"]

Json = dict[str, Any]


def json_schema(type: Type, *, strict: bool = False) -> Json:
    """Returns JSON Schema with all definitions at its root. With `strict`, every property of our objects is required,
    and an optional one may be null. Schemas from elsewhere do not change.
    """
    definitions = Definitions()
    return definitions.rooted(_schema(type, definitions, strict=strict))


def _schema(type: Type, definitions: Definitions, *, strict: bool) -> Json:
    match type:
        case TypeBasic():
            schema: Json = {"type": type.type}
        case TypeEnum():
            schema = {"type": "string", "enum": list(type.values)}
        case TypeArray():
            schema = {"type": "array", "items": _schema(type.items, definitions, strict=strict)}
        case TypeObject():
            schema = _object(type, definitions, strict=strict)
        case TypeJsonSchema():
            schema = definitions.embedded(type.schema)
        case _:
            raise TypeError(f"{type!r} is not a supported type")
    if type.description:
        schema["description"] = type.description
    return schema


def in_words(type: Type) -> str:
    """Returns a prompt that asks for structured output, for providers without a parameter."""
    return f"Answer only with JSON according to this JSON Schema: {json_text(json_schema(type))}"


def _object(type: TypeObject, definitions: Definitions, *, strict: bool) -> Json:
    properties = {}
    for name, inner in type.properties.items():
        schema = _schema(inner, definitions, strict=strict)
        properties[name] = _nullable(schema) if strict and not inner.required else schema
    required = [name for name, inner in type.properties.items() if strict or inner.required]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": type.additional_properties,
    }


def _tightened(schema: Any) -> Any:
    """Returns the schema in OpenAI's strict dialect: an object with named properties has no others and requires them
    all (a formerly optional one may be null), a union is `anyOf`, and a reference has no siblings.
    """
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return {k: v if k == "$ref" else _by_name(v) for k, v in schema.items() if k in {"$ref", "$defs"}}
    said = {"anyOf" if k == "oneOf" else k: _within(k, v) for k, v in schema.items() if k != "discriminator"}
    if isinstance(named := said.get("properties"), dict):
        needed = said.get("required", ())
        said["properties"] = {k: v if k in needed else _nullable(v) for k, v in named.items()}
        said["required"] = list(named)
        said.setdefault("additionalProperties", False)
    return said


def _within(keyword: str, value: Any) -> Any:
    if keyword in {"properties", "$defs", "definitions"}:
        return _by_name(value)
    if keyword in {"anyOf", "oneOf"} and isinstance(value, list):
        return list(map(_tightened, value))
    return _tightened(value) if keyword == "items" else value


def _by_name(value: Any) -> Any:
    return {name: _tightened(inner) for name, inner in value.items()} if isinstance(value, Mapping) else value


def _nullable(schema: Json) -> Json:
    if allows_null(schema):
        return schema
    if not isinstance(schema.get("type"), str) or "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def strict_schema(type: Type) -> tuple[Json, bool]:
    """Returns OpenAI's strict dialect and `True`, or plain JSON Schema and `False` for a type that the dialect cannot
    express.
    """
    plain = json_schema(type)
    schema = OPENAI.say(_tightened(plain))
    return (schema, True) if closed(schema) and not too_large(schema) else (plain, False)


def function_schema(type: Type) -> tuple[Json, bool]:
    """Returns the same for a function's arguments. Schemas from elsewhere are not made stricter. `In context=(),
    object schema missing properties.`
    """
    schema = OPENAI.say(json_schema(type, strict=True))
    if closed(schema) and not too_large(schema):
        return schema, True
    plain = json_schema(type)
    return ({**plain, "properties": {}} if "properties" not in plain else plain), False


#: A schema in OpenAI's strict dialect needs one of the first keywords, and none of the second.
_SAYS = frozenset({"type", "$ref", "anyOf", "enum", "const"})
_UNSTRICT = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "contains", "uniqueItems", "prefixItems", "propertyNames"}
    | {"patternProperties", "unevaluatedProperties", "unevaluatedItems", "minProperties", "maxProperties"}
    | {"dependentSchemas", "dependentRequired"}
)


def closed(schema: object) -> bool:
    """Tells whether OpenAI accepts the schema as strict: each schema in it has a type and only supported keywords,
    and every object is closed and requires all its properties.
    """
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
