"""Converts JSON Schemas to a shape, which forbids exactly what every source of a wire format forbids.

A schema is split into leaves (without references and unions). The leaves of all sources at one place are joined like
the branches of a union: fields, types and values are added, a field is required if all require it, and the widest
bound counts. A source that cannot express a bound (Python's types have none) does not remove it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TAGS = ("type", "role", "mode")
ANY: Json = {"any": {}}
_TYPE_OF = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
_BOUNDS = {
    "number": (("minimum", min), ("maximum", max), ("exclusiveMinimum", min), ("exclusiveMaximum", max)),
    "string": (("minLength", min), ("maxLength", max)),
    "array": (("minItems", min), ("maxItems", max)),
}


@dataclass(frozen=True, eq=False)
class Source:
    """One official description of a request: its schema, its origin, and its expressiveness."""

    name: str
    schema: Json
    defs: Mapping[str, Json] = field(default_factory=dict)
    bounds: bool = True  # whether it would name a bound if there were one
    lenient: str = ""  # "null": null is the same as absent; "proto": as protobuf's JSON reader takes it
    open: bool = False  # whether other fields are ignored


@dataclass(frozen=True, eq=False)
class Leaf:
    """A schema of one type, without references and unions."""

    source: Source
    type: str
    schema: Json


class Joiner:
    """Joins the leaves of several sources to the nodes of one shape. A place that appears again gets the same node."""

    def __init__(self) -> None:
        self._nodes: dict[frozenset[int], Json] = {}
        self._leaves: dict[int, list[Leaf]] = {}
        self._kept: list[Any] = []  # ids are only good as long as what they stand for lives

    def node(self, found: Iterable[tuple[Source, Json]]) -> Json:
        """Returns the node of the place that these schemas describe."""
        leaves = [leaf for source, schema in found for leaf in self.leaves(source, schema)]
        key = frozenset(map(id, leaves))
        if key not in self._nodes:
            self._nodes[key] = made = {}
            made.update(self._joined(leaves))
        return self._nodes[key]

    def leaves(self, source: Source, schema: Json) -> list[Leaf]:
        """Returns the leaves of a schema."""
        if id(schema) not in self._leaves:
            self._kept.append(schema)
            self._leaves[id(schema)] = list(self._taken_apart(source, schema))
        return self._leaves[id(schema)]

    def _taken_apart(self, source: Source, schema: Any) -> Iterator[Leaf]:
        if schema is True or not isinstance(schema, dict):
            yield Leaf(source, "any", {})
        elif "$ref" in schema:
            yield from self.leaves(source, source.defs[schema["$ref"].rpartition("/")[2]])
            if schema.get("nullable"):
                yield Leaf(source, "null", {})
        elif branches := schema.get("anyOf") or schema.get("oneOf"):
            for branch in branches:
                yield from self.leaves(source, _inheriting(schema, branch))
            if schema.get("nullable"):
                yield Leaf(source, "null", {})
        elif "allOf" in schema:
            yield from self.leaves(source, _merged(source, schema))
        else:
            yield from _plain(source, schema)

    def _joined(self, leaves: Sequence[Leaf]) -> Json:
        if any(leaf.type == "any" for leaf in leaves) or not leaves:
            return dict(ANY)
        node: Json = {}
        for type in ("null", "boolean", "number", "string", "array", "object"):
            same = [leaf for leaf in leaves if leaf.type == type]
            if same:
                node[type] = self._spec(type, same)
        return node

    def _spec(self, type: str, leaves: Sequence[Leaf]) -> Json:
        if type == "object":
            return self._objects(leaves)
        spec: Json = _bounds(type, leaves)
        if type == "array":
            spec["items"] = self.node((leaf.source, leaf.schema.get("items", True)) for leaf in leaves)
        elif type == "number":
            whole = all(leaf.schema.get("type") == "integer" for leaf in leaves)
            spec |= {"integer": True} if whole else {}
        values = [_values(leaf.schema) for leaf in leaves]
        if type in {"string", "boolean"} and all(each is not None for each in values):
            found = {value for each in values for value in each or () if _TYPE_OF[value.__class__] == type}
            spec["values"] = sorted(found, key=str)
        return spec

    def _objects(self, leaves: Sequence[Leaf]) -> Json:
        tag = next((tag for tag in TAGS if _told_apart(leaves, tag)), None)
        if tag is None:
            return self._object(leaves)
        variants: dict[str, list[Leaf]] = {}
        untagged = []
        for leaf in leaves:
            for value in _tag_values(leaf, tag):
                variants.setdefault(value, []).append(leaf)
            if tag not in leaf.schema.get("required", ()):
                untagged.append(leaf)
        made: Json = {"tag": tag, "variants": {v: self._object(each) for v, each in sorted(variants.items())}}
        return made | ({"untagged": self._object(untagged)} if untagged else {})

    def _object(self, leaves: Sequence[Leaf]) -> Json:
        names = {name for leaf in leaves for name in leaf.schema.get("properties", {})}
        required = set.intersection(*(set(leaf.schema.get("required", ())) for leaf in leaves))
        title = next((leaf.schema["title"] for leaf in leaves if "title" in leaf.schema), "")
        spec: Json = {"title": title, "fields": {name: self._field(leaves, name) for name in sorted(names)}}
        spec |= {"required": sorted(required)} if required else {}
        others = [each for each in map(_others, leaves) if each is not None]
        return spec | ({"others": self.node(others)} if others else {})

    def _field(self, leaves: Sequence[Leaf], name: str) -> Json:
        found, null = [], False
        for leaf in leaves:
            if name in leaf.schema.get("properties", {}):
                found.append((leaf.source, leaf.schema["properties"][name]))
                null |= bool(leaf.source.lenient) and name not in leaf.schema.get("required", ())
            elif not leaf.source.open and (others := _others(leaf)) is not None:
                found.append(others)
        return self.node([*found, *([(found[0][0], _NULL)] if null else [])])


_NULL: Json = {"type": "null"}


def _inheriting(schema: Json, branch: Any) -> Any:
    """Returns a branch of a union with the fields around the union (OpenAPI shares fields in this way)."""
    if "properties" not in schema or not isinstance(branch, dict) or "properties" in branch:
        return branch
    own = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    return own | {"required": [*own.get("required", ()), *branch.get("required", ())]}


def _merged(source: Source, schema: Json) -> Json:
    """Returns the parts of an `allOf` as one schema."""
    merged: Json = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        whole = part
        while "$ref" in whole:
            whole = source.defs[whole["$ref"].rpartition("/")[2]]
        if "allOf" in whole:
            whole = _merged(source, whole)
        fields = {**whole.get("properties", {}), **merged.get("properties", {})}
        required = [*whole.get("required", ()), *merged.get("required", ())]
        merged = {**whole, **merged}
        merged |= {"properties": fields} if fields else {}
        merged |= {"required": required} if required else {}
    return merged


def _plain(source: Source, schema: Json) -> Iterator[Leaf]:
    if "const" in schema or "enum" in schema:
        for name in {_TYPE_OF[type(v)] for v in _values(schema) or () if v is not None}:
            yield Leaf(source, name, schema)
        if None in (_values(schema) or ()) or schema.get("nullable"):
            yield Leaf(source, "null", {})
        return
    types = schema.get("type") or ("object" if "properties" in schema else "any")
    if schema.get("nullable"):
        yield Leaf(source, "null", {})
    for name in types if isinstance(types, list) else [types]:
        kind = "number" if name == "integer" else name
        yield Leaf(source, kind, {**schema, "type": name} if isinstance(types, list) else schema)


def _values(schema: Json) -> list[Any] | None:
    found = [schema["const"]] if "const" in schema else schema.get("enum")
    words = any(isinstance(each, str) for each in found or ())
    return (
        ["OFF" if each is False and words else each for each in found] if found else found
    )  # YAML reads OFF as false


def _others(leaf: Leaf) -> tuple[Source, Any] | None:
    """Returns the node of other fields of an object, or `None` if it allows none."""
    more = leaf.schema.get("additionalProperties")
    if isinstance(more, dict | bool):
        return (leaf.source, more) if more is not False else None
    free = leaf.source.open or "properties" not in leaf.schema
    return (leaf.source, True) if free else None


def _tag_values(leaf: Leaf, tag: str) -> list[str]:
    """Returns the values of a tag that identify this object, or nothing if it has no such field."""
    found = leaf.schema.get("properties", {}).get(tag)
    while isinstance(found, dict) and "$ref" in found:
        found = leaf.source.defs[found["$ref"].rpartition("/")[2]]
    if isinstance(found, dict) and "anyOf" in found:  # a literal or null
        found = next((each for each in found["anyOf"] if _values(each)), {})
    return [value for value in _values(found or {}) or () if isinstance(value, str)]


def _told_apart(leaves: Sequence[Leaf], tag: str) -> bool:
    """Tells whether a field distinguishes these objects: each object with the field lists its values."""
    marked = [leaf for leaf in leaves if tag in leaf.schema.get("properties", {})]
    sets = {frozenset(_tag_values(leaf, tag)) for leaf in marked}
    open_ones = [leaf for leaf in leaves if _others(leaf) is not None and leaf not in marked]
    return len(sets) > 1 and frozenset() not in sets and not open_ones


def _bounds(type: str, leaves: Sequence[Leaf]) -> Json:
    """Returns the widest bounds of the sources that can express one."""
    found: Json = {}
    speaking = [leaf for leaf in leaves if leaf.source.bounds]
    for key, widest in _BOUNDS.get(type, ()):
        if speaking and all(key in leaf.schema for leaf in speaking):
            found[key] = widest(leaf.schema[key] for leaf in speaking)
    patterns = {leaf.schema.get("pattern") for leaf in speaking}
    if type == "string" and len(patterns) == 1 and None not in patterns:
        found["pattern"] = patterns.pop()
    return found
