"""The linter: judges the requests of recordings by the rules of the API that they went to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from ellmer_core.base.budget import COMPLAINTS, RECORDING
from ellmer_harness.bulk.engines import Engine, Work
from ellmer_harness.bulk.journal import Journal, worked
from ellmer_harness.bulk.sources import Source, sources
from ellmer_harness.recordings import SUFFIXES, Unreadable
from ellmer_harness.recordings.format_detection import nearest, seems_recorded
from ellmer_harness.recordings.untrusted_files import CRASHED, Oversized, TooSlow, is_unfinished, time_limit

from ..contract import rules
from ..contract.changes.known_until import NOTE, may_be_newer
from ..contract.observed.exchange import Request
from ..contract.readers.json_access import unescaped, value_at
from ..contract.rule import Violation
from ..contract.rulebook import RuleBook
from ..report.formats.terminal_escaping import one_line
from . import opentelemetry_spans
from .pastes.pasted import Pasted, pasted
from .pastes.requests import request_in
from .recorded_requests import (
    UNASSUMED,
    Assumed,
    Recording,
    Skip,
    body_alone,
    is_missed,
    opened,
    request_of,
    status_of,
)

# --- Values ----------------------------------------------------------------------------------------------


NO_RECORDING = "not a recording of HTTP"  # a file
ERROR_TEXT = f"{NO_RECORDING}: perhaps an error text (`conformance explain` finds its rule)"
Change = dict[str, str]  # an operation of JSON Patch (RFC 6902)
Outcome = Literal["violation", "warning", "agreed", "expected"]


@dataclass(frozen=True)
class Complaint:
    """A broken rule in a recorded request.

    `answered` is the recorded status, `says` the provider's text, `advice` what the rule says about repair, `fix` changes
    after which the rule is kept, and `issue` the issue of an expected violation.
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
    advice: str = ""
    fix: tuple[Change, ...] = ()
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
    recorder stored none. `problem` is the reason if the file could not be read. `kinds` are the rules and kinds of places
    for which a fix was looked for. `pasted`: somebody asks about this one text.
    """

    path: str
    form: str = ""
    wires: dict[str, WireTally] = field(default_factory=dict)
    providers: Counter[str] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    complaints: list[Complaint] = field(default_factory=list)
    problem: str | None = None
    kinds: set[tuple[str, str]] = field(default_factory=set, repr=False, compare=False)
    pasted: bool = field(default=False, repr=False, compare=False)

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        return sum(tally.judged for tally in self.wires.values())


@dataclass
class Totals:
    """The counts of all files. They need more memory for more kinds of things, not for more files.

    `count` and `damaged` count files, `forms` the formats of recordings, `rules` the violations by full id, and `problems`
    are those of the baseline.
    """

    count: int = 0
    damaged: int = 0
    wires: dict[str, WireTally] = field(default_factory=dict)
    forms: Counter[str] = field(default_factory=Counter)
    providers: Counter[str] = field(default_factory=Counter)
    years: Counter[int] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def add(self, file: FileReport) -> None:
        """Adds the counts of a file."""
        self.count += 1
        self.damaged += file.problem is not None
        for wire, tally in file.wires.items():
            self.wires.setdefault(wire, WireTally()).add(tally)
        self.forms.update([file.form] if file.form else [])
        self.providers.update(file.providers)
        self.years.update(file.years)
        self.skipped.update(file.skipped)
        self.rules.update(each.full_id for each in file.complaints if each.outcome == "violation")

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        return sum(tally.judged for tally in self.wires.values())

    @property
    def violations(self) -> int:
        """The number of violations that the baseline does not expect."""
        return sum(tally.violations for tally in self.wires.values())

    @property
    def missed(self) -> int:
        """The number of skipped exchanges and files that may be requests to a model."""
        return sum(count for reason, count in self.skipped.items() if is_missed(reason))

    @property
    def exit_code(self) -> int:
        """2 if a file could not be read, if there was no recording, or if less than half was judged; 1 if a rule is broken
        or the baseline is wrong; and 0 otherwise.
        """
        if self.damaged or self.missed > self.judged or not self.forms:
            return 2
        return int(bool(self.problems or self.violations))


@dataclass
class LintResult(Totals):
    """The reports of all files, with their totals."""

    files: list[FileReport] = field(default_factory=list)

    def add(self, file: FileReport) -> None:
        """Adds a file."""
        super().add(file)
        self.files.append(file)

    @property
    def complaints(self) -> Iterator[tuple[FileReport, Complaint]]:
        """Every complaint with its file."""
        return ((file, complaint) for file in self.files for complaint in file.complaints)

    @property
    def unreadable(self) -> list[FileReport]:
        """The files that could not be read."""
        return [file for file in self.files if file.problem]


# --- Files -----------------------------------------------------------------------------------------------


def lint(
    paths: Iterable[Source | str],
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    assumed: Assumed = UNASSUMED,
) -> LintResult:
    """Judges every file under the paths and URLs, and returns all reports at once. Raises what `lint_each()` raises."""
    result = LintResult()
    for report in lint_each(sources(paths), jobs=jobs, engine=engine, assumed=assumed):
        result.add(report)
    return result


def lint_each(
    files: Iterable[Source],
    *,
    jobs: int = 1,
    engine: Engine = "processes",
    assumed: Assumed = UNASSUMED,
    journal: Journal | None = None,
    most: int = RECORDING.unpacked,
) -> Iterator[FileReport]:
    """Judges the files with `jobs` processes, and yields their reports in order, as soon as they are ready.

    The processes are new ones, not forks of this one, so that a program with threads can start them; a script that asks for more
    than one begins with `if __name__ == "__main__":`. Reports that the journal has are taken from there, and new ones are added
    to it. A recording, or a line of a log, of more than `most` bytes is not judged, and its report says so. Raises `Unreadable`
    for a missing path, `EngineMissing` and `EngineLost`.
    """
    work = Work(
        partial(lint_file, assumed=assumed, most=most),
        _died,
        unfinished=lambda each: is_unfinished(each.problem),
    )
    for report in worked(work, files, (as_json, from_json), jobs=jobs, engine=engine, journal=journal):
        yield replace(report, path=one_line(report.path))


def lint_paste(text: str, name: str = "-", assumed: Assumed = UNASSUMED) -> FileReport:
    """Judges the requests in a text that somebody copied from a terminal, a program or a log. The body shows the wire format of a
    request without a URL.
    """
    report = FileReport(name, pasted=True)
    if "gen_ai." in text and _spans_of(report, text):
        return report
    try:
        with time_limit():
            found = pasted(text)
            report.form = found.form if found.recordings else ""
            for recording in found.recordings:
                _recorded(report, recording, request_in(recording, assumed), found)
            report.skipped.update([found.left_out] if found.left_out else [])
    except (TooSlow, ValueError) as error:
        report.problem = str(error)
    except Unreadable as error:
        report.problem = error.problem
    if not report.form and not report.problem:
        report.skipped[ERROR_TEXT] += 1
    return report


def _spans_of(report: FileReport, text: str) -> bool:
    """Judges the spans of OpenTelemetry in a paste, and tells whether it has any."""
    with TemporaryDirectory() as folder:  # spans are read from files
        file = Path(folder, "spans.json")
        file.write_text(text, "utf-8", "surrogatepass")
        return _traces(report, file, _SMALL)


def as_paste(report: FileReport, assumed: Assumed = UNASSUMED) -> FileReport:
    """Returns the report of a file that is not a recording, read as a paste; the same report if there is no request in it."""
    path = Path(report.path)
    if report.judged or report.problem or not path.is_file() or path.stat().st_size > _SMALL:
        return report
    found = lint_paste(path.read_text("utf-8", errors="replace"), report.path, assumed)
    if found.problem:
        report.skipped = Counter({f"{NO_RECORDING}: {found.problem}": 1})
    return found if found.judged else report


def _died(source: Source) -> FileReport:
    """Returns the report of a file that ended the process that read it."""
    return FileReport(str(source), problem=f"{CRASHED}, perhaps because it had too little memory")


def lint_file(source: Source, assumed: Assumed = UNASSUMED, most: int = RECORDING.unpacked) -> FileReport:
    """Judges one file of at most so many bytes."""
    if isinstance(source, Path):
        return _judged(source, assumed, most)
    try:
        with source.local(most) as path:
            return replace(_judged(path, assumed, most), path=str(source))
    except Unreadable as error:
        return FileReport(str(source), problem=error.problem)


def _judged(path: Path, assumed: Assumed, most: int) -> FileReport:
    """Returns the report of a local file. After a timeout, it has the requests that were judged before."""
    report = FileReport(str(path))
    try:
        with time_limit():
            _read(report, path, assumed, most)
    except TooSlow as error:
        report.problem = str(error)
    return report


def _read(report: FileReport, path: Path, assumed: Assumed, most: int) -> None:
    count = 0
    try:
        found = opened(path, most) or (body_alone(path, most) if assumed.wire else None)
        report.form = found[0] if found else ""
        for recording in found[1] if found else ():
            count += 1
            _recorded(report, recording, request_of(recording, assumed))
            if len(report.complaints) > COMPLAINTS.events:
                report.problem = (
                    f"it breaks rules in more than {COMPLAINTS.events:,} places; the rest is not judged"
                )
                return
    except Oversized as error:
        if count or seems_recorded(path):
            report.problem = f"{error.problem} (--max-size)"
        else:
            report.skipped[_oversized(path, most)] += 1
        return
    except Unreadable as error:
        if count or not _traces(report, path, most):
            report.problem = error.problem
        return
    except Exception as error:  # noqa: BLE001 - one file's trouble is that file's line, and the others are judged
        report.problem = f"it cannot be judged: {error!r:.200}"
        return
    if found is None and not _traces(report, path, most):
        report.skipped[_no_recording(path, most)] += 1
    elif found is not None and not count:
        report.skipped["an empty recording"] += 1


def _oversized(path: Path, most: int) -> str:
    """Returns why a file that is too large, and does not begin like a recording, is not judged."""
    size = f"more than {most // 1024**2} MB"
    if path.name.lower().removesuffix(".gz").endswith(SUFFIXES):
        return f"the file has {size} and may be a recording (--max-size)"
    return f"{NO_RECORDING}: a file of {size}"


_SMALL = 1_000_000  # bytes: a body that somebody wrote to a file


def _no_recording(path: Path, most: int) -> str:
    """Returns why a file is not a recording: it is empty, or its content only resembles a recording."""
    size = path.stat().st_size
    if not size:
        return f"{NO_RECORDING}: an empty file"
    if near := nearest(path):
        return f"{NO_RECORDING}, but resembles {near}"
    alone = size < _SMALL and body_alone(path, most)
    return f"{NO_RECORDING}: the body of a request (--wire judges it)" if alone else NO_RECORDING


def _traces(report: FileReport, path: Path, most: int) -> bool:
    """Judges the spans of a file, if it is a file of spans."""
    try:
        found = opentelemetry_spans.read(path, most)
    except Exception:  # noqa: BLE001 - it is neither a recording nor a trace
        return False
    report.form = "OpenTelemetry" if found else ""
    for span in found or ():
        if span.messages is None:
            report.skipped["a span without captured messages"] += 1
        else:
            _judge(report, opentelemetry_spans.BOOK, span.request, span.place, None)
    return bool(found)


def _recorded(
    report: FileReport, recording: Recording, request: Request | Skip, paste: Pasted | None = None
) -> None:
    if isinstance(request, Skip):
        report.skipped[request.reason] += 1
    else:
        book = rules.book(request.wire, request.provider)
        if recording.when:
            report.years[recording.when.year] += 1
        _judge(report, book, request, recording.place, status_of(recording), paste=paste)


def _judge(
    report: FileReport,
    book: RuleBook,
    request: Request,
    place: str,
    status: int | None,
    *,
    paste: Pasted | None = None,
) -> None:
    tally = report.wires.setdefault(request.wire, WireTally())
    tally.judged += 1
    report.providers[request.provider] += 1
    tally.accepted += _accepted(status)
    tally.refused += status is not None and 400 <= status < 500
    for verdict in book.judge(request):
        for found in verdict.violations:
            if paste and not paste.is_certain(request, found):
                continue
            outcome, violation = _decided(request, found, verdict.outcome, status)
            tally.violations += outcome == "violation"
            tally.warnings += outcome == "warning"
            tally.agreed += outcome == "agreed"
            where = (request.wire, request.provider, request.model, place)
            told = _complaint(outcome, violation, where, status)
            report.complaints.append(replace(told, fix=_fix(report, book, request, violation)))


def _decided(
    request: Request, violation: Violation, verdict: str, status: int | None
) -> tuple[Outcome, Violation]:
    """Returns what a violation is in view of the API's answer, and the violation with a note if the rules may be too old for it."""
    outcome = _outcome(violation, verdict, status, dated=bool(request.when))
    if outcome == "violation" and may_be_newer(request, violation, accepted=_accepted(status)):
        return "warning", replace(violation, message=f"{violation.message} ({NOTE})")
    return outcome, violation


