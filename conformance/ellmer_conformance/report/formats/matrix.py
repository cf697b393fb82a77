"""The report on a terminal: a matrix of cases, what failed and why, and the score."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...scenarios.case import MODES
from ..consequences import consequences, without_consequences
from ..results import FINE, Report, Row, worst
from ..score import sentence
from ..unjudged import sentences
from .abilities import rows as abilities

__all__ = ["MARKS", "console", "print_report"]

#: How a verdict looks: a mark of one cell's width, a style.
MARKS = {
    "pass": ("✓", "green"),
    "fail": ("✗", "bold red"),
    "warn": ("!", "yellow"),
    "expected-fail": ("x", "yellow"),
    "unexpected-pass": ("+", "bold red"),
    "not-testable": ("?", "bold red"),
    "harness-error": ("E", "bold magenta"),
    "refused-as-declared": ("-", "green"),
    "not-applicable": ("·", "dim"),
}
_WIDE = 250  # columns where nobody looks at a screen: a log wraps by itself
_NARROW = 100  # columns that show no whole matrix
_LINES = 12  # of a message
_FAILURES = 20  # in full; the page has all
_PER_RULE = 3
_ADVICE = 12  # rules whose findings fail nobody
#: What of a row others wrote, and the characters that are for terminals.
_SAID = ("adapter", "wire", "vendor", "case", "pointer", "message", "excerpt", "provider_error")
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_GAP = 3  # cells between two columns

Place = tuple[str, str]


def console(file: IO[str]) -> Console:
    """A console that breaks no table where the output is no terminal."""
    found = Console(file=file)
    return found if found.is_terminal else Console(file=file, width=_WIDE)


def print_report(report: Report, to: Console, folder: Path | None = None) -> None:
    """The matrix of each adapter, each failure once, and the score; `folder` is where the report is written to."""
    for adapter in report.adapters:
        _print_matrix(adapter, [row for row in report.rows if row.adapter == adapter], to)
    to.print(_legend(report.rows))
    for adapter, places, able in abilities(report):
        to.print(f"{adapter} declares ({places}): {able}", style="dim", highlight=False, soft_wrap=True)
    for line in _unseen(report):
        to.print(line, style="dim", highlight=False, soft_wrap=True)
    groups = _grouped(without_consequences(report))
    chosen = _chosen(groups)
    for group in chosen:
        to.print(_failure(group, folder), soft_wrap=True)
    if len(groups) > len(chosen):
        to.print(f"… and {len(groups) - len(chosen)} failures more, in the report", style="dim")
    if followed := consequences(report):
        to.print(f"{len(followed)} failures more follow from these: the transcript differs", style="dim")
    if groups and not folder:
        to.print("--report FOLDER keeps a script and the exchange of each failure, and a page", style="dim")
    for text in _beside(report):
        to.print(text, highlight=False, soft_wrap=True)
    for name, counts in report.score.items():
        to.print(f"{name}: {sentence(counts)}", highlight=False, soft_wrap=True)


def _beside(report: Report) -> Iterator[Text]:
    """What is no failure of a rule that must hold: advice, plays without a verdict, problems of the baseline."""
    yield from _advice(report.rows)
    for line in sentences(report.unjudged):
        yield Text("✗ ", style="bold red").append(_printable(line), style="default")
    for problem in report.problems:
        yield Text("✗ baseline: ", style="bold red").append(_printable(problem), style="default")


def _advice(rows: Sequence[Row]) -> Iterator[Text]:
    """The findings that fail nobody: each rule once, in its first words."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.verdict == "warn":
            groups[row.rule].append(row)
    for rule, found in list(groups.items())[:_ADVICE]:
        word = "preview" if found[0].preview else "SHOULD"
        first = found[0].message.splitlines()[0] if found[0].message else ""
        text = Text().append("! ", style="yellow").append(f"{rule} ({word}) ", style="bold")
        yield text.append(
            f"{_printable(first[:200])} (in {len(found)} plays, first {found[0].case}[{found[0].mode}])"
        )
    if len(groups) > _ADVICE:
        yield Text(f"… and {len(groups) - _ADVICE} more rules of this kind, in the report", style="dim")


