"""What is known of the object types of an API: which faults it refuses, and which it accepts, each with its evidence.

A shape says what the official types exclude. That is no evidence of a refusal. A fact says what the API does with a
fault at a type, wherever the type is used. It is refused (on record at that type, or at a type under the same validator)
or accepted (on record at that field). A fault without a fact is unknown: a preview reports it, and nothing refuses it.
The facts are data: `<shape>.facts.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from . import shape
from .fault import Fault, FaultKind

__all__ = ["Fact", "aspect", "deciding", "facts", "root_fields"]

#: Faults that no fact about another kind decides: a null for an optional field, and an empty text or list.
NULL, EMPTY = "null", "empty"


@dataclass(frozen=True)
class Fact:
    """What an API does with one kind of fault at some object types.

    Args:
        refused: Whether it refuses the request; otherwise it accepts the fault.
        fault: A kind of fault (`FaultKind`), `null` (for an optional field) or `empty`.
        types: Patterns of the names of the object types.
        fields: Patterns of the fields.
        apart: Names of types that it is not about, although a pattern matches.
        values: The JSON types or values that it is about; empty for all.
        providers: The providers that it is about; empty for all with this shape.
        evidence: Links to the refusals or the accepted requests.
        because: What the evidence shows, if the links do not say it.
    """

    refused: bool
    fault: str
    types: tuple[str, ...] = ("*",)
    fields: tuple[str, ...] = ("*",)
    apart: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    because: str = ""

    def decides(self, fault: Fault, provider: str) -> bool:
        """Tells whether this fact decides a fault at a provider."""
        return (
            self.fault == aspect(fault)
            and (not self.providers or provider in self.providers)
            and _any(fault.owner, self.types)
            and not _any(fault.owner, self.apart)
            and _any(_field(fault), self.fields)
            and (not self.values or _value(fault) in self.values)
        )

    @property
    def sentence(self) -> str:
        """The fact in words, with its evidence."""
        types = "every type" if self.types == ("*",) else ", ".join(self.types)
        where = types if self.fields == ("*",) else f"{', '.join(self.fields)} of {types}"
        more = f" (not {', '.join(self.apart)})" if self.apart else ""
        of = f" ({', '.join(self.values)})" if self.values else ""
        at = f" at {', '.join(self.providers)}" if self.providers else ""
        verb = "refused" if self.refused else "accepted"
        shown = "; ".join(part for part in (self.because, " ".join(self.evidence)) if part)
        return f"{self.fault}{of} {verb} in {where}{more}{at}: {shown}"


def aspect(fault: Fault) -> str:
    """Returns the kind of a fault as the facts name it."""
    if fault.kind is FaultKind.WRONG_TYPE and fault.value is None and not fault.required:
        return NULL
    if fault.kind is FaultKind.OUT_OF_RANGE and fault.bound in {"minItems", "minLength"} and not fault.value:
        return EMPTY
    return fault.kind


def deciding(name: str, fault: Fault, provider: str) -> Fact | None:
    """Returns the fact that decides a fault in a shape, or `None` if nothing is known. What is accepted on record at a
    field comes before what is refused at its type.
    """
    return next((fact for fact in facts(name) if fact.decides(fault, provider)), None)


@cache
def facts(name: str) -> tuple[Fact, ...]:
    """Returns the facts of a shape: the accepted faults, then the refused ones."""
    file = files(__package__) / f"{name}.facts.toml"
    told = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    return (*_read(told.get("accepted", ()), False), *_read(told.get("refused", ()), True))


@cache
def root_fields(name: str) -> frozenset[str]:
    """Returns the fields of a request: those of its type, and those that accepted requests have beside them."""
    root = shape(name)["root"]["object"]
    more = (
        fact.fields
        for fact in facts(name)
        if not fact.refused and fact.fault == FaultKind.UNKNOWN_FIELD and root["type"] in fact.types
    )
    return frozenset((*root["fields"], *(field for fields in more for field in fields)))


def _read(entries: Sequence[Mapping[str, Any]], refused: bool) -> list[Fact]:
    return [Fact(refused=refused, **{key: _tuple(value) for key, value in each.items()}) for each in entries]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _field(fault: Fault) -> str:
    """Returns the field, and the tag that is missing in its value as `tools/type`."""
    tag = fault.kind is FaultKind.MISSING_FIELD and fault.key != fault.field
    return f"{fault.field}/{fault.key}" if tag else fault.field


def _value(fault: Fault) -> str:
    """Returns the JSON type of a value of a wrong type, and the value or the tag otherwise."""
    if fault.kind is FaultKind.WRONG_TYPE:
        return _NAMES.get(type(fault.value), "object")
    return str(fault.value[fault.key] if fault.kind is FaultKind.WRONG_VARIANT else fault.value)


_NAMES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
