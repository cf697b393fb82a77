"""`conformance list`: all rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime

import click

from ...contract.rule import Rule
from ...contract.rulebook import RuleBook
from ...contract.rules import behaviour
from ...live_apis.probe import server_rules
from ...recordings.corpus.evidence import addresses
from ...report.requirements import LATEST
from .._shared import books_of, format_option, provider_option

#: The version of the form of the data.
VERSION = 1


@click.command("list")
@click.option("--wire", help="List only the rules of this wire format.")
@provider_option("List the rules of this provider. Needs --wire.")
@click.option(
    "--servers", is_flag=True, help="List only the rules by which `conformance probe` judges a server."
)
@click.option("--cases", is_flag=True, help="For each rule, list the cases that can show it broken.")
@click.option(
    "--as-of",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="List only the rules that were in force on this day, such as 2026-09-01. Default: all rules.",
)
@format_option
def command(
    wire: str | None, provider: str, day: datetime | None, form: str, *, servers: bool, cases: bool
) -> None:
    """List every rule for clients: id, level, kind, wire formats and sentence.

    The level is MUST or SHOULD. The kind is `reject`, if the API refuses a violation, or `loss`, if it answers and data
    is lost. A wire format is the HTTP API of a provider, such as openai-chat. `*` marks rules about whole
    conversations, which hold for every wire format. Where wire formats have different rules with one
    number, each is listed by its full id, such as openai-chat/PAIR-001. The JSON also has the reason, the sources and the
    evidence of each rule.
    """
    if servers and (wire or cases):
        raise click.UsageError("--servers takes neither --wire nor --cases: its rules hold for every server.")
    if cases:
        catalogue(form)
        return
    found = in_order([server_rules.book]) if servers else all_rules(wire, provider)
    if day:
        found = [(rule, books) for rule, books in found if rule.scope.on(day.date())]
    if form == "json":
        click.echo(json.dumps(as_data(found), indent=1, ensure_ascii=False))
        return
    shared = Counter(rule.id for rule, _ in found)
    for rule, books in found:
        kind = "preview" if rule.preview else str(rule.kind)
        each = [book.rules[rule.id] for book in books]
        wires = (rule.full_id if shared[rule.id] > 1 else rule.wire for rule in each)
        click.echo(f"{rule.id:9} {rule.level:6} {kind:7} {', '.join(wires)}")
        click.echo(f"          {rule.sentence}")
        if scope := scope_of(rule):
            click.echo(f"          {scope}")


def scope_of(rule: Rule) -> str:
    """Returns where and when a rule holds, in words; empty if it always holds."""
    named = {
        "models": rule.models,
        "providers": rule.providers,
        "versions": rule.versions,
        "betas": rule.betas,
    }
    parts = [f"{name}: {', '.join(values)}" for name, values in named.items() if values]
    parts += [f"{word} {day}" for word, day in (("since", rule.since), ("until", rule.until)) if day]
    return "; ".join(parts)


def catalogue(form: str) -> None:
    """Prints each rule with the cases that can show a violation."""
    from ...coverage import reached, table  # noqa: PLC0415 - it knows every broken adapter

    if form == "json":
        click.echo(json.dumps(reached(), indent=1))
        return
    for id, level, cases in table():
        click.echo(f"{id:9} {level:6}  {cases}")


def all_rules(wire: str | None = None, provider: str = "") -> list[tuple[Rule, list[RuleBook]]]:
    """Returns each rule of a client, by id, with the books that have it in the same words."""
    return in_order([*books_of(wire, provider), *([] if wire else [behaviour.book])])


def in_order(books: Iterable[RuleBook]) -> list[tuple[Rule, list[RuleBook]]]:
    """Returns each rule of some books, by id, with the books that have it in the same words."""
    found: dict[tuple[str, str], tuple[Rule, list[RuleBook]]] = {}
    for book in books:
        for rule in book.rules.values():
            found.setdefault((rule.id, rule.sentence), (rule, []))[1].append(book)
    return [found[key] for key in sorted(found)]


def as_data(found: list[tuple[Rule, list[RuleBook]]]) -> dict[str, object]:
    """Returns the rules as a document for programs: `{"version", "requirements", "rules"}`."""
    return {"version": VERSION, "requirements": LATEST, "rules": [_row(rule, books) for rule, books in found]}


def _row(rule: Rule, books: list[RuleBook]) -> dict[str, object]:
    opened = [address for book in books for address in addresses(book, book.rules[rule.id])]
    return {
        "id": rule.id,
        "full_ids": [book.rules[rule.id].full_id for book in books],
        "group": rule.group,
        "level": rule.level,
        "kind": rule.kind,
        "preview": rule.preview,
        "wires": [book.wire for book in books],
        "models": rule.models,
        "providers": rule.providers,
        "versions": rule.versions,
        "betas": rule.betas,
        "since": rule.since and str(rule.since),
        "until": rule.until and str(rule.until),
        "sentence": rule.sentence,
        "explanation": rule.explain,
        "source": rule.source,
        "evidence": list(dict.fromkeys(opened)),
        "refusal": rule.refusal.message if rule.refusal else None,
    }
