"""`conformance explain`: one rule, in full."""

from __future__ import annotations

import json

import click

from ..contract import rules
from ..contract.rule import Rule, verdict
from ..contract.rulebook import RuleBook
from ..contract.rules import behaviour
from ..corpus import cache, cited_recordings, pins
from ..corpus.evidence import Citation, Evidence, evidence_of

__all__ = ["command"]


@click.command("explain")
@click.argument("rule_id")
@click.option("--wire", help="Only as this wire format has it.")
@click.option("--vendor", default="", help="As this vendor applies it; needs --wire.")
def command(rule_id: str, wire: str | None, vendor: str) -> None:
    """Explain a rule (ORD-002): why it is, the smallest request that breaks it, what the API says, how to fix it, and
    the evidence, with the recorded exchange where the corpus is fetched.
    """
    try:
        books = [rules.book(name, vendor) for name in ([wire] if wire else rules.WIRES)]
    except LookupError as error:
        raise click.UsageError(str(error).capitalize() + ".") from error
    books.append(behaviour.book)
    found = [(book, book.rules[rule_id.upper()]) for book in books if rule_id.upper() in book.rules]
    if not found:
        raise click.UsageError(f"There is no rule {rule_id}; `conformance list` shows all.")
    told: set[str] = set()
    for book, rule in found:
        if rule.sentence not in told or rule.refusal:
            click.echo(explained(book, rule))
        told.add(rule.sentence)


def explained(book: RuleBook, rule: Rule) -> str:
    """The text about one rule of one book."""
    where = "any wire format" if book.wire == "*" else f"{book.wire}, as {book.vendor} has it"
    status = "preview: reported, fails nobody" if rule.preview else str(rule.kind)
    lines = [f"{rule.id}  {rule.level}, {status}  ({where})", "", rule.sentence]
    lines += ["", rule.explain] if rule.explain else []
    lines += ["", f"Models: {', '.join(rule.models)}"] if rule.models else []
    lines += ["", f"In force: {' '.join(days)}"] if (days := _days(rule)) else []
    lines += ["", "Source:", *(f"  {source}" for source in rule.source)]
    for counterexample in rule.counterexamples[:1]:
        lines += ["", "Smallest failing request:", json.dumps(counterexample, indent=2, ensure_ascii=False)]
        lines += _answer(book, rule, counterexample)
    lines += _evidence(evidence_of(book, rule)) if rule.refuses else []
    return "\n".join([*lines, ""])


def _days(rule: Rule) -> list[str]:
    """When it holds, where that is not always."""
    since = [f"from {rule.since}"] if rule.since else []
    return [*since, f"until {rule.until}"] if rule.until else since


def _answer(book: RuleBook, rule: Rule, counterexample: dict[str, object]) -> list[str]:
    violation = verdict(rule, book.request(counterexample)).violations[0]
    lines = ["", f"Found at {violation.pointer or 'the top'}: {violation.message}."]
    if rule.refusal is None:
        return lines
    status, _, body = book.refuse(violation)
    return [*lines, "", f"The API answers {status}:", body.decode().rstrip()]


def _evidence(found: list[Evidence]) -> list[str]:
    """What shows that the API refuses it; the first recording that is in the cache in full."""
    pinned = {pin.name: pin for pin in pins.load(pins.shipped())}
    lines = ["", "Evidence:"] if found else []
    shown = ""
    for each in found:
        if not isinstance(each, Citation):
            lines.append(f"  {each}")
            continue
        pin = pinned[each.pin]
        lines.append(f"  {each.member} {each.place} of {pin.name}: {pin.link(each.member)}")
        if not shown and cache.present(pin) and (recording := cited_recordings.recorded(pin, each)):
            shown = cited_recordings.exchange(recording)
    return [*lines, "", "Recorded:", shown] if shown else lines
