"""Compares the rules with real verdicts: recorded requests that an API accepted or refused.

An accepted request that a reject rule refuses is a false alarm, which must not happen. A recorded refusal, also one
with status 200, must be caught if the request shows its cause: by a reject rule, with the same status and type of
error, and the same text or field. The causes come from a table (`refusal_causes.py`) that is independent of the
rules.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any

from ellmer_core.base.budget import RECORDING
from ellmer_harness.bulk.engines import Engine, Work
from ellmer_harness.bulk.journal import Journal, OnDisk, worked
from ellmer_harness.bulk.sources import Source, sources
from ellmer_harness.recordings.untrusted_files import CRASHED, is_unfinished
from ellmer_harness.secrets.quoted_keys import forms_of_keys, sent_keys, text_without_keys

from ..contract import rules
from ..contract.error_texts.error_bodies import ApiError, read_error
from ..contract.observed.exchange import Request
from ..contract.rule import Verdict, Violation
from ..contract.rule import verdict as verdict_of
from ..contract.shapes.facts import judged_places
from .recorded_requests import (
    REQUEST,
    Recording,
    Skip,
    each_recording,
    identity,
    refusal,
    request_of,
    status_of,
)
from .refusal_causes import UNCLASSIFIED, UNKNOWN, VISIBLE, cause_of

UNDATED = "unknown"  # the month of a recording without a date
CONTRADICTED = "contradicted"
_REPEATED = "the same request was judged already"


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

    def add(self, outcome: Outcome) -> None:
        """Counts a request of a wire format, a provider or a month."""
        visible = outcome.cause in VISIBLE
        self.accepted += not outcome.cause
        self.accepted_flagged += any(case.kind == "flagged" for case in outcome.cases)
        self.rejected += bool(outcome.cause)
        self.rejected_modelled += visible
        self.caught += bool(outcome.caught)
        self.missed += visible and not outcome.caught
        self.text_equal += bool(outcome.equal)

    def add_checked(self, rule: str, outcome: Outcome) -> None:
        """Counts a request that a rule looked at."""
        self.accepted += not outcome.cause
        self.accepted_flagged += rule in outcome.flagged
        self.rejected += bool(outcome.cause)
        self.rejected_modelled += rule in outcome.caught
        self.caught += rule in outcome.caught
        self.text_equal += rule in outcome.equal

    @property
    def recall(self) -> float | None:
        """The share of the visible refusals that the rules catch, or `None` without any."""
        return self.caught / self.rejected_modelled if self.rejected_modelled else None


@dataclass(frozen=True)
class Case:
    """A recorded request to look at: the reason, its place, and the provider's error. A file's own cases do not name it."""

    kind: str  # flagged, missed, unknown, contradicted
    file: str
    place: str
    wire: str
    provider: str
    said: str
    rule: str = ""
    pointer: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the rules and the API said of one request. `month` is that of its recording.

    `checked` are the rules that looked at it. `cause` is the cause of a refusal, and `""` for a request that was accepted.
    `caught` are the rules that refuse it like the API, and `equal` those that do so in the same words.
    """

    wire: str
    provider: str
    month: str
    checked: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    cause: str = ""
    caught: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    places: tuple[tuple[str, int], ...] = ()
    cases: tuple[Case, ...] = ()


@dataclass
class FileOutcomes:
    """The outcomes of a file: each different one once, and for each request its digest and the number of its outcome."""

    path: str
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    requests: dict[bytes, int] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    problem: str | None = None

    def add(self, request: bytes, outcome: Outcome) -> None:
        """Adds a request by its digest."""
        self.requests[request] = self.outcomes.setdefault(outcome, len(self.outcomes))