def _fix(report: FileReport, book: RuleBook, request: Request, violation: Violation) -> tuple[Change, ...]:
    """Returns a fix for the first violation of each kind in a file, and of some kinds only, because a fix is looked for by trying."""
    kind = violation.rule.id, shape(violation.pointer)
    if kind in report.kinds or len(report.kinds) >= _TRIED:
        return ()
    report.kinds.add(kind)
    return fix_of(book, request, violation)


def _accepted(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def _outcome(violation: Violation, outcome: str, status: int | None, *, dated: bool) -> Outcome:
    rule = violation.rule
    told = rule.refusal.status if rule.refusal else None
    fails = rule.refuses or outcome == "fail"  # what never got through lost nothing
    if fails and status is not None and (400 <= status < 500 or status == told):
        return "agreed"
    earlier = (
        _accepted(status) and not dated and bool(rule.since) and not rule.versions
    )  # it may precede the rule
    return "violation" if outcome == "fail" and not earlier else "warning"


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
        advice=_advice(rule.explain),
        answered=status,
    )


def _advice(explanation: str) -> str:
    """Returns what a rule's explanation says after `Fix:`."""
    _, _, text = explanation.partition("Fix:")
    return " ".join(text.partition("\n\n")[0].split())


def shape(pointer: str) -> str:
    """Returns a pointer with `*` for every position: `/messages/*/content`."""
    return re.sub(r"/\d+(?=/|$)", "/*", pointer)


