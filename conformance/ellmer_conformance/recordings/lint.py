"""Limits the time for one file, because even a small file can cause unlimited work."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from ..contract import rules
from ..contract.exchange import Request
from ..contract.rule import Violation
from ..contract.rulebook import RuleBook
from . import opentelemetry_spans
from .recorded_requests import UNASSUMED, Assumed, Skip, is_missed, request_of, status_of
from .recording_files import Recording, Source, Unreadable, nearest, opened, sources

# --- A limit of time for each file -----------------------------------------------------------------------


MAX_SECONDS = 120.0  # of the clock, for one file; a recording of 100 MB takes some ten


class TooSlow(BaseException):
    """A file takes too long. The class is not an `Exception`, because readers that try several formats catch those."""


@contextmanager
def time_limit(seconds: float | None = None) -> Iterator[None]:
    """Raises `TooSlow` inside the block after a number of seconds (default: `MAX_SECONDS`).

    It uses a signal, which only the main thread of a process gets. On Windows and in threads of Dask, there is no
    limit.
    """
    limit = MAX_SECONDS if seconds is None else seconds
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_too_slow(*_: Any) -> None:
        raise TooSlow(f"it took longer than {limit:g} seconds (MAX_SECONDS)")

    before = signal.signal(signal.SIGALRM, raise_too_slow)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- The linter ------------------------------------------------------------------------------------------


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
    full_id: str
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
    """The report of a file: its judged requests and skipped exchanges.

    `form` is the name of its format. `providers` and `years` count the judged requests; a year is missing if the
    recorder stored none. `problem` is the reason if the file could not be read.
    """

    path: str
    form: str = ""
    wires: dict[str, WireTally] = field(default_factory=dict)
    providers: Counter[str] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
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
    def missed(self) -> int:
        """The number of skipped exchanges and files that may be requests to a model."""
        return sum(count for reason, count in self.skipped.items() if is_missed(reason))

    @property
    def exit_code(self) -> int:
        """2 if a file could not be read, or nothing or less than half was judged, 1 if a rule is broken or the
        baseline is wrong, and 0 otherwise.
        """
        if self.unreadable or not self.judged or self.missed > self.judged:
            return 2
        return int(bool(self.problems) or any(tally.violations for tally in self.wires.values()))


def lint(
    paths: Iterable[Source | str],
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    assumed: Assumed = UNASSUMED,
    on_file: Callable[[FileReport], None] = lambda _: None,
) -> LintResult:
    """Judges every file under the paths and URLs, with `jobs` processes. Raises `Unreadable` for a missing path,
    `EngineMissing`.
    """
    result = LintResult()
    for report in mapped(partial(lint_file, assumed=assumed), list(sources(paths)), jobs, engine):
        on_file(report)
        result.files.append(report)
    return result


def lint_file(source: Source, assumed: Assumed = UNASSUMED) -> FileReport:
    """Judges one file."""
    if isinstance(source, Path):
        return _judged(source, assumed)
    try:
        with source.local() as path:
            return replace(_judged(path, assumed), path=str(source))
    except Unreadable as error:
        return FileReport(str(source), problem=error.problem)


def _judged(path: Path, assumed: Assumed) -> FileReport:
    """Returns the report of a local file. After a timeout, it has the requests that were judged before."""
    report = FileReport(str(path))
    try:
        with time_limit():
            _read(report, path, assumed)
    except TooSlow as error:
        report.problem = str(error)
    return report


def _read(report: FileReport, path: Path, assumed: Assumed) -> None:
    count = 0
    try:
        found = opened(path)
        report.form = found[0] if found else ""
        for recording in found[1] if found else ():
            count += 1
            _recorded(report, recording, assumed)
    except Unreadable as error:
        if count or not _traces(report, path):
            report.problem = error.problem
        return
    except Exception as error:  # noqa: BLE001 - one file's trouble is that file's line, and the others are judged
        report.problem = f"it cannot be judged: {error!r:.200}"
        return
    if found is None and not _traces(report, path):
        near = nearest(path)
        report.skipped[f"{NO_RECORDING}, but resembles {near}" if near else NO_RECORDING] += 1
    elif found is not None and not count:
        report.skipped["an empty recording"] += 1


def _traces(report: FileReport, path: Path) -> bool:
    """Judges the spans of a file, if it is a file of spans."""
    try:
        found = opentelemetry_spans.read(path)
    except Exception:  # noqa: BLE001 - it is neither a recording nor a trace
        return False
    report.form = "OpenTelemetry" if found else ""
    for span in found or ():
        if span.messages is None:
            report.skipped["a span without captured messages"] += 1
        else:
            _judge(report, opentelemetry_spans.BOOK, span.request, span.place, None)
    return bool(found)


def _recorded(report: FileReport, recording: Recording, assumed: Assumed) -> None:
    request = request_of(recording, assumed)
    if isinstance(request, Skip):
        report.skipped[request.reason] += 1
    else:
        book = rules.book(request.wire, request.provider)
        if recording.when:
            report.years[recording.when.year] += 1
        _judge(report, book, request, recording.place, status_of(recording))


def _judge(report: FileReport, book: RuleBook, request: Request, place: str, status: int | None) -> None:
    tally = report.wires.setdefault(request.wire, WireTally())
    tally.judged += 1
    report.providers[request.provider] += 1
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
        full_id=rule.full_id,
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


# --- Processes and clusters ------------------------------------------------------------------------------


Engine = Literal["processes", "dask"]
ENGINES: tuple[Engine, ...] = ("processes", "dask")
S = TypeVar("S")
R = TypeVar("R")


class EngineMissing(RuntimeError):
    """A package that an engine needs is not installed."""


def mapped(work: Callable[[S], R], items: Sequence[S], jobs: int, engine: Engine) -> Iterator[R]:
    """Returns the results of `work` for the items, in order. Raises `EngineMissing`."""
    if engine == "dask":
        return _on_dask(work, items, jobs)
    return _in_processes(work, items, jobs)


def _in_processes(work: Callable[[S], R], items: Sequence[S], jobs: int) -> Iterator[R]:
    if jobs < 2 or len(items) < 2:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, items, chunksize=max(1, min(32, len(items) // jobs)))


def _on_dask(work: Callable[[S], R], items: Sequence[S], jobs: int) -> Iterator[R]:
    distributed = _distributed()
    size = max(
        1, min(32, len(items) // (4 * jobs))
    )  # one by one, the scheduler would be busier than the workers
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    with ExitStack() as stack:
        client = _client(stack, distributed, jobs)
        for future in client.map(partial(_all, work), batches, pure=False):
            yield from future.result()


def _client(stack: ExitStack, distributed: Any, jobs: int) -> Any:
    from dask import config  # noqa: PLC0415 - it is there if `distributed` is

    where = config.get("scheduler-address", None)
    if not where:
        # Without an address, the dashboard takes port 8787 on all interfaces.
        cluster = distributed.LocalCluster(
            n_workers=jobs, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
        where = stack.enter_context(cluster)
    return stack.enter_context(distributed.Client(where))


def _all(work: Callable[[S], R], items: Sequence[S]) -> list[R]:
    return list(map(work, items))


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 - large, and an extra
    except ImportError as error:
        raise EngineMissing('--engine dask needs Dask: pip install "ellmer-core[cluster]"') from error
    return distributed