@dataclass
class Calibration:
    """The results. `causes` counts the recorded refusals by cause, `months` has a tally for each month of recording
    (`unknown` without a date), and `places` counts the places of the requests by what judges them. `skipped` counts the
    requests that were not judged, by reason, `kinds` the cases to look at, and `count` the files. What grows with the requests,
    their digests and the cases, is in a temporary file.
    """

    wires: dict[str, Tally] = field(default_factory=dict)
    providers: dict[str, Tally] = field(default_factory=dict)
    rules: dict[str, Tally] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    months: dict[str, Tally] = field(default_factory=dict)
    places: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    count: int = 0
    _on_disk: OnDisk = field(default_factory=OnDisk, repr=False, compare=False)

    def add(self, file: FileOutcomes) -> None:
        """Adds the outcomes of a file. A request that was in a file before does not count again."""
        self.count += 1
        self.unreadable += [file.problem] if file.problem else []
        self.skipped.update(file.skipped)
        outcomes = list(file.outcomes)
        for request, number in file.requests.items():
            if self._on_disk.is_new(request):
                self._count(file.path, outcomes[number])
                self._compare(file.path, request[: REQUEST // 2], outcomes[number])
            else:
                self.skipped[_REPEATED] += 1

    def _count(self, path: str, outcome: Outcome) -> None:
        for tally in self.tallies(outcome):
            tally.add(outcome)
        for id in outcome.checked:
            self.rules.setdefault(id, Tally()).add_checked(id, outcome)
        self.causes.update([outcome.cause] if outcome.cause else [])
        self.places.update(dict(outcome.places))
        for case in outcome.cases:
            self.kinds[case.kind] += 1
            self._on_disk.append(case.kind, {**asdict(case), "file": path})

    def _compare(self, path: str, request: bytes, outcome: Outcome) -> None:
        """Notes a request that was accepted, and refused for what it has in it, here or in another file. One of the two is not what
        the API said, or the API has changed.
        """
        if outcome.cause and outcome.cause not in VISIBLE:
            return
        own, other = (b"refused", b"accepted") if outcome.cause else (b"accepted", b"refused")
        if self._on_disk.is_new(request + own) and self._on_disk.has(request + other):
            said = f"The same request was {other.decode()} in a recording before."
            case = Case(CONTRADICTED, path, f"({own.decode()} here)", outcome.wire, outcome.provider, said)
            self.kinds[CONTRADICTED] += 1
            self._on_disk.append(CONTRADICTED, asdict(case))

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        return self.total.accepted + self.total.rejected

    @property
    def violations(self) -> int:
        """The number of accepted requests that a rule refuses."""
        return self.total.accepted_flagged

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

    def tallies(self, outcome: Outcome) -> tuple[Tally, ...]:
        """Returns the tallies of a request: those of its wire format, its provider and its month."""
        return (
            self.wires.setdefault(outcome.wire, Tally()),
            self.providers.setdefault(outcome.provider, Tally()),
            self.months.setdefault(outcome.month, Tally()),
        )

    def of(self, kind: str) -> Iterator[Case]:
        """Yields the cases of a kind."""
        return (Case(**value) for value in self._on_disk.of(kind))


def calibrate(paths: Iterable[Source | str]) -> Calibration:
    """Judges every recorded request under the paths that has an answer. Raises `Unreadable` for a missing path."""
    found = Calibration()
    calibrate_files(sources(paths), found)
    return found


def calibrate_files(
    files: Iterable[Source],
    found: Calibration,
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    journal: Journal | None = None,
    most: int = RECORDING.unpacked,
    on_file: Callable[[Calibration], None] = lambda _: None,
) -> None:
    """Judges the files, as `lint_each()` does, and adds the results. `on_file` is called after each file."""
    work = Work(partial(file_outcomes, most=most), _died, unfinished=lambda each: is_unfinished(each.problem))
    for file in worked(work, files, (_as_json, _from_json), jobs=jobs, engine=engine, journal=journal):
        found.add(file)
        on_file(found)


def _died(source: Source) -> FileOutcomes:
    return FileOutcomes(str(source), problem=f"{source}: {CRASHED}")


def file_outcomes(source: Source, most: int = RECORDING.unpacked) -> FileOutcomes:
    """Judges one file of at most so many bytes."""
    found = FileOutcomes(str(source))
    problem = each_recording(source, most, partial(_judge, found))
    return replace(found, problem=problem and f"{source}: {problem}")


def _judge(found: FileOutcomes, recording: Recording) -> None:
    request, status = request_of(recording), status_of(recording)
    if isinstance(request, Skip):
        found.skipped[request.reason] += 1
    elif status is None or not (200 <= status < 300 or 400 <= status < 500):
        found.skipped[f"the answer was {status or 'not recorded'}"] += 1
    elif status < 300 and recording.response.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        found.skipped["the answer was a page"] += 1  # of a gateway or a sign-in, and not the API's
    elif (digest := bytes.fromhex(identity(recording))) in found.requests:
        found.skipped[_REPEATED] += 1
    else:
        found.add(digest, _outcome(recording, request))


def _outcome(recording: Recording, request: Request) -> Outcome:
    places = tuple(sorted(judged_places(request.wire, request.provider, request.body).items()))
    verdicts = rules.book(request.wire, request.provider).judge(request)
    request = replace(request, when=recording.when)  # a day that follows from the model is no evidence
    refusing, late = [each for each in verdicts if each.rule.refuses], (recording.status or 0) < 300
    judged = _Judged(recording.place, request, refusing, late)
    if error := refusal(recording):
        found = _rejected(replace(judged, verdicts=[*refusing, *_former(request)]), error)
    else:
        found = _accepted(replace(judged, verdicts=_timeless(request, refusing)))
    return replace(found, places=places, cases=_without_keys(found.cases, recording))


def _without_keys(cases: tuple[Case, ...], recording: Recording) -> tuple[Case, ...]:
    """Returns the cases without a key of the request that the API quotes."""
    if not cases:
        return ()
    keys = forms_of_keys(sent_keys(recording.url, recording.headers.items()))
    return tuple(replace(case, said=text_without_keys(case.said, keys)) for case in cases)


def _timeless(request: Request, verdicts: list[Verdict]) -> list[Verdict]:
    """Returns the verdicts on an accepted request. If its day is not known, a rule that did not always hold does not count, unless the request names the API version that it is about."""
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

    place: str
    request: Request
    verdicts: list[Verdict]
    late: bool = False  # the error came behind a status of 200

    @property
    def outcome(self) -> Outcome:
        """What holds whatever the API said."""
        request = self.request
        month = f"{request.when:%Y-%m}" if request.when else UNDATED
        checked = tuple(each.rule.id for each in self.verdicts if each.checked)
        return Outcome(request.wire, request.provider, month, checked)

    def case(self, kind: str, message: str, rule: str = "", pointer: str = "") -> Case:
        wire, provider = self.request.wire, self.request.provider
        return Case(kind, "", self.place, wire, provider, message, rule, pointer)


def _accepted(judged: _Judged) -> Outcome:
    flagged = [verdict for verdict in judged.verdicts if verdict.violations]
    cases = (
        judged.case("flagged", v.violations[0].message, v.rule.id, v.violations[0].pointer) for v in flagged
    )
    return replace(
        judged.outcome, flagged=tuple(each.rule.id for each in flagged if each.checked), cases=tuple(cases)
    )


def _rejected(judged: _Judged, error: ApiError) -> Outcome:
    found = replace(judged.outcome, cause=cause_of(error))
    if found.cause in UNCLASSIFIED:
        return replace(found, cases=(judged.case(UNKNOWN, f"{error.status} {error.message}"),))
    if found.cause not in VISIBLE:
        return found
    caught, equal = _agreeing(judged, error)
    missed = () if caught else (judged.case("missed", f"{error.status} {error.type}: {error.message}"),)
    return replace(found, caught=tuple(sorted(caught)), equal=tuple(sorted(equal)), cases=missed)


def _agreeing(judged: _Judged, error: ApiError) -> tuple[set[str], set[str]]:
    """Returns the rules that refuse with the same status and type of error, and the same text or field, and the rules
    with the same text. An SDK's error may lack the type.
    """
    caught, equal = set(), set()
    for verdict in judged.verdicts:
        for violation in verdict.violations:
            for ours in _answers(violation, judged.request):
                if (error.type and ours.type != error.type) or not (
                    judged.late or ours.status == error.status
                ):
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


def _as_json(file: FileOutcomes) -> dict[str, Any]:
    outcomes = [asdict(outcome) for outcome in file.outcomes]
    requests = {request.hex(): number for request, number in file.requests.items()}
    return {**vars(file), "outcomes": outcomes, "requests": requests}


def _from_json(value: Mapping[str, Any]) -> FileOutcomes:
    outcomes = {_outcome_of(each): number for number, each in enumerate(value["outcomes"])}
    requests = {bytes.fromhex(request): number for request, number in value["requests"].items()}
    return FileOutcomes(value["path"], outcomes, requests, Counter(value["skipped"]), value["problem"])


def _outcome_of(value: Mapping[str, Any]) -> Outcome:
    lists = {name: tuple(value[name]) for name in ("checked", "flagged", "caught", "equal")}
    places = tuple((name, count) for name, count in value["places"])
    return Outcome(
        **{**value, **lists, "places": places, "cases": tuple(Case(**case) for case in value["cases"])}
    )


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
        "contradicted": [vars(case) for case in found.of(CONTRADICTED)],
        "skipped": dict(found.skipped.most_common()),
        "unreadable": found.unreadable,
    }
