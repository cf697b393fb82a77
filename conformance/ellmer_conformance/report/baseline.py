"""The entries of a baseline, and their effect on the rows of a run. No file is read here."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import tomlkit
from packaging.requirements import InvalidRequirement, Requirement
from tomlkit.items import AoT, Table

from ellmer_harness.recordings.untrusted_files import TooLarge, TooSlow, time_limit

from ..files import file_text
from .results import Report, Row

# --- Entries ---------------------------------------------------------------------------------------------


NAMES = ("rule", "wire", "provider", "case", "mode")
FAILS = frozenset({"fail", "warn", "not-testable", "expected-fail"})
NEW = frozenset({"fail", "not-testable"})  # unexpected failures
_PASSES = frozenset({"pass", "refused-as-declared", "differs-as-declared", "unexpected-pass"})
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
        return all(_matches(row, name, self.patterns[name]) for name in NAMES)

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
        if not passing:
            return list(rows), problems
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


def _matches(row: Row, name: str, patterns: Iterable[str]) -> bool:
    values = row.rule_ids if name == "rule" else (getattr(row, name),)
    return any(fnmatchcase(value, pattern) for pattern in patterns for value in values)


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
            part = [row for row in judged if _matches(row, name, [pattern])]
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


# --- Reading the file ------------------------------------------------------------------------------------


FILE = "conformance-baseline.toml"
SECONDS = 60.0  # for reading one: a key of many parts takes quadratic time
_KEYS = {*NAMES, "reason", "issue", "until", "when"}
SHOWN_FAULTS = 200  # of a file; who corrects them runs the command again
_FLAKY_PLAYS = 20  # so often it must have been played before it may be called flaky


class BaselineError(ValueError):
    """The file has fields that are not allowed, or lacks required ones; the message lists the first 200 faults."""


def load(path: Path, *, today: date | None = None) -> Baseline:
    """Returns the baseline in a file. Raises BaselineError with all its errors."""
    value = _toml(path)
    faults = [
        f"unknown key {key!r} in the baseline; use [[expect]] and [[flaky]]"
        for key in value.keys() - {"expect", "flaky"}
    ]
    found = [each for kind in ("expect", "flaky") for each in _listed(kind, value.get(kind, []))]
    faults += [each for each in found if isinstance(each, str)]
    if faults:
        shown = [f"{path}: {fault}" for fault in faults[:SHOWN_FAULTS]]
        more = [f"{path}: {len(faults) - SHOWN_FAULTS:,} more faults"] if faults[SHOWN_FAULTS:] else []
        raise BaselineError("\n".join(shown + more))
    entries = [each for each in found if not isinstance(each, str)]
    return Baseline(entries, today or date.today())  # noqa: DTZ011 - a day of the reader's calendar


def _toml(path: Path) -> dict[str, Any]:
    try:
        text = file_text(path)
        with time_limit(SECONDS):
            return tomllib.loads(text)
    except OSError as error:
        raise BaselineError(f"{path} cannot be read: {error.strerror}") from error
    except (TooLarge, TooSlow) as error:
        raise BaselineError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path} is not TOML: {error}") from error


def _listed(kind: str, listed: Any) -> Iterator[Entry | str]:
    """Yields each entry under `[[kind]]`, or its faults."""
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        yield f"{kind} must be tables, each under [[{kind}]]"
        return
    for number, each in enumerate(listed, 1):
        wrong = list(_faults(each, flaky=kind == "flaky"))
        yield from (f"{kind} entry {number} ({each.get('rule', 'no rule')}): {fault}" for fault in wrong)
        if not wrong:
            yield _entry(number, each, flaky=kind == "flaky")


def _faults(entry: Mapping[str, Any], *, flaky: bool) -> Iterator[str]:
    allowed = _KEYS | ({"seen"} if flaky else {"fingerprint"})
    for key in entry.keys() - allowed:
        yield f"there is no {key!r}: there are {', '.join(sorted(allowed))}"
    for key in ("rule", "reason", "issue", *(["seen"] if flaky else [])):
        if not entry.get(key):
            yield f"{key} is missing"
        elif not isinstance(entry[key], str) and key != "rule":
            yield f"{key} must be a string"
    for key in (*NAMES, "fingerprint"):
        if not _is_text(entry.get(key, "*")):
            yield f"{key} must be a string, or a list of strings"
    if not isinstance(entry.get("until", date.max), date):
        yield "until must be a date without quotes, such as 2027-03-01"
    yield from _condition(entry.get("when", ""))
    if flaky and entry.get("seen"):
        yield from _frequency(str(entry["seen"]))


def _condition(when: object) -> Iterator[str]:
    try:
        if when != "":
            Requirement(when)  # type: ignore[arg-type]  # what is no text raises a TypeError
    except (InvalidRequirement, TypeError):
        yield f"when must be a package and its versions ('openai < 4'), not {when!r}"


def _frequency(seen: str) -> Iterator[str]:
    failed, _, plays = seen.partition("/")
    if (
        not failed.isdecimal()
        or not plays.isdecimal()
        or int(plays) < _FLAKY_PLAYS
        or int(failed) > int(plays)
    ):
        yield f"seen must give the failures in at least {_FLAKY_PLAYS} runs, such as '3/40', not {seen!r}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value))


def _entry(number: int, value: Mapping[str, Any], *, flaky: bool) -> Entry:
    return Entry(
        number,
        {name: _patterns(value.get(name, "*")) for name in NAMES},
        value["reason"],
        value["issue"],
        value.get("until"),
        value.get("when", ""),
        _patterns(value.get("fingerprint", [])),
        flaky,
    )


def _patterns(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


# --- Updating the file -----------------------------------------------------------------------------------


@dataclass
class Change:
    """The new text of the file, and a sentence for each change."""

    text: str
    done: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)  # of these, the new entries


def updated(text: str, baseline: Baseline, report: Report, *, reason: str = "", issue: str = "") -> Change:
    """Returns the file without stale entries, with current fingerprints, and with the new failures.

    `reason` and `issue` are those of the new entries. Expired entries and entries that are not in force stay, because
    a person decides about them.
    """
    document = tomlkit.parse(text)
    done: list[str] = []
    tables = document.get("expect", AoT([]))
    live = [e for e in baseline.entries if not e.flaky and e.in_force() and not e.expired(baseline.today)]
    for entry in sorted(live, key=lambda e: -e.number):  # from the end: places stay what they were
        mine = [row for row in report.rows if entry.speaks_of(row)]
        done += _refreshed(tables[entry.number - 1], entry, mine)
        for name, pattern, _ in stale_parts(entry, mine, whole=False):
            done.append(_removed(tables, entry, name, pattern))
    active = [e for e in baseline.entries if e.in_force()]
    fresh = [row for row in report.rows if row.verdict in NEW and not any(e.speaks_of(row) for e in active)]
    added = list(_entries(fresh, report, reason, issue))
    for table, _ in added:
        tables.append(table)
    document.pop("expect", None)
    if tables:
        document["expect"] = tables
    new = [what for _, what in added]
    return Change(tomlkit.dumps(document), done + new, new)


def _refreshed(table: Table, entry: Entry, rows: Iterable[Row]) -> list[str]:
    """Updates the entry's fingerprints if it has some and they differ."""
    now = sorted({row.fingerprint for row in rows if row.verdict in {*NEW, "expected-fail"}})
    if not entry.fingerprints or not now or set(now) <= set(entry.fingerprints):
        return []
    table["fingerprint"] = _plain(now)
    return [f"{entry}: it fails differently now, as {', '.join(now)}"]


