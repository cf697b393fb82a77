"""The baseline of the linter: what is old, and therefore no failure."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from ..baseline import Baseline, Entry, updated
from ..report import Report, Row
from ..report.rows import fingerprint
from .lint import Complaint, FileReport


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
        rows = list(dict.fromkeys(self._rows))
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
