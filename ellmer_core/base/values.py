"""Shared methods of frozen dataclasses: equality, hash and `repr()`, and a check of the types of their fields.

`@dataclass` compiles these methods for every class, which takes half of the class's import time. A class that derives
from `Value` leaves them out: `@dataclass(frozen=True, eq=False, repr=False)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
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


# --- types of fields -------------------------------------------------------------------------------------


#: The types that are checked, by the annotation of the field.
_NONE = type(None)
KINDS: dict[str, Any] = {  # tuples: `isinstance()` takes a third of the time of a union
    "str": str,
    "Mapping[str, Any]": (dict, Mapping),
    "bool": bool,
    "tuple[ContentCitation, ...]": (tuple, list),
    "str | None": (str, _NONE),
    "int | None": (int, _NONE),
    "float | None": (int, float, _NONE),
}


def misfit(value: object) -> str:
    """Returns a sentence about the first field whose value has a wrong type, or `""`."""
    cls: Any = type(value)
    for name, kinds, kind in _kinds(cls):
        if not isinstance(field := getattr(value, name), kinds):
            return f"{cls.__name__}.{name} is {type(field).__name__}, not {kind}"
    return ""


@cache
def _kinds(cls: Any) -> list[tuple[str, Any, str]]:
    """Returns the names of the fields that are checked, with their types and the words for these."""
    named = [(f.name, str(f.type)) for f in fields(cls)]
    return [(name, KINDS[kind], kind.partition("[")[0]) for name, kind in named if kind in KINDS]
