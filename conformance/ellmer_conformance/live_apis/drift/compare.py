"""Compares a live answer with the strict server's: status, type and text of an error, fields of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...contract.error_bodies import read_error
from ...contract.exchange import Request, Response
from .fields import fields_of

__all__ = ["Difference", "differences"]


@dataclass(frozen=True)
class Difference:
    """A difference. `place` is a path in the answer, or `""` for the whole answer."""

    kind: Literal["status", "type", "text", "field"]
    live: str
    strict: str
    place: str = ""

    @property
    def sentence(self) -> str:
        """The difference as a sentence."""
        at = f" at {self.place}" if self.place else ""
        return f"{self.kind}{at}: live {self.live}, the strict server {self.strict}"


def differences(request: Request, live: Response, strict: Response) -> Iterator[Difference]:
    """Yields every difference in the answers to one request."""
    if live.status != strict.status:
        yield Difference("status", _told(live), _told(strict))
    elif live.status >= 300:
        yield from _errors(live, strict)
    else:
        yield from _fields(request, live, strict)


def _errors(live: Response, strict: Response) -> Iterator[Difference]:
    one, other = (read_error(r.status, r.body, r.headers) for r in (live, strict))
    if one.type != other.type:
        yield Difference("type", repr(one.type), repr(other.type))
    if one.stable != other.stable:
        yield Difference("text", repr(one.message), repr(other.message))


def _fields(request: Request, live: Response, strict: Response) -> Iterator[Difference]:
    one, other = (fields_of(request.wire, r, stream=request.stream) for r in (live, strict))
    for place in sorted(one.keys() | other.keys()):
        if _parent(place) not in one.keys() & other.keys() | {""}:
            continue  # it was said of the object that this is a field of
        got, ours = one.get(place, set()), other.get(place, set())
        if not got or not ours or not got & ours:
            yield Difference("field", _kinds(got), _kinds(ours), place)


def _parent(place: str) -> str:
    return place.removesuffix("[]") if place.endswith("[]") else place.rpartition(".")[0]


def _kinds(kinds: set[str]) -> str:
    return " or ".join(sorted(kinds)) if kinds else "nothing"


def _told(response: Response) -> str:
    if response.status < 300:
        return str(response.status)
    return f"{response.status} {read_error(response.status, response.body, response.headers).message!r}"
