"""Compares the rules with real verdicts: recorded requests that an API accepted or refused.

An accepted request that a reject rule refuses is a false alarm, which must not happen. A recorded refusal, also one
with status 200, must be caught if the request shows its cause: by a reject rule, with the same status and type of
error, and the same text or field. The causes come from a table (`refusal_causes.py`) that is independent of the
rules.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..contract import rules
from ..contract.error_bodies import ApiError, read_error
from ..contract.exchange import Request
from ..contract.rule import Verdict, Violation
from ..contract.rule import verdict as verdict_of
from ..contract.shapes.facts import judged_places
from .lint import TooSlow, time_limit
from .recorded_requests import Skip, identity, refusal, request_of, status_of
from .recording_files import Recording, Unreadable, find, read
from .refusal_causes import UNCLASSIFIED, UNKNOWN, VISIBLE, cause_of

UNDATED = "unknown"  # the month of a recording without a date


@dataclass
class Tally:
    """Counts of one wire format, one provider or one rule. `rejected_modelled` are the refusals that the request shows."""

    accepted: int = 0
    accepted_flagged: int = 0
    rejected: int = 0
    rejected_modelled: int = 0
    caught: int = 0
    missed: int = 0
    text_equal: int = 0

    @property
    def recall(self) -> float | None:
        """The share of the visible refusals that the rules catch, or `None` without any."""
        return self.caught / self.rejected_modelled if self.rejected_modelled else None


@dataclass(frozen=True)
class Case:
    """A recorded request to look at: the reason, its place, and the provider's error."""

    kind: str  # flagged, missed, unknown
    file: str
    place: str
    wire: str
    provider: str
    said: str
    rule: str = ""
    pointer: str = ""


