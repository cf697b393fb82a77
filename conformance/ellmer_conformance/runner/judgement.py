"""Applies the rules to a run, and to requests that will be recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ellmer_harness import Exchange as Recorded
from ellmer_harness import Sent

from ..contract import readers, rules
from ..contract.observed.exchange import Exchange, Request, Response
from ..contract.observed.run import Run
from ..contract.readers.json_access import reading_once
from ..contract.rule import Verdict, verdict
from ..contract.rules import behaviour


def judge(run: Run) -> list[Verdict]:
    """Returns the verdict of every rule: on all requests together, and on the whole run. If the run has an error,
    only that is judged.
    """
    if run.trouble:
        return [verdict(behaviour.book.rules[run.trouble.rule], run)]
    found: dict[str, list[Verdict]] = defaultdict(list)
    unread = _unread(run)
    for index, exchange in enumerate(run.exchanges):
        if index in unread:
            continue
        for each_verdict in exchange.verdicts or _judged(run.wire, run.provider, exchange.request):
            found[each_verdict.rule.id].append(_placed(each_verdict, index))
    with reading_once():
        of_run = [
            verdict(rule, run) if rule.id not in run.unseen else Verdict(rule, 0, ())
            for rule in behaviour.book.rules.values()
        ]
    verdicts = [*map(_summed, found.values()), *of_run]
    return [_advised(each) for each in verdicts] if run.case.advisory else verdicts


def _unread(run: Run) -> set[int]:
    """Returns the requests whose body the server did not read, because their headers were refused. AUT-001 says so."""
    keys = (
        verdict(behaviour.book.rules["AUT-001"], run)
        if any(not e.request.body for e in run.exchanges)
        else None
    )
    refused = {violation.pointer for violation in keys.violations} if keys else set()
    return {
        index
        for index, exchange in enumerate(run.exchanges)
        if not exchange.request.body and f"/exchanges/{index}/request" in refused
    }


#: The requests of a case that are kept. A library sends the same ones in several modes, and under each variation.
_KEPT = 64


@lru_cache(_KEPT)
def _judged(wire: str, provider: str, request: Request) -> Sequence[Verdict]:
    return rules.book(wire, provider).judge(request)


def _advised(found: Verdict) -> Verdict:
    """Returns the verdict as a preview, which fails no run, because the provider violated its own contract first."""
    return replace(found, rule=replace(found.rule, preview=True)) if found.violations else found


def exchange(wire: str, provider: str, recorded: Recorded) -> Exchange:
    """Returns an exchange in the form for rules."""
    response = Response(
        recorded.status, dict(recorded.headers), recorded.content, ended=recorded.ended == "eof"
    )
    return Exchange(_request(wire, provider, recorded.sent), response if recorded.status else None)


def _request(wire: str, provider: str, sent: Sent) -> Request:
    """Returns the request in the form for rules. It is the same value for equal requests."""
    return _read((wire, provider), sent.method, sent.url, tuple(sent.headers.items()), sent.body)


@lru_cache(_KEPT)
def _read(
    place: tuple[str, str], method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes
) -> Request:
    """Returns the request to a wire format and a provider. One to another endpoint is judged as an empty one."""
    try:
        return readers.request(method, url, dict(headers), body, place[1])
    except ValueError:
        return Request(*place, {}, url, method, dict(headers))


def complaints(wire: str, provider: str, sent: Sequence[Sent]) -> Iterator[str]:
    """Yields the MUST rules that a new recording breaks, so that the harness refuses it."""
    for number, request in enumerate(sent):
        if readers.is_beside(request.method, request.url):
            continue
        for found in rules.book(wire, provider).judge(_request(wire, provider, request)):
            if found.outcome == "fail":
                violation = found.violations[0]
                yield f"request {number}: {found.rule.id} at {violation.pointer}: {violation.message}"


def _placed(found: Verdict, index: int) -> Verdict:
    """Returns the verdict with pointers into the run."""
    if not found.violations:
        return found
    place = f"/exchanges/{index}/request"
    return replace(found, violations=tuple(replace(v, pointer=place + v.pointer) for v in found.violations))


def _summed(found: Sequence[Verdict]) -> Verdict:
    """Returns one rule's verdicts on all requests of the run as one verdict."""
    violations = tuple(violation for verdict in found for violation in verdict.violations)
    return Verdict(found[0].rule, sum(verdict.checked for verdict in found), violations)
