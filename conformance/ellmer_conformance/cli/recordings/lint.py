"""`conformance lint`: judges existing recordings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import click

from ellmer_harness.bulk.sources import NoRevision, Source, changed_since

from ...files import write_text, writing
from ...recordings import lint_report
from ...recordings.lint import FileReport, Totals, as_paste, lint_each, lint_paste
from ...recordings.lint_report import Expectations
from ...recordings.recorded_requests import Assumed
from ...report.baseline import Baseline, BaselineError, load
from ...report.formats.terminal_escaping import printable
from .._shared import (
    Effort,
    checked_wire,
    counted,
    effort_options,
    located,
    provider_option,
    sources_argument,
)


def _outputs(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> list[tuple[str, Path]]:
    """Splits `sarif=report.sarif` into the form and the file."""
    found = [value.partition("=") for value in values]
    for name, _equals, path in found:
        if name not in lint_report.FORMS or not path:
            raise click.BadParameter(f"use FORM=FILE, with one of the forms {', '.join(lint_report.FORMS)}")
    return [(name, Path(path)) for name, _equals, path in found]


@click.command("lint")
@sources_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(lint_report.FORMS)),
    default="text",
    show_default=True,
    help="github: annotations; comment: the text of a comment on a pull request.",
)
@click.option(
    "--write",
    "outputs",
    multiple=True,
    metavar="FORM=FILE",
    callback=_outputs,
    help="Also write the report in this form to a file (repeatable).",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="In the text format, list every file, also those without findings."
)
@click.option(
    "--since", metavar="REF", help="Judge only recordings that are new or changed since this git revision."
)
@click.option(
    "--warnings/--no-warnings",
    default=True,
    help="Also report broken SHOULD rules, or leave them out.  [default: report]",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of expected violations. In it, `case` is the path of a recording.",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all violations to this new file, for --baseline, and end with 0.",
)
@click.option("--reason", default="", help="For --write-baseline: why the violations are expected.")
@click.option("--issue", default="", help="For --write-baseline: the URL of the issue about them.")
@click.option(
    "--exclude", multiple=True, help="Leave out paths that match a pattern, like vendor/* (repeatable)."
)
@click.option(
    "--wire",
    callback=checked_wire,
    default=None,
    help="The wire format of requests whose address does not show it, and of a file that is only a request's body.",
)
@provider_option("The provider of requests whose host does not show it.")
@effort_options
def command(
    paths: tuple[str, ...],
    *,
    exclude: tuple[str, ...],
    since: str | None,
    wire: str | None,
    provider: str,
    form: str,
    outputs: list[tuple[str, Path]],
    verbose: bool,
    effort: Effort,
    warnings: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    reason: str,
    issue: str,
) -> None:
    """Judge recorded requests by the rules of the API they went to.

    PATHS are files or folders, local or in an object store (s3://bucket/prefix), or patterns of them
    (s3://bucket/2026/**). These formats are read, gzipped or not: cassettes of vcrpy (YAML, JSON, with
    pydantic-ai's parsed bodies), of VCR for Ruby, R and Go, of braintrust and of Mastra; traces of httprr; stubs of
    httpmock, WireMock and MockServer; recordings of Azure's test proxy, llama-stack and DataDog (.rec); HAR files; single exchanges,
    pairs of files (x.request.json, x.response.json) and JSON Lines. OpenTelemetry traces with captured messages
    are read too, but show less and never fail. A file that you name, or standard input (-), may also be a command such as
    curl, a part of a program or of a log, or a request's body. The default is the folders in CONFORMANCE_TRAFFIC. In a folder, files
    that git ignores and folders like node_modules are left out.

    Exit code 0: no rule is broken, or the API refused the request as well, or the baseline expects it; 1: a
    rule is broken, or the baseline is stale; 2: a recording could not be read, or there is no recording, or more
    was left out than judged.
    """
    if write_baseline and write_baseline.exists():
        raise click.UsageError(
            f"{write_baseline} exists already. Use --baseline {write_baseline}, or delete it."
        )
    expected = Expectations(_loaded(baseline)) if baseline or write_baseline else None
    assumed, totals = Assumed(wire or "", provider), Totals()
    with ExitStack() as stack, effort.explained(lambda: totals.count):
        journal = effort.journal(stack, f"lint {assumed}")
        advance = stack.enter_context(counted())
        files = () if paths == ("-",) else located(paths, exclude)
        files = _changed(files, since) if since else files
        found = lint_each(
            files,
            jobs=effort.jobs,
            engine=effort.engine,
            assumed=assumed,
            journal=journal,
            most=effort.most,
        )
        found = _with_pastes(found, paths, assumed)
        told = _counted(found, expected, totals, advance, warnings=warnings)
        _write(told, totals, (form, verbose), outputs)
    if since and not totals.count:
        click.echo(f"No recording under these paths has changed since {since}.", err=True)
    if write_baseline and expected:
        write_text(write_baseline, expected.written(reason, issue))
        click.echo(f"wrote {write_baseline}", err=True)
    sys.exit(_exit_code(totals, since=bool(since), listed=bool(write_baseline)))


def _exit_code(totals: Totals, *, since: bool, listed: bool) -> int:
    if (since and not totals.count) or (listed and totals.exit_code == 1):
        return 0
    return totals.exit_code


def _loaded(path: Path | None) -> Baseline:
    try:
        return load(path) if path else Baseline()
    except BaselineError as error:
        raise click.UsageError(str(error)) from error


def _with_pastes(
    found: Iterator[FileReport], paths: tuple[str, ...], assumed: Assumed
) -> Iterator[FileReport]:
    """Yields the reports. What the command names or gets, and is not a recording, is read as a paste."""
    if paths == ("-",):
        yield lint_paste(sys.stdin.read(), assumed=assumed)
    for report in found:
        yield as_paste(report, assumed) if report.path in paths else report


def _changed(files: Iterable[Source], since: str) -> Iterator[Source]:
    """Yields the files that have changed since a revision of the repository at hand."""
    try:
        changed = changed_since(since, Path.cwd())
    except NoRevision as error:
        raise click.UsageError(f"--since: {error}.") from error
    return (path for path in files if isinstance(path, Path) and path.resolve() in changed)


def _counted(
    files: Iterable[FileReport],
    expected: Expectations | None,
    totals: Totals,
    advance: Any,
    *,
    warnings: bool,
) -> Iterator[FileReport]:
    """Yields the reports and counts them. After the last one, the errors of the baseline are complete."""
    for file in files:
        if expected:
            expected.apply(file)
        totals.add(file)
        advance(totals)
        if not warnings:
            file.complaints = [each for each in file.complaints if each.outcome != "warning"]
        yield file
    totals.problems += expected.problems() if expected else []


def _write(
    files: Iterable[FileReport], totals: Totals, main: tuple[str, bool], outputs: Sequence[tuple[str, Path]]
) -> None:
    """Writes the report in all its forms, while the files are judged."""
    with ExitStack() as stack:
        forms: list[tuple[lint_report.Form, IO[str] | None]] = [
            (lint_report.form(main[0], verbose=main[1]), None)
        ]
        for name, path in outputs:
            forms.append((lint_report.form(name, verbose=False), stack.enter_context(writing(path))))
        for report in files:
            for form, to in forms:
                _tell(form, form.file(report), to)
        for form, to in forms:
            _tell(form, form.end(totals), to)


def _tell(form: lint_report.Form, text: str, to: IO[str] | None) -> None:
    if text:
        click.echo(printable(text, commands=isinstance(form, lint_report.GitHub)), nl=False, file=to)
