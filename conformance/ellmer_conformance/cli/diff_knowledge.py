"""`conformance diff-knowledge`: what changed between two days, of what this project knows with a date."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import NamedTuple

import click

from ..contract.api_versions import VERSIONS
from ..contract.provider_changes import provider_changes
from ..contract.retired_models import SCHEDULES
from ..contract.rules.anthropic.versions_and_betas import BETAS
from ..contract.shapes import names
from ..contract.shapes.facts import facts
from .list import all_rules

__all__ = ["Change", "changes", "command"]


class Change(NamedTuple):
    """A dated change: its day, whether something begins or ends, what it is about, and a sentence."""

    day: date
    sort: str
    about: str
    sentence: str


@click.command("diff-knowledge")
@click.argument("start", metavar="FROM", type=click.DateTime(["%Y-%m-%d"]))
@click.argument("end", metavar="TO", type=click.DateTime(["%Y-%m-%d"]))
@click.option(
    "--about", default="", help="List only changes whose subject contains this text, such as anthropic."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(start: datetime, end: datetime, *, about: str, form: str) -> None:
    """List what changed at the providers after the day FROM, up to the day TO: such as 2026-09-01 2026-11-01.

    Rules, types and capabilities of models that began or ceased to hold, API versions and beta features that appeared,
    models that were shut down, and entries of the providers' changelogs, each with the rule or profile that knows it. Most
    rules have no date, because they are older than the first check. They are not listed.
    """
    found = [
        change
        for change in changes()
        if start.date() < change.day <= end.date() and about.lower() in change.about.lower()
    ]
    found.sort()
    if form == "json":
        click.echo(json.dumps([{**each._asdict(), "day": str(each.day)} for each in found], indent=1))
        return
    for each in found:
        click.echo(f"{each.day}  {each.sort:6}  {each.about}: {each.sentence}")
    click.echo(f"{len(found)} changes." if found else "Nothing that is known with a date changed.")


def changes() -> Iterator[Change]:
    """Yields every dated change, in no order."""
    yield from _rules()
    yield from _facts()
    yield from _profiles()
    yield from _entries()
    for version in VERSIONS:
        at = ", ".join(version.providers) + (f": {version.models}" if version.models != "*" else "")
        yield Change(version.since, "begins", "API version anthropic", f"{version.name} ({at})")
    for beta in BETAS.values():
        if beta.since:
            unlocks = ", ".join(beta.unlocks) or beta.model or beta.endpoint
            yield Change(beta.since, "begins", "beta anthropic", f"{beta.name} ({unlocks})")
    for host, schedule in SCHEDULES.items():
        for day, models in schedule.days.items():
            yield Change(date.fromisoformat(day), "ends", f"models {host}", f"{models} ({schedule.source})")


def _rules() -> Iterator[Change]:
    for rule, books in all_rules():
        about = f"rule {rule.id} {', '.join(sorted({book.wire for book in books}))}"
        for day, sort in ((rule.since, "begins"), (rule.until, "ends")):
            if day:
                yield Change(day, sort, about, rule.sentence)


def _facts() -> Iterator[Change]:
    for name in names():
        for fact in facts(name):
            for day, sort in ((fact.since, "begins"), (fact.until, "ends")):
                if day:
                    yield Change(day, sort, f"type {name}", fact.sentence)


def _profiles() -> Iterator[Change]:
    from ..facts import dated_profiles  # noqa: PLC0415 - the chat library is loaded for them

    for each in dated_profiles():
        for day, sort in ((each.since, "begins"), (each.until, "ends")):
            if day:
                about = f"profile {', '.join(each.providers)} {each.models}".rstrip()
                yield Change(day, sort, about, f"{json.dumps(each.facts)} ({each.source})")


def _entries() -> Iterator[Change]:
    for each in provider_changes():
        known = f"rules and server: {each.judged}; client: {each.client}"
        when = "" if each.day.count("-") == 2 else f", some day of {each.day}"
        yield Change(each.first_day, "entry", each.provider, f"{each.entry}{when} ({known}; {each.link})")
