"""Data held against a JSON Schema, by the package `jsonschema`, which is imported when a schema is met."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ConversionError, UsageError
from .definitions import referred

__all__ = ["check_data", "check_schema", "without_optional_nulls"]

Json = Mapping[str, Any]


def check_schema(schema: Json) -> None:
    """Raises `UsageError` for what is no JSON Schema."""
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - imported when first needed

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise UsageError(f"That is no JSON Schema: `{error.json_path}`: {error.message}") from error


def check_data(data: Any, schema: Json) -> None:
    """Raises `ConversionError` for data that do not fit, with the path of each problem."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - imported when first needed

    problems = Draft202012Validator(schema).iter_errors(data)
    said = [f"`value{error.json_path[1:]}`: {error.message:.200}" for error in problems]
    if said:
        raise ConversionError("; ".join(said[:10]))


def without_optional_nulls(data: Any, schema: Json, document: Json | None = None) -> Any:
    """A null for what is optional means that it was left out (strict modes cannot leave out)."""
    document = schema if document is None else document
    schema = referred(schema, document)
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(option, Mapping) and _speaks_of(data, referred(option, document)):
            data = without_optional_nulls(data, option, document)
    match data:
        case list() if isinstance(items := schema.get("items"), Mapping):
            return [without_optional_nulls(item, items, document) for item in data]
        case dict() if isinstance(named := schema.get("properties"), Mapping):
            return {
                name: without_optional_nulls(value, inner, document) if isinstance(inner, Mapping) else value
                for name, value in data.items()
                if isinstance(inner := named.get(name, {}), Mapping | bool)
                and not (value is None and name not in schema.get("required", ()) and _excludes_null(inner))
            }
    return data


def _excludes_null(schema: Json | bool) -> bool:
    if isinstance(schema, bool):
        return False
    said = schema.get("type")
    types = said if isinstance(said, list) else [said]
    options = [option for option in schema.get("anyOf", ()) if isinstance(option, Mapping)]
    says = said is not None or "$ref" in schema or bool(options)
    return says and "null" not in types and all(map(_excludes_null, options))


def _speaks_of(data: Any, schema: Json) -> bool:
    """Whether an option of a choice may be the one that the data are of."""
    if isinstance(data, dict):
        return set(schema.get("properties", ())) >= data.keys()
    return isinstance(data, list) and "items" in schema
