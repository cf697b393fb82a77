"""JSON Schema: its references and definitions, and the data that fit a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ..errors import ConversionError, UsageError

# --- references and definitions --------------------------------------------------------------------------


Json = dict[str, Any]

#: Keywords whose values are data, not schemas, and those that hold schemas by name.
DATA = frozenset({"enum", "const", "default", "examples", "required"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_HOMES = ("$defs", "definitions")


@dataclass(eq=False, repr=False)
class Definitions:
    """The definitions for the schemas of one document."""

    moved: Json = field(default_factory=dict)
    _given: dict[str, Any] = field(default_factory=dict)

    def embedded(self, schema: Mapping[str, Any]) -> Json:
        """Returns the schema without its definitions, which are moved here."""
        own = {name: value for home in _HOMES for name, value in (schema.get(home) or {}).items()}
        bare = {keyword: value for keyword, value in schema.items() if keyword not in _HOMES}
        if any(inner.get("$ref") == "#" for inner in subschemas(schema)):
            own, bare = {**own, "Self": bare}, {"$ref": "#"}
        names = {
            f"#/{home}/{name}": f"#/$defs/{new}" for name, new in self._names(own).items() for home in _HOMES
        }
        names["#"] = names.get("#/$defs/Self", "#")
        for name, value in own.items():
            self.moved[names[f"#/$defs/{name}"].rpartition("/")[2]] = _pointed(value, names)
        moved: Json = _pointed(bare, names)
        return moved

    def _names(self, own: Mapping[str, Any]) -> dict[str, str]:
        """Returns names for these definitions: their own, unless another definition has the name."""
        suffix, number = "", 1
        while any(self._given.get(f"{name}{suffix}", value) != value for name, value in own.items()):
            number += 1
            suffix = f"_{number}"
        names = {name: f"{name}{suffix}" for name in own}
        self._given |= {names[name]: value for name, value in own.items()}
        return names

    def rooted(self, schema: Json) -> Json:
        """Returns the document: `schema` with the definitions. A root that is only a reference is resolved, because
        providers require an object there. Raises `UsageError` for an unresolvable reference.
        """
        defs = self.moved
        found = defs.get(str(schema.get("$ref")).rpartition("/")[2]) if "$ref" in schema else None
        if isinstance(found, Mapping):
            schema = {**found, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
        document = {**schema, "$defs": dict(defs)} if defs else schema
        for inner in subschemas(document):
            if inner.get("$ref") is not None:
                _check(inner["$ref"], document)
        return document


def subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yields a schema and all schemas in it."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in _NAMED and isinstance(value, Mapping):
            for inner in value.values():
                yield from subschemas(inner)
        elif keyword not in DATA:
            for inner in value if isinstance(value, list) else [value]:
                yield from subschemas(inner)


def referred(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the target of a schema that is a reference into the document, or else the schema."""
    for _ in range(100):
        if "$ref" not in schema:
            break
        home, _, name = str(schema["$ref"]).removeprefix("#/").partition("/")
        found = document.get(home, {}).get(name) if home in _HOMES else document
        if not isinstance(found, Mapping):
            break
        schema = found
    return schema


def _check(reference: Any, document: Json) -> None:
    home, _, name = str(reference).removeprefix("#/").partition("/")
    if not str(reference).startswith("#"):
        raise UsageError(f"The JSON Schema refers to {reference!r}: only what is inside it can be sent.")
    if home in _HOMES and name.partition("/")[0] not in document.get(home, {}):
        raise UsageError(f"The JSON Schema refers to {reference!r}, and there is no such definition.")


def _pointed(schema: Any, names: Mapping[str, str]) -> Any:
    """Returns the schema with its references renamed."""
    return _mapped(schema, lambda reference: names.get(reference, reference))


