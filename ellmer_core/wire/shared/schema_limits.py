"""Checks whether a provider's structured output supports a JSON Schema, and says why not.

Keywords that a dialect can leave out (bounds, formats: `schema_dialects.py`) are not limits. It does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from ...schemas.refs_and_defs import subschemas

__all__ = [
    "ANTHROPIC",
    "COHERE",
    "GEMINI",
    "SchemaLimits",
    "allows_null",
    "too_large",
    "unfit",
]

Json = Mapping[str, Any]


class SchemaLimits(NamedTuple):
    """The limits; the defaults limit nothing. `recursion`: a schema may refer to itself everywhere, in optional
    properties only, or nowhere. `anything`: a schema may allow any value. `words`: keywords that are refused.
    """

    recursion: Literal["anywhere", "optional", "nowhere"] = "anywhere"
    open_objects: bool = True
    anything: bool = True
    optional: int | None = None
    unions: int | None = None
    words: frozenset[str] = frozenset()


#: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations; the counts were
#: measured on the live API: `Schemas contains too many optional parameters (25) … (limit: 24)`.
ANTHROPIC = SchemaLimits(
    recursion="nowhere",
    open_objects=False,
    anything=False,
    optional=24,
    unions=16,
    words=frozenset({"not", "if", "then", "else", "prefixItems", "dependentSchemas", "dependentRequired"}),
)

#: https://ai.google.dev/api/generate-content (responseJsonSchema): `Cyclic references are unrolled to a limited degree
#: and, as such, may only be used within non-required properties.`
GEMINI = SchemaLimits(recursion="optional")

#: https://docs.cohere.com/docs/structured-outputs: what it says of composition and of references to itself is nothing.
COHERE = SchemaLimits(recursion="nowhere", anything=False)

#: https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas: of a strict schema.
_PROPERTIES, _LEVELS, _VALUES, _CHARACTERS = 5_000, 10, 1_000, 120_000


def unfit(schema: Json, limits: SchemaLimits) -> str | None:
    """Returns the reason why a schema exceeds the limits, or `None` if it fits."""
    return next(_reasons(schema, limits), None)


def _reasons(schema: Json, limits: SchemaLimits) -> Iterator[str]:
    inside = list(subschemas(schema))
    if limits.recursion != "anywhere" and _recursive(schema, optional=limits.recursion == "optional"):
        yield "the schema refers to itself"
    if not limits.open_objects and any(map(_is_open, inside)):
        yield "an object in the schema may have other properties than those it names"
    if not limits.anything and not all(map(_says_what, inside)):
        yield "the schema leaves open what a value is"
    if limits.optional is not None and (count := sum(map(_optional, inside))) > limits.optional:
        yield f"{count} properties are optional, and {limits.optional} may be"
    if limits.unions is not None and (count := sum(map(_unions, inside))) > limits.unions:
        yield f"{count} properties are unions, and {limits.unions} may be"
    if words := limits.words & set().union(*inside):
        yield f"the schema says `{min(words)}`"


def too_large(schema: Json) -> bool:
    """Tells whether a strict schema is larger than OpenAI accepts."""
    inside = list(subschemas(schema))
    names = [name for each in inside for name in each.get("properties") or ()]
    values = [value for each in inside for value in each.get("enum") or ()]
    characters = sum(map(len, names)) + sum(len(str(value)) for value in values)
    return (
        len(names) > _PROPERTIES
        or len(values) > _VALUES
        or characters > _CHARACTERS
        or _levels(schema) > _LEVELS
    )


def _levels(schema: Any) -> int:
    """Returns how deeply objects and lists nest. Definitions count as levels."""
    level, depth = [schema, *_definitions(schema).values()], -1
    while level:
        depth += 1
        level = [inner for each in level for inner in _below(each)]
    return depth


def _below(schema: Any) -> Iterator[Any]:
    if isinstance(schema, Mapping):
        yield from (schema.get("properties") or {}).values()
        yield from [schema["items"]] if "items" in schema else []
        for option in schema.get("anyOf") or ():
            yield from _below(option)


def _is_open(schema: Json) -> bool:
    if schema.get("type") != "object" and "properties" not in schema:
        return False
    closes = schema.get("additionalProperties", "properties" not in schema)
    return closes is not False


def _says_what(schema: Json) -> bool:
    return bool(schema.keys() & {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties"})


def _optional(schema: Json) -> int:
    return len((schema.get("properties") or {}).keys() - set(schema.get("required") or ()))


def _unions(schema: Json) -> int:
    return sum(
        isinstance(value, Mapping)
        and (isinstance(value.get("type"), list) or bool(value.keys() & {"anyOf", "oneOf"}))
        for value in (schema.get("properties") or {}).values()
    )


def allows_null(schema: Json) -> bool:
    """Tells whether a schema itself allows null."""
    said = schema.get("type")
    options = schema.get("anyOf") or ()
    return said == "null" or (isinstance(said, list) and "null" in said) or {"type": "null"} in list(options)


def _definitions(schema: Json) -> dict[str, Any]:
    return {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}


def _recursive(schema: Json, *, optional: bool) -> bool:
    """Tells whether a schema refers to itself. With `optional`, references in optional properties do not count."""
    definitions = {
        "#": {k: v for k, v in schema.items() if k not in {"$defs", "definitions"}},
        **_definitions(schema),
    }
    refers = {name: set(_references(inner, optional=optional)) for name, inner in definitions.items()}
    return any(name in _reached(refers, name) for name in refers)


def _reached(refers: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = set(refers[start])
    while ahead:
        found |= ahead
        ahead = {name for each in ahead for name in refers.get(each, ())} - found
    return found


def _references(schema: Any, *, optional: bool) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if isinstance(reference := schema.get("$ref"), str):
        yield reference.rpartition("/")[2]
    needed = schema.get("required") or ()
    named = schema.get("properties") or {}
    inner = [value for name, value in named.items() if not optional or name in needed]
    for keyword in ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"):
        value = schema.get(keyword)
        inner += value if isinstance(value, list) else [value]
    for each in inner:
        yield from _references(each, optional=optional)
