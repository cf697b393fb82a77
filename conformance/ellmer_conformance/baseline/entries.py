"""The entries of a baseline, and their effect on the rows of a run. No file is read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version

from packaging.requirements import Requirement

from ..report.results import Row

__all__ = ["FAILS", "NAMES", "NEW", "Baseline", "Entry", "stale_parts"]

NAMES = ("rule", "wire", "provider", "case", "mode")
FAILS = frozenset({"fail", "warn", "not-testable", "expected-fail"})
NEW = frozenset({"fail", "not-testable"})  # unexpected failures
_PASSES = frozenset({"pass", "refused-as-declared", "unexpected-pass"})
_FLAKY_SHARE = 0.02  # of the rules may be: more is a broken suite


@dataclass(frozen=True)
class Entry:
    """An entry of a baseline: its rows and the expected failure."""

    number: int  # from 1, in the order of the file, within its list
    patterns: Mapping[str, tuple[str, ...]]  # by each of NAMES
    reason: str
    issue: str
    until: date | None = None
    when: str = ""
    fingerprints: tuple[str, ...] = ()
    flaky: bool = False

    def __str__(self) -> str:
        names = ", ".join(f"{n} {' or '.join(self.patterns[n])}" for n in NAMES if self.patterns[n] != ("*",))
        return f"{'flaky' if self.flaky else 'expect'} entry {self.number} ({names})"

    def speaks_of(self, row: Row) -> bool:
        """Tells whether the entry is about the row."""
        return all(_matches(getattr(row, name), self.patterns[name]) for name in NAMES)

    def in_force(self) -> bool:
        """Tells whether its condition holds for the installed packages."""
        if not self.when:
            return True
        wanted = Requirement(self.when)
        try:
            return wanted.specifier.contains(version(wanted.name), prereleases=True)
        except PackageNotFoundError:
            return False

    def expired(self, today: date) -> bool:
        """Tells whether its last day is over."""
        return self.until is not None and today >= self.until

    def knows(self, row: Row) -> bool:
        """Tells whether the row's failure is the expected one."""
        return not self.fingerprints or row.fingerprint in self.fingerprints


@dataclass(frozen=True)
class Baseline:
    """The entries of a file. Only entries in force count."""

    entries: Sequence[Entry] = ()
    today: date = field(default_factory=date.today)

    def expected(self, row: Row) -> Row:
        """Returns the row. It is an expected failure if an entry in force that is not expired expects it."""
        if row.verdict not in FAILS:
            return row
        for entry in self.entries:
            if (
                entry.in_force()
                and not entry.expired(self.today)
                and entry.speaks_of(row)
                and entry.knows(row)
            ):
                return replace(row, verdict="expected-fail", reason=entry.reason, issue=entry.issue)
        return row

    def settled(self, rows: Sequence[Row], *, whole: bool) -> tuple[list[Row], list[str]]:
        """Returns all rows of a run, with unexpected passes among them, and the errors in the entries.

        `whole` says that the run was complete. Only then is an entry without rows stale.
        """
        problems: list[str] = []
        passing: dict[str, Entry] = {}
        for entry in self.entries:
            if not entry.in_force():
                continue
            mine = [row for row in rows if entry.speaks_of(row)]
            if entry.expired(self.today):
                problems.append(
                    f"{entry} expired on {entry.until}. Fix the failure, or set a later date. {entry.issue}"
                )
            problems += _differing(entry, mine)
            if not entry.flaky:
                for part in stale_parts(entry, mine, whole=whole):
                    problems.append(_stale(entry, *part))
                    passing |= {row.id: entry for row in part[2] if row.verdict in _PASSES}
        problems += self._too_flaky(rows) if whole else []
        settled = [
            replace(row, verdict="unexpected-pass", message=f"{says} expects it to fail", issue=says.issue)
            if (says := passing.get(row.id))
            else row
            for row in rows
        ]
        return settled, problems

    def _too_flaky(self, rows: Iterable[Row]) -> Iterator[str]:
        rules = {row.rule for row in rows}
        flaky = {row.rule for row in rows for entry in self.entries if entry.flaky and entry.speaks_of(row)}
        allowed = max(1, int(len(rules) * _FLAKY_SHARE))
        if len(flaky) > allowed:
            yield f"{len(flaky)} of {len(rules)} rules are listed as flaky; at most {allowed} may be"


def _matches(value: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in patterns)


def _differing(entry: Entry, rows: Iterable[Row]) -> list[str]:
    """Returns a sentence for each failure of the entry's rows that it does not expect."""
    found = {row.fingerprint: row for row in rows if row.verdict in NEW and not entry.knows(row)}
    return [
        f"{entry} expects another failure: {row.id} now fails with {row.fingerprint}: {row.message.splitlines()[0]}"
        for row in found.values()
    ]


def stale_parts(entry: Entry, rows: Sequence[Row], *, whole: bool) -> list[tuple[str, str, list[Row]]]:
    """Returns the names in the entry that no longer fail: name, pattern, and the rows that were judged.

    `("", "", rows)` stands for the whole entry, and `rows` are its rows.
    """
    judged = [row for row in rows if row.verdict not in {"not-applicable", "harness-error"}]
    if not any(row.verdict in FAILS for row in judged):
        return [("", "", judged)] if judged or whole else []
    parts = []
    for name in NAMES:
        for pattern in entry.patterns[name] if len(entry.patterns[name]) > 1 else ():
            part = [row for row in judged if fnmatchcase(getattr(row, name), pattern)]
            if not any(row.verdict in FAILS for row in part) and (part or whole):
                parts.append((name, pattern, part))
    return parts


def _stale(entry: Entry, name: str, pattern: str, judged: Sequence[Row]) -> str:
    part = f" in part: {name} {pattern}" if name else ""
    now = (
        "it passes now, and `conformance baseline update` removes it"
        if judged
        else "none of its verdicts was judged"
    )
    return f"{entry} is stale{part}: {now}"
