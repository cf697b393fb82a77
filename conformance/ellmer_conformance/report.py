"""What a run of the suite found: rows, `report.json`, and the matrix a person reads.

`report.json` (version 1): `{"version", "tool", "adapters", "cassettes", "results", "skipped", "summary"}`.
`results` has one object per adapter × wire × vendor × case × mode × rule with `verdict` (`pass`, `fail`,
`warn`, `not-applicable`), `checked` (how often the rule met its subject: `pass` needs at least 1), `pointer`
and `message` of the first violation, `provider_error` (what the provider would have said), `level`, `kind`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .case import MODES
from .rule import Verdict, Violation
from .run import Run

__all__ = ["Report", "Row", "rows"]

VERSION = 1
_MARKS = {"pass": ("✓", "green"), "fail": ("✗", "bold red"), "warn": ("!", "yellow"), "": ("·", "dim")}


@dataclass(frozen=True)
class Row:
    """One verdict."""

    adapter: str
    wire: str
    vendor: str
    case: str
    mode: str
    rule: str
    level: str
    kind: str
    verdict: str
    checked: int
    pointer: str = ""
    message: str = ""
    provider_error: str = ""


def rows(adapter: str, run: Run, verdicts: Iterable[Verdict]) -> list[Row]:
    """One row per rule, in the order of the books."""
    return [_row(adapter, run, found) for found in verdicts]


def _row(adapter: str, run: Run, verdict: Verdict) -> Row:
    first: Violation | None = next(iter(verdict.violations), None)
    return Row(
        adapter,
        run.wire,
        run.vendor,
        run.case.name,
        run.mode,
        rule=verdict.rule.id,
        level=verdict.rule.level.value,
        kind=verdict.rule.kind.value,
        verdict=verdict.outcome,
        checked=verdict.checked,
        pointer=first.pointer if first else "",
        message=first.message if first else "",
        provider_error=first.refusal.message if first and first.refusal else "",
    )


@dataclass
class Report:
    """All rows of one run of the suite."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)  # adapter, wire, vendor, case, reason
    cassettes: dict[str, str] = field(default_factory=dict)  # path below the root: recorded_from

    def as_json(self) -> dict[str, Any]:
        """The document that is written."""
        return {
            "version": VERSION,
            "tool": {"name": "ellmer-conformance", "version": version("ellmer-core")},
            "adapters": sorted({row.adapter for row in self.rows}),
            "cassettes": dict(sorted(self.cassettes.items())),
            "summary": self.summary(),
            "skipped": self.skipped,
            "results": [asdict(row) for row in self.rows],
        }

    def write(self, path: Path) -> None:
        """Writes `report.json`, in one piece."""
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = path.with_suffix(".tmp")
        staged.write_text(json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        staged.replace(path)

    def summary(self) -> dict[str, dict[str, int]]:
        """Per adapter and wire: MUST and SHOULD rules applicable and passed (over all cases and modes)."""
        worst: dict[tuple[str, str, str, str], bool] = {}
        for row in self.rows:
            if row.verdict != "not-applicable":
                key = (row.adapter, row.wire, row.level, row.rule)
                worst[key] = worst.get(key, True) and not row.message
        found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
        for (adapter, wire, level, _), passed in worst.items():
            found[f"{adapter} {wire}"][f"{level.lower()}_applicable"] += 1
            found[f"{adapter} {wire}"][f"{level.lower()}_passed"] += passed
        return dict(found)

    def failures(self) -> list[Row]:
        """The rows that fail the run."""
        return [row for row in self.rows if row.verdict == "fail"]

    def print(self, console: Console) -> None:
        """The matrix, the failures, and the score."""
        for adapter in sorted({row.adapter for row in self.rows}):
            console.print(self._matrix(adapter))
        for (rule, message), group in _grouped(self.failures()).items():
            console.print(_failure(rule, message, group))
        for name, counts in self.summary().items():
            console.print(_score(name, counts))

    def _matrix(self, adapter: str) -> Table:
        mine = [row for row in self.rows if row.adapter == adapter]
        places = list(dict.fromkeys((row.wire, row.vendor) for row in mine))
        title = f"{adapter}: {' · '.join(MODES)}"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column("case", no_wrap=True)
        for wire, vendor in places:
            words = [*wire.split("-"), vendor] if vendor not in wire else wire.split("-")
            table.add_column("\n".join(words), justify="center", no_wrap=True)
        cells: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for row in mine:
            cells[row.case, row.wire, row.vendor][row.mode].append(row.verdict)
        for case in dict.fromkeys(row.case for row in mine):
            table.add_row(case, *(_cell(cells[case, wire, vendor]) for wire, vendor in places))
        return table


_COUNTS = ("must_applicable", "must_passed", "should_applicable", "should_passed")


def _cell(by_mode: Mapping[str, Sequence[str]]) -> Text:
    cell = Text()
    for mode in MODES:
        verdicts = Counter(by_mode.get(mode, ()))
        worst = next((v for v in ("fail", "warn", "pass") if verdicts[v]), "")
        cell.append(*_MARKS[worst])
    return cell


def _grouped(failures: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in failures:
        groups[row.rule, row.message].append(row)
    return groups


def _failure(rule: str, message: str, group: Sequence[Row]) -> Text:
    first = group[0]
    text = Text(f"✗ {rule} ", style="bold red").append(message, style="default")
    text.append(f"\n    at {first.pointer}", style="default")
    if first.provider_error:
        text.append(f"\n    the provider would say: {first.provider_error}", style="default")
    places = dict.fromkeys(f"{r.wire}/{r.vendor}/{r.case}[{r.mode}]" for r in group)
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return text.append(f"\n    in {', '.join(list(places)[:3])}{more}", style="dim")


def _score(name: str, counts: Mapping[str, int]) -> str:
    must, should = (
        f"{counts[f'{level}_passed']}/{counts[f'{level}_applicable']}" for level in ("must", "should")
    )
    return f"{name}: MUST {must} · SHOULD {should}"
