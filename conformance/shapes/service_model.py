"""Converts Bedrock's service model, which botocore includes, to JSON schemas."""

from __future__ import annotations

from typing import Any

from nodes import Json


def converse() -> tuple[Json, dict[str, Json]]:
    """Returns the body of a request to Converse, and its nested shapes."""
    from botocore.loaders import Loader  # type: ignore[import-untyped]  # it has no types

    shapes = Loader().load_service_model("bedrock-runtime", "service-2")["shapes"]
    defs = {name: _schema(name, shape) for name, shape in shapes.items()}
    return {"$ref": "ConverseRequest"}, defs


def _schema(name: str, shape: Any) -> Json:
    if shape.get("document"):
        return {}
    match shape["type"]:
        case "structure":
            return _structure(name, shape)
        case "list":
            return {"type": "array", "items": _ref(shape["member"]), **_bounds(shape, "minItems", "maxItems")}
        case "map":
            return {"type": "object", "additionalProperties": _ref(shape["value"])}
        case "string" if "enum" in shape:
            return {"enum": shape["enum"]}
        case "string":
            pattern = {"pattern": f"^(?:{shape['pattern']})$"} if "pattern" in shape else {}
            return {"type": "string", **_bounds(shape, "minLength", "maxLength"), **pattern}
        case "blob":
            return {"type": "string"}
        case "integer" | "long":
            return {"type": "integer", **_bounds(shape, "minimum", "maximum")}
        case "float" | "double":
            return {"type": "number", **_bounds(shape, "minimum", "maximum")}
        case "boolean":
            return {"type": "boolean"}
        case _:
            return {}


def _structure(name: str, shape: Any) -> Json:
    members = {key: value for key, value in shape["members"].items() if "location" not in value}
    required = [key for key in shape.get("required", ()) if key in members]
    fields = {key: _ref(value) for key, value in members.items()}
    union = {"union": True} if shape.get("union") else {}
    return {"type": "object", "title": name, "properties": fields, "required": required, **union}


def _ref(member: Any) -> Json:
    return {"$ref": member["shape"]}


def _bounds(shape: Any, low: str, high: str) -> Json:
    found = {low: shape.get("min"), high: shape.get("max")}
    return {key: value for key, value in found.items() if value is not None}
