"""Types as JSON Schema: plain, in the dialects of providers, and the limits that tell whether a provider takes a schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...schemas.json_schema import DATA, Definitions, subschemas
from ...schemas.type_classes import Type, TypeArray, TypeBasic, TypeEnum, TypeJsonSchema, TypeObject
from ..interfaces import Json, SchemaLimits
from .json_objects import json_text

# --- limits ----------------------------------------------------------------------------------------------


#: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations; the counts were
#: measured on the live API: `Schemas contains too many optional parameters (25) … (limit: 24)`.
ANTHROPIC_LIMITS = SchemaLimits(
    recursion="nowhere",
    open_objects=False,
    anything=False,
    optional=24,
    unions=16,
    words=frozenset({"not", "if", "then", "else", "prefixItems", "dependentSchemas", "dependentRequired"}),
)

#: https://ai.google.dev/api/generate-content (responseJsonSchema): `Cyclic references are unrolled to a limited degree
#: and, as such, may only be used within non-required properties.`
GEMINI_LIMITS = SchemaLimits(recursion="optional")

#: https://docs.cohere.com/docs/structured-outputs: what it says of composition and of references to itself is nothing.
COHERE_LIMITS = SchemaLimits(recursion="nowhere", anything=False)

#: https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas: of a strict schema.
_PROPERTIES, _LEVELS, _VALUES, _CHARACTERS = 5_000, 10, 1_000, 120_000


def unfit(schema: Mapping[str, Any], limits: SchemaLimits) -> str | None:
    """Returns the reason why a schema exceeds the limits, or `None` if it fits."""
    return next(_reasons(schema, limits), None)


def _reasons(schema: Mapping[str, Any], limits: SchemaLimits) -> Iterator[str]:
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


def too_large(schema: Mapping[str, Any]) -> bool:
    """Tells whether a strict schema is larger than OpenAI accepts."""
    inside = list(subschemas(schema))
    names = [name for each in inside for name in each.get("properties") or ()]
    values = [value for each in inside for value in each.get("enum") or ()]
    characters = sum(map(len, names)) + sum(len(str(value)) for value in values)
    return (
        len(names) > _PROPERTIES
        or len(values) > _VALUES
        or characters > _CHARACTERS
        or (len(inside) > _LEVELS and _levels(schema) > _LEVELS)
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


def _is_open(schema: Mapping[str, Any]) -> bool:
    if schema.get("type") != "object" and "properties" not in schema:
        return False
    closes = schema.get("additionalProperties", "properties" not in schema)
    return closes is not False


def _says_what(schema: Mapping[str, Any]) -> bool:
    return bool(schema.keys() & {"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties"})


def _optional(schema: Mapping[str, Any]) -> int:
    return len((schema.get("properties") or {}).keys() - set(schema.get("required") or ()))


def _unions(schema: Mapping[str, Any]) -> int:
    return sum(
        isinstance(value, Mapping)
        and (isinstance(value.get("type"), list) or bool(value.keys() & {"anyOf", "oneOf"}))
        for value in (schema.get("properties") or {}).values()
    )


def allows_null(schema: Mapping[str, Any]) -> bool:
    """Tells whether a schema itself allows null."""
    kind = schema.get("type")
    options = schema.get("anyOf") or ()
    return kind == "null" or (isinstance(kind, list) and "null" in kind) or {"type": "null"} in list(options)


def _definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}


def _recursive(schema: Mapping[str, Any], *, optional: bool) -> bool:
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


# --- dialects --------------------------------------------------------------------------------------------


_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)  # of strings, that both know
_MAPS = frozenset({"properties", "$defs", "definitions"})
_LISTS = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})


class Dialect(NamedTuple):
    """A dialect. `unknown`: keywords that are refused. `closes`: objects have no other properties by default."""

    unknown: frozenset[str]
    formats: frozenset[str]
    renamed: Mapping[str, str] = MappingProxyType({})
    closes: bool = False

    def say(self, schema: Any) -> Any:
        """Returns the schema in this dialect. The original does not change."""
        if not isinstance(schema, Mapping):
            return schema
        converted: Json = {}
        notes: list[str] = []
        for keyword, value in schema.items():
            name = self.renamed.get(keyword, keyword)
            if not self._knows(keyword, value):
                notes += [] if keyword[:1] == "$" else [f"{keyword}: {json_text(value)}"]
            elif keyword in _MAPS and isinstance(value, Mapping):
                converted[name] = {each: self.say(inner) for each, inner in value.items()}
            elif keyword in _LISTS and isinstance(value, list):
                converted[name] = [self.say(inner) for inner in value]
            else:
                converted[name] = self.say(value) if keyword in {"items", "additionalProperties"} else value
        if self.closes and (converted.get("type") == "object" or "properties" in converted):
            converted.setdefault("additionalProperties", False)
        if notes:
            description = converted.get("description")
            converted["description"] = "\n\n".join(
                [*([description] if description else []), ", ".join(notes)]
            )
        return converted

    def _knows(self, keyword: str, value: Any) -> bool:
        if keyword == "format":
            return str(value) in self.formats
        if keyword == "minItems" and self.closes:
            return value in (0, 1)
        return keyword not in self.unknown


def bare_references(schema: Any) -> Any:
    """Returns the schema with nothing beside a reference: `If $ref is set on a sub-schema, no other properties … may
    be set` (Google).
    """
    if isinstance(schema, list):
        return [bare_references(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if isinstance(schema.get("$ref"), str):
        return _described(
            {k: v if k in DATA else bare_references(v) for k, v in schema.items() if k[:1] == "$"}, schema
        )
    return {k: v if k in DATA else bare_references(v) for k, v in schema.items()}


def _described(bare: Json, schema: Mapping[str, Any]) -> Json:
    """Returns a bare reference, or a union of it alone with the words that stood beside it, which the model reads."""
    said = schema.get("description")
    return {"anyOf": [bare], "description": said} if said else bare


#: https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas; `'uri' is not a valid format`
#: (cyanheads/git-mcp-server#47), lengths depend on the model (openai/openai-node#1988).
OPENAI_DIALECT = Dialect(frozenset({"minLength", "maxLength", "default"}), _FORMATS)

#: https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations; Bedrock has the
#: same: `For 'integer' type, property 'minimum' is not supported` (agentjido/req_llm#302).
ANTHROPIC_DIALECT = Dialect(
    frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
        | {"pattern", "maxItems", "uniqueItems", "prefixItems", "contains", "minProperties", "maxProperties"}
        | {"propertyNames", "patternProperties", "examples", "default", "$schema", "$id", "$comment"}
    ),
    _FORMATS | {"uri"},
    renamed={"oneOf": "anyOf"},
    closes=True,
)


# --- types as JSON Schema --------------------------------------------------------------------------------


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
        bare = {k: v if k == "$ref" else _by_name(v) for k, v in schema.items() if k in {"$ref", "$defs"}}
        return _described(bare, schema)
    strict = {
        "anyOf" if k == "oneOf" else k: _within(k, v) for k, v in schema.items() if k != "discriminator"
    }
    if isinstance(named := strict.get("properties"), dict):
        needed = strict.get("required", ())
        strict["properties"] = {k: v if k in needed else _nullable(v) for k, v in named.items()}
        strict["required"] = list(named)
        strict.setdefault("additionalProperties", False)
    return strict


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
    schema = OPENAI_DIALECT.say(_tightened(plain))
    return (schema, True) if closed(schema) and not too_large(schema) else (plain, False)


def function_schema(type: Type) -> tuple[Json, bool]:
    """Returns the same for a function's arguments. Schemas from elsewhere are not made stricter. `In context=(),
    object schema missing properties.`
    """
    schema = OPENAI_DIALECT.say(json_schema(type, strict=True))
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
    kind = schema.get("type")
    types: list[Any] = kind if isinstance(kind, list) else [kind]
    named: Mapping[str, Any] = schema.get("properties", {})
    whole = schema.get("additionalProperties") is False and set(named) == set(schema.get("required", ()))
    if not whole and ("object" in types or "properties" in schema):
        return False
    items = [schema.get("items")] if "array" in types else []
    return all(
        map(closed, [*named.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ()), *items])
    )
