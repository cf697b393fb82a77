"""The report of the linter in its forms. Each is written while the files are judged, so that its size is no matter."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from ..report.formats.sarif import sarif_document
from .lint import Complaint, FileReport, Totals, as_json
from .lint_findings import Findings, Group, Place
from .recorded_by import IndexOfTests
from .recorded_requests import is_missed

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

    def end(self, totals: Totals) -> str:
        """Returns what the form says at the end."""


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

    def file(self, file: FileReport) -> str:
        """Returns a paragraph about the file if every file is to be listed."""
        self.findings.add(file)
        if file.problem and not self.verbose:
            self.damaged.append(FileReport(file.path, problem=file.problem))
        return "\n".join([*_of_file(file), ""]) if self.verbose else ""

    def end(self, totals: Totals) -> str:
        """Returns the causes and the counts."""
        groups = [] if self.verbose else self.findings.of("violation", "warning", "expected")
        blocks = [_group(group, self.tests) for group in groups[:_GROUPS]]
        rest = len(groups) - _GROUPS
        more = [f"… and {_many(rest, 'other cause')} (--verbose lists every file)"] if rest > 0 else []
        damaged = [f"{file.path}\n{_wrapped('unreadable: ', str(file.problem))}" for file in self.damaged]
        lines = [
            *(line for block in (*damaged, *blocks, *more) for line in (block, "")),
            *_table(totals),
            *_agreed(totals, verbose=self.verbose),
            *_skipped(totals),
            *_summary(totals),
            *(
                ["", "The baseline:", *(_wrapped("", each) for each in totals.problems)]
                * bool(totals.problems)
            ),
            "",
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
        yield f"  {c.full_id} {c.level} {c.kind} ({_LABELS[c.outcome]})"
        yield f"    at   {c.place}/request{c.pointer}  [{c.wire}, {c.provider}, {c.model or 'no model'}{_answered(c)}]"
        yield f"    is   {c.message}"
        yield from [f"    API  {_short(c.says)}"] if c.says else []
        yield from [f"    told {c.issue}"] if c.issue else []


def _wrapped(label: str, text: str, indent: str = "  ") -> str:
    """Returns a text in lines of the page's width, behind a label. Long words, like paths, stay whole."""
    start = indent + label
    lines = textwrap.wrap(
        " ".join(text.split()),
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


def _agreed(totals: Totals, *, verbose: bool) -> list[str]:
    count = sum(tally.agreed for tally in totals.wires.values())
    if verbose or not count:
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
    """Returns the reason of an exit code that the number of violations does not tell."""
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
            f"::error title=conformance lint::{reason}" for reason in _reason(totals) if totals.exit_code
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
        where = f"file={_property(place.path)},line={_line(place)},title={c.full_id}"
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
            f"{_many(totals.count, 'file')}; judged: {wires or 'nothing'}."
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


class Sarif:
    """SARIF 2.1.0 for code scanning. Agreed and expected complaints are left out.

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
                where = [_location(file, _line(Place(file.path, c.place)))]
                self.results.append({"ruleId": c.full_id, **said, "locations": where})
        if file.problem and len(self.errors) < _RESULTS:
            said = _sarif("error", f"unreadable: {file.problem}")
            self.errors.append({**said, "locations": [_location(file, 1)]})
        return ""

    def end(self, totals: Totals) -> str:
        """Returns the document."""
        rules = [{"id": id, "shortDescription": {"text": text}} for id, text in sorted(self.rules.items())]
        problems = [_sarif("error", problem) for problem in totals.problems]
        return (
            sarif_document({"name": "conformance", "rules": rules}, self.results, [*self.errors, *problems])
            + "\n"
        )


def _sarif(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _location(file: FileReport, line: int) -> dict[str, Any]:
    artifact = {"uri": quote(file.path if "://" in file.path else Path(file.path).as_posix(), safe="/:")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


def _line(place: Place) -> int:
    """Returns the line in the file: the line of the exchange in a log, and the first line otherwise."""
    found = re.match(r"line (\d+)", place.where)
    return int(found[1]) if found else 1


# --- Words -----------------------------------------------------------------------------------------------


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"


def _short(text: str, limit: int = 300) -> str:
    flat = " ".join(text.split())
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
