"""Rules about the shape of a wire format: one for each kind of fault, in the provider's own words.

`shapes` finds the faults, and `<wire>/shape_faults.py` has the provider's words. These rules come after the rules
with more specific words, and before those about the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..exchange import Json, Request
from ..rule import Check, Finding, Kind, Level, Refusal, broken, met
from ..rulebook import RuleBook
from ..shapes import Fault, FaultKind, checker

__all__ = ["IDS", "UNRECORDED", "FaultKind", "Wording", "enter", "kind_of", "problem", "types_of"]

#: Put behind a sentence where the provider's own is not known.
UNRECORDED = " (the provider refuses this; its own words for it are not on record)"
RULES: Mapping[FaultKind, tuple[str, str]] = {
    FaultKind.UNKNOWN_FIELD: ("REQ-101", "No object has a field that the provider's types do not have."),
    FaultKind.MISSING_FIELD: ("REQ-102", "Every object has the fields that the provider's types require."),
    FaultKind.WRONG_TYPE: ("REQ-103", "Every value has the type that the provider's types give its place."),
    FaultKind.WRONG_VARIANT: ("REQ-104", "The type of an object is one of those that can be at its place."),
    FaultKind.UNKNOWN_VALUE: ("REQ-105", "An enumerated value is one of the allowed values."),
    FaultKind.OUT_OF_RANGE: ("REQ-106", "Numbers, lengths and patterns are within the provider's bounds."),
}
IDS = tuple(id for id, _ in RULES.values())
_WHY = "Why: the types of the official SDKs and documents agree on it, and no accepted request on record contradicts it."


@dataclass(frozen=True)
class Wording:
    """A provider's words for the faults of one shape. `say` returns the facts that fill the refusal."""

    shape: str
    say: Callable[[Fault, Request], Mapping[str, str]]
    refusals: Mapping[FaultKind, Refusal]
    source: str
    example: Json
    counterexamples: Mapping[FaultKind, Sequence[Json]]
    providers: Mapping[str, str] = field(default_factory=dict)  # those whose reader has another shape
    ignored: frozenset[str] = frozenset()  # fields of our own examples that are in the URL, not in the body
    tolerated: Callable[[Fault, Request], bool] = lambda *_: (
        False
    )  # what accepted requests show to be no fault


def enter(book: RuleBook, wording: Wording) -> None:
    """Adds a rule for each kind of fault that has a counterexample."""
    for kind, (id, sentence) in RULES.items():
        if kind in wording.counterexamples:
            book.rule(
                id,
                Level.MUST,
                Kind.REJECT,
                source=[f"shapes/{wording.shape}.json", wording.source],
                refusal=wording.refusals[kind],
                examples=[wording.example],
                counterexamples=wording.counterexamples[kind],
            )(_check(kind, sentence, wording))


def _check(kind: FaultKind, sentence: str, wording: Wording) -> Check:
    def check(request: Request) -> Iterator[Finding]:
        found = False
        shape = wording.providers.get(request.provider, wording.shape)
        for fault in _faults(request, shape, wording.ignored):
            if fault.kind is kind and not wording.tolerated(fault, request):
                found = True
                yield broken(fault.pointer, problem(fault), **wording.say(fault, request))
        if not found:
            yield met("")

    check.__doc__ = f"{sentence}\n\n{_WHY}"
    return check


@lru_cache(maxsize=4)
def _faults(request: Request, shape: str, ignored: frozenset[str]) -> list[Fault]:
    """Returns the faults of a request, which are found once for all kinds."""
    body = request.body
    if ignored & body.keys():
        body = {key: value for key, value in body.items() if key not in ignored}
    return checker(shape).faults(body)


def problem(fault: Fault) -> str:
    """Returns our own sentence for a fault."""
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            return f"`{fault.key}` is no field here"
        case FaultKind.MISSING_FIELD:
            return f"`{fault.key}` is missing"
        case FaultKind.WRONG_TYPE:
            return f"{kind_of(fault.value)}, where {' or '.join(types_of(fault.expected))} belongs"
        case FaultKind.OUT_OF_RANGE:
            return f"the {fault.bound} here is {fault.expected}"
    return f"{fault.value if not fault.key else fault.value.get(fault.key)!r} is none of {', '.join(fault.expected)}"


_NAMES = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}


def kind_of(value: Any) -> str:
    """Returns the JSON type of a value."""
    return _NAMES.get(type(value), "object")


def types_of(node: Mapping[str, Any]) -> list[str]:
    """Returns the JSON types that a place can have, except null."""
    found = ["integer" if "integer" in node[name] else name for name in node if name != "null"]
    return found or ["null"]
