"""Updates a baseline's file from a report, with as few changes as possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from ..report.results import Report, Row
from .entries import NEW, Baseline, Entry, stale_parts

__all__ = ["Change", "updated"]


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
    known = [e for e in baseline.entries if e.in_force()]
    fresh = [row for row in report.rows if row.verdict in NEW and not any(e.speaks_of(row) for e in known)]
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
