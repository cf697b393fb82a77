"""The report of the linter: what is expected, the causes of what was found with the tests behind them, and the forms.

Each form is written while the files are judged, so that their number is no matter.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from ellmer_harness.bulk.sources import is_url, sources

from ..contract.rule import page_of
from ..report import Report, Row
from ..report.baseline import Baseline, Entry, updated
from ..report.formats.sarif import sarif_document
from ..report.requirements import LATEST
from ..report.rows import fingerprint
from .lint import Complaint, FileReport, Outcome, Totals, as_json, shape
from .recorded_requests import is_missed
from .source_lines import source_line

# --- The baseline -----------------------------------------------------------------------------------------


class Expectations:
    """A baseline while files are judged. Of each file, only the violations are remembered."""

    def __init__(self, baseline: Baseline = Baseline()) -> None:  # noqa: B008 - it is frozen
        self.baseline = baseline
        self._rows: list[Row] = []
        self._about: set[tuple[int, bool]] = set()

    def apply(self, file: FileReport) -> None:
        """Marks the expected violations of a file."""
        self._about.update(_key(entry) for entry in self.baseline.entries if _is_about(entry, file))
        for i, complaint in enumerate(file.complaints):
            if complaint.outcome == "violation":
                row = self.baseline.expected(_row(file, complaint))
                self._rows.append(row)
                if row.verdict == "expected-fail":
                    file.complaints[i] = replace(complaint, outcome="expected", issue=row.issue)
                    file.wires[complaint.wire].violations -= 1
                    file.wires[complaint.wire].expected += 1

    def problems(self) -> list[str]:
        """Returns the errors in the entries. An entry for files or wire formats that were not read is ignored."""
        meant = [entry for entry in self.baseline.entries if _key(entry) in self._about]
        return replace(self.baseline, entries=meant).settled(self._rows, whole=True)[1]

    def written(self, reason: str, issue: str) -> str:
        """Returns a new baseline of all violations, as a file."""
        literal = (replace(row, case=re.sub(r"([*?\[])", r"[\1]", row.case)) for row in self._rows)
        rows = list(dict.fromkeys(literal))
        reason = reason or f"It was there on {date.today()}, when this list was made."  # noqa: DTZ011 - a day of the reader's
        return updated("", Baseline(), Report(rows=rows), reason=reason, issue=issue or "none yet").text


def _key(entry: Entry) -> tuple[int, bool]:
    return entry.number, entry.flaky


def _row(file: FileReport, c: Complaint) -> Row:
    found = fingerprint(c.rule, c.pointer, c.message)
    row = Row("lint", c.wire, c.provider, file.path, "sync", c.rule, c.level, c.kind, "fail", 1)
    return replace(row, pointer=c.pointer, message=c.message, fingerprint=found)


def _is_about(entry: Entry, file: FileReport) -> bool:
    return _fits(entry, "case", file.path) and any(_fits(entry, "wire", wire) for wire in file.wires)


def _fits(entry: Entry, name: str, value: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in entry.patterns[name])


# --- The test that made a recording -----------------------------------------------------------------------


_NAMES = re.compile(
    r"(test_.*|.*_test|.*_spec|.*\.(test|spec)|.*[Tt]ests?|test-.*|conftest)"
    r"\.(py|rb|go|rs|[cm]?[jt]sx?|java|kt|cs|R|r|php|exs?|swift|scala)"
)
_FOLDERS = {"tests", "test", "spec", "specs", "__tests__", "testing", "integration", "it"}
_CODE = re.compile(r".*\.(py|rb|go|rs|[cm]?[jt]sx?|java|kt|cs|R|r|php|exs?|swift|scala)")
_MOST_BYTES = 64 * 1024**2  # of all tests together
_LARGEST = 2 * 1024**2  # of one
#: How languages begin a test with a name.
_BEGINS = r"(?:def|func|fn|fun|void|class)\s+"
_PLAIN = re.compile(
    r"(\[.*\]|(\.(stream|async|sync|live|yaml|yml|json|har|jsonl|ndjson|httprr|rec|gz|request|response))+)$"
)


@dataclass
class IndexOfTests:
    """The tests of the repository that a recording is in. They are read when the first test is looked for."""

    _read: dict[Path, list[tuple[Path, str]]] = field(default_factory=dict)

    def of(self, recording: str) -> str:
        """Returns the test of a recording, as `tests/test_chat.py::test_weather` or `spec/chat_spec.rb:12`, `""` if none is
        found.
        """
        if is_url(recording):
            return ""
        path = Path(os.path.abspath(recording))  # noqa: PTH100 - links stay as they are
        top = _top(path.parent)
        if top is None:
            return ""
        if top not in self._read:
            self._read[top] = list(_tests(top))
        names = list(_names(path.relative_to(top)))
        near = sorted(self._read[top], key=lambda test: -_nearness(test[0], path))
        found = _defined(near, names) or _mentioned(near, path.relative_to(top))
        return _shown(found) if found else ""


Code = tuple[Path, str, int]


def _shown(found: Code) -> str:
    path, name, line = found
    where = Path(os.path.relpath(path)).as_posix()
    return f"{where}::{name}" if name and path.suffix == ".py" else f"{where}:{line}"


def _defined(tests: list[tuple[Path, str]], names: list[str]) -> Code | None:
    """Returns the test whose name is a part of the recording's path, the last part first. The test's file may be named, too."""
    for name in names:
        begins = re.compile(rf"^[ \t]*(?:async )?(?:pub )?{_BEGINS}{re.escape(name)}\b", re.MULTILINE)
        places = [
            (path, name, text.count("\n", 0, match.start()) + 1)
            for path, text in tests
            if name in text and (match := begins.search(text))
        ]
        ours = [place for place in places if place[0].stem in names]
        if ours or len(places) == 1 or (places and name.lower().startswith("test")):
            return (ours or places)[0]
    return None


def _mentioned(tests: list[tuple[Path, str]], recording: Path) -> Code | None:
    """Returns the place that has the recording's name in quotes, with as many folders as there are."""
    stem = recording.with_name(_PLAIN.sub("", recording.name))
    for parts in range(len(recording.parts), 0, -1):
        for name in (recording, stem):
            tail = "/".join(name.parts[-parts:])
            if parts == 1 and len(tail) < 5:
                continue
            quoted = re.compile(rf"[\"'`/]{re.escape(tail)}[\"'`]")
            for path, text in tests:
                if tail in text and (match := quoted.search(text)):
                    return path, "", text.count("\n", 0, match.start()) + 1
    return None


