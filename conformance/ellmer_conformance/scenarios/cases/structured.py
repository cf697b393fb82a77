"""Structured output: a value with a schema, and what may come instead of one."""

from __future__ import annotations

from ..case import Case, Mode, ask, case
from ..script import Answer, Fills, Say, Usage

_PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
_ADA = {"name": "Ada Łovelace", "age": 36}
_NEEDS = frozenset({"structured"})
_SYNC: tuple[Mode, ...] = ("sync", "async")


@case
def structured_answer() -> Case:
    """A value that fits its schema is handed over as it is."""
    return Case(
        everywhere=True,
        needs=_NEEDS,
        modes=_SYNC,
        script=[Fills(_ADA, Usage(40, 12))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, value=_ADA)],
    )


@case
def structured_misfit() -> Case:
    """A value that does not fit its schema is an error, never a value of the wrong type."""
    return Case(
        needs=_NEEDS,
        modes=_SYNC,
        script=[Fills({"name": "Ada", "age": "unknown"}, Usage(40, 12))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, outcome="incomplete")],
    )


@case
def structured_too_short() -> Case:
    """The token limit ends the value: the error says that it was the limit, not that the JSON is bad."""
    return Case(
        needs=_NEEDS,
        modes=_SYNC,
        script=[Answer((Say('{"name": "Ada Lo'),), stop="length", usage=Usage(40, 6))],
        steps=[ask("Who wrote the first program?", schema=_PERSON, outcome="incomplete")],
    )