# --- Fixes: a field under its new name, a field or a part left out, a message moved -----------------------


#: Fields that got another name.
_RENAMED = {"max_tokens": "max_completion_tokens", "functions": "tools", "function_call": "tool_choice"}
#: Fields that carry what a message says. Without them it is another message.
_ESSENTIAL = {
    *("model", "messages", "input", "contents", "content", "parts", "text", "role", "type", "id", "name"),
    *("tool_calls", "tool_call_id", "tool_use_id", "call_id", "arguments", "function", "functionCall"),
    *("functionResponse", "toolUse", "toolResult", "source", "image_url", "output", "system", "schema"),
}
_OPTIONAL = {"REQ", "SCH", "EMP"}  # groups of rules about fields that may be left out
_ORDERED = {"ORD", "PAIR"}  # groups of rules about the order of messages
_FAR = 8  # places that a message is moved at most
_TRIED = 50  # kinds of violations of a file: for each, the whole request is judged again


def fix_of(book: RuleBook, request: Request, violation: Violation) -> tuple[Change, ...]:
    """Returns the first change after which the rule is kept and no other rule is broken more often, or nothing."""
    before = _broken(book, request)
    for change in _attempts(request.body, violation):
        body = _with_change(request.body, change)
        after = _broken(book, replace(request, body=body))
        if after[violation.rule.id] < before[violation.rule.id] and after <= before:
            return (change,)
    return ()


