"""Shared methods of frozen dataclasses: equality, hash and `repr()`.

`@dataclass` compiles these methods for every class, which takes half of the class's import time. A class that derives
from `Value` leaves them out: `@dataclass(frozen=True, eq=False, repr=False)`.
"""

from __future__ import annotations

from dataclasses import fields
from reprlib import recursive_repr
from typing import Any, ClassVar


class Value:
    """The methods of `@dataclass(frozen=True)`, for all classes that derive from this one."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))

    @recursive_repr()
    def __repr__(self) -> str:
        shown = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr]
        return f"{type(self).__qualname__}({', '.join(shown)})"


def _compared(value: Any) -> tuple[Any, ...]:
    return tuple([getattr(value, field.name) for field in fields(value) if field.compare])
