"""The facts with a date: rules, types, capabilities of models, API versions, beta features, and changelogs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from ..contract import rules
from ..contract.changes.api_versions import VERSIONS
from ..contract.changes.provider_changes import provider_changes
from ..contract.changes.retired_models import SCHEDULES
from ..contract.rule import Rule
from ..contract.rulebook import RuleBook
from ..contract.rules.anthropic.versions_and_betas import BETAS
from ..contract.shapes import names
from ..contract.shapes.facts import facts
from ..recordings.corpus.evidence import addresses
from . import dated_profiles

__all__ = ["Change", "changes"]


class Change(NamedTuple):
    """A dated change.

    Args:
        day: Its day.
        sort: `"begins"`, `"ends"`, or `"entry"` for an entry of a changelog.
        about: What it is about, such as `"rule REQ-122 anthropic"`.
        sentence: What changed.
        link: The page that proves it; empty if none is known.

    Examples:
        >>> Change(date(2026, 10, 21), "begins", "API version anthropic", "2026-10-21").link
        ''
    """

    day: date
    sort: str
    about: str
    sentence: str
    link: str = ""


_VERSIONING = "https://platform.claude.com/docs/en/api/versioning"


def changes() -> Iterator[Change]:
    """Yields every dated change, in no order.

    Yields:
        The changes, also those of days to come.

    Examples:
        >>> any(change.about == "API version anthropic" for change in changes())
        True
    """
    yield from _rules()
    yield from _facts()
    yield from _profiles()
    yield from _entries()
    for version in VERSIONS:
        at = ", ".join(version.providers) + (f": {version.models}" if version.models != "*" else "")
        yield Change(version.since, "begins", "API version anthropic", f"{version.name} ({at})", _VERSIONING)
    for beta in BETAS.values():
        if beta.since:
            unlocks = ", ".join(beta.unlocks) or beta.model or beta.endpoint
            yield Change(beta.since, "begins", "beta anthropic", f"{beta.name} ({unlocks})")
    for host, schedule in SCHEDULES.items():
        for day, models in schedule.days.items():
            yield Change(
                date.fromisoformat(day),
                "ends",
                f"models {host}",
                f"{models} ({schedule.source})",
                schedule.source,
            )


def _rules() -> Iterator[Change]:
    found: dict[tuple[str, str], list[tuple[RuleBook, Rule]]] = {}
    for book in rules.books():
        for rule in book.rules.values():
            if rule.since or rule.until:
                found.setdefault((rule.id, rule.sentence), []).append((book, rule))
    for (id, sentence), told in sorted(found.items()):
        about = f"rule {id} {', '.join(sorted({book.wire for book, _ in told}))}"
        link = next(iter(addresses(*told[0])), "")
        for day, sort in ((told[0][1].since, "begins"), (told[0][1].until, "ends")):
            if day:
                yield Change(day, sort, about, sentence, link)


def _facts() -> Iterator[Change]:
    for name in names():
        for fact in facts(name):
            for day, sort in ((fact.since, "begins"), (fact.until, "ends")):
                if day:
                    yield Change(day, sort, f"type {name}", fact.sentence, next(iter(fact.evidence), ""))


def _profiles() -> Iterator[Change]:
    for each in dated_profiles():
        for day, sort in ((each.since, "begins"), (each.until, "ends")):
            if day:
                about = f"profile {', '.join(each.providers)} {each.models}".rstrip()
                yield Change(day, sort, about, f"{json.dumps(each.facts)} ({each.source})", each.source)


def _entries() -> Iterator[Change]:
    for each in provider_changes():
        known = f"rules and server: {each.judged}; client: {each.client}"
        when = "" if each.day.count("-") == 2 else f", some day of {each.day}"
        yield Change(
            each.first_day, "entry", each.provider, f"{each.entry}{when} ({known}; {each.link})", each.link
        )
