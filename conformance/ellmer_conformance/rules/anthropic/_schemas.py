"""What Anthropic's grammar compiler takes of JSON Schema, as far as refusals of it are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Json
from ...wires.values import items_of, object_of

__all__ = ["circle", "optional_count", "strict_problem", "union_count"]

_NUMERIC = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")


def subschemas(schema: Any) -> Iterator[Json]:
    """A schema and all in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs", "definitions"):
        if isinstance(inner := schema.get(key), dict):
            for each in inner.values():
                yield from subschemas(each)
    for key in ("anyOf", "allOf", "oneOf"):
        if isinstance(inner := schema.get(key), list):
            for each in inner:
                yield from subschemas(each)
    yield from subschemas(schema.get("items"))


def strict_problem(schema: Any, *, numbers: bool = False) -> str | None:
    """Why a strict schema is refused, in the provider's words; with `numbers`, bounds of numbers count too."""
    for each in subschemas(schema):
        kind = each.get("type")
        if kind == "object" and each.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
        properties = each.get("properties")
        if isinstance(properties, dict) and any(isinstance(value, bool) for value in properties.values()):
            return "For 'object' type, property 'properties' is not supported"
        if numbers and kind in {"integer", "number"}:
            for key in _NUMERIC:
                if key in each:
                    return f"For '{kind}' type, property '{key}' is not supported"
    return None


def optional_count(schema: Any) -> int:
    """How many properties, at any depth, are not required."""
    total = 0
    for each in subschemas(schema):
        properties, required = each.get("properties"), each.get("required")
        if isinstance(properties, dict):
            total += len(properties.keys() - set(items_of(required)))
    return total


def union_count(schema: Any) -> int:
    """How many properties, at any depth, have a union type: a list of types, or `anyOf`."""
    return sum(
        isinstance(value, dict) and (isinstance(value.get("type"), list) or "anyOf" in value)
        for each in subschemas(schema)
        for value in object_of(each.get("properties")).values()
    )


def circle(schema: Any) -> list[str]:
    """Names of definitions that refer to each other in a circle, the first one again at the end."""
    if not isinstance(schema, dict):
        return []
    definitions = {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}
    refers = {
        name: [
            str(each["$ref"]).rpartition("/")[2]
            for each in subschemas(inner)
            if isinstance(each.get("$ref"), str)
        ]
        for name, inner in definitions.items()
    }
    return next((found for name in refers if (found := _walk(refers, [name]))), [])


def _walk(refers: dict[str, list[str]], trail: list[str]) -> list[str]:
    for name in refers.get(trail[-1], ()):
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if found := _walk(refers, [*trail, name]):
            return found
    return []
