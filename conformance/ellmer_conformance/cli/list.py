"""`conformance list`: all rules."""

from __future__ import annotations

import json

import click

from ..contract import rules
from ..contract.rule import Rule
from ..contract.rules import behaviour
from ..report.requirements import LATEST

__all__ = ["all_rules", "as_data", "command"]

#: The version of the form of the data.
VERSION = 1


@click.command("list")
@click.option("--wire", help="Only this wire format.")
@click.option("--vendor", default="", help="The rules of this provider; needs --wire.")
@click.option("--cases", is_flag=True, help="For each rule, list the cases that can show it broken.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(wire: str | None, vendor: str, form: str, *, cases: bool) -> None:
    """List every rule: id, level, kind, wire formats, sentence and source.

    A wire format is the HTTP API of a provider, such as openai-chat. `*` marks rules about whole
    conversations, which hold for every wire format.
    """
    if cases:
        catalogue(form)
        return
    found = list(all_rules(wire, vendor))
    if form == "json":
        click.echo(json.dumps(as_data(found), indent=1, ensure_ascii=False))
        return
    for rule, wires in found:
        kind = "preview" if rule.preview else str(rule.kind)
        click.echo(f"{rule.id:9} {rule.level:6} {kind:7} {', '.join(wires)}")
        click.echo(f"          {rule.sentence}")


def catalogue(form: str) -> None:
    """Prints each rule with the cases that can show it broken."""
    from ..coverage import reached, table  # noqa: PLC0415 - it knows every broken adapter

    if form == "json":
        click.echo(json.dumps(reached(), indent=1))
        return
    for id, level, cases in table():
        click.echo(f"{id:9} {level:6}  {cases}")


def all_rules(wire: str | None = None, vendor: str = "") -> list[tuple[Rule, list[str]]]:
    """Returns each rule, by id, with the wire formats that have it in the same words."""
    try:
        books = [rules.book(name, vendor) for name in ([wire] if wire else rules.WIRES)]
    except LookupError as error:
        raise click.UsageError(str(error).capitalize() + ".") from error
    found: dict[tuple[str, str], tuple[Rule, list[str]]] = {}
    for book in [*books, *([] if wire else [behaviour.book])]:
        for rule in book.rules.values():
            found.setdefault((rule.id, rule.sentence), (rule, []))[1].append(book.wire)
    return [found[key] for key in sorted(found)]


def as_data(found: list[tuple[Rule, list[str]]]) -> dict[str, object]:
    """Returns the rules as a document for programs: `{"version", "requirements", "rules"}`."""
    return {"version": VERSION, "requirements": LATEST, "rules": [_row(rule, wires) for rule, wires in found]}


def _row(rule: Rule, wires: list[str]) -> dict[str, object]:
    return {
        "id": rule.id,
        "group": rule.group,
        "level": rule.level,
        "kind": rule.kind,
        "preview": rule.preview,
        "wires": wires,
        "models": rule.models,
        "since": rule.since and str(rule.since),
        "until": rule.until and str(rule.until),
        "sentence": rule.sentence,
        "explanation": rule.explain,
        "source": rule.source,
        "refusal": rule.refusal.message if rule.refusal else None,
    }
