"""The part of JSON Schema that Anthropic accepts, as far as recorded refusals show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....observed.exchange import Json
from ....readers.json_access import items_of, object_of
from ..._references import dangling

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_NUMERIC = ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum")


def subschemas(schema: Any) -> Iterator[Json]:
    """Yields a schema and all nested schemas."""
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


def invalid(schema: Any) -> str | None:
    """Returns the part of a schema that is of an older draft or invalid, or `None`."""
    return next((problem for each in subschemas(schema) if (problem := _outdated(each))), None)


def _outdated(schema: Json) -> str | None:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [] if kind is None else [kind]
    if any(each not in _TYPES for each in kinds):
        return f"{kind!r} is not a type"
    return next((problem for problem, is_wrong in _WRONG if is_wrong(schema)), None)


#: What the newest draft does not allow in a schema.
_WRONG: tuple[tuple[str, Callable[[Json], bool]], ...] = (
    ("`items` is a list", lambda schema: isinstance(schema.get("items"), list)),
    (
        "an exclusive bound is not a number",
        lambda schema: any(
            isinstance(schema.get(key), bool) for key in ("exclusiveMinimum", "exclusiveMaximum")
        ),
    ),
    (
        "a property is not a schema",
        lambda schema: any(
            not isinstance(each, dict | bool) for each in object_of(schema.get("properties")).values()
        ),
    ),
    (
        "`additionalProperties` is not a schema",
        lambda schema: not isinstance(schema.get("additionalProperties"), dict | bool | None),
    ),
    (
        "a description is not a text",
        lambda schema: not isinstance(schema.get("description"), str | None),
    ),
    ("`required` is not a list", lambda schema: isinstance(schema.get("required"), bool | str)),
)


def strict_problem(schema: Any) -> str | None:
    """Returns the reason why a strict schema is refused, in the provider's words."""
    found = list(subschemas(schema))
    lists = [each["minItems"] for each in found if each.get("type") == "array" and "minItems" in each]
    if many := [count for count in lists if count not in (0, 1)]:
        return f"For 'array' type, 'minItems' values other than 0 or 1 are not supported (got: {many})"
    return next((problem for each in found if (problem := _problem(each))), None)


def _problem(schema: Json) -> str | None:
    kind, told = schema.get("type"), "is not supported"
    if kind == "object":
        if schema.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
        bare = any(isinstance(value, bool) for value in object_of(schema.get("properties")).values())
        return f"For 'object' type, property 'properties' {told}" if bare else None
    bounds = {"integer": _NUMERIC, "number": _NUMERIC, "array": ("maxItems",)}.get(str(kind), ())
    return next((f"For '{kind}' type, property '{key}' {told}" for key in bounds if key in schema), None)


def enum_problem(schema: Any) -> str | None:
    """Returns the reason why an enum is refused: no value has its declared type."""
    for each in subschemas(schema):
        kinds, values = each.get("type"), items_of(each.get("enum"))
        if isinstance(kinds, list) and values:
            return f"Invalid schema: Enum value {values[0]!r} does not match declared type '{kinds}'"
    return None


def optional_count(schema: Any) -> int:
    """Returns how many properties, at any depth, are not required."""
    total = 0
    for each in subschemas(schema):
        properties, required = each.get("properties"), each.get("required")
        if isinstance(properties, dict):
            total += len(properties.keys() - set(items_of(required)))
    return total


def union_count(schema: Any) -> int:
    """Returns how many properties, at any depth, have a union type: a list of types, or `anyOf`."""
    return sum(
        isinstance(value, dict) and (isinstance(value.get("type"), list) or "anyOf" in value)
        for each in subschemas(schema)
        for value in object_of(each.get("properties")).values()
    )


def lost(schema: Any) -> str | None:
    """Returns the provider's sentence about the first reference that leads nowhere; None where there is none."""
    found = dangling(schema)
    return f"Invalid schema: Reference to non-existent definition: {found[0][1]}" if found else None


def circle(schema: Any) -> list[str]:
    """Returns the names of definitions that refer to each other in a circle. The first name is repeated at the end."""
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
    harmless: set[str] = set()
    return next((found for name in refers if (found := _walk(refers, [name], harmless))), [])


def _walk(refers: dict[str, list[str]], trail: list[str], harmless: set[str]) -> list[str]:
    """Returns the circle that a trail leads into. `harmless` are names that lead into none, so each is followed once."""
    for name in refers.get(trail[-1], ()):
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name not in harmless and (found := _walk(refers, [*trail, name], harmless)):
            return found
    harmless.add(trail[-1])
    return []
