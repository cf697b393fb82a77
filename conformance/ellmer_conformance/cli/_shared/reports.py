"""Code for the commands that read reports."""

from __future__ import annotations

from pathlib import Path

import click

from ...report import Report, UnreadableReport, read

__all__ = ["DEFAULT", "opened", "report_option"]

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
