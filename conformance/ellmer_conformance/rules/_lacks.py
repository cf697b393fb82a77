"""What a model does not take, as data: one line for each recorded refusal of a feature by a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..exchange import Json, Request
from ..rule import Check, Finding, Kind, Level, Refusal, broken, met
from ..rulebook import RuleBook

__all__ = ["Lack", "enter"]


class Lack(NamedTuple):
    """A feature that some models do not take.

    `found` tells the pointer of the feature in a request, or None; `facts` are the model's name and that pointer.
    """

    id: str
    sentence: str
    models: tuple[str, ...]
    refusal: Refusal
    source: str
    found: Callable[[Request], str | None]
    taken: Json
    refused: Json


def enter(book: RuleBook, lacks: Iterable[Lack]) -> None:
    """Enters a rule for each."""
    for lack in lacks:
        book.rule(
            lack.id,
            Level.MUST,
            Kind.REJECT,
            source=lack.source,
            refusal=lack.refusal,
            models=lack.models,
            examples=[lack.taken],
            counterexamples=[lack.refused],
        )(_check(lack))


def _check(lack: Lack) -> Check:
    def check(request: Request) -> Iterator[Finding]:
        place = lack.found(request)
        if place is None:
            yield met("/model")
        else:
            yield broken(place, "this model does not take it", model=request.model, place=place)

    check.__doc__ = lack.sentence
    return check
