"""The matrix of cases: a mark for each run, in as many tables as the terminal's width requires."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ...scenarios.case import MODES
from ..results import FINE, Row, worst
from .terminal_escaping import printable

__all__ = ["MARKS", "legend", "tables", "to_show"]

#: The look of each verdict: a mark one cell wide, and a style.
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
_NARROW = 100  # columns that show no whole matrix
_GAP = 3  # cells between two columns

Place = tuple[str, str]


def to_show(rows: Sequence[Row], width: int) -> tuple[Sequence[Row], int]:
    """Returns the rows for the matrix, and the number of cases that are left out. In little space, cases without
    failures are left out.
    """
    cases = {row.case for row in rows}
    wrong = {row.case for row in rows if row.verdict not in FINE}
    if width > _NARROW or not wrong:
        return rows, 0
    return [row for row in rows if row.case in wrong], len(cases - wrong)


def tables(rows: Sequence[Row], width: int) -> Iterator[Table]:
    """Yields the matrix: cases by providers. Providers with only some cases have a table of these cases."""
    cells: dict[tuple[str, Place, str], list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.case, (row.wire, row.provider), row.mode].append(row)
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
            body = [(printable(case), [at[case, place] for place in places]) for case in cases]
            yield from _table("case", [_words(place) for place in places], body, width)
        else:
            body = [(_name(place), [at[case, place] for case in cases]) for place in places]
            yield from _table("provider", [printable(case).split("_") for case in cases], body, width)


def _table(
    first: str,
    heads: Sequence[Sequence[str]],
    rows: Sequence[tuple[str, Sequence[Text]]],
    width: int,
) -> Iterator[Table]:
    """Yields a table in pieces that fit the width."""
    for some in _fitting(heads, width - max(map(len, [first, *(name for name, _ in rows)])) - _GAP):
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
        table.add_column(first, no_wrap=True)
        for place in some:
            table.add_column(Text("\n".join(heads[place])), justify="center", no_wrap=True)
        for name, cells in rows:
            table.add_row(Text(name), *(cells[place] for place in some))
        yield table


def _fitting(heads: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Returns the columns by number, for each table."""
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
    """Returns a heading in short lines: the wire format, and the provider unless it is clear from the format."""
    wire, provider = map(printable, place)
    return [*wire.split("-"), *([] if provider in wire else re.split("[-_]", provider))]


def _name(place: Place) -> str:
    """Returns the provider, with the wire format unless it is the most common one."""
    wire, provider = map(printable, place)
    return provider if wire == "openai-chat" else f"{provider} ({wire})"


def _cell(verdicts: Iterable[str]) -> Text:
    cell = Text()
    for verdict in verdicts:
        cell.append(*MARKS[verdict])
    return cell


def legend(rows: Iterable[Row]) -> Text:
    used = {row.verdict for row in rows}
    legend = Text()
    for verdict, mark in MARKS.items():
        if verdict in used:
            legend.append(*mark).append(f" {verdict}   ", style="dim")
    return legend
