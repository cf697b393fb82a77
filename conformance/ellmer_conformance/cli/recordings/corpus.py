"""`conformance corpus`: recordings of real traffic from other projects, pinned and downloaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ...recordings.corpus import evidence_search, fetch, pins, propose
from ...recordings.corpus.fetch import Corrupt
from ...recordings.corpus.pins import Pin
from ...recordings.corpus.propose import survey
from .._shared import pinned

_WRONG = (fetch.Unreachable, Corrupt)
_names = click.argument("names", nargs=-1)


@click.group("corpus")
def command() -> None:
    """Manage real traffic that other projects recorded and published.

    The recordings are extracted from source distributions on the package index into a cache
    (CONFORMANCE_CORPUS, or the user's cache folder). Nothing is run, installed or copied into the repository.
    The index is PyPI, or the one that UV_DEFAULT_INDEX, UV_INDEX_URL or PIP_INDEX_URL names.
    """


@command.command("fetch")
@_names
@click.option("--again", is_flag=True, help="Also download archives that are already in the cache.")
def fetch_command(names: tuple[str, ...], *, again: bool) -> None:
    """Download missing archives and extract their recordings.

    The hash of each archive is checked. NAMES are packages; the default is all.

    Exit code 0: everything is in the cache; 2: an archive could not be downloaded or differs from its pin.
    """
    wanted = [pin for pin in pinned(names) if again or not pins.present(pin)]
    got, problems = _fetched(wanted)
    click.echo(f"{got} archives were fetched into {pins.home()}.")
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(2 if problems else 0)


def _fetched(wanted: list[Pin]) -> tuple[int, list[str]]:
    """Returns the number of fetched archives, and the errors of the others. If the index cannot be reached, the rest
    is skipped.
    """
    problems: list[str] = []
    with _downloads(sum(pin.size for pin in wanted)) as advance, fetch.client() as http:
        for at, pin in enumerate(wanted):
            try:
                fetch.fetch(http, pin, advance)
            except (fetch.Missing, Corrupt) as error:
                problems.append(f"{pin.name}: {error}")
            except fetch.Unreachable as error:
                left = f"{len(wanted) - at} archives were not fetched: {error}"
                return at - len(problems), [*problems, left]
    return len(wanted) - len(problems), problems


@command.command("list")
@_names
@click.option("--toml", is_flag=True, help="Print the complete pins.")
def list_command(names: tuple[str, ...], *, toml: bool) -> None:
    """List the pinned archives.

    The list has the size, the dates and the licence of each archive, and whether it is in the cache.
    """
    found = pinned(names)
    if toml:
        click.echo("\n".join(map(pins.as_toml, found)))
        return
    for pin in found:
        click.echo(_row(pin))
    chats, megabytes = sum(pin.distinct for pin in found), sum(pin.size for pin in found) / 1e6
    click.echo(f"{len(found)} archives, {megabytes:.0f} MB, {chats} distinct chats.")


def _row(pin: Pin) -> str:
    here = "fetched" if pins.present(pin) else "-"
    days = f"{pin.first or '?'} to {pin.last or '?'}"
    holds = ", ".join(f"{wire} {count}" for wire, count in pin.holds.items())
    return f"{pin.name:55} {here:8} {pin.distinct:5} distinct  {days:24}  {pin.licence:24}  {holds}"


@command.command("verify")
@_names
def verify_command(names: tuple[str, ...]) -> None:
    """Check the recordings in the cache.

    The files must be unchanged and the counts must match the pins. Each rule must flag the recordings that it cites as
    evidence. No recording may contradict the dates on which a rule begins or ends.

    Exit code 0: no problem was found; 1: a problem was found; 2: the cache is empty.
    """
    found = [pin for pin in pinned(names) if pins.present(pin)]
    if not found:
        click.echo("The cache is empty. Run `conformance corpus fetch` first.", err=True)
        sys.exit(2)
    problems = [f"{pin.name}: {problem}" for pin in found for problem in propose.problems(pin)]
    count, wrong = evidence_search.checked(found)
    days = propose.dated([pins.folder_of(pin) for pin in found])
    wrong += [f"{rule}: {problem}." for rule, entry in days.items() for problem in entry.contradictions]
    for problem in (*problems, *wrong):
        click.echo(problem)
    for rule, entry in days.items():
        click.echo(f"{entry.witnesses} recordings confirm the dates of {rule}.")
    click.echo(
        f"{len(found)} archives and {count} recordings that rules cite were checked: {len(problems + wrong)} problems."
    )
    sys.exit(bool(problems or wrong))


@command.command("cite")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
def cite_command(folders: tuple[Path, ...]) -> None:
    """Find evidence for rules that have none.

    The command searches the cache, and FOLDERS of records that name their public source. A recorded refusal is
    evidence for a rule that flags its request with the same error text. The command writes the evidence into the
    `evidence.toml` of the rules.
    """
    found = evidence_search.looked_for([pin for pin in pinned() if pins.present(pin)], folders)
    click.echo(f"{evidence_search.written(found)} entries were added.")


@command.command("add")
@click.argument("what")
@click.option("--keep", is_flag=True, help="Save the entry beside the cache, as one of your own.")
def add_command(what: str, *, keep: bool) -> None:
    """Print the entry that adds an archive to the corpus.

    WHAT is a package (`chatlas`, `chatlas==0.23.0`), the URL of a `.tar.gz`, or a folder. The recordings are found by
    reading the files; no code is run. A folder is judged in place.
    """
    if Path(what).is_dir():
        _folder(Path(what), keep=keep)
        return
    name, _, version = what.partition("==")
    try:
        with fetch.client() as http:
            pin = propose.of_url(http, what) if "://" in what else propose.of_package(http, name, version)
    except _WRONG as error:
        raise click.ClickException(str(error)) from error
    click.echo(pins.as_toml(pin))
    if keep:
        pins.keep(pins.as_toml(pin))
        click.echo(
            f"The pin was saved in {pins.own()}. `conformance corpus fetch {pin.package}` downloads it.",
            err=True,
        )


def _folder(folder: Path, *, keep: bool) -> None:
    found = survey([folder])
    holds = ", ".join(f"{wire} {count}" for wire, count in sorted(found.wires.items()))
    if not holds:
        raise click.ClickException(f"{folder} contains no recording of a chat.")
    click.echo(f"{len(found.files)} files contain {len(found.chats)} distinct chats: {holds}.")
    if keep:
        pins.keep_folder(folder)
        click.echo("`conformance calibrate` reads this folder from now on.", err=True)


@contextmanager
def _downloads(size: int) -> Iterator[Callable[[int], None]]:
    """Yields a progress bar on standard error, shown on a terminal, in bytes."""
    if not size or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - a large import, needed rarely
    from rich.progress import DownloadColumn, Progress  # noqa: PLC0415 - only a download needs it

    columns = (*Progress.get_default_columns(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Fetching", total=size)
        yield lambda got: bar.advance(task, got)
