"""The report for a terminal: a matrix of cases, the failures with their reasons, and the score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

from ...scenarios.case import MODES
from ..consequential_failures import consequences, without_consequences
from ..plays_without_verdict import sentences
from ..results import Report, Row
from ..score import sentence
from .capabilities_table import rows as abilities
from .terminal_escaping import printable
from .terminal_failures import chosen, failure, grouped
from .terminal_left_out import unseen
from .terminal_matrix import legend, tables, to_show

__all__ = ["console", "print_findings", "print_report"]

_WIDE = 250  # columns without a terminal: a viewer of logs wraps lines
_ADVICE = 12  # rules whose findings are not failures


def console(file: IO[str]) -> Console:
    """Returns a console that does not wrap tables if the output is not a terminal."""
    found = Console(file=file)
    return found if found.is_terminal else Console(file=file, width=_WIDE)


def print_report(report: Report, to: Console, folder: Path | None = None) -> None:
    """Prints the matrix of each adapter, each failure once, and the score; `folder` is the folder of the report."""
    for adapter in report.adapters:
        _print_matrix(adapter, [row for row in report.rows if row.adapter == adapter], to)
    to.print(legend(report.rows))
    print_findings(report, to, folder)


def print_findings(report: Report, to: Console, folder: Path | None = None) -> None:
    """Prints the part after the matrix: declared capabilities, each failure once, and the score."""
    for adapter, places, able in abilities(report):
        to.print(_plain(f"{adapter} declares ({places}): {able}"), style="dim", soft_wrap=True)
    for line in unseen(report):
        to.print(_plain(line), style="dim", soft_wrap=True)
    _print_failures(report, to, folder)
    for text in _beside(report):
        to.print(text, highlight=False, soft_wrap=True)
    for name, counts in report.score.items():
        to.print(_plain(f"{name}: {sentence(counts)}"), soft_wrap=True)


def _plain(text: str) -> Text:
    """Returns text whose foreign parts contain neither markup nor control characters."""
    return Text(printable(text))


def _print_failures(report: Report, to: Console, folder: Path | None) -> None:
    groups = grouped(without_consequences(report))
    shown = chosen(groups)
    for group in shown:
        to.print(failure(group, folder), soft_wrap=True)
    if len(groups) > len(shown):
        to.print(f"… and {len(groups) - len(shown)} more failures are in the report", style="dim")
    if followed := consequences(report):
        to.print(
            f"{len(followed)} more failures follow from these, because the transcript differs", style="dim"
        )
    if groups and not folder:
        to.print("--report FOLDER writes a page with the exchange and a script for each failure", style="dim")


def _beside(report: Report) -> Iterator[Text]:
    """Yields the lines that are not failures of a MUST: advice, runs without a verdict, problems of the baseline."""
    yield from _advice(report.rows)
    for line in sentences(report.unjudged):
        yield Text("✗ ", style="bold red").append(printable(line), style="default")
    for problem in report.problems:
        yield Text("✗ baseline: ", style="bold red").append(printable(problem), style="default")


def _advice(rows: Sequence[Row]) -> Iterator[Text]:
    """Yields the findings that fail nobody: each rule once, with its first message."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.verdict == "warn":
            groups[row.rule].append(row)
    for rule, found in list(groups.items())[:_ADVICE]:
        word = "preview" if found[0].preview else "SHOULD"
        first = found[0].message.splitlines()[0] if found[0].message else ""
        text = Text().append("! ", style="yellow").append(f"{rule} ({word}) ", style="bold")
        yield text.append(
            f"{printable(first[:200])} (in {len(found)} plays, first {printable(found[0].case)}[{found[0].mode}])"
        )
    if len(groups) > _ADVICE:
        yield Text(f"… and {len(groups) - _ADVICE} more rules of this kind are in the report", style="dim")


def _print_matrix(adapter: str, rows: Sequence[Row], to: Console) -> None:
    to.print(Text(f"{printable(adapter)}: {' · '.join(MODES)}", style="italic"), soft_wrap=True)
    shown, kept = to_show(rows, to.width)
    for table in tables(shown, to.width):
        to.print(table)
    if kept:
        to.print(f"{kept} more cases keep every rule", style="dim")