def _mapped(schema: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(schema, list):
        return [_mapped(item, rename) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {keyword: _mapped_value(keyword, value, rename) for keyword, value in schema.items()}


def _mapped_value(keyword: str, value: Any, rename: Callable[[str], str]) -> Any:
    if keyword == "$ref" and isinstance(value, str):
        return rename(value)
    if keyword in _NAMED:
        return _by_name(value, rename)
    return value if keyword in DATA else _mapped(value, rename)


def _by_name(value: Any, rename: Callable[[str], str]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _mapped(inner, rename) for name, inner in value.items()}


# --- validation ------------------------------------------------------------------------------------------


Schema = Mapping[str, Any] | bool


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole or (isinstance(value, float) and isfinite(value))


_KINDS: dict[str, Callable[[Any], bool]] = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: _is_number(v) and (isinstance(v, int) or v.is_integer()),
    "number": _is_number,
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (lambda v, bound: v >= bound, "at least"),
    "maximum": (lambda v, bound: v <= bound, "at most"),
    "exclusiveMinimum": (lambda v, bound: v > bound, "more than"),
    "exclusiveMaximum": (lambda v, bound: v < bound, "less than"),
}
_SIZES = {
    "minLength": (str, int.__ge__, "at least {} characters"),
    "maxLength": (str, int.__le__, "at most {} characters"),
    "minItems": (list, int.__ge__, "at least {} items"),
    "maxItems": (list, int.__le__, "at most {} items"),
    "minProperties": (dict, int.__ge__, "at least {} properties"),
    "maxProperties": (dict, int.__le__, "at most {} properties"),
}
_SHAPES: dict[str, type | tuple[type, ...]] = {
    "properties": dict,
    "$defs": dict,
    "required": list,
    "enum": list,
    "anyOf": list,
    "oneOf": list,
    "allOf": list,
    "prefixItems": list,
    "items": (dict, bool),
    "additionalProperties": (dict, bool),
    "pattern": str,
    "$ref": str,
    **dict.fromkeys((*_SIZES,), int),
}


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises `UsageError` if a value is not a JSON Schema of the newest draft."""
    for inner in subschemas(schema):
        if problem := next(_misshapen(inner), None):
            raise UsageError(f"This is not a JSON Schema: {problem}.")


def check_data(data: Any, schema: Mapping[str, Any]) -> None:
    """Raises `ConversionError` for invalid data, with the path of each problem."""
    if problems := list(_Check(schema).problems(data, schema, "value")):
        raise ConversionError("; ".join(problems[:10]))


def _misshapen(schema: Mapping[str, Any]) -> Iterator[str]:
    kind = schema.get("type", [])
    if any(
        not isinstance(name, str) or name not in _KINDS
        for name in (kind if isinstance(kind, list) else [kind])
    ):
        yield f"{kind!r} is not a type"
    for keyword, shape in _SHAPES.items():
        if keyword in schema and not isinstance(schema[keyword], shape):
            yield f"`{keyword}` is {json.dumps(schema[keyword], default=repr):.60}"
    for keyword in _BOUNDS:
        if keyword in schema and not _is_number(schema[keyword]):
            yield f"`{keyword}` is {schema[keyword]!r:.60}, no number"
    try:
        re.compile(str(schema.get("pattern", "")))
    except re.error as error:
        yield f"`pattern` is not a regular expression ({error})"


class _Check:
    """Collects the problems; `document` holds the definitions."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    def problems(self, data: Any, schema: Schema, path: str) -> Iterator[str]:
        if isinstance(schema, bool):
            if not schema:
                yield f"`{path}` must not be there"
            return
        if "$ref" in schema:
            found = referred(schema, self.document)
            schema = {**{k: v for k, v in schema.items() if k != "$ref"}, **found}
        yield from self.itself(data, schema, path)
        yield from self.choices(data, schema, path)
        if isinstance(data, dict):
            yield from self.object(data, schema, path)
        if isinstance(data, list):
            yield from self.array(data, schema, path)

    def itself(self, data: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
        kinds = schema.get("type", [])
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if kinds and not any(_KINDS[kind](data) for kind in kinds):
            yield _wrong(path, " or ".join(kinds), data)
        if "enum" in schema and not any(_same(data, value) for value in schema["enum"]):
            yield _wrong(path, f"one of {_short(schema['enum'])}", data)
        if "const" in schema and not _same(data, schema["const"]):
            yield _wrong(path, _short(schema["const"]), data)
        if isinstance(data, str) and "pattern" in schema and not re.search(schema["pattern"], data):
            yield _wrong(path, f"of the pattern {schema['pattern']}", data)
        if _is_number(data):
            yield from self.number(data, schema, path)
        for keyword, (kind, fits, words) in _SIZES.items():
            if keyword in schema and isinstance(data, kind) and not fits(len(data), schema[keyword]):
                yield _wrong(path, words.format(schema[keyword]), data)

    def number(self, data: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
        for keyword, (fits, words) in _BOUNDS.items():
            if keyword in schema and not fits(data, schema[keyword]):
                yield _wrong(path, f"{words} {schema[keyword]}", data)
        if (step := schema.get("multipleOf")) and not float(data / step).is_integer():
            yield _wrong(path, f"a multiple of {step}", data)

    def choices(self, data: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
        for inner in schema.get("allOf", ()):
            yield from self.problems(data, inner, path)
        for keyword in ("anyOf", "oneOf"):
            found = [next(self.problems(data, inner, path), None) for inner in schema.get(keyword, ())]
            fitting = found.count(None)
            if found and not fitting:
                yield f"`{path}` fits no option: {'; '.join(map(str, found))}"
            elif keyword == "oneOf" and fitting > 1:
                yield f"`{path}` fits {fitting} options, and one is wanted"
        if "not" in schema and next(self.problems(data, schema["not"], path), None) is None:
            yield f"`{path}` is what it must not be: {_short(data)}"

    def object(self, data: dict[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
        named = schema.get("properties", {})
        yield from (f"`{path}.{name}` is missing" for name in schema.get("required", ()) if name not in data)
        patterns = schema.get("patternProperties", {})
        for name, value in data.items():
            matching = [inner for pattern, inner in patterns.items() if re.search(pattern, name)]
            if name in named:
                matching.append(named[name])
            if not matching and schema.get("additionalProperties") is False:
                yield f"`{path}` has no property `{name}`"
            for inner in matching or [schema.get("additionalProperties", True)]:
                yield from self.problems(value, inner, f"{path}.{name}")
            if "propertyNames" in schema:
                yield from self.problems(name, schema["propertyNames"], f"{path}.{name}")

    def array(self, data: list[Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
        first = schema.get("prefixItems", [])
        for place, item in enumerate(data):
            inner = first[place] if place < len(first) else schema.get("items", True)
            yield from self.problems(item, inner, f"{path}[{place}]")
        if schema.get("uniqueItems") and any(_same(a, b) for n, a in enumerate(data) for b in data[:n]):
            yield f"`{path}` has an item twice"


def without_optional_nulls(
    data: Any, schema: Mapping[str, Any], document: Mapping[str, Any] | None = None
) -> Any:
    """Returns the data without nulls of optional properties, because strict modes send null for a missing property."""
    document = schema if document is None else document
    schema = referred(schema, document)
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(option, Mapping) and _speaks_of(data, referred(option, document)):
            data = without_optional_nulls(data, option, document)
    match data, schema.get("items"), schema.get("properties"):
        case list(), Mapping() as items, _:
            return [without_optional_nulls(item, items, document) for item in data]
        case dict(), _, Mapping() as named:
            needed = schema.get("required", ())
            required_or_set = {
                k: v
                for k, v in data.items()
                if v is not None or k in needed or not excludes_null(named.get(k))
            }
            return {k: _inside(v, named.get(k), document) for k, v in required_or_set.items()}
    return data


def _inside(value: Any, schema: Any, document: Mapping[str, Any]) -> Any:
    return without_optional_nulls(value, schema, document) if isinstance(schema, Mapping) else value


def excludes_null(schema: Any) -> bool:
    """Tells whether a schema defines a value and excludes null."""
    if not isinstance(schema, Mapping):
        return False
    kind = schema.get("type")
    options = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    says = kind is not None or "$ref" in schema or bool(options) or "enum" in schema
    return (
        says
        and "null" not in (kind if isinstance(kind, list) else [kind])
        and all(map(excludes_null, options))
    )


def _speaks_of(data: Any, schema: Mapping[str, Any]) -> bool:
    """Tells whether an option of a union may be the left for the data."""
    if isinstance(data, dict):
        return set(schema.get("properties", ())) >= data.keys()
    return isinstance(data, list) and "items" in schema


def _same(left: Any, right: Any) -> bool:
    """Compares values as JSON does: true is not 1."""
    return bool(left == right) and json.dumps(left, sort_keys=True) == json.dumps(
        _like(left, right), sort_keys=True
    )


def _like(left: Any, right: Any) -> Any:
    """Returns a number on the right in the notation of the number on the left: 1.0 becomes 1."""
    numbers = _is_number(left) and _is_number(right)
    return left if numbers else right


def _wrong(path: str, wanted: str, data: Any) -> str:
    return f"`{path}` must be {wanted}, not {_short(data)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
