"""Moves the definitions of a JSON Schema to its root, because `#/$defs/Node` does not work inside another schema.

The definitions of a nested schema move to the root, under a new name if theirs is in use. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import UsageError

__all__ = ["DATA", "Definitions", "referred", "subschemas"]

Json = dict[str, Any]

#: Keywords whose values are data, not schemas, and those that hold schemas by name.
DATA = frozenset({"enum", "const", "default", "examples", "required"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_HOMES = ("$defs", "definitions")


class Definitions:
    """The definitions for the schemas of one document."""

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}
        self.moved: Json = {}

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
            _check(inner.get("$ref"), document)
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
    if reference is None:
        return
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
    return {
        keyword: rename(value)
        if keyword == "$ref" and isinstance(value, str)
        else _by_name(value, rename)
        if keyword in _NAMED
        else value
        if keyword in DATA
        else _mapped(value, rename)
        for keyword, value in schema.items()
    }


def _by_name(value: Any, rename: Callable[[str], str]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: _mapped(inner, rename) for name, inner in value.items()}
