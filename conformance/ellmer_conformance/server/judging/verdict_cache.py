"""Stores the verdicts on requests that break no rule. A finding may quote a request, so it is not stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...contract import readers
from ...contract.exchange import Request
from ...contract.readers.read_cache import reading_once
from ...contract.verdict import Verdict
from .plain_words import without_words

__all__ = ["DeferredVerdicts", "Judge", "Judged", "VerdictCache", "judged"]

_KEPT = 1024
_LONGEST = 262_144  # bytes; the verdicts on longer bodies are not stored

Judge = Callable[[Request], tuple[Verdict, ...]]


class Judged(NamedTuple):
    """The verdicts on a request, whether no rule is broken, and the number of turns."""

    verdicts: Sequence[Verdict]
    fine: bool
    turn: int


class DeferredVerdicts(Sequence[Verdict]):
    """The verdicts on a request that breaks no rule. They are computed when they are read."""

    def __init__(self, request: Request, judge: Judge) -> None:
        self._request, self._judge = request, judge

    @cached_property
    def _found(self) -> Sequence[Verdict]:
        return judged(self._request, self._judge).verdicts

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)


class VerdictCache:
    """The verdicts on requests that break no rule, found by the request without its plain words."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Judged] = {}

    def judged(
        self,
        request: Request,
        body: bytes,
        judge: Judge,
        bare: Callable[[bytes], bytes] = without_words,
    ) -> Judged:
        """Returns the verdicts of the rules, or the stored ones of a request with an equal `bare` body."""
        if len(body) > _LONGEST:
            return judged(request, judge)
        beta = request.headers.get("anthropic-beta", "")
        key = (request.wire, request.provider, request.model, request.stream, beta, bare(body))
        found = self._found.get(key)
        if found is None:
            found = judged(request, judge)
            if found.fine:
                self._keep(key, found)
        return found

    def _keep(self, key: tuple[object, ...], found: Judged) -> None:
        self._found[key] = found
        if len(self._found) > _KEPT:
            self._found.pop(next(iter(self._found)), None)


def judged(request: Request, judge: Judge) -> Judged:
    """Returns the verdicts of the rules on a new request."""
    with reading_once():
        verdicts = judge(request)
        return Judged(verdicts, not any(verdict.violations for verdict in verdicts), _turn(request))


def _turn(request: Request) -> int:
    return max([0, *(item.turn for item in readers.read(request))])
