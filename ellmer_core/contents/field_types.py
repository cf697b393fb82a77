"""Checks that the fields of a content have the types that sending it relies on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

__all__ = ["KINDS", "misfit"]

#: The types that are checked, by the annotation of the field.
KINDS: dict[str, type] = {"str": str, "Mapping[str, Any]": Mapping}


def misfit(content: object) -> str:
    """Returns a sentence about the first field whose value has a wrong type, or `""`."""
    cls: Any = type(content)
    for name, kinds in _kinds(cls):
        if not isinstance(value := getattr(content, name), kinds):
            return f"{cls.__name__}.{name} is {type(value).__name__}, not {kinds[-1].__name__}"
    return ""


@cache
def _kinds(cls: Any) -> list[tuple[str, tuple[type, ...]]]:
    checked = [(f.name, KINDS[str(f.type)]) for f in fields(cls) if str(f.type) in KINDS]
    return [
        (name, (dict, kind) if kind is Mapping else (kind,)) for name, kind in checked
    ]  # a dict is told fast
