"""`conformance diff-knowledge`: the dated changes between two days."""

from __future__ import annotations

import json
from datetime import datetime

import click

from ...facts.changes import changes
from .._shared import format_option

__all__ = ["command"]


@click.command("diff-knowledge")
@click.argument("start", metavar="FROM", type=click.DateTime(["%Y-%m-%d"]))
@click.argument("end", metavar="TO", type=click.DateTime(["%Y-%m-%d"]))
@click.option(
    "--about", default="", help="List only changes whose subject contains this text, such as anthropic."
)
@format_option
def command(start: datetime, end: datetime, *, about: str, form: str) -> None:
    """List what changed at the providers after the day FROM, up to the day TO, such as 2026-09-01 2026-11-01.

    The list has rules, types and capabilities of models that began or ceased to hold, new API versions and beta features,
    models that were shut down, and entries of the providers' changelogs. Each change names the rule or profile that has it.
    Most rules have no date, because they are older than the first check. These are not listed.
    """
    found = [
        change
        for change in changes()
        if start.date() < change.day <= end.date() and about.lower() in change.about.lower()
    ]
    found.sort()
    if form == "json":
        told = [{**each._asdict(), "day": str(each.day)} for each in found]
        click.echo(json.dumps(told, indent=1))
        return
    for each in found:
        click.echo(f"{each.day}  {each.sort:6}  {each.about}: {each.sentence}")
    click.echo(f"{len(found)} changes." if found else "No change in this time is known.")
