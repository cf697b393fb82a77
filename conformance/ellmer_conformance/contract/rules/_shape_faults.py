"""Rules about the shape of a wire format: one for each kind of fault, in the provider's own words.

`shapes` finds the faults, and `<wire>/shape_faults.py` has the provider's words. These rules come after the rules
with more specific words, and before those about the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from ellmer_core.base.budget import FAULTS

from ..observed.exchange import Json, Request
from ..rule import Check, Finding, Kind, Level, Refusal, broken, met
from ..rulebook import RuleBook
from ..shapes import Fault, FaultKind, checker
from ..shapes.facts import Fact, deciding, facts

__all__ = ["IDS", "UNRECORDED", "FaultKind", "Wording", "enter", "kind_of", "problem", "types_of"]

#: Put behind a sentence where the provider's own is not known.
UNRECORDED = " (the provider refuses this; its own words for it are not on record)"
RULES: Mapping[FaultKind, tuple[str, str]] = {
    FaultKind.UNKNOWN_FIELD: ("REQ-101", "No object has a field that the provider's types do not have."),
    FaultKind.MISSING_FIELD: ("REQ-102", "Every object has the fields that the provider's types require."),
    FaultKind.WRONG_TYPE: (
        "REQ-103",
        "Every value has a type that the provider's definition of its field allows.",
    ),
    FaultKind.WRONG_VARIANT: (
        "REQ-104",
        "Every object is of a type that the provider's definition of its field allows.",
    ),
    FaultKind.UNKNOWN_VALUE: ("REQ-105", "An enumerated value is one of the allowed values."),
    FaultKind.OUT_OF_RANGE: ("REQ-106", "Numbers, lengths and patterns are within the provider's bounds."),
}
_WHY = "Why: the official types exclude it, and a refusal is on record for this type, or for another type that the same validator checks."
#: What to do about each kind of fault, and about one that nothing on record decides.
_FIXES: Mapping[FaultKind | None, str] = {
    FaultKind.UNKNOWN_FIELD: "leave the field out, or send the one of this format that means the same.",
    FaultKind.MISSING_FIELD: "add the field; its object was built for another format, or its value was None and dropped.",
    FaultKind.WRONG_TYPE: "convert the value to the type that the message names.",
    FaultKind.WRONG_VARIANT: "look at the object's `type`: it is misspelt, or belongs to another format.",
    FaultKind.UNKNOWN_VALUE: "map your own name for it to one of the values in the message.",
    FaultKind.OUT_OF_RANGE: "check the caller's value before the request, and name the bounds in your error.",
    None: "compare the place with the provider's reference, and send us the API's answer if it refuses the request.",
}
_DECIDED = "This project decided it."
#: The rule about faults that no refusal on record decides.
_UNDECIDED = (
    "REQ-107",
    "A request fits the provider's definitions, also where no refusal was recorded.",
    "Why: a type definition is not evidence of a refusal. This rule reports such faults, and never refuses a request.",
)


IDS = (*(id for id, _ in RULES.values()), _UNDECIDED[0])


@dataclass(frozen=True)
class Wording:
    """A provider's words for the faults of one shape. `say` returns the facts that fill the refusal. `undecided` are
    requests with a fault that no fact decides.
    """

    shape: str
    say: Callable[[Fault, Request], Mapping[str, str]]
    refusals: Mapping[FaultKind, Refusal]
    example: Json
    counterexamples: Mapping[FaultKind, Sequence[Json]]
    providers: Mapping[str, str] = field(default_factory=dict)  # those whose reader has another shape
    ignored: frozenset[str] = frozenset()  # fields of our own examples that are in the URL or a header
    #: (provider, field): fields of the body that a provider has besides these, or in the URL instead.
    differing: frozenset[tuple[str, str]] = frozenset()
    header: str = ""  # with this header, they are judged like any other
    undecided: Sequence[Json] = ()


def enter(book: RuleBook, wording: Wording) -> None:
    """Adds a rule for each kind of fault that has a counterexample, and one for the faults that no fact decides."""
    for kind, (id, sentence) in RULES.items():
        if kind in wording.counterexamples:
            book.rule(
                id,
                Level.MUST,
                Kind.REJECT,
                source=[f"shapes/{wording.shape}.json", *_evidence(wording.shape, kind)],
                refusal=wording.refusals[kind],
                examples=[wording.example],
                counterexamples=wording.counterexamples[kind],
            )(_check(kind, f"{sentence}\n\n{_WHY}\n\n{_facts_on_record(wording.shape, kind)}", wording))
    if wording.undecided:
        id, sentence, why = _UNDECIDED
        book.rule(
            id,
            Level.MUST,
            Kind.REJECT,
            source=_DECIDED,
            refusal=Refusal("{preview}"),
            preview=True,
            examples=[wording.example],
            counterexamples=wording.undecided,
        )(_check(None, f"{sentence}\n\n{why}", wording))


def _check(kind: FaultKind | None, doc: str, wording: Wording) -> Check:
    """Returns the check for the faults of a kind that are refused, or for those that no fact decides."""

    def check(request: Request) -> Iterator[Finding]:
        found = False
        shape = wording.providers.get(request.provider, wording.shape)
        judged = wording.header and wording.header in request.headers
        for fault, fact in _faults(request, shape, frozenset() if judged else wording.ignored):
            if fact is None if kind is None else fact is not None and fact.refused and fault.kind is kind:
                top = fault.pointer in ("", f"/{fault.key}")
                if top and (request.provider, fault.key) in wording.differing:
                    continue
                found = True
                decided = fact.sentence if fact else "nothing on record: only the official types exclude it"
                preview = f"{fault.pointer}: {problem(fault)} (no refusal of this is on record)"
                told = wording.say(fault, request)
                yield broken(fault.pointer, problem(fault), decided=decided, preview=preview, **told)
        if not found:
            yield met("")

    check.__doc__ = f"{doc}\n\nFix: {_FIXES[kind]}"
    return check


def _facts_of(shape: str, kind: FaultKind) -> list[Fact]:
    """Returns the facts about a kind of fault."""
    also = {FaultKind.WRONG_TYPE: "null", FaultKind.OUT_OF_RANGE: "empty"}.get(kind, "")
    return [fact for fact in facts(shape) if fact.fault in {kind, also}]


def _evidence(shape: str, kind: FaultKind) -> list[str]:
    """Returns the links to the refusals of a kind of fault."""
    return list(
        dict.fromkeys(link for fact in _facts_of(shape, kind) if fact.refused for link in fact.evidence)
    )


def _facts_on_record(shape: str, kind: FaultKind) -> str:
    return "\n".join(["What is on record:", *(f"- {fact.sentence}" for fact in _facts_of(shape, kind))])


@lru_cache(maxsize=4)
def _faults(request: Request, shape: str, ignored: frozenset[str]) -> list[tuple[Fault, Fact | None]]:
    """Returns the faults of a request, with what decides each. They are found once for all kinds."""
    body = request.body
    if ignored & body.keys():
        body = {key: value for key, value in body.items() if key not in ignored}
    return [
        (fault, deciding(shape, fault, request.provider, request))
        for fault in islice(checker(shape).faults(body), FAULTS.events)
    ]


def problem(fault: Fault) -> str:
    """Returns our own sentence for a fault."""
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            return f"there is no field `{fault.key}` here"
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
