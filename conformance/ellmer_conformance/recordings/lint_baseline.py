"""Known violations in recordings: the entries have the same form as for a run, and `case` is the file.

```toml
[[expect]]
rule = "PAIR-001"
case = "tests/cassettes/old/*"     # as its path is printed
reason = "recorded before the fix"
issue = "https://github.com/me/my-app/issues/123"
```
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

from ..baseline import Baseline, Entry
from ..report import Row
from ..report.rows import fingerprint
from .lint import Complaint, FileReport, LintResult

__all__ = ["apply_baseline"]


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
