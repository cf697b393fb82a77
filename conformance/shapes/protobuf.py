"""Converts messages of Google's APIs to JSON schemas, as lenient as protobuf's JSON parser.

The parser accepts numbers as text, enums as numbers or in lower case, one element instead of a list, and null
anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from nodes import Json

NUMBER = r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$"
_FREE = {"Struct", "Value", "ListValue", "Any"}
_TEXT = {"Timestamp", "Duration", "FieldMask"}


def as_read(defs: Mapping[str, Json]) -> dict[str, Json]:
    """Returns schemas of messages with all forms that the parser accepts."""
    return {
        name: _wide(schema) for name, schema in defs.items() if not name.startswith("google.protobuf.")
    } | {name: _well_known(name.rpartition(".")[2]) for name in defs if name.startswith("google.protobuf.")}


def _well_known(name: str) -> Json:
    if name == "Struct":
        return {"type": "object", "additionalProperties": True}
    return {"type": "string"} if name in _TEXT else {}


def _wide(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema:
        return {**schema, "properties": {key: _wide(each) for key, each in schema["properties"].items()}}
    if "enum" in schema:
        return {"anyOf": [schema, {"type": "integer"}]}
    match schema.get("type"):
        case "integer" | "number":
            return {"anyOf": [schema, {"type": "string", "pattern": NUMBER}]}
        case "array":
            item = _wide(schema.get("items", {}))
            return {"anyOf": [{**schema, "items": item}, item]}
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            return {**schema, "additionalProperties": _wide(schema["additionalProperties"])}
        case "string" if schema.get("format") in {"int64", "uint64"}:
            return {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": NUMBER}]}
    return schema


def of_discovery(document: Json) -> dict[str, Json]:
    """Returns the schemas of a discovery document."""
    found = {name: {**schema, "title": name} for name, schema in document["schemas"].items()}
    return as_read({name: _free(schema) for name, schema in found.items()})


def _free(schema: Any) -> Any:
    """Returns a schema of a discovery document, with Google's form of `anything` removed."""
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "any":
        return {}
    made = {key: _free(value) for key, value in schema.items() if key in {"items", "additionalProperties"}}
    if "properties" in schema:
        made["properties"] = {key: _free(value) for key, value in schema["properties"].items()}
    kept = {key: schema[key] for key in ("$ref", "type", "format", "enum", "title") if key in schema}
    return kept | made


def of_message(root: Any) -> tuple[Json, dict[str, Json]]:
    """Returns the schemas of a protobuf message and of all nested messages."""
    defs: dict[str, Json] = {}
    _message(root, defs)
    return {"$ref": root.full_name}, as_read(defs)


def _message(message: Any, defs: dict[str, Json]) -> Json:
    if message.full_name not in defs:
        defs[message.full_name] = made = {"type": "object", "title": message.name}
        if not message.full_name.startswith("google.protobuf."):
            made["properties"] = {field.json_name: _field(field, defs) for field in message.fields}
    return {"$ref": message.full_name}


def _field(field: Any, defs: dict[str, Json]) -> Json:
    if field.message_type and field.message_type.GetOptions().map_entry:
        value = field.message_type.fields_by_name["value"]
        return {"type": "object", "additionalProperties": _one(value, defs)}
    repeated = field.is_repeated
    return {"type": "array", "items": _one(field, defs)} if repeated else _one(field, defs)


def _one(field: Any, defs: dict[str, Json]) -> Json:
    if field.message_type:
        return _message(field.message_type, defs)
    if field.enum_type:
        return {"enum": [value.name for value in field.enum_type.values]}
    match field.cpp_type:
        case field.CPPTYPE_BOOL:
            return {"type": "boolean"}
        case field.CPPTYPE_STRING:
            return {"type": "string"}
        case field.CPPTYPE_FLOAT | field.CPPTYPE_DOUBLE:
            return {"type": "number"}
    return {"type": "integer"}


def of_sdk(schema: Callable[[Any], Json]) -> tuple[Json, dict[str, Json]]:
    """Returns the messages that google-genai has types for. Its own request differs, so its parts are combined here."""
    types = import_module("google.genai.types")
    one = ("Content", "ToolConfig", "GenerationConfig")
    many = ("Content", "Tool", "SafetySetting")
    found = {name: schema(getattr(types, name)) for name in {*one, *many}}
    defs: dict[str, Json] = {}
    for name, each in found.items():
        defs |= each.pop("$defs", {})
        defs[name] = each
    fields = {
        "contents": {"type": "array", "items": {"$ref": "Content"}},
        "systemInstruction": {"$ref": "Content"},
        "tools": {"type": "array", "items": {"$ref": "Tool"}},
        "toolConfig": {"$ref": "ToolConfig"},
        "safetySettings": {"type": "array", "items": {"$ref": "SafetySetting"}},
        "generationConfig": {"$ref": "GenerationConfig"},
        "cachedContent": {"type": "string"},
        "model": {"type": "string"},
        "serviceTier": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "store": {"type": "boolean"},
        "continuationToken": {"type": "string"},
    }
    defs = {name: _wide(_pydantic(each)) for name, each in defs.items()}
    return _wide({"type": "object", "title": "Request", "properties": fields}), defs


def _pydantic(schema: Json) -> Json:
    """Returns a schema of pydantic's in which a union of a type and null is the type, because null is always
    accepted.
    """
    if not isinstance(schema, dict):
        return schema
    made = {key: _pydantic(value) if isinstance(value, dict) else value for key, value in schema.items()}
    if "properties" in schema:
        made["properties"] = {key: _pydantic(value) for key, value in schema["properties"].items()}
        made.pop("additionalProperties", None)  # its models forbid others; that is what closed means here
    branches = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(branches) == 1:
        made.pop("anyOf")
        made |= _pydantic(branches[0])
    return made
