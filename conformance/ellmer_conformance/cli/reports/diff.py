"""`conformance diff`: the differences between two reports."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ...report.formats.terminal_escaping import printable
from ...report.report_diff import counted, differences
from .._shared import format_option, opened

_BAD = {"broken", "differs", "unjudged", "gone"}


@click.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@format_option
@click.option(
    "-v", "--verbose", is_flag=True, help="In the text format, also show new verdicts and harmless changes."
)
def command(old: Path, new: Path, *, form: str, verbose: bool) -> None:
    """Compare the verdicts of two reports, OLD and NEW.

    \b
    broken    fails now; passed or was absent before
    differs   fails in another way than before
    unjudged  could not be judged because of an error in the suite
    gone      was judged before, but not now
    fixed     failed before, passes now
    new       was not judged before
    changed   has another verdict, and neither is a failure

    Exit code 0: nothing became worse; 1: a verdict is broken, differs, unjudged or gone; 2: a report could
    not be read.
    """
    found = differences(opened(old), opened(new))
    if form == "json":
        rows = [
            {"sort": d.sort, "id": d.id, "old": d.old and d.old.as_json(), "new": d.new and d.new.as_json()}
            for d in found
        ]
        click.echo(printable(json.dumps(rows, indent=1, ensure_ascii=False)))
    else:
        for each in found:
            if verbose or each.sort not in {"new", "changed"}:
                click.echo(printable(str(each)))
        click.echo(", ".join(counted(found)) or "No verdict differs.")
    sys.exit(int(any(each.sort in _BAD for each in found)))
