"""`conformance report`: what a run found, in the form that somebody else needs."""

from __future__ import annotations

from pathlib import Path

import click

from ...files import write_text
from .._shared import consistent, opened, report_option


@click.group("report")
def command() -> None:
    """Write reports for other projects from the result of a run."""


@command.command("upstream")
@report_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("upstream"),
    show_default=True,
    help="The folder for the bug reports.",
)
def upstream(path: Path, out: Path) -> None:
    """Write a bug report for each cause.

    The reports are for the tracker of the client. Each says what happens, what the API says, how to reproduce it with a program of some 30 lines, the versions, and the page of
    the rule. Read a report and run its program before you send it.

    \b
    conformance run --adapter my_library --against server --report out
    conformance report upstream --report out

    Exit code 0: the reports were written, or nothing failed; 2: there is no report.
    """
    from ...report.formats.upstream import reports  # noqa: PLC0415 - `conformance --help` should not wait for it

    written = 0
    with consistent(path):
        found = [*reports(opened(path))]
    for name, text in found:
        write_text(out / name, text)
        click.echo(f"wrote {out / name}")
        written += 1
    if not written:
        click.echo("Nothing failed, so there is nothing to report.")
