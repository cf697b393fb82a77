"""Merges equal nodes of a shape: nodes are refined by their children until they no longer differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nodes import Json


def minimal(root: Json) -> Json:
    """Returns the same shape with each equal part only once."""
    parts = list(_parts(root))
    colours = {id(part): 0 for part in parts}
    count = 0
    while count < (count := len(set(colours.values()))) or count == 1:
        seen: dict[Any, int] = {}
        colours = {id(p): seen.setdefault((colours[id(p)], _look(p, colours)), len(seen)) for p in parts}
        if count == len(seen):
            break
    first: dict[int, Json] = {}
    for part in parts:
        first.setdefault(colours[id(part)], part)
    for part in first.values():
        _relink(part, first, colours)
    return first[colours[id(root)]]


def _parts(root: Json) -> Iterator[Json]:
    seen: set[int] = set()
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and id(value) not in seen:
            seen.add(id(value))
            yield value
            waiting += value.values()


def _look(part: Json, colours: dict[int, int]) -> Any:
    return tuple(
        (key, colours[id(value)] if isinstance(value, dict) else repr(value))
        for key, value in sorted(part.items())
        if key != "title"
    )


def _relink(part: Json, first: dict[int, Json], colours: dict[int, int]) -> None:
    for key, value in part.items():
        if isinstance(value, dict):
            part[key] = first[colours[id(value)]]
