"""Code for several commands: books of rules, reports, paths of recordings, and a progress bar. Only the commands import it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from ellmer_core.base.budget import RECORDING
from ellmer_harness.bulk.engines import ENGINES, Engine, EngineLost, EngineMissing
from ellmer_harness.bulk.journal import Journal, JournalError
from ellmer_harness.bulk.sources import Source, sources
from ellmer_harness.recordings import Unreadable, find

from ..contract import rules
from ..contract.rulebook import RuleBook
from ..recordings import code_digest
from ..recordings.corpus import pins
from ..recordings.corpus.pins import Pin, PinError
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
    return [rules.book(name, provider) for name in ([known_wire(wire)] if wire else rules.WIRES)]


def known_wire(wire: str) -> str:
    """Returns the name of a wire format. Raises UsageError if there is no such format.

    Args:
        wire: What somebody typed.
    """
    if wire in rules.WIRES:
        return wire
    from ..runner.selection import did_you_mean  # noqa: PLC0415 - only for mistakes

    near = did_you_mean(wire, rules.WIRES)
    raise click.UsageError(
        f"There is no wire format {wire!r}{near}. The wire formats are {', '.join(rules.WIRES)}."
    )


def checked_wire(_context: click.Context, _option: click.Parameter, wire: str | None) -> str | None:
    """Returns what was given for an option, if it is a wire format or nothing: the callback of the option."""
    return known_wire(wire) if wire else wire


def provider_option(about: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns the option for one provider. A name that is unknown and almost a known one is a mistake; others may be a plugin's.

    Args:
        about: What the option does.
    """
    return click.option("--provider", default="", callback=_checked_provider, help=about)


_NEAR = 0.8  # of the letters of a mistyped name are the right ones


def _checked_provider(_context: click.Context, _option: click.Parameter, provider: str) -> str:
    if not provider:
        return provider
    from ..adapters.endpoints import PROVIDER_ADDRESSES  # noqa: PLC0415 - `conformance --help` should not wait for it

    known = {name for _, name in PROVIDER_ADDRESSES} | {book.provider for book in rules.books()}
    near = get_close_matches(provider, sorted(known), n=1, cutoff=_NEAR)
    if near and provider not in known:
        raise click.UsageError(f"There is no provider {provider!r} (did you mean {near[0]!r}?).")
    return provider


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

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The form of the output.",
)


@contextmanager
def consistent(*paths: Path) -> Iterator[None]:
    """Turns an error over values of reports that do not fit each other into one that names the reports."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        names = ", ".join(map(str, paths))
        raise click.UsageError(
            f"{names}: the report is inconsistent: {type(error).__name__}: {error}"
        ) from error


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
sources_argument = click.argument("paths", nargs=-1, type=str)
_FEW = 50  # files: below, a bar would only flicker


def traffic(paths: Iterable[Path]) -> list[Path]:
    """Returns the files under the given paths, by default those of `collected()`. All must exist."""
    return _found(find, list(paths) or collected())


def collected() -> list[Path]:
    """Returns the folders of the corpus that are there, and those in `CONFORMANCE_TRAFFIC`."""
    fetched = [pins.folder_of(pin) for pin in pinned() if pins.present(pin)]
    return [*fetched, *pins.folders(), *_folders()]


def located(paths: Iterable[str], exclude: Sequence[str] = ()) -> Iterator[Source]:
    """Yields the files under paths and URLs, without those that match a pattern of `exclude`. They are looked for while the
    first ones are judged; only the first one must be there at once.
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
    from rich.progress import MofNCompleteColumn, Progress  # noqa: PLC0415 - only long work needs it

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Judging", total=len(files))
        yield lambda _: bar.advance(task)


_EVERY = 30.0  # seconds between two lines of progress that no terminal shows


@contextmanager
def counted() -> Iterator[Callable[[Counts], None]]:
    """Yields a function that shows the counts so far on standard error: in one line of a terminal, or else in a line every
    30 seconds. How many files are left is not known, because they are still being looked for.
    """
    terminal, begin = sys.stderr.isatty(), time.monotonic()
    last = begin

    def advance(counts: Counts) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= (0.2 if terminal else _EVERY):
            last = now
            text = _progress(counts, now - begin)
            click.echo(f"\r{text:<79}" if terminal else text, err=True, nl=not terminal)

    yield advance
    if terminal and last > begin:
        click.echo(f"\r{'':79}\r", err=True, nl=False)


def _progress(counts: Counts, seconds: float) -> str:
    rate = f"{counts.count / seconds:,.0f} files/s"
    return (
        f"{counts.count:,} files, {counts.judged:,} requests judged, {counts.violations:,} violations, {rate}"
    )


# --- Work over many recordings ---------------------------------------------------------------------------


class Counts(Protocol):
    """The counts of a run so far."""

    @property
    def count(self) -> int:
        """The number of files."""
        ...

    @property
    def judged(self) -> int:
        """The number of requests that were judged."""
        ...

    @property
    def violations(self) -> int:
        """The number of broken rules, or of requests that break one."""
        ...


@dataclass(frozen=True)
class Effort:
    """How many processes read the files, where, and which file keeps what they found."""

    jobs: int
    engine: Engine
    resume: Path | None
    most: int

    def journal(self, stack: ExitStack, options: str) -> Journal | None:
        """Opens the journal, if one was asked for. `options` are the command, and what decides its findings."""
        if self.resume is None:
            return None
        try:
            return stack.enter_context(Journal(self.resume, f"{code_digest()} {options} {self.most}"))
        except (JournalError, OSError) as error:
            raise click.UsageError(str(error)) from error

    @contextmanager
    def explained(self, count: Callable[[], int]) -> Iterator[None]:
        """Ends the command with a sentence if it is interrupted or cannot go on. `count` returns the number of files so far."""
        try:
            yield
        except (EngineMissing, Unreadable) as error:
            raise click.UsageError(str(error)) from error
        except EngineLost as error:
            raise click.UsageError(f"{error} {self._again()}") from error
        except KeyboardInterrupt:
            click.echo(f"Interrupted after {count():,} files. {self._again()}", err=True)
            sys.exit(_INTERRUPTED)

    def _again(self) -> str:
        if self.resume:
            return "Run the same command again, and it goes on from there."
        return "With --resume FILE, it could go on."


def effort_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of `Effort` to a command, which gets them as `effort`."""

    @wraps(command)
    def with_effort(*, jobs: int, engine: Engine, resume: Path | None, max_size: int, **others: Any) -> None:
        command(effort=Effort(jobs or os.cpu_count() or 1, engine, resume, max_size * _MB), **others)

    for option in reversed(_EFFORT):
        with_effort = option(with_effort)
    return with_effort


_MB = 1024**2
_INTERRUPTED = 130  # the exit code of shells
_EFFORT = (
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        help="The number of processes; 0 means one for each core.",
    ),
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default=ENGINES[0],
        show_default=True,
        help="Run in local processes or on Dask (DASK_SCHEDULER_ADDRESS).",
    ),
    click.option(
        "--resume",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write what was judged to this file. The next run does not judge it again.",
    ),
    click.option(
        "--max-size",
        type=click.IntRange(min=1),
        default=RECORDING.unpacked // _MB,
        show_default=True,
        metavar="MB",
        help="Do not judge recordings that are larger than this when unpacked. They are listed.",
    ),
)
