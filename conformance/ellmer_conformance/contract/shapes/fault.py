"""A fault of a request: an unexpected, missing or wrong value."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from dataclasses import field as field_
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
    bound for a value out of range. `owner` and `field` are the place in the types, wherever the type is used. `tags` are
    the variants on the path, which some providers name.
    """

    kind: FaultKind
    value: Any
    expected: Any = None
    key: str = ""  # the field that is unknown, missing or the tag
    bound: str = ""  # `minimum`, `maxLength`, …
    owner: str = ""  # the innermost named object type with a field on the path
    field: str = ""  # that field
    required: bool = False  # whether the type requires it
    _path: list[str | int] = field_(default_factory=list)  # from the inside out
    tags: list[tuple[int, str]] = field_(default_factory=list)  # how deep in the path, and which variant

    def inside(self, step: str | int) -> None:
        """Adds an element or a field to the path of the fault."""
        self._path.append(step)

    def at(self, owner: str, name: str, *, required: bool) -> None:
        """Adds a field of an object type to the path of the fault. The innermost one is the place of the fault."""
        self._path.append(name)
        if not self.owner:
            self.owner, self.field, self.required = owner, name, required

    def of(self, tag: str) -> None:
        """Adds the variant of an object on the path."""
        self.tags.append((len(self._path), tag))

    @property
    def path(self) -> Sequence[str | int]:
        """The path from the root. The path of a missing field is that of its object."""
        return self._path[::-1]

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)

    def located(self, unnamed: Container[str] = ()) -> list[str | int]:
        """Returns pydantic's path: the tag of a variant is a separate step after its field, if it has a name."""
        at = {len(self._path) - depth: tag for depth, tag in self.tags if tag not in unnamed}
        steps: list[str | int] = []
        for index, step in enumerate(self.path):
            steps += [at[index], step] if index in at else [step]
        return steps + ([at[len(self._path)]] if len(self._path) in at else [])
