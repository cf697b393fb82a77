"""Code for several commands: books of rules, reports, paths of recordings, and a progress bar. Only the commands import it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click

from ..contract import rules
from ..contract.rulebook import RuleBook
from ..recordings.corpus import pins
from ..recordings.corpus.pins import Pin, PinError
from ..recordings.lint import Totals
from ..recordings.recording_files import Source, Unreadable, find, sources
from ..report import Report, UnreadableReport, read

# --- Books of rules --------------------------------------------------------------------------------------


def books_of(wire: str | None, provider: str) -> list[RuleBook]:
    """Returns the book of a wire format at a provider. Without a wire format, returns the provider's or all books.

    Raises UsageError for an unknown wire format, and for a provider without a wire format.
    """
    if provider and not wire:
        raise click.UsageError(
            f"--provider {provider} needs --wire, because a provider may have several wire formats."
        )
    try:
        return [rules.book(name, provider) for name in ([wire] if wire else rules.WIRES)]
    except LookupError as error:
        raise click.UsageError(str(error).capitalize() + ".") from error


# --- Reports ---------------------------------------------------------------------------------------------


DEFAULT = Path("build/conformance/report.json")

report_option = click.option(
    "--report",
    "path",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The report that `conformance run --report FOLDER` wrote.",
)


def opened(path: Path) -> Report:
    """Returns the report in a file, or in a folder's `report.json`. A missing report is a usage error."""
    try:
        return read(path / "report.json" if path.is_dir() else path)
    except UnreadableReport as error:
        raise click.UsageError(f"{error}.") from error


# --- Paths of recordings, and a progress bar -------------------------------------------------------------


F = TypeVar("F")
G = TypeVar("G")

files_argument = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
_FEW = 50  # files: below, a bar would only flicker


def traffic(paths: Iterable[Path]) -> list[Path]:
    """Returns the files under the given paths. By default, these are the corpus and the folders in
    `CONFORMANCE_TRAFFIC`. All must exist.
    """
    fetched = [pins.folder_of(pin) for pin in pinned() if pins.present(pin)]
    return _found(find, list(paths) or [*fetched, *pins.folders(), *_folders()])


def located(paths: Iterable[str], exclude: Sequence[str] = ()) -> Iterator[Source]:
    """Yields the files as `traffic()`, also from object stores, without those that match a pattern of `exclude`. They are
    looked for while the first ones are judged; only the first one must be there at once.
    """
    try:
        found = sources(_named(paths), exclude)
        first = next(found, None)
    except Unreadable as error:
        raise click.UsageError(f"{error.path} cannot be read: {error.problem}.") from error
    return found if first is None else chain([first], found)


def _found(search: Callable[[Iterable[G]], Iterable[F]], paths: Iterable[G]) -> list[F]:
    try:
        return list(search(_named(paths)))
    except Unreadable as error:
        raise click.UsageError(f"{error.path} cannot be read: {error.problem}.") from error


def _named(paths: Iterable[Any]) -> list[Any]:
    """Returns the paths, by default the folders in `CONFORMANCE_TRAFFIC`."""
    found = list(paths) or _folders()
    if not found:
        raise click.UsageError(
            "There is nothing to read. Name files or folders with recordings, or set CONFORMANCE_TRAFFIC, or run "
            "`conformance corpus fetch`."
        )
    return found


def _folders() -> list[Path]:
    """Returns the folders in `CONFORMANCE_TRAFFIC`, separated as in `PATH`."""
    return [Path(folder) for folder in os.environ.get("CONFORMANCE_TRAFFIC", "").split(os.pathsep) if folder]


def pinned(names: Sequence[str] = ()) -> list[Pin]:
    """Returns the pins of the suite and the user's own pins, or the named ones."""
    try:
        found = [*pins.load(pins.shipped()), *(pins.load(pins.own()) if pins.own().is_file() else ())]
    except PinError as error:
        raise click.UsageError(str(error)) from error
    all_names = {pin.name for pin in found} | {pin.package for pin in found}
    if unknown := sorted(set(names) - all_names):
        raise click.UsageError(
            f"The corpus has no {', '.join(unknown)}; `conformance corpus list` shows all."
        )
    return [pin for pin in found if not names or {pin.name, pin.package} & set(names)]


@contextmanager
def progress(files: Sequence[object]) -> Iterator[Callable[[object], None]]:
    """Yields a progress bar on standard error, shown on a terminal if there are many files. Call it once per
    file.
    """
    if len(files) < _FEW or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - a large import, needed rarely
    from rich.progress import MofNCompleteColumn, Progress  # noqa: PLC0415

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Judging", total=len(files))
        yield lambda _: bar.advance(task)


_EVERY = 30.0  # seconds between two lines of progress that no terminal shows


@contextmanager
def counted() -> Iterator[Callable[[Totals], None]]:
    """Yields a function that shows the counts so far on standard error: in one line of a terminal, or else in a line every
    30 seconds. How many files are left is not known, because they are still being looked for.
    """
    terminal, begin = sys.stderr.isatty(), time.monotonic()
    last = begin

    def advance(totals: Totals) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= (0.2 if terminal else _EVERY):
            last = now
            text = _progress(totals, now - begin)
            click.echo(f"\r{text:<79}" if terminal else text, err=True, nl=not terminal)

    yield advance
    if terminal and last > begin:
        click.echo(f"\r{'':79}\r", err=True, nl=False)


def _progress(totals: Totals, seconds: float) -> str:
    rate = f"{totals.count / seconds:,.0f} files/s"
    return (
        f"{totals.count:,} files, {totals.judged:,} requests judged, {totals.violations:,} violations, {rate}"
    )
