"""Features that some models refuse, as data: one line for each recorded refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any, NamedTuple

from ..exchange import Json, Request
from ..rule import Check, Finding, Kind, Level, Refusal, broken, met
from ..rulebook import RuleBook


class Lack(NamedTuple):
    """A feature that some models refuse.

    `found` returns the pointer of the feature in a request, or `None`. `facts` are `model`, the model's name, and
    `value`, the value at the pointer.
    """

    id: str
    sentence: str
    models: tuple[str, ...]
    refusal: Refusal
    source: str | tuple[str, ...]
    found: Callable[[Request], str | None]
    taken: Json
    refused: Json
    formerly: tuple[Refusal, ...] = ()
    preview: bool = False
    since: date | None = None
    until: date | None = None
    versions: tuple[str, ...] = ()


def enter(book: RuleBook, lacks: Iterable[Lack]) -> None:
    """Adds a rule for each feature."""
    for lack in lacks:
        book.rule(
            lack.id,
            Level.MUST,
            Kind.REJECT,
            source=lack.source,
            refusal=lack.refusal,
            formerly=lack.formerly,
            models=lack.models,
            preview=lack.preview,
            since=lack.since,
            until=lack.until,
            versions=lack.versions,
            examples=[lack.taken],
            counterexamples=[lack.refused],
        )(_check(lack))


def _check(lack: Lack) -> Check:
    def check(request: Request) -> Iterator[Finding]:
        place = lack.found(request)
        if place is None:
            yield met("/model")
        else:
            yield broken(
                place, "this model does not accept it", model=request.model, value=_at(request.body, place)
            )

    check.__doc__ = lack.sentence
    return check


def _at(value: Any, pointer: str) -> Any:
    """Returns the value at a JSON pointer."""
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value.get(name)
    return value
