"""`conformance baseline`: expected failures."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path

import click

from ...files import file_text, write_text
from ...report import Report, Row
from ...report.baseline import FILE, Baseline, BaselineError, load, updated
from .._shared import opened, report_option

_file = click.option(
    "--baseline",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path(FILE),
    show_default=True,
    help="The file of expected failures.",
)


@click.group("baseline")
def command() -> None:
    """Manage the list of expected failures, conformance-baseline.toml.

    `conformance run` reads this file. Cases with known failures are run as well. An entry fails the run if it
    is stale or expired, or if the failure differs. Every entry needs a reason and an issue.

    \b
    [[expect]]
    rule = "ORD-003"              # a glob or a list of globs; so are wire, provider, case and mode
    case = "dangling_call"
    reason = "the user's text is sent before the results"
    issue = "https://github.com/me/my-adapter/issues/123"
    until = 2027-03-01            # optional: the entry expires on this day
    when = "openai < 4"           # optional: only with this version installed
    fingerprint = "sha256:…"      # optional: only this failure of the rule
    """


@command.command("check")
@report_option
@_file
def check(path: Path, file: Path) -> None:
    """Compare the list with a report, without running any case.

    Exit code 0: every entry still fails as listed; 1: some do not; 2: a file could not be read.
    """
    _, problems = _loaded(file).settled(opened(path).rows, whole=False)
    for problem in problems:
        click.echo(problem)
    sys.exit(int(bool(problems)))


@command.command("update")
@report_option
@_file
@click.option("--rule", "rules", multiple=True, help="Add only failures of these rules (glob, repeatable).")
@click.option("--reason", default="", help="Why the new failures are expected. Required if there are any.")
@click.option(
    "--issue", default="", help="The URL of the issue about the new failures. Required if there are any."
)
@click.option("--dry-run", is_flag=True, help="Print the changes and write nothing.")
def update(path: Path, file: Path, rules: tuple[str, ...], reason: str, issue: str, *, dry_run: bool) -> None:
    """Update the list from a report, with as few changes as possible.

    Stale entries are removed, fingerprints are renewed, and unlisted failures are added with one reason and
    issue. Use --rule to add groups of failures with different reasons. Comments and expired entries are kept.

    Exit code 0: the list is up to date; 2: the update failed.
    """
    report = _narrowed(opened(path), rules)
    there = _loaded(file) if file.exists() else Baseline()
    text = file_text(file) if file.exists() else ""
    change = updated(text, there, report, reason=reason, issue=issue)
    if change.added and not (reason and issue):
        listed = "\n".join(f"  {what}" for what in change.added)
        raise click.UsageError(
            f"These failures are not listed yet:\n{listed}\nSay why they are expected, with --reason and --issue."
        )
    for what in change.done:
        click.echo(what)
    if not change.done:
        click.echo(f"{file} is up to date.")
    elif not dry_run:
        write_text(file, change.text)


def _loaded(file: Path) -> Baseline:
    try:
        return load(file)
    except BaselineError as error:
        raise click.UsageError(str(error)) from error


def _narrowed(report: Report, rules: tuple[str, ...]) -> Report:
    if rules:
        report.rows = [row for row in report.rows if _is_named(row, rules)]
    return report


def _is_named(row: Row, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(id, glob) for id in row.rule_ids for glob in globs)
