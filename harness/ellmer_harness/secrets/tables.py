"""Finds the credentials in a table: the cells of a column whose head is the name of one, in CSV, with tabs, and in Markdown."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress

from .named_credentials import Kind, credential, hinted, kind, telling
from .random_values import made_of_words

_HEAD = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[\w .-]{1,40}")  # a row with a number is no head
_LONGEST = 1000  # characters of a row
_MARKS = ("|", "\t", ";", ",")


def in_tables(text: str) -> Iterator[str]:
    """Yields the credentials in the tables of a text.

    Args:
        text: Any text. A line whose cells are names begins a table, and a line with another number of cells ends it.
    """
    mark, columns = "", list[Kind]()
    for line in text.splitlines() if any(each in text for each in _MARKS) and hinted(text) else ():
        cells = _cells(line, mark) if columns else []
        if columns and len(cells) == len(columns):
            yield from (cell for what, cell in zip(columns, cells, strict=True) if _is_secret(what, cell))
        else:
            mark, columns = _header(line)


_LONGEST_ROW = 10_000  # characters of what SQL inserts at once
_INSERT = re.compile(
    r"(?i)\binsert\s+(?:ignore\s+)?into\s+[\w.\"`\[\]]{1,80}\s*\(([^()]{1,2000})\)\s*values\s*"
)
_INSERTED = re.compile(r",?\s*\(((?>(?:'(?>(?:[^'\\]|''|\\.)*)'|[^'()])*))\)")
_CELL = re.compile(r"(?>\s*)(?:[A-Za-z]?'((?>(?:[^'\\]|''|\\.)*))'(?>\s*)|(?>[^,']*))(?:,|\Z)")


def in_inserts(text: str) -> Iterator[str]:
    """Yields the credentials in the rows that SQL inserts, `INSERT INTO users (name, password) VALUES ('bob', '…')`.

    Args:
        text: Any text.
    """
    for insert in _INSERT.finditer(text) if hinted(text) else ():
        columns: list[Kind] = [kind(name.strip(' \n\t"`[]')) for name in insert[1].split(",")]
        at = insert.end()
        while row := _INSERTED.match(text, at, at + _LONGEST_ROW):
            for what, cell in zip(columns, _cells_of_sql(row[1]), strict=False):
                if cell and credential(what, cell):
                    yield cell
            at = row.end()


def _cells_of_sql(row: str) -> Iterator[str | None]:
    """Yields the texts of a row, and `None` for what is no text. It ends where there is no cell."""
    at = 0
    while at < len(row) and (cell := _CELL.match(row, at)):
        yield cell[1]
        at = cell.end()


def _header(line: str) -> tuple[str, list[Kind]]:
    """Returns the delimiter and the kinds of the columns, if a line names some, and one is that of a credential."""
    if len(line) > _LONGEST or not hinted(line):
        return "", []
    for mark in (mark for mark in _MARKS if mark in line):
        cells = [cell.strip() for cell in _cells(line, mark)]
        if ", " not in line and all(map(_HEAD.fullmatch, cells)) and any(map(telling, cells)):
            return mark, [kind(cell) if telling(cell) else "" for cell in cells]
    return "", []


def _cells(line: str, mark: str) -> list[str]:
    if mark == "|":
        return [cell.strip(" `*") for cell in line.strip().strip("|").split("|")]
    with suppress(csv.Error):
        return next(csv.reader([line], delimiter=mark), [])
    return []


def _is_secret(what: Kind, cell: str) -> bool:
    """Tells whether a cell is a credential. A single word does not count as a password, because many tables describe their columns."""
    is_word = made_of_words(cell) if what == "secret" else cell.isalpha()
    return bool(what) and not is_word and " " not in cell and credential(what, cell)
