"""Finds the field whose value an error text refuses, if the text lists the right values and names no field: `Invalid value: 'off'. Supported
values are: 'auto' and 'concise'.` The body's `param` names the field, or the definitions of one wire format have a field with these values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ..rules import WIRES
from ..shapes.checker import shape
from .described_faults import Described, What

__all__ = ["Listed", "listed_values"]

#: What says that a value is wrong, with the value and the list of the right ones.
_LISTED = re.compile(
    r"""\b(?:invalid|unsupported|unknown|unexpected) value:? \\*+['"`]([^'"`\\]{0,60})\\*+['"`]\. """
    r"""(?:supported|allowed|valid|accepted|possible) values (?:are|include):? ([^\n]{2,400})""",
    re.IGNORECASE,
)
#: The same without the list, with the field beside it, as people shorten a body.
_ALONE = re.compile(
    r"""\b(?:invalid|unsupported) value:? \\*+['"`]([^'"`\\]{0,60})\\*+['"`]\W{1,4}param\W{1,8}([A-Za-z_][\w.\[\]]{0,200})""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""['"`]([\w.-]{1,40})\\*+['"`]""")
_END = re.compile(r"""['"`]\.(?:\s|\\*+["'`]|$)""")
_PARAM = re.compile(r"""\\*+['"]param\\*+['"]: ?\\*+['"]([A-Za-z_][\w.\[\]]{0,200})\\*+['"]""")
_NAMES = re.compile(r"[A-Za-z_]\w*")
_PHRASE = "invalid value"
_LEAST = 0.75  # the least share of the values that a field and a list have in common
_DEEPEST = 6  # names of a path into a definition


class Listed(NamedTuple):
    """A fault of a field that a text does not name: the wire formats that have the field, or none if any may have it."""

    fault: Described
    wires: tuple[str, ...] = ()


def listed_values(text: str, body: str) -> list[Listed]:
    """Returns the faults that a text may tell with a list of the right values, the likeliest first. `body` is what the text was read from."""
    said = _LISTED.search(text)
    if not said:
        return [_alone(each) for each in _ALONE.finditer(text)][:1]
    if named := _PARAM.search(body):
        return [Listed(Described(What.WRONG, _PHRASE, tuple(_NAMES.findall(named[1])), said[1]))]
    told = said[2][: end.start() + 1] if (end := _END.search(said[2])) else said[2]
    values = frozenset(_QUOTED.findall(told))
    alike = {place: _alike(values, right) for place, right in _enumerated().items()}
    best = max(alike.values(), default=0.0)
    return [
        Listed(Described(What.WRONG, _PHRASE, path, said[1]), (wire,))
        for (wire, path), share in alike.items()
        if share == best >= _LEAST
    ]


def _alone(said: re.Match[str]) -> Listed:
    """Returns the fault of a value whose field the text names. That of an element of a list is the element's type."""
    value, place = said.groups()
    path = (*_NAMES.findall(place), *(["type"] if place.endswith("]") else []))
    return Listed(Described(What.WRONG, _PHRASE, path, value))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if len(one & other) > 1 else 0.0


@cache
def _enumerated() -> Mapping[tuple[str, tuple[str, ...]], frozenset[str]]:
    """Returns the values of each field of each wire format that has a list of them, by the names that lead to it."""
    found = dict[tuple[str, tuple[str, ...]], frozenset[str]]()
    for wire in WIRES:
        definition = shape(wire)
        for path, values in _values(definition["root"], definition["nodes"], (), ()):
            found[wire, path] = found.get((wire, path), frozenset()) | values
    return found


def _values(
    node: Any, nodes: Mapping[str, Any], path: tuple[str, ...], seen: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Yields the lists of values in a definition, each with its path. `seen` are the named definitions around it."""
    if not isinstance(node, dict) or len(path) > _DEEPEST or node.get("ref") in seen:
        return
    if "ref" in node:
        yield from _values(nodes[node["ref"]], nodes, path, (*seen, node["ref"]))
        return
    if path and "values" in (node.get("string") or {}):
        yield path, frozenset(each for each in node["string"]["values"] if isinstance(each, str))
    yield from _values((node.get("array") or {}).get("items"), nodes, path, seen)
    yield from _inner_values(node.get("object") or {}, nodes, path, seen)


def _inner_values(
    spec: Mapping[str, Any], nodes: Mapping[str, Any], path: tuple[str, ...], seen: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    if spec.get("ref") in seen:
        return
    if "ref" in spec:
        yield from _inner_values(nodes[spec["ref"]], nodes, path, (*seen, spec["ref"]))
        return
    for variant in filter(None, (*spec.get("variants", {}).values(), spec.get("untagged"))):
        yield from _inner_values(variant, nodes, path, seen)
    for name, field in spec.get("fields", {}).items():
        yield from _values(field, nodes, (*path, name), seen)
