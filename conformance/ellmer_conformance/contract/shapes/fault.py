"""A fault of a request: what its shape says cannot be there, or must be."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Fault", "FaultKind"]


class FaultKind(StrEnum):
    """The kinds of faults."""

    UNKNOWN_FIELD = "unknown field"
    MISSING_FIELD = "missing field"
    WRONG_TYPE = "wrong type"
    UNKNOWN_VALUE = "unknown value"
    OUT_OF_RANGE = "out of range"
    WRONG_VARIANT = "wrong variant"


@dataclass(eq=False)
class Fault:
    """One fault. `expected` is the node of the shape for a wrong type, the values or tags for an unknown one, and the
    bound for what is out of range; `tags` are the variants on the way, which some providers name in their paths."""

    kind: FaultKind
    value: Any
    expected: Any = None
    key: str = ""  # the field that is unknown, missing or the tag
    bound: str = ""  # `minimum`, `maxLength`, …
    _path: list[str | int] = field(default_factory=list)  # from the inside out
    tags: list[tuple[int, str]] = field(default_factory=list)  # how deep in the path, and which variant

    def inside(self, step: str | int) -> None:
        """The fault is found to be in a field or an element."""
        self._path.append(step)

    def of(self, tag: str) -> None:
        """The object on the way is of a variant."""
        self.tags.append((len(self._path), tag))

    @property
    def path(self) -> Sequence[str | int]:
        """Where it is, from the outside in. What is missing is named by the object that lacks it."""
        return self._path[::-1]

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)

    def located(self, unnamed: Container[str] = ()) -> list[str | int]:
        """Returns the path as pydantic writes it: the tag of a variant is a step of its own behind what has
        it, if it is named.
        """
        at = {len(self._path) - depth: tag for depth, tag in self.tags if tag not in unnamed}
        steps: list[str | int] = []
        for index, step in enumerate(self.path):
            steps += [at[index], step] if index in at else [step]
        return steps + ([at[len(self._path)]] if len(self._path) in at else [])