def _names(recording: Path) -> Iterator[str]:
    """Yields the names in a path that may be those of a test: `TestChat.test_weather[openai].yaml` has two."""
    for part in (_PLAIN.sub("", _PLAIN.sub("", recording.name)), *reversed(recording.parts[:-1])):
        for name in (part, *reversed(re.split(r"[.\[\-]", part))):
            if re.fullmatch(r"\w{4,}", name):
                yield name


def _nearness(test: Path, recording: Path) -> int:
    return len(os.path.commonpath([test, recording]))


@lru_cache(1024)
def _top(folder: Path) -> Path | None:
    """Returns the folder of the repository."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def _tests(top: Path) -> Iterator[tuple[Path, str]]:
    left = _MOST_BYTES
    for path in sources([top]):
        if isinstance(path, Path) and _is_test(path.relative_to(top)):
            try:
                size = path.stat().st_size
                if size > _LARGEST or size > left:
                    continue
                text = path.read_text("utf-8", "replace")
            except OSError:
                continue
            left -= size
            yield path, text


def _is_test(path: Path) -> bool:
    name = path.name
    return bool(_NAMES.fullmatch(name) or (_CODE.fullmatch(name) and _FOLDERS & {*path.parts[:-1]}))


# --- Causes -----------------------------------------------------------------------------------------------


_MOST_GROUPS = 500  # groups, so that the memory has a limit
_PLACES = 3  # of a group, which are named
_WORST: tuple[Outcome, ...] = ("violation", "warning", "expected", "agreed")


@dataclass
class Location:
    """A place of a group. `test` is the test that made the recording, if it was looked for and found."""

    path: str
    where: str
    test: str = ""


@dataclass
class Group:
    """Violations with one cause: one rule, broken at one kind of place for one reason.

    `also` are rules that are broken at the same places, and would be kept if this one were.
    """

    first: Complaint
    also: dict[str, None] = field(default_factory=dict)
    requests: int = 0
    recordings: int = 0
    places: list[Location] = field(default_factory=list)
    last: tuple[str, str] = ("", "")

    def add(self, path: str, complaint: Complaint) -> None:
        """Adds a violation."""
        seen = (path, complaint.place)
        if path != self.last[0]:
            self.recordings += 1
            if len(self.places) < _PLACES:
                self.places.append(Location(path, complaint.place))
        self.requests += seen != self.last
        self.last = seen
        if complaint.fix and not self.first.fix:
            self.first = complaint

    @property
    def advice(self) -> str:
        """What repairs it: a change that the rules were asked about, and what the rule says."""
        found = ", then ".join(map(_as_words, self.first.fix))
        tried = f"{found}; the rules are kept then." if found else ""
        return " ".join(text[:1].upper() + text[1:] for text in (tried, self.first.advice) if text)


@dataclass
class Findings:
    """The groups of all files. `others` counts the violations of further causes after the first 500."""

    others: int = 0
    _groups: dict[tuple[str, ...], Group] = field(default_factory=dict)

    def add(self, file: FileReport) -> None:
        """Adds the violations of a file. A second rule that is broken at a place has the cause of the first one."""
        at: dict[tuple[str, str], Group] = {}
        for each in file.complaints:
            place = (each.place, each.pointer)
            cause = at.get(place)
            if cause and cause.first.rule != each.rule and _rank_of(cause.first) <= _rank_of(each):
                cause.also[each.full_id] = None
            elif group := self._group(each):
                group.add(file.path, each)
                at[place] = group

    def _group(self, each: Complaint) -> Group | None:
        key = (each.outcome, each.full_id, shape(each.pointer), _gist(each.message))
        if key not in self._groups and len(self._groups) >= _MOST_GROUPS:
            self.others += 1
            return None
        return self._groups.setdefault(key, Group(each))

    def of(self, *outcomes: Outcome) -> list[Group]:
        """Returns the groups with these outcomes: violations first, and of those the most frequent."""
        found = (group for group in self._groups.values() if group.first.outcome in outcomes)
        return sorted(found, key=_rank)


def _rank(group: Group) -> tuple[int, int, str, str, str]:
    c = group.first
    return _rank_of(c), -group.requests, c.full_id, c.pointer, c.message


def _rank_of(complaint: Complaint) -> int:
    return _WORST.index(complaint.outcome)


def _gist(message: str) -> str:
    """Returns a message without numbers and ids, which differ from request to request."""
    return re.sub(r"[\w-]+", _gist_of_word, message)


def _gist_of_word(word: re.Match[str]) -> str:
    return "#" if re.search(r"\d[\w-]{5}", word[0]) else re.sub(r"\d+", "#", word[0])


def _as_words(change: dict[str, str]) -> str:
    if change["op"] == "remove":
        return f"leave out {change['path']}"
    source, target = change["from"], change["path"]
    same = source.rpartition("/")[0] == target.rpartition("/")[0]
    if same and not target.rpartition("/")[2].isdigit():
        return f"rename {source} to {target.rpartition('/')[2]}"
    return f"move {source} to {target}"


# --- Forms ------------------------------------------------------------------------------------------------


WIDTH = 80
_LABELS = {
    "violation": "violation",
    "warning": "warning",
    "agreed": "refused by the API, too",
    "expected": "expected",
}


class Form(Protocol):
    """A form of the report. Its texts, one after another, are the report."""

    def file(self, file: FileReport) -> str:
        """Returns what the form says about a file."""
        ...

    def end(self, totals: Totals) -> str:
        """Returns what the form says at the end."""
        ...


# --- Text ------------------------------------------------------------------------------------------------


_SHOWN = 12  # reasons for skipping, listed one by one
_GROUPS = 50  # causes, listed one by one
_FEW = 5  # damaged files, listed one by one


class Text:
    """For people: the causes, the table of wire formats, what was not judged, and what was seen."""

    def __init__(self, *, verbose: bool = False, warnings: bool = True) -> None:
        self.verbose, self.warnings = verbose, warnings
        self.findings, self.tests = Findings(), IndexOfTests()
        self.damaged: list[FileReport] = []
        self.pasted = False  # then the reason of a refusal is what is asked for

    def file(self, file: FileReport) -> str:
        """Returns a paragraph about the file if every file is to be listed."""
        self.findings.add(file)
        self.pasted |= file.pasted
        if file.problem and not self.verbose:
            self.damaged.append(FileReport(file.path, problem=file.problem))
        return "\n".join([*_of_file(file), ""]) if self.verbose else ""

    def end(self, totals: Totals) -> str:
        """Returns the causes and the counts."""
        groups = [] if self.verbose else self.findings.of(*_WORST if self.pasted else _WORST[:-1])
        blocks = [_group(group, self.tests) for group in groups[:_GROUPS]]
        rest = len(groups) - _GROUPS
        more = [f"… and {_many(rest, 'other cause')} (--verbose lists every file)"] if rest > 0 else []
        damaged = [f"{file.path}\n{_wrapped('unreadable: ', str(file.problem))}" for file in self.damaged]
        lines = [
            *(line for block in (*damaged, *blocks, *more) for line in (block, "")),
            *_table(totals),
            *_agreed(totals, listed=self.verbose or self.pasted),
            *_skipped(totals),
            *_summary(totals),
            *(
                ["", "The baseline:", *(_wrapped("", each) for each in totals.problems)]
                * bool(totals.problems)
            ),
            "",
            _rules(),
            *_result(totals),
        ]
        return "\n".join(lines).strip("\n") + "\n"


def _group(group: Group, tests: IndexOfTests) -> str:
    c = group.first
    count = f"{_many(group.requests, 'request')} in {_many(group.recordings, 'recording')}"
    lines = [
        f"{c.full_id} {c.level} {c.kind} ({_LABELS[c.outcome]}), {count}",
        _wrapped("rule ", c.sentence),
        _wrapped("is   ", f"{c.message}  [{c.wire}, {c.provider}, {c.model or 'no model'}{_answered(c)}]"),
        *([_wrapped("API  ", _short(c.says))] if c.says else []),
        *([_wrapped("fix  ", group.advice)] if group.advice else []),
        *([_wrapped("told ", c.issue)] if c.issue else []),
        *([_wrapped("also ", ", ".join(group.also))] if group.also else []),
    ]
    for number, place in enumerate(group.places):
        lines.append(f"  at   {place.path}")
        lines += [] if number else [f"       {place.where}/request{c.pointer}"]
        lines += [f"       made by {test}"] if (test := tests.of(place.path)) else []
    rest = group.recordings - len(group.places)
    return "\n".join([*lines, *([f"       … and {_many(rest, 'other recording')}"] if rest else [])])


def _answered(c: Complaint) -> str:
    return f", answered {c.answered}" if c.answered else ""


def _of_file(file: FileReport) -> Iterator[str]:
    yield file.path
    if file.problem:
        yield _wrapped("unreadable: ", file.problem)
        return
    judged = ", ".join(f"{tally.judged} {wire}" for wire, tally in file.wires.items()) or "nothing"
    skipped = "".join(f"; skipped {count}: {reason}" for reason, count in file.skipped.items())
    yield _wrapped("", f"judged {judged}{skipped}")
    for c in file.complaints:
        where = f"[{c.wire}, {c.provider}, {c.model or 'no model'}{_answered(c)}]"
        yield f"  {c.full_id} {c.level} {c.kind} ({_LABELS[c.outcome]})"
        yield f"    at   {_flowing(f'{c.place}/request{c.pointer}')}  {_flowing(where)}"
        yield f"    is   {_flowing(c.message)}"
        yield from [f"    API  {_short(c.says)}"] if c.says else []
        yield from [f"    told {c.issue}"] if c.issue else []


def _wrapped(label: str, text: str, indent: str = "  ") -> str:
    """Returns a text in lines of the page's width, behind a label. Long words, like paths, stay whole."""
    start = indent + label
    lines = textwrap.wrap(
        _flowing(text),
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def _table(totals: Totals) -> list[str]:
    if not totals.wires:
        return []
    columns = ["judged", "accepted", "refused", "violations", "warnings", "agreed"]
    columns += ["expected"] if any(tally.expected for tally in totals.wires.values()) else []
    width = max(len(wire) for wire in ("wire", *totals.wires))
    head = "  ".join([f"{'wire':{width}}", *columns])
    rows = (
        "  ".join([f"{wire:{width}}", *(f"{getattr(tally, name):{len(name)}}" for name in columns)])
        for wire, tally in sorted(totals.wires.items())
    )
    return [head, *rows]


def _agreed(totals: Totals, *, listed: bool) -> list[str]:
    count = sum(tally.agreed for tally in totals.wires.values())
    if listed or not count:
        return []
    return ["", f"The API refused {_many(count, 'violation')} of these, too (--verbose lists them)."]


def _skipped(totals: Totals) -> list[str]:
    """Returns what was not judged: first what may be a request to a model, and then everything else."""
    lines: list[str] = []
    for title, missed in (("Not judged, but perhaps a request to a model:", True), ("Not judged:", False)):
        found = Counter({r: n for r, n in totals.skipped.items() if is_missed(r) is missed})
        common = found.most_common(_SHOWN)
        rest = len(found) - len(common)
        lines += ["", title] if found else []
        lines += [_wrapped(f"{count:7}  ", reason) for reason, count in common]
        lines += [f"           … and {rest} other reasons (--format json has all)"] if rest else []
    return lines


_MANY = 20  # files; the report of fewer is short enough


def _summary(totals: Totals) -> list[str]:
    """Returns what a run over many files saw: the kinds of things, and the rules that most violations break."""
    if totals.count < _MANY:
        return []
    dated = sum(totals.years.values())
    years: list[tuple[Any, int]] = sorted(totals.years.items())
    undated = [("without a date", totals.judged - dated)] if totals.judged > dated else []
    counts: dict[str, list[tuple[Any, int]]] = {
        "Formats": totals.forms.most_common(8),
        "Wires": Counter({wire: tally.judged for wire, tally in totals.wires.items()}).most_common(),
        "Providers": totals.providers.most_common(8),
        "Years": years + undated,
        "Causes": totals.rules.most_common(3),
    }
    told = {name: ", ".join(f"{key} ({n:,})" for key, n in found) for name, found in counts.items() if found}
    return ["", *(_wrapped(f"{name + ':':10} ", text, indent="") for name, text in told.items())]


def _result(totals: Totals) -> list[str]:
    files, judged = _many(totals.count, "file"), _many(totals.judged, "request")
    damaged = f", {totals.damaged:,} unreadable" if totals.damaged else ""
    return [f"{files}{damaged}, {judged} judged, {_many(totals.violations, 'violation')}.", *_reason(totals)]


def _reason(totals: Totals) -> list[str]:
    """Returns the reason of an exit code if it is not the number of violations."""
    if not totals.forms and not totals.damaged:
        why = "there are no files" if not totals.count else "none of the files is a recording of HTTP"
        return [f"Nothing was judged, which counts as a failure: {why}."]
    if totals.damaged:
        return ["A file could not be read, which is a failure."]
    if totals.missed > totals.judged:
        return [f"More was missed than judged ({totals.missed:,}), which is a failure."]
    if not totals.judged and not totals.damaged:
        return ["Nothing was judged: the recordings have no request to a chat endpoint."]
    return []


# --- JSON ------------------------------------------------------------------------------------------------


class Json:
    """Everything: the files, and the totals behind them."""

    def __init__(self) -> None:
        self._count = 0

    def file(self, file: FileReport) -> str:
        """Returns the report of the file, as an item of a list."""
        start = ",\n  " if self._count else '{\n "version": 1,\n "files": [\n  '
        self._count += 1
        return start + json.dumps(as_json(file), ensure_ascii=False)

    def end(self, totals: Totals) -> str:
        """Returns the totals."""
        value = {
            "exit_code": totals.exit_code,
            "wires": {wire: asdict(tally) for wire, tally in sorted(totals.wires.items())},
            "formats": dict(totals.forms),
            "providers": dict(totals.providers),
            "years": dict(sorted(totals.years.items())),
            "skipped": dict(totals.skipped),
            "missed": totals.missed,
            "problems": totals.problems,
            "requirements": LATEST,
        }
        start = "\n ],\n " if self._count else '{\n "version": 1,\n "files": [],\n '
        return start + json.dumps(value, indent=1, ensure_ascii=False)[2:].lstrip() + "\n"


# --- Annotations and the text of a comment ---------------------------------------------------------------


class GitHub:
    """Annotations for a pull request, one for each cause: errors, warnings, and notices if the API agreed."""

    def __init__(self) -> None:
        self.findings, self.tests = Findings(), IndexOfTests()

    def file(self, file: FileReport) -> str:
        """Returns an annotation for a file that could not be read."""
        self.findings.add(file)
        if not file.problem:
            return ""
        return f"::error file={_property(file.path)},title=unreadable::{_escaped(file.problem)}\n"

    def end(self, totals: Totals) -> str:
        """Returns the annotations of the causes."""
        lines = [
            self._annotation(group)
            for group in self.findings.of("violation", "warning", "expected", "agreed")
        ]
        lines += [f"::error title=baseline::{_escaped(problem)}" for problem in totals.problems]
        lines += [
            f"::error title=conformance lint::{reason}"
            for reason in _reason(totals)
            if totals.exit_code and not totals.damaged
        ]
        return "".join(f"{line}\n" for line in lines)

    def _annotation(self, group: Group) -> str:
        c, place = group.first, group.places[0]
        level = {"violation": "error", "warning": "warning"}.get(c.outcome, "notice")
        test = self.tests.of(place.path) if level != "notice" else ""
        text = [
            f"{place.where}{c.pointer}: {c.message}",
            *(
                [f"{_many(group.requests, 'request')} in {_many(group.recordings, 'recording')}"]
                * (group.requests > 1)
            ),
            *([f"API: {_short(c.says)}"] if c.says else []),
            *([f"Fix: {group.advice}"] if group.advice else []),
            *([f"Also broken there: {', '.join(group.also)}"] if group.also else []),
            *([f"Made by {test}"] if test else []),
        ]
        where = f"file={_property(place.path)},line={source_line(place.path, place.where, c.pointer)},title={c.full_id}"
        return f"::{level} {where}::{_escaped(chr(10).join(text))}"


_COMMENT = 60_000  # characters; GitHub takes 65,536


class Comment:
    """One comment's text, as Markdown: a section for each cause, and the counts."""

    def __init__(self) -> None:
        self.findings, self.tests = Findings(), IndexOfTests()
        self.damaged: list[str] = []

    def file(self, file: FileReport) -> str:
        """Returns nothing: the comment is written at the end."""
        self.findings.add(file)
        if file.problem and len(self.damaged) < _FEW:
            self.damaged.append(f"- {_code(file.path)} could not be read: {_flat(file.problem)}")
        return ""

    def end(self, totals: Totals) -> str:
        """Returns the comment."""
        groups = self.findings.of("violation", "warning")
        parts = [f"### conformance lint: {_headline(totals)}", *self.damaged]
        length = sum(map(len, parts)) + 500
        for number, group in enumerate(groups):
            section = self._section(group)
            length += len(section)
            if length > _COMMENT:
                parts.append(f"… and {_many(len(groups) - number, 'other cause')}.")
                break
            parts.append(section)
        parts += [f"- {_flat(each)}" for each in totals.problems[:_FEW]]
        wires = ", ".join(f"{wire} {tally.judged:,}" for wire, tally in sorted(totals.wires.items()))
        parts.append(
            f"{_many(totals.count, 'file')}; judged: {wires or 'nothing'}. {_rules()}"
            + "".join(f" {r}" for r in _reason(totals))
        )
        return "\n\n".join(parts) + "\n"

    def _section(self, group: Group) -> str:
        c = group.first
        count = f"{_many(group.requests, 'request')} in {_many(group.recordings, 'recording')}"
        lines = [
            f"**{c.full_id}** ({_LABELS[c.outcome]}): {_flat(c.sentence)} {count}.",
            "",
            f"> {_flat(_short(c.says or c.message))}",
            "",
            *([f"Fix: {_flat(group.advice)}", ""] if group.advice else []),
            *([f"Also broken there: {', '.join(group.also)}.", ""] if group.also else []),
        ]
        for place in group.places:
            test = self.tests.of(place.path)
            made = f", made by {_code(test)}" if test else ""
            where = f"{place.where}/request{c.pointer}" if place is group.places[0] else ""
            lines.append(f"- {_code(f'{place.path} {where}'.strip())}{made}")
        rest = group.recordings - len(group.places)
        return "\n".join([*lines, *([f"- … and {_many(rest, 'other recording')}"] if rest else [])])


def _headline(totals: Totals) -> str:
    if totals.exit_code == 2:
        return "the recordings could not be judged"
    return f"{_many(totals.violations, 'violation')} in {_many(totals.judged, 'request')}"


def _flat(text: str) -> str:
    """Returns a text of a recording as one line of Markdown that is only text."""
    plain = re.sub(r"([\\`*_\[\]<>|#~&])", r"\\\1", " ".join(text.split()))
    return plain.replace("@", "@<!-- -->")  # an escape would not keep GitHub from notifying people


def _code(text: str) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " * bool(longest)
    return f"{fence}{space}{text}{space}{fence}"


# --- SARIF -----------------------------------------------------------------------------------------------


_RESULTS = 25_000  # GitHub takes no more
_LINES = 1_000  # results whose lines are looked for


class Sarif:
    """SARIF 2.1.0 for code scanning. Findings of the baseline and of agreed differences are left out.

    Unreadable files and errors in the baseline are notifications of a failed run.
    """

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.rules: dict[str, str] = {}
        self.errors: list[dict[str, Any]] = []

    def file(self, file: FileReport) -> str:
        """Returns nothing: the document is written at the end."""
        levels = {"violation": "error", "warning": "warning"}
        for c in file.complaints:
            if c.outcome in levels and len(self.results) < _RESULTS:
                self.rules[c.full_id] = c.sentence
                said = _sarif(levels[c.outcome], f"{c.place}{c.pointer}: {c.message}")
                known = source_line(file.path, c.place, c.pointer) if len(self.results) < _LINES else 1
                where = [_location(file, known)]
                self.results.append({"ruleId": c.full_id, **said, "locations": where})
        if file.problem and len(self.errors) < _RESULTS:
            said = _sarif("error", f"unreadable: {file.problem}")
            self.errors.append({**said, "locations": [_location(file, 1)]})
        return ""

    def end(self, totals: Totals) -> str:
        """Returns the document."""
        rules = [
            {"id": id, "shortDescription": {"text": text}, "helpUri": page_of(id)}
            for id, text in sorted(self.rules.items())
        ]
        driver = {"name": "conformance", "version": version("ellmer-core"), "rules": rules}
        problems = [_sarif("error", problem) for problem in totals.problems]
        return sarif_document(driver, self.results, [*self.errors, *problems], requirements=LATEST) + "\n"


def _sarif(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _location(file: FileReport, line: int) -> dict[str, Any]:
    artifact = {"uri": quote(file.path if "://" in file.path else Path(file.path).as_posix(), safe="/:")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


# --- Words -----------------------------------------------------------------------------------------------


def _rules() -> str:
    """Returns the date of the rules: the newest requirement set, and the version that has the rules."""
    return f"Rules as of {LATEST}, ellmer-core {version('ellmer-core')}."


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"


def _flowing(text: str) -> str:
    return " ".join(text.split())


def _short(text: str, limit: int = 300) -> str:
    flat = _flowing(text)
    return flat if len(flat) <= limit else f"{flat[:limit]}…"


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


FORMS = {"text": Text, "json": Json, "github": GitHub, "comment": Comment, "sarif": Sarif}


def form(name: str, *, verbose: bool) -> Form:
    """Returns a form by its name. Only the text can be verbose."""
    return Text(verbose=True) if name == "text" and verbose else FORMS[name]()


def written(form: Form, files: Iterable[FileReport], totals: Totals) -> Iterator[str]:
    """Yields the report in pieces, while the files are judged."""
    for file in files:
        if text := form.file(file):
            yield text
    yield form.end(totals)
