"""Judges existing recordings by the rules: the content of each file, the judged requests, and their violations.

A violation in a request that the API itself refused is reported as agreed. It does not fail the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..contract import rules
from ..contract.exchange import Request
from ..contract.rulebook import RuleBook
from ..contract.verdict import Violation
from . import opentelemetry_spans
from .processes_and_dask import Engine, mapped
from .recorded_requests import Skip, request_of, status_of
from .recording_files import Recording, Source, Unreadable, read, sources
from .time_limit import TooSlow, time_limit

__all__ = ["Complaint", "FileReport", "LintResult", "WireTally", "lint", "lint_file"]

NO_RECORDING = "not a recording of HTTP"  # a file
Outcome = Literal["violation", "warning", "agreed", "expected"]


@dataclass(frozen=True)
class Complaint:
    """A broken rule in a recorded request.

    `answered` is the recorded status, `says` is the provider's text, and `issue` is the issue of an expected
    violation.
    """

    outcome: Outcome
    rule: str
    level: str
    kind: str
    wire: str
    provider: str
    model: str
    place: str
    pointer: str
    message: str
    sentence: str
    says: str = ""
    answered: int | None = None
    issue: str = ""


@dataclass
class WireTally:
    """The counts of one wire format. `agreed`: violations in requests that the API refused, too; `expected`:
    violations in the baseline.
    """

    judged: int = 0
    accepted: int = 0
    refused: int = 0
    violations: int = 0
    warnings: int = 0
    agreed: int = 0
    expected: int = 0

    def add(self, other: WireTally) -> None:
        """Adds the counts of another file."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class FileReport:
    """The report of a file: its judged requests and skipped exchanges. `problem` is the reason if it could not be
    read.
    """

    path: str
    wires: dict[str, WireTally] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    complaints: list[Complaint] = field(default_factory=list)
    problem: str | None = None

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        return sum(tally.judged for tally in self.wires.values())


@dataclass
class LintResult:
    """The results of all files. `complaints` pairs each complaint with its file; `exit_code` is that of the command
    line; `problems` are those of the baseline.
    """

    files: list[FileReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def complaints(self) -> Iterator[tuple[FileReport, Complaint]]:
        """Every complaint with its file."""
        return ((file, complaint) for file in self.files for complaint in file.complaints)

    @property
    def wires(self) -> dict[str, WireTally]:
        """The counts of all files by wire format."""
        found: dict[str, WireTally] = {}
        for file in self.files:
            for wire, tally in file.wires.items():
                found.setdefault(wire, WireTally()).add(tally)
        return dict(sorted(found.items()))

    @property
    def skipped(self) -> Counter[str]:
        """The number of exchanges that were not judged, by reason."""
        return sum((file.skipped for file in self.files), Counter())

    @property
    def unreadable(self) -> list[FileReport]:
        """The files that could not be read."""
        return [file for file in self.files if file.problem]

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        return sum(file.judged for file in self.files)

    @property
    def exit_code(self) -> int:
        """2 if a file could not be read or nothing was judged, 1 if a rule is broken or the baseline is wrong, and 0
        otherwise.
        """
        if self.unreadable or not self.judged:
            return 2
        return int(bool(self.problems) or any(tally.violations for tally in self.wires.values()))


def lint(
    paths: Iterable[Source | str],
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    on_file: Callable[[FileReport], None] = lambda _: None,
) -> LintResult:
    """Judges every file under the paths and URLs, with `jobs` processes. Raises `Unreadable` for a missing path,
    `EngineMissing`.
    """
    result = LintResult()
    for report in mapped(lint_file, list(sources(paths)), jobs, engine):
        on_file(report)
        result.files.append(report)
    return result


def lint_file(source: Source) -> FileReport:
    """Judges one file."""
    if isinstance(source, Path):
        return _judged(source)
    try:
        with source.local() as path:
            return replace(_judged(path), path=str(source))
    except Unreadable as error:
        return FileReport(str(source), problem=error.problem)


def _judged(path: Path) -> FileReport:
    """Returns the report of a local file. After a timeout, it has the requests that were judged before."""
    report = FileReport(str(path))
    try:
        with time_limit():
            _read(report, path)
    except TooSlow as error:
        report.problem = str(error)
    return report


def _read(report: FileReport, path: Path) -> None:
    count = 0
    try:
        recordings = read(path)
        for recording in recordings or ():
            count += 1
            _recorded(report, recording)
    except Unreadable as error:
        if count or not _traces(report, path):
            report.problem = error.problem
        return
    except Exception as error:  # noqa: BLE001 - one file's trouble is that file's line, and the others are judged
        report.problem = f"it cannot be judged: {error!r:.200}"
        return
    if recordings is None and not _traces(report, path):
        report.skipped[NO_RECORDING] += 1
    elif recordings is not None and not count:
        report.skipped["an empty recording"] += 1


def _traces(report: FileReport, path: Path) -> bool:
    """Judges the spans of a file, if it is a file of spans."""
    try:
        found = opentelemetry_spans.read(path)
    except Exception:  # noqa: BLE001 - it is neither a recording nor a trace
        return False
    for span in found or ():
        if span.messages is None:
            report.skipped["a span without captured messages"] += 1
        else:
            _judge(report, opentelemetry_spans.BOOK, span.request, span.place, None)
    return bool(found)


def _recorded(report: FileReport, recording: Recording) -> None:
    request = request_of(recording)
    if isinstance(request, Skip):
        report.skipped[request.reason] += 1
    else:
        book = rules.book(request.wire, request.provider)
        _judge(report, book, request, recording.place, status_of(recording))


def _judge(report: FileReport, book: RuleBook, request: Request, place: str, status: int | None) -> None:
    tally = report.wires.setdefault(request.wire, WireTally())
    tally.judged += 1
    tally.accepted += status is not None and 200 <= status < 300
    tally.refused += status is not None and 400 <= status < 500
    for verdict in book.judge(request):
        for violation in verdict.violations:
            outcome = _outcome(violation, verdict.outcome, status)
            tally.violations += outcome == "violation"
            tally.warnings += outcome == "warning"
            tally.agreed += outcome == "agreed"
            where = (request.wire, request.provider, request.model, place)
            report.complaints.append(_complaint(outcome, violation, where, status))


def _outcome(violation: Violation, outcome: str, status: int | None) -> Outcome:
    told = violation.rule.refusal.status if violation.rule.refusal else None
    fails = violation.rule.refuses or outcome == "fail"  # what never got through lost nothing
    if fails and status is not None and (400 <= status < 500 or status == told):
        return "agreed"
    return "violation" if outcome == "fail" else "warning"


def _complaint(
    outcome: Outcome, violation: Violation, where: tuple[str, str, str, str], status: int | None
) -> Complaint:
    rule, (wire, provider, model, place) = violation.rule, where
    return Complaint(
        outcome=outcome,
        rule=rule.id,
        level=str(rule.level),
        kind="preview" if rule.preview else str(rule.kind),
        wire=wire,
        provider=provider,
        model=model,
        place=place,
        pointer=violation.pointer,
        message=violation.message,
        sentence=rule.sentence,
        says=violation.refusal.message if violation.refusal else "",
        answered=status,
    )