def _broken(book: RuleBook, request: Request) -> Counter[str]:
    return Counter({verdict.rule.id: len(verdict.violations) for verdict in book.judge(request)})


def _attempts(body: Any, violation: Violation) -> Iterator[Change]:
    steps, group = violation.pointer.split("/")[1:], violation.rule.group
    owner = value_at(body, steps[:-1]) if steps else None
    if isinstance(owner, dict) and steps[-1] in owner and group in _OPTIONAL:
        if (name := _RENAMED.get(steps[-1])) and name not in owner:
            yield {"op": "move", "from": violation.pointer, "path": _pointer([*steps[:-1], name])}
        if steps[-1] not in _ESSENTIAL:
            yield {"op": "remove", "path": violation.pointer}
    if group == "EMP":
        yield from _without_part(body, steps)
    if group in _ORDERED:
        yield from _moves(body, steps)


def _without_part(body: Any, steps: list[str]) -> Iterator[Change]:
    """Yields the removal of the innermost part of a list that has others."""
    for end in range(len(steps), 2, -1):
        owner = value_at(body, steps[: end - 1])
        if isinstance(owner, list) and len(owner) > 1 and steps[end - 1].isdigit():
            yield {"op": "remove", "path": _pointer(steps[:end])}
            return


def _moves(body: Any, steps: list[str]) -> Iterator[Change]:
    """Yields moves of the message that a pointer leads into, the shortest first."""
    messages = value_at(body, steps[:1])
    if not isinstance(messages, list) or len(steps) < 2 or not steps[1].isdigit():
        return
    here = int(steps[1])
    for far in range(1, _FAR + 1):
        for there in (here + far, here - far):  # what stands in the way goes behind
            if 0 <= there < len(messages):
                yield {"op": "move", "from": f"/{steps[0]}/{here}", "path": f"/{steps[0]}/{there}"}


