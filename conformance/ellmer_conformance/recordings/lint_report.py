"""The report of the linter, and the baseline of old findings."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..baseline import Baseline, Entry
from ..report import Row
from ..report.formats.sarif import sarif_document
from ..report.rows import fingerprint
from .lint import Complaint, FileReport, LintResult
from .recorded_requests import is_missed

# --- The baseline ----------------------------------------------------------------------------------------


def apply_baseline(result: LintResult, baseline: Baseline) -> None:
    """Marks the expected violations, and notes errors in the entries. Each error fails the result.

    An entry for unread files, or for wire formats that are not in them, is ignored.
    """
    rows = []
    for file in result.files:
        for i, complaint in enumerate(file.complaints):
            if complaint.outcome == "violation":
                row = baseline.expected(_row(file, complaint))
                rows.append(row)
                if row.verdict == "expected-fail":
                    file.complaints[i] = replace(complaint, outcome="expected", issue=row.issue)
                    file.wires[complaint.wire].violations -= 1
                    file.wires[complaint.wire].expected += 1
    meant = [entry for entry in baseline.entries if _is_about(entry, result.files)]
    _, problems = replace(baseline, entries=meant).settled(rows, whole=True)
    result.problems += problems


def _row(file: FileReport, c: Complaint) -> Row:
    found = fingerprint(c.rule, c.pointer, c.message)
    row = Row("lint", c.wire, c.provider, file.path, "sync", c.rule, c.level, c.kind, "fail", 1)
    return replace(row, pointer=c.pointer, message=c.message, fingerprint=found)


def _is_about(entry: Entry, files: Iterable[FileReport]) -> bool:
    return any(
        _fits(entry, "case", file.path) and _fits(entry, "wire", wire)
        for file in files
        for wire in file.wires
    )


def _fits(entry: Entry, name: str, value: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in entry.patterns[name])


# --- The report ------------------------------------------------------------------------------------------


_LABELS = {
    "violation": "violation",
    "warning": "warning",
    "agreed": "refused by the API, too",
    "expected": "expected",
}
_SHOWN = 12  # reasons for skipping, listed one by one


def as_text(result: LintResult, *, verbose: bool = False) -> str:
    """Returns the complaints by file, then a table by wire format, then the skipped exchanges with reasons."""
    blocks = [
        _file(file, verbose=verbose)
        for file in result.files
        if verbose or file.problem or any(map(_shown_by_default, file.complaints))
    ]
    return "\n".join(
        [
            *blocks,
            *([""] if blocks else []),
            _table(result),
            *_agreed(result, verbose=verbose),
            *_skipped(result),
            *_summary(result),
            *(
                ["", "The baseline:", *(f"  {problem}" for problem in result.problems)]
                if result.problems
                else []
            ),
            _last_line(result),
        ]
    )


def as_json(result: LintResult, *, verbose: bool = False) -> str:  # noqa: ARG001 - JSON tells all
    """Returns all results by file."""
    files = [
        {
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
        for file in result.files
    ]
    value = {
        "version": 1,
        "exit_code": result.exit_code,
        "wires": {wire: asdict(tally) for wire, tally in result.wires.items()},
        "skipped": dict(result.skipped),
        "missed": result.missed,
        "problems": result.problems,
        "files": files,
    }
    return json.dumps(value, indent=1, ensure_ascii=False)


def as_github(result: LintResult, *, verbose: bool = False) -> str:  # noqa: ARG001 - one line each
    """Returns annotations for a pull request: errors, warnings, and notices if the API agreed."""
    levels = {"violation": "error", "warning": "warning", "agreed": "notice", "expected": "notice"}
    lines = [
        f"::{levels[c.outcome]} file={_property(file.path)},line={_line(c)},title={c.full_id}"
        f"::{_escaped(f'{c.place}{c.pointer}: {c.message}')}"
        for file, c in result.complaints
    ]
    lines += [
        f"::error file={_property(file.path)},title=unreadable::{_escaped(str(file.problem))}"
        for file in result.unreadable
    ]
    lines += [f"::error title=baseline::{_escaped(problem)}" for problem in result.problems]
    return "\n".join(lines)


def as_sarif(result: LintResult, *, verbose: bool = False) -> str:  # noqa: ARG001 - SARIF tells all
    """Returns SARIF 2.1.0 for code scanning. Agreed and expected complaints are left out.

    Unreadable files and errors in the baseline are notifications of a failed run.
    """
    levels = {"violation": "error", "warning": "warning"}
    told = [(file, c) for file, c in result.complaints if c.outcome in levels]
    driver = {
        "name": "conformance",
        "rules": [
            {"id": rule, "shortDescription": {"text": sentence}}
            for rule, sentence in sorted({c.full_id: c.sentence for _, c in told}.items())
        ],
    }
    results = [
        {
            "ruleId": c.full_id,
            **_sarif(levels[c.outcome], f"{c.place}{c.pointer}: {c.message}"),
            "locations": [_location(file, _line(c))],
        }
        for file, c in told
    ]
    unreadable = [
        {**_sarif("error", f"unreadable: {file.problem}"), "locations": [_location(file, 1)]}
        for file in result.unreadable
    ]
    problems = [_sarif("error", problem) for problem in result.problems]
    return sarif_document(driver, results, [*unreadable, *problems])


def _sarif(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def _location(file: FileReport, line: int) -> dict[str, Any]:
    artifact = {"uri": quote(file.path if "://" in file.path else Path(file.path).as_posix(), safe="/:")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}}


def _line(c: Complaint) -> int:
    """Returns the line in the file: the line of the exchange in a log, and the first line otherwise."""
    found = re.match(r"line (\d+)", c.place)
    return int(found[1]) if found else 1


def _file(file: FileReport, *, verbose: bool) -> str:
    if file.problem:
        return f"{file.path}\n  unreadable: {file.problem}"
    lines = [file.path]
    if verbose:
        judged = ", ".join(f"{tally.judged} {wire}" for wire, tally in file.wires.items()) or "nothing"
        skipped = "".join(f"; skipped {count}: {reason}" for reason, count in file.skipped.items())
        lines.append(f"  judged {judged}{skipped}")
    told = [complaint for complaint in file.complaints if verbose or _shown_by_default(complaint)]
    return "\n".join(lines + [_complaint(complaint) for complaint in told])


def _shown_by_default(complaint: Complaint) -> bool:
    """Tells whether a complaint is shown by default. It is not if the API refused the request, too."""
    return complaint.outcome != "agreed"


def _agreed(result: LintResult, *, verbose: bool) -> list[str]:
    count = sum(tally.agreed for tally in result.wires.values())
    if verbose or not count:
        return []
    return ["", f"The API refused {_many(count, 'violation')} of these, too (--verbose lists them)."]


def _complaint(c: Complaint) -> str:
    answered = f", answered {c.answered}" if c.answered else ""
    lines = [
        f"  {c.full_id} {c.level} {c.kind} ({_LABELS[c.outcome]})",
        f"    at   {c.place}/request{c.pointer}  [{c.wire}, {c.provider}, {c.model or 'no model'}{answered}]",
        f"    is   {c.message}",
        f"    rule {c.sentence}",
        *([f"    API  {_short(c.says)}"] if c.says else []),
        *([f"    told {c.issue}"] if c.issue else []),
    ]
    return "\n".join(lines)


def _table(result: LintResult) -> str:
    from rich.console import Console  # noqa: PLC0415 - a large import, for this form only
    from rich.table import Table  # noqa: PLC0415

    columns = ["judged", "accepted", "refused", "violations", "warnings", "agreed"]
    columns += ["expected"] if any(tally.expected for tally in result.wires.values()) else []
    table = Table("wire", *columns, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for wire, tally in result.wires.items():
        table.add_row(wire, *(str(getattr(tally, name)) for name in columns))
    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(table)
    return out.getvalue().rstrip()


def _skipped(result: LintResult) -> list[str]:
    if not result.skipped:
        return []
    common = result.skipped.most_common(_SHOWN)
    rest = len(result.skipped) - len(common)
    more = [f"  … and {rest} other reasons (--format json has all)"] if rest else []
    return ["", "Not judged:", *(f"  {count:5}  {reason}" for reason, count in common), *more]


_MANY = 20  # files; the report of fewer is short enough


def _summary(result: LintResult) -> list[str]:
    """Returns what a run over many files saw, and the three rules that most of its violations break."""
    if len(result.files) < _MANY:
        return []
    providers, years = Counter[str](), Counter[int]()
    for file in result.files:
        providers += file.providers
        years += file.years
    counts: dict[str, list[tuple[Any, int]]] = {
        "Formats": Counter(file.form for file in result.files if file.form).most_common(8),
        "Providers": providers.most_common(8),
        "Years": sorted(years.items()),
        "Causes": Counter(c.rule for _, c in result.complaints if c.outcome == "violation").most_common(3),
    }
    told = {name: ", ".join(f"{key} ({n})" for key, n in found) for name, found in counts.items() if found}
    return ["", *(f"{name + ':':10} {text}" for name, text in told.items())]


def _last_line(result: LintResult) -> str:
    if not result.judged and not result.unreadable:
        why = ", ".join(f"{reason} ({count})" for reason, count in result.skipped.most_common(3))
        return f"\nNothing was judged, which counts as a failure: {why or 'there are no files'}."
    violations = sum(tally.violations for tally in result.wires.values())
    judged = result.judged
    most = (
        ""
        if result.missed <= judged
        else f" More was missed than judged ({result.missed}), which is a failure."
    )
    unreadable = f", {len(result.unreadable)} unreadable" if result.unreadable else ""
    files, requests, found = (
        _many(len(result.files), "file"),
        _many(judged, "request"),
        _many(violations, "violation"),
    )
    return f"\n{files}{unreadable}, {requests} judged, {found}.{most}"


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"


def _short(text: str, limit: int = 300) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]}…"


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
