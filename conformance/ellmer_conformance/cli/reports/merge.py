"""`conformance merge`: several reports as one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...report import Report, report_folder, rescored
from ...report.formats.terminal import console, print_report
from .._shared import consistent, opened
from ..runs.run import details_option


@click.command("merge")
@click.argument("reports", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "--report",
    "output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Output folder, like that of `conformance run --report`.",
)
@details_option
def command(reports: tuple[Path, ...], output: Path, *, details: bool) -> None:
    """Join REPORTS (report_folder, or folders with a report.json) and write the result in every form.

    Use this for runs of one adapter that were split over machines, and to show several adapters side by side.
    If two reports contain the same run of a case, the later report counts. A single report is written again
    in all its forms.

    Exit code 0: no rule is broken in any report; 1: some are; 2: a report could not be read or was not judged.
    """
    parts = [opened(path) for path in reports]
    with consistent(*reports):
        joined = rescored(Report.joined(parts))
        print_report(joined, console(sys.stdout), output, details=details)
        for path in report_folder.write(joined, output):
            click.echo(f"wrote {path}")
    sys.exit(joined.exit_code)