class Seen:
    """The requests that were judged already. They are in a temporary file of SQLite's, so that the memory does not grow with
    their number: a set would need 160 MB for a million.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect("", isolation_level=None)
        self._base.execute("CREATE TABLE seen (request BLOB PRIMARY KEY) WITHOUT ROWID")
        self._base.execute("BEGIN")

    def is_new(self, request: str) -> bool:
        """Adds a request by its digest, and tells whether it was not there."""
        row = (bytes.fromhex(request),)
        return self._base.execute("INSERT OR IGNORE INTO seen VALUES (?)", row).rowcount == 1

    def close(self) -> None:
        """Deletes the file."""
        self._base.close()


@dataclass
class Calibration:
    """The results. `causes` counts the recorded refusals by cause, `months` has a tally for each month of recording
    (`unknown` without a date), and `places` counts the places of the requests by what judges them. `skipped` counts the
    requests that were not judged, by reason.
    """

    wires: dict[str, Tally] = field(default_factory=dict)
    providers: dict[str, Tally] = field(default_factory=dict)
    rules: dict[str, Tally] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    causes: Counter[str] = field(default_factory=Counter)
    months: dict[str, Tally] = field(default_factory=dict)
    places: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        """The sum over all wire formats."""
        return Tally(
            *(sum(column) for column in zip(*(vars(t).values() for t in self.wires.values()), strict=True))
        )

    @property
    def unplaced(self) -> int:
        """The number of refusals whose cause the table of texts could not tell."""
        return sum(self.causes[cause] for cause in UNCLASSIFIED)

    @property
    def age(self) -> Mapping[str, str | int]:
        """The month of the oldest, the middle and the newest request, and the number of requests without a date."""
        count = {month: tally.accepted + tally.rejected for month, tally in sorted(self.months.items())}
        undated = count.pop(UNDATED, 0)
        months, until = (
            [month for month, many in count.items() if many],
            [*accumulate(filter(None, count.values()))],
        )
        if not months:
            return {"undated": undated}
        middle = months[bisect_right(until, until[-1] // 2)]
        return {"oldest": months[0], "middle": middle, "newest": months[-1], "undated": undated}

    def tallies(self, request: Request) -> tuple[Tally, ...]:
        """Returns the tallies of a request: those of its wire format, its provider and its month."""
        month = f"{request.when:%Y-%m}" if request.when else UNDATED
        return (
            self.wires.setdefault(request.wire, Tally()),
            self.providers.setdefault(request.provider, Tally()),
            self.months.setdefault(month, Tally()),
        )

    def of(self, kind: str) -> list[Case]:
        """Returns the cases of a kind."""
        return [case for case in self.cases if case.kind == kind]


def calibrate(paths: Iterable[Path | str], on_file: Callable[[Path], None] = lambda _: None) -> Calibration:
    """Judges every recorded request under the paths that has an answer. Raises `Unreadable` for a missing path."""
    found = Calibration()
    with closing(Seen()) as seen:
        for path in find(paths):
            on_file(path)
            _read(found, seen, path)
    return found


def _read(found: Calibration, seen: Seen, path: Path) -> None:
    try:
        with time_limit():
            for recording in read(path) or ():
                _count(found, seen, str(path), recording)
    except TooSlow as error:
        found.unreadable.append(f"{path}: {error}")
    except Unreadable as error:
        found.unreadable.append(str(error))
    except Exception as error:  # noqa: BLE001 - one file's trouble is that file's line, and the others are judged
        found.unreadable.append(f"{path}: it cannot be judged: {error!r:.200}")


def _count(found: Calibration, seen: Seen, file: str, recording: Recording) -> None:
    request, status = request_of(recording), status_of(recording)
    if isinstance(request, Skip):
        found.skipped[request.reason] += 1
    elif status is None or not (200 <= status < 300 or 400 <= status < 500):
        found.skipped[f"the answer was {status or 'not recorded'}"] += 1
    elif not seen.is_new(identity(recording)):
        found.skipped["the same request was judged already"] += 1
    else:
        found.places += judged_places(request.wire, request.provider, request.body)
        verdicts = rules.book(request.wire, request.provider).judge(request)
        request = replace(request, when=recording.when)  # a day that follows from the model is no evidence
        refusing, late = [each for each in verdicts if each.rule.refuses], (recording.status or 0) < 300
        judged = _Judged(file, recording.place, request, refusing, late)
        if error := refusal(recording):
            _rejected(found, replace(judged, verdicts=[*refusing, *_former(request)]), error)
        else:
            _accepted(found, replace(judged, verdicts=_timeless(request, refusing)))


def _timeless(request: Request, verdicts: list[Verdict]) -> list[Verdict]:
    """Returns the verdicts on an accepted request. If its day is not known, a rule that did not always hold is no
    reproach, unless the request names the API version that it is about.
    """
    return [each for each in verdicts if request.when or each.rule.versions or not each.rule.since]


def _former(request: Request) -> list[Verdict]:
    """Returns the verdicts of rules that no longer hold, on a refusal whose day is not known."""
    book = rules.book(request.wire, request.provider)
    past = [
        rule
        for rule in book.rules.values()
        if rule.refuses and rule.until and rule.scope.about(request.provider, request.model)
    ]
    return [verdict_of(rule, request) for rule in past] if request.when is None else []


@dataclass(frozen=True)
class _Judged:
    """A recorded request with the verdicts of the rules that refuse."""

    file: str
    place: str
    request: Request
    verdicts: list[Verdict]
    late: bool = False  # the error came behind a status of 200

    def case(self, kind: str, message: str, rule: str = "", pointer: str = "") -> Case:
        wire, provider = self.request.wire, self.request.provider
        return Case(kind, self.file, self.place, wire, provider, message, rule, pointer)


def _accepted(found: Calibration, judged: _Judged) -> None:
    for tally in found.tallies(judged.request):
        tally.accepted += 1
        tally.accepted_flagged += any(verdict.violations for verdict in judged.verdicts)
    for verdict in judged.verdicts:
        if verdict.checked:
            rule = found.rules.setdefault(verdict.rule.id, Tally())
            rule.accepted += 1
            rule.accepted_flagged += bool(verdict.violations)
        for violation in verdict.violations[:1]:
            found.cases.append(judged.case("flagged", violation.message, verdict.rule.id, violation.pointer))


def _rejected(found: Calibration, judged: _Judged, error: ApiError) -> None:
    tallies, cause = found.tallies(judged.request), cause_of(error)
    for tally in tallies:
        tally.rejected += 1
    found.causes[cause] += 1
    for verdict in judged.verdicts:
        if verdict.checked:
            found.rules.setdefault(verdict.rule.id, Tally()).rejected += 1
    if cause in UNCLASSIFIED:
        found.cases.append(judged.case(UNKNOWN, f"{error.status} {error.message}"))
    elif cause in VISIBLE:
        caught, equal = _agreeing(judged, error)
        for tally in tallies:
            tally.rejected_modelled += 1
            tally.caught += bool(caught)
            tally.missed += not caught
            tally.text_equal += bool(equal)
        for id in caught:
            rule = found.rules.setdefault(id, Tally())
            rule.rejected_modelled += 1
            rule.caught += 1
            rule.text_equal += id in equal
        if not caught:
            found.cases.append(judged.case("missed", f"{error.status} {error.type}: {error.message}"))


def _agreeing(judged: _Judged, error: ApiError) -> tuple[set[str], set[str]]:
    """Returns the rules that refuse with the same status and type of error, and the same text or field, and the rules
    with the same text.
    """
    caught, equal = set(), set()
    for verdict in judged.verdicts:
        for violation in verdict.violations:
            for ours in _answers(violation, judged.request):
                if ours.type != error.type or not (judged.late or ours.status == error.status):
                    continue
                if ours.stable == error.stable:
                    equal.add(verdict.rule.id)
                elif not error.param or ours.param != error.param:
                    continue
                caught.add(verdict.rule.id)
    return caught, equal


def agrees(violations: Iterable[Violation], request: Request, error: ApiError) -> bool:
    """Tells whether a refusal of one of the violations has the status, the type and the text of this error."""
    answers = (ours for violation in violations for ours in _answers(violation, request))
    wanted = (error.status, error.type, error.stable)
    return any((ours.status, ours.type, ours.stable) == wanted for ours in answers)


def _answers(violation: Violation, request: Request) -> Iterator[ApiError]:
    """Yields the provider's answers to a violation, now and formerly, also without headers, which some recorders do
    not store.
    """
    book = rules.book(request.wire, request.provider)
    for wording in (violation.rule.refusal, *violation.rule.formerly):
        status, headers, body = book.refuse(violation, wording)
        yield from {read_error(status, body, headers), read_error(status, body)}


def as_json(found: Calibration) -> dict[str, Any]:
    """Returns the results as JSON: `wires`, `rules`, and the cases to look at."""
    return {
        "version": 1,
        "wires": {name: vars(tally) for name, tally in sorted(found.wires.items())},
        "providers": {name: vars(tally) for name, tally in sorted(found.providers.items())},
        "rules": {id: vars(tally) for id, tally in sorted(found.rules.items())},
        "recall": found.total.recall if found.wires else None,
        "causes": dict(sorted(found.causes.items())),
        "unplaced": found.unplaced,
        "months": {name: vars(tally) for name, tally in sorted(found.months.items())},
        "age": dict(found.age),
        "places": dict(sorted(found.places.items())),
        "flagged": [vars(case) for case in found.of("flagged")],
        "missed": [vars(case) for case in found.of("missed")],
        "unknown": [vars(case) for case in found.of(UNKNOWN)],
        "skipped": dict(found.skipped.most_common()),
        "unreadable": found.unreadable,
    }
