"""`conformance repro`: one failure as a standalone script."""

from __future__ import annotations

from pathlib import Path

import click

from ...report.repro_scripts import NotReproducible, as_curl, as_python, row_of
from .._shared import opened, report_option


@click.command("repro")
@click.argument("verdict")
@report_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["python", "curl"]),
    default="python",
    show_default=True,
    help="The language of the script.",
)
@click.option("--request-only", is_flag=True, help="Send only the request, without the library.")
def command(verdict: str, path: Path, form: str, *, request_only: bool) -> None:
    """Print a script of about 30 lines that reproduces the failure VERDICT.

    VERDICT is the id of a result, as the matrix and the HTML page show it:
    adapter/wire/provider/case[mode]/RULE. RULE alone is its first failure. The script calls the library as the case does, against a strict server that it
    starts, and prints each call. For a client that is not in Python, and with --request-only, it sends only the
    request. With --format curl, the request goes to the server of `conformance serve`.

    \b
    conformance repro 'my-library/openai-chat/openai/dangling_call[sync]/ORD-003' > repro.py
    python repro.py

    Exit code 0: the script was printed; 2: there is no such verdict, or its request was not stored.
    """
    report = opened(path)
    try:
        row = row_of(report, verdict)
        script = as_curl(report, row) if form == "curl" else as_python(report, row, request_only=request_only)
        click.echo(script, nl=False)
    except NotReproducible as error:
        raise click.UsageError(f"{str(error)[0].upper()}{str(error)[1:]}") from error
