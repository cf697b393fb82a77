"""`conformance repro`: one failure as a script that stands alone."""

from __future__ import annotations

from pathlib import Path

import click

from ..report.repro import NotReproducible, as_curl, as_python, row_of
from ._shared.reports import opened, report_option

__all__ = ["command"]


@click.command("repro")
@click.argument("verdict")
@report_option
@click.option("--format", "form", type=click.Choice(["python", "curl"]), default="python", show_default=True)
@click.option(
    "--with-adapter", is_flag=True, help="Play the case with the adapter, whatever the rule is about."
)
def command(verdict: str, path: Path, form: str, *, with_adapter: bool) -> None:
    """Print a script that shows the failure VERDICT again, in about 30 lines.

    VERDICT is the id of a result: adapter/wire/vendor/case[mode]/RULE, as the matrix and the HTML page name it. A rule
    about requests is shown with the request alone, sent to a strict server that the script starts (with curl: that
    `conformance serve` started); a rule about a whole conversation with the adapter and the case.

    \b
    conformance repro 'my-library/openai-chat/openai/dangling_call[sync]/ORD-003' > repro.py
    python repro.py

    Exit code 0: here it is; 2: there is no such verdict, or its request was not kept.
    """
    report = opened(path)
    try:
        row = row_of(report, verdict)
        script = as_curl(report, row) if form == "curl" else as_python(report, row, with_adapter=with_adapter)
        click.echo(script, nl=False)
    except NotReproducible as error:
        raise click.UsageError(f"{str(error)[0].upper()}{str(error)[1:]}") from error
