"""Checks that the fields of a content have the types that sending it relies on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

__all__ = ["KINDS", "misfits"]

#: The types that are checked, by the annotation of the field.
KINDS: dict[str, type] = {"str": str, "Mapping[str, Any]": Mapping}


def misfits(content: object) -> Iterator[str]:
    """Yields a sentence for each field whose value has a wrong type."""
    cls: Any = type(content)
    for name, kind in _kinds(cls):
        if not isinstance(value := getattr(content, name), kind):
            yield f"{type(content).__name__}.{name} is {type(value).__name__}, not {kind.__name__}"


@cache
def _kinds(cls: Any) -> list[tuple[str, type]]:
    return [(f.name, KINDS[str(f.type)]) for f in fields(cls) if str(f.type) in KINDS]
