"""`conformance lint`: judges existing recordings."""

from __future__ import annotations

import sys
from os import cpu_count
from pathlib import Path

import click

from ..baseline import BaselineError, load
from ..contract.rules import WIRES
from ..recordings import lint_report
from ..recordings.lint import ENGINES, Engine, EngineMissing, lint
from ..recordings.lint_report import apply_baseline
from ..recordings.recorded_requests import Assumed
from ..report.formats.terminal_escaping import printable
from ._shared import located, progress

_FORMATS = {
    "text": lint_report.as_text,
    "json": lint_report.as_json,
    "github": lint_report.as_github,
    "sarif": lint_report.as_sarif,
}


@click.command("lint")
@click.argument("paths", nargs=-1, type=str)
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="text", show_default=True)
@click.option(
    "-v", "--verbose", is_flag=True, help="Text format: list every file, also those without findings."
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    help="Number of processes [1]; 0: one for each core.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Run in local processes or on Dask.",
)
@click.option("--warnings/--no-warnings", default=True, help="Also report broken SHOULD rules.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of expected violations; `case` is the path of the recording.",
)
@click.option(
    "--exclude", multiple=True, help="Leave out paths that match a pattern, like vendor/* (repeatable)."
)
@click.option(
    "--wire",
    type=click.Choice(WIRES),
    default=None,
    help="Format of requests whose address does not tell it.",
)
@click.option("--provider", default="", help="Provider of requests whose host does not tell it.")
def command(
    paths: tuple[str, ...],
    *,
    exclude: tuple[str, ...],
    wire: str | None,
    provider: str,
    form: str,
    verbose: bool,
    jobs: int,
    engine: Engine,
    warnings: bool,
    baseline: Path | None,
) -> None:
    """Judge recorded requests by the rules of the API they went to.

    PATHS are files or folders, local or in an object store (s3://bucket/prefix). These formats are read,
    gzipped or not: cassettes of vcrpy (YAML, JSON, with pydantic-ai's parsed bodies), of VCR for Ruby, R and
    Go and of braintrust; traces of httprr; stubs of httpmock and WireMock; recordings of Azure's test proxy,
    llama-stack and DataDog (.rec); HAR files; single exchanges, pairs of files (x.request.json,
    x.response.json) and JSON Lines. OpenTelemetry traces with captured messages are read too, but show less
    and never fail. The default is the folders in CONFORMANCE_TRAFFIC. Of a folder, what git ignores and folders
    like node_modules are left out.

    Exit code 0: no rule is broken, or the API refused the request as well, or the baseline expects it; 1: a
    rule is broken, or the baseline is stale; 2: a recording could not be read, or nothing was judged, or more
    was missed than judged.
    """
    try:
        expected = load(baseline) if baseline else None
    except BaselineError as error:
        raise click.UsageError(str(error)) from error
    files = located(paths, exclude)
    with progress(files) as advance:
        try:
            result = lint(
                files,
                jobs=jobs or cpu_count() or 1,
                engine=engine,
                assumed=Assumed(wire or "", provider),
                on_file=advance,
            )
        except EngineMissing as error:
            raise click.UsageError(str(error)) from error
    if expected:
        apply_baseline(result, expected)
    if not warnings:
        for file in result.files:
            file.complaints = [each for each in file.complaints if each.outcome != "warning"]
    click.echo(printable(_FORMATS[form](result, verbose=verbose)))
    sys.exit(result.exit_code)
