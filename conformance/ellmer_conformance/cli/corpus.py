"""`conformance corpus`: other projects' recordings of real traffic, pinned and fetched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..corpus import (
    cache,
    cited_recordings,
    dates,
    evidence_search,
    fetch,
    index,
    pins,
    propose,
    verify,
)
from ..corpus.download import Corrupt
from ..corpus.pins import Pin
from ..corpus.survey import survey
from ._shared.paths import pinned

__all__ = ["command"]

_WRONG = (index.Unreachable, Corrupt)
_names = click.argument("names", nargs=-1)


@click.group("corpus")
def command() -> None:
    """Real traffic that other projects recorded: pinned here, fetched from the package index.

    Nothing is copied into the repository, and nothing is run or installed: recordings are extracted from source
    distributions into a cache (CONFORMANCE_CORPUS, or a folder of the user's). The index is PyPI, or what
    UV_DEFAULT_INDEX, UV_INDEX_URL or PIP_INDEX_URL names.
    """


@command.command("fetch")
@_names
@click.option("--again", is_flag=True, help="Also what is in the cache already.")
def fetch_command(names: tuple[str, ...], *, again: bool) -> None:
    """Download what the cache lacks, check its hash, extract its recordings. NAMES are packages, or all.

    Exit code 0: all is there; 2: something could not be reached, or is not what was pinned.
    """
    wanted = [pin for pin in pinned(names) if again or not cache.present(pin)]
    got, problems = _fetched(wanted)
    click.echo(f"{got} archives were fetched into {cache.home()}.")
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(2 if problems else 0)


def _fetched(wanted: list[Pin]) -> tuple[int, list[str]]:
    """How many were fetched, and why others were not. Where the index cannot be reached, the rest is not tried."""
    problems: list[str] = []
    with _downloads(sum(pin.size for pin in wanted)) as advance, index.client() as http:
        for at, pin in enumerate(wanted):
            try:
                fetch.fetch(http, pin, advance)
            except (index.Missing, Corrupt) as error:
                problems.append(f"{pin.name}: {error}")
            except index.Unreachable as error:
                left = f"{len(wanted) - at} archives were not fetched: {error}"
                return at - len(problems), [*problems, left]
    return len(wanted) - len(problems), problems


@command.command("list")
@_names
@click.option("--toml", is_flag=True, help="The pins in full.")
def list_command(names: tuple[str, ...], *, toml: bool) -> None:
    """Show what is pinned: how much it holds, from when, its licence, and whether it is in the cache."""
    found = pinned(names)
    if toml:
        click.echo("\n".join(map(pins.as_toml, found)))
        return
    for pin in found:
        click.echo(_row(pin))
    chats, megabytes = sum(pin.distinct for pin in found), sum(pin.size for pin in found) / 1e6
    click.echo(f"{len(found)} archives, {megabytes:.0f} MB, {chats} distinct chats.")


def _row(pin: Pin) -> str:
    here = "fetched" if cache.present(pin) else "-"
    days = f"{pin.first or '?'} to {pin.last or '?'}"
    holds = ", ".join(f"{wire} {count}" for wire, count in pin.holds.items())
    return f"{pin.name:55} {here:8} {pin.distinct:5} distinct  {days:24}  {pin.licence:24}  {holds}"


@command.command("verify")
@_names
def verify_command(names: tuple[str, ...]) -> None:
    """Check the cache: each file is as it was extracted, the counts are those of the pin, each rule flags the
    recordings that it cites as evidence, and no dated recording contradicts the days on which a rule begins or ends.

    Exit code 0: all is as it should be; 1: something is not; 2: nothing is in the cache.
    """
    found = [pin for pin in pinned(names) if cache.present(pin)]
    if not found:
        click.echo("Nothing is in the cache: run `conformance corpus fetch` first.", err=True)
        sys.exit(2)
    problems = [f"{pin.name}: {problem}" for pin in found for problem in verify.problems(pin)]
    count, wrong = cited_recordings.checked(found)
    days = dates.dated([cache.folder_of(pin) for pin in found])
    wrong += [f"{rule}: {problem}." for rule, entry in days.items() for problem in entry.contradictions]
    for problem in (*problems, *wrong):
        click.echo(problem)
    for rule, entry in days.items():
        click.echo(f"The days of {rule} are borne out by {entry.witnesses} recordings.")
    click.echo(
        f"{len(found)} archives were checked, and {count} recordings that rules cite: {len(problems + wrong)} are wrong."
    )
    sys.exit(bool(problems or wrong))


@command.command("cite")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
def cite_command(folders: tuple[Path, ...]) -> None:
    """Look for evidence of refusing rules that have none, and write it into their `evidence.toml`.

    Looked through are the cache, and FOLDERS of records that name where they are public: a recorded refusal is evidence
    of a rule that flags its request and says the same.
    """
    found = evidence_search.looked_for([pin for pin in pinned() if cache.present(pin)], folders)
    click.echo(f"{evidence_search.written(found)} entries were added.")


@command.command("add")
@click.argument("what")
@click.option("--keep", is_flag=True, help="Write it down beside the cache, as one's own.")
def add_command(what: str, *, keep: bool) -> None:
    """Propose a pin. WHAT is a package (`chatlas`, `chatlas==0.23.0`), the URL of a `.tar.gz`, or a folder.

    Its recordings are found by reading it; nothing of it is run. A folder is judged where it is.
    """
    if Path(what).is_dir():
        _folder(Path(what), keep=keep)
        return
    name, _, version = what.partition("==")
    try:
        with index.client() as http:
            pin = propose.of_url(http, what) if "://" in what else propose.of_package(http, name, version)
    except _WRONG as error:
        raise click.ClickException(str(error)) from error
    click.echo(pins.as_toml(pin))
    if keep:
        cache.keep(pins.as_toml(pin))
        click.echo(
            f"It is kept in {cache.own()}; `conformance corpus fetch {pin.package}` fetches it.", err=True
        )


def _folder(folder: Path, *, keep: bool) -> None:
    found = survey([folder])
    holds = ", ".join(f"{wire} {count}" for wire, count in sorted(found.wires.items()))
    if not holds:
        raise click.ClickException(f"{folder} holds no recording of a chat.")
    click.echo(f"{len(found.files)} files hold {len(found.chats)} distinct chats: {holds}.")
    if keep:
        cache.keep_folder(folder)
        click.echo("`conformance calibrate` judges it from now on.", err=True)


@contextmanager
def _downloads(size: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, for a person: of so many bytes."""
    if not size or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - a large import, needed rarely
    from rich.progress import DownloadColumn, Progress  # noqa: PLC0415

    columns = (*Progress.get_default_columns(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Fetching", total=size)
        yield lambda got: bar.advance(task, got)