def _print_matrix(adapter: str, rows: Sequence[Row], to: Console) -> None:
    to.print(Text(f"{_printable(adapter)}: {' · '.join(MODES)}", style="italic"), soft_wrap=True)
    shown, kept = _to_show(rows, to.width)
    for table in _tables(shown, to.width):
        to.print(table)
    if kept:
        to.print(f"{kept} cases more, in which every rule is kept", style="dim")


#: What each way of playing is called, where it is not the usual one.
_WAYS = {
    "server": "played against the strict server",
    "command": "played by a command",
    "observe": "seen by the strict server",
    "proxy": "seen by a proxy",
    "probe": "a server, asked by the suite",
}


def _unseen(report: Report) -> Iterator[str]:
    """How it was played, and the rules that this cannot show, by reason. Recordings show all."""
    for way in dict.fromkeys(play.way for play in report.plays if play.way in _WAYS):
        if any(play.way == "cassette" for play in report.plays):  # and show these rules
            cases = dict.fromkeys(play.case for play in report.plays if play.way == way)
            yield f"{_WAYS[way]}: {', '.join(cases)}"
            continue
        yield _WAYS[way]
        yield from _found_out(report) if way == "probe" else ()
        yield from _not_played(report) if way == "command" else ()
        yield from _not_judged(report)


def _found_out(report: Report) -> Iterator[str]:
    """What a server was found to be able to do."""
    able = [f"{skip['capability']}: {skip['reason']}" for skip in report.skipped if "capability" in skip]
    yield from [f"  capabilities: {'; '.join(able)}"] if able else []


def _not_played(report: Report) -> Iterator[str]:
    """The cases that a command could not be told, by reason."""
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" not in skip:
            left[skip["reason"]][skip["case"]] = None
    yield from (f"  not played: {', '.join(names)}: {reason}" for reason, names in left.items())


def _not_judged(report: Report) -> Iterator[str]:
    """The rules that were judged nowhere, by reason."""
    shown = {row.rule for row in report.rows}
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" in skip and skip["rule"] not in shown:
            left[skip["reason"]][skip["rule"]] = None
    for reason, rules in left.items():
        ids = list(rules)
        some = f"{', '.join(ids[:6])}, … ({len(ids)} rules)" if len(ids) > 8 else ", ".join(ids)
        yield f"  not judged: {some}: {reason}"


def _to_show(rows: Sequence[Row], width: int) -> tuple[Sequence[Row], int]:
    """The rows for the matrix, and how many cases are left out: where there is little room and something to look
    at, those in which all is well."""
    cases = {row.case for row in rows}
    wrong = {row.case for row in rows if row.verdict not in FINE}
    if width > _NARROW or not wrong:
        return rows, 0
    return [row for row in rows if row.case in wrong], len(cases - wrong)


def _tables(rows: Sequence[Row], width: int) -> Iterator[Table]:
    """The matrix: cases by vendors, and the vendors of whom only some cases were played by these cases."""
    cells: dict[tuple[str, Place, str], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.case, (row.wire, row.vendor), row.mode].append(row)
    played: dict[Place, set[str]] = defaultdict(set)
    for case, place, _ in cells:
        played[place].add(case)
    most = max(map(len, played.values()))
    names = list(dict.fromkeys(row.case for row in rows))
    whole = [place for place in played if 2 * len(played[place]) > most]
    for places in filter(None, (whole, [place for place in played if place not in whole])):
        cases = [case for case in names if any(case in played[place] for place in places)]
        at = {
            (case, place): _cell(worst(cells[case, place, mode]) for mode in MODES)
            for case in cases
            for place in places
        }
        if len(places) <= len(cases):
            body = [(case, [at[case, place] for place in places]) for case in cases]
            yield from _table("case", [_words(place) for place in places], body, width)
        else:
            body = [(_name(place), [at[case, place] for case in cases]) for place in places]
            yield from _table("vendor", [case.split("_") for case in cases], body, width)


