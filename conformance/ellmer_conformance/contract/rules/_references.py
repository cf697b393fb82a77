"""Finds references in a JSON Schema that lead nowhere. Several providers refuse them, each with its own error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

Pointer = tuple[str, ...]

#: Their values are data, not schemas.
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_NOWHERE = object()


def references(schema: Any, place: Pointer = ()) -> Iterator[tuple[Pointer, str]]:
    """Yields the references within a schema to the same schema: the pointer of each, and its target."""
    if isinstance(schema, list):
        for index, each in enumerate(schema):
            yield from references(each, (*place, str(index)))
    if not isinstance(schema, dict):
        return
    named = schema.get("$ref")
    if isinstance(named, str) and named.startswith("#"):
        yield place, named
    for key, inner in schema.items():
        if key not in _DATA or place[-1:] == ("properties",):
            yield from references(inner, (*place, key))


def dangling(schema: Any) -> list[tuple[Pointer, str]]:
    """Returns the references that lead nowhere."""
    return [(place, name) for place, name in references(schema) if not _leads(schema, name)]


def _leads(schema: Any, reference: str) -> bool:
    """Tells whether the target of a JSON pointer exists. Anchors (`#name`) are not checked."""
    if not reference.startswith("#/"):
        return True
    found = schema
    for step in unquote(reference[2:]).split("/"):
        found = _inside(found, step.replace("~1", "/").replace("~0", "~"))
    return found is not _NOWHERE


def _inside(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, _NOWHERE)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return _NOWHERE