def _pointer(steps: list[str]) -> str:
    return "".join(f"/{step}" for step in steps)


def _with_change(body: Any, change: Change) -> Any:
    """Returns a copy of the body with the change."""
    source = change.get("from", change["path"]).split("/")[1:]
    taken = value_at(body, source)
    without = _edited(body, source, None)
    return _edited(without, change["path"].split("/")[1:], [taken]) if change["op"] == "move" else without


def _edited(value: Any, steps: list[str], added: list[Any] | None) -> Any:
    """Returns a copy without the value at a pointer, or with a value added there. Only the way to it is copied."""
    step, rest = unescaped(steps[0]), steps[1:]
    if isinstance(value, list):
        at = int(step)
        inner = [_edited(value[at], rest, added)] if rest else (added or [])
        return [*value[:at], *inner, *value[at + (1 if rest or added is None else 0) :]]
    if rest:
        return {**value, step: _edited(value[step], rest, added)}
    if added is None:
        return {key: each for key, each in value.items() if key != step}
    return {**value, step: added[0]}


# --- As JSON ---------------------------------------------------------------------------------------------


def as_json(file: FileReport) -> dict[str, Any]:
    """Returns the report of a file as JSON."""
    return {
        "path": file.path,
        "format": file.form,
        "problem": file.problem,
        "providers": dict(file.providers),
        "years": dict(file.years),
        "wires": {wire: asdict(tally) for wire, tally in file.wires.items()},
        "skipped": dict(file.skipped),
        "missed": [reason for reason in file.skipped if is_missed(reason)],
        "complaints": [asdict(complaint) for complaint in file.complaints],
    }


def from_json(value: Mapping[str, Any]) -> FileReport:
    """Returns the report that `as_json()` was called with."""
    complaints = [Complaint(**{**each, "fix": tuple(each["fix"])}) for each in value["complaints"]]
    return FileReport(
        value["path"],
        value["format"],
        {wire: WireTally(**tally) for wire, tally in value["wires"].items()},
        Counter(value["providers"]),
        Counter({int(year): count for year, count in value["years"].items()}),
        Counter(value["skipped"]),
        complaints,
        value["problem"],
    )