def _table(
    first: str,
    heads: Sequence[Sequence[str]],
    rows: Sequence[tuple[str, Sequence[Text]]],
    width: int,
) -> Iterator[Table]:
    """A table, in as many pieces as the width asks for."""
    for some in _fitting(heads, width - max(map(len, [first, *(name for name, _ in rows)])) - _GAP):
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column(first, no_wrap=True)
        for place in some:
            table.add_column("\n".join(heads[place]), justify="center", no_wrap=True)
        for name, cells in rows:
            table.add_row(name, *(cells[place] for place in some))
        yield table


def _fitting(heads: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns, by number, table by table."""
    tables: list[list[int]] = [[]]
    left = width
    for place, words in enumerate(heads):
        needed = max(len(MODES), *map(len, words)) + _GAP
        if needed > left and tables[-1]:
            tables.append([])
            left = width
        tables[-1].append(place)
        left -= needed
    return tables


def _words(place: Place) -> list[str]:
    """A heading in short lines: the wire format, and the vendor unless that is said already."""
    wire, vendor = place
    return [*wire.split("-"), *([] if vendor in wire else re.split("[-_]", vendor))]


def _name(place: Place) -> str:
    """The vendor, with the wire format unless it is the one that most vendors speak."""
    wire, vendor = place
    return vendor if wire == "openai-chat" else f"{vendor} ({wire})"


def _cell(verdicts: Iterable[str]) -> Text:
    cell = Text()
    for verdict in verdicts:
        cell.append(*MARKS[verdict])
    return cell


def _legend(rows: Iterable[Row]) -> Text:
    used = {row.verdict for row in rows}
    legend = Text()
    for verdict, mark in MARKS.items():
        if verdict in used:
            legend.append(*mark).append(f" {verdict}   ", style="dim")
    return legend


def _grouped(failures: Iterable[Row]) -> list[list[Row]]:
    """Rows that fail in the same words."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in failures:
        groups[row.rule, row.fingerprint].append(row)
    return list(groups.values())


def _chosen(groups: Sequence[list[Row]]) -> list[list[Row]]:
    """Some of each rule: what the API refuses first, what only differs from a recording last."""
    ordered = sorted(
        groups,
        key=lambda g: (g[0].verdict != "harness-error", g[0].kind != "reject", g[0].rule.startswith("CAS-")),
    )
    seen: dict[str, int] = defaultdict(int)
    chosen = []
    for group in ordered:
        seen[group[0].rule] += 1
        if seen[group[0].rule] <= _PER_RULE:
            chosen.append(group)
    return chosen[:_FAILURES]


def _failure(group: Sequence[Row], folder: Path | None) -> Text:
    printable: dict[str, Any] = {name: _printable(getattr(group[0], name)) for name in _SAID}
    row = replace(group[0], **printable)
    text = Text().append(MARKS[row.verdict][0], style=MARKS[row.verdict][1])
    text.append(f" {row.rule} ({row.verdict}) ", style="bold").append(_cut(row.message))
    text.append(f"\n    at {row.pointer}")
    if row.excerpt:
        text.append("\n" + "\n".join(f"    {line}" for line in row.excerpt.splitlines()), style="dim")
    if row.provider_error:
        text.append(f"\n    the provider would say ({row.status}): {row.provider_error}")
    places = list(dict.fromkeys(_printable(f"{r.wire}/{r.vendor}/{r.case}[{r.mode}]") for r in group))
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    text.append(f"\n    in {', '.join(places[:3])}{more}", style="dim")
    text.append(f"\n    {row.explain_command}", style="dim")
    again = f"\n    {row.repro_command(str(folder))}" if folder else ""
    return text.append(again, style="dim")


def _printable(text: str) -> str:
    """The text without what a terminal would obey: a provider or a client wrote it."""
    return text.translate(_CONTROLS)


def _cut(message: str) -> str:
    lines = message.splitlines()
    return "\n".join(
        [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else lines
    )