def _removed(tables: AoT, entry: Entry, name: str, pattern: str) -> str:
    if not name:
        del tables[entry.number - 1]
        return f"{entry}: removed, it passes"
    table = tables[entry.number - 1]
    table[name] = _plain([value for value in table[name] if value != pattern])
    return f"{entry}: {name} {pattern} removed, it passes"


def _entries(rows: Sequence[Row], report: Report, reason: str, issue: str) -> Iterable[tuple[Table, str]]:
    """Yields an entry for each rule and place. Cases and modes with equal failures are in one entry."""
    cases: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        cases[row.rule, row.wire, row.provider, row.case].append(row)
    alike: dict[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for (rule, wire, provider, case), mine in cases.items():
        modes = tuple(dict.fromkeys(row.mode for row in mine))
        played = {p.mode for p in report.plays if (p.wire, p.provider, p.case) == (wire, provider, case)}
        prints = tuple(sorted({row.fingerprint for row in mine}))
        alike[rule, wire, provider, () if set(modes) == played else modes, prints].append(case)
    sentences = {(text["wire"], text["id"]): text["sentence"] for text in report.rules}
    for (rule, wire, provider, modes, prints), names in alike.items():
        value = {
            "rule": rule,
            "wire": wire,
            "provider": provider,
            "case": _plain(names),
            **({"mode": _plain(modes)} if modes else {}),
            "reason": reason,
            "issue": issue,
            "fingerprint": _plain(prints),
        }
        yield (
            _table(sentences.get((wire, rule), ""), value),
            f"added {rule} at {wire}/{provider}: {', '.join(names)}",
        )


def _table(sentence: str, value: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    if sentence:
        table.add(tomlkit.comment(sentence))
    for name, each in value.items():
        table.add(name, each)
    return table


def _plain(values: Sequence[str]) -> str | list[str]:
    """Returns one value as itself, and several as a list."""
    return values[0] if len(values) == 1 else list(values)
