"""Changes one part of a request to an error, at each place and in each way of its shape."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nodes import Json

from ellmer_conformance.contract.shapes import FaultKind

_ANOTHER: Sequence[tuple[str, Any]] = (
    ("string", "bogus"),
    ("number", 4.5),
    ("boolean", True),
    ("object", {"bogus": 1}),
    ("array", ["bogus"]),
)


class Mutant(NamedTuple):
    """A request with one fault, and its place in the shape: `messages[]<user>.content`."""

    kind: FaultKind
    place: str
    body: Json


def mutants(body: Json, node: Json, place: str = "") -> Iterator[Mutant]:
    """Yields each request with one error. Places that the shape does not know are not changed."""
    for kind, where, path, change in _changes(body, node, place, ()):
        changed = copy.deepcopy(body)
        yield Mutant(kind, where, _changed(changed, path, change))


Path_ = tuple[str | int, ...]
_ABSENT = object()


def _changed(body: Any, path: Path_, value: Any) -> Any:
    if not path:
        return value
    holder = body
    for step in path[:-1]:
        holder = holder[step]
    if value is _ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return body


def _changes(value: Any, node: Json, place: str, path: Path_) -> Iterator[tuple[FaultKind, str, Path_, Any]]:
    if "any" in node:
        return
    if path:
        for name, other in _ANOTHER:
            if name not in node:
                yield FaultKind.WRONG_TYPE, place, path, other
                break
    match value:
        case dict() if "object" in node:
            yield from _of_object(value, node["object"], place, path)
        case list() if "array" in node:
            for index, each in enumerate(value):
                yield from _changes(each, node["array"]["items"], f"{place}[]", (*path, index))
        case str() if "values" in node.get("string", {}):
            yield FaultKind.UNKNOWN_VALUE, place, path, "bogus"
        case int() | float() if "number" in node and not isinstance(value, bool):
            yield from _out_of_range(node["number"], place, path)


def _of_object(
    value: Json, spec: Json, place: str, path: Path_
) -> Iterator[tuple[FaultKind, str, Path_, Any]]:
    if "tag" in spec:
        tag = value.get(spec["tag"])
        inner = spec["variants"].get(tag) if isinstance(tag, str) else spec.get("untagged")
        if isinstance(tag, str):
            yield FaultKind.WRONG_VARIANT, f"{place}.{spec['tag']}", (*path, spec["tag"]), "bogus"
        if inner:
            yield from _of_object(value, inner, f"{place}<{tag or ''}>", path)
        return
    if "others" not in spec:
        yield FaultKind.UNKNOWN_FIELD, place, (*path, "bogus"), 1
    for key in spec.get("required", ()):
        if key in value:
            yield FaultKind.MISSING_FIELD, f"{place}.{key}", (*path, key), _ABSENT
    for key, each in value.items():
        if key in spec["fields"]:
            yield from _changes(each, spec["fields"][key], f"{place}.{key}", (*path, key))


def _out_of_range(spec: Json, place: str, path: Path_) -> Iterator[tuple[FaultKind, str, Path_, Any]]:
    for bound, beyond in (("minimum", -1), ("maximum", 1)):
        if bound in spec:
            yield FaultKind.OUT_OF_RANGE, place, path, spec[bound] + beyond
