"""`conformance explain`: one rule in full, or the rules behind an error text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import click

from ...adapters.endpoints import PROVIDER_ADDRESSES
from ...contract import rules
from ...contract.error_texts.other_causes import SAYS_NOTHING, other_cause
from ...contract.error_texts.rules_by_error_text import fault_in, matches, says_nothing
from ...contract.error_texts.similarity import nearest
from ...contract.rule import Rule, verdict
from ...contract.rulebook import RuleBook
from ...contract.rules import behaviour
from ...live_apis.probe import server_rules
from ...recordings.corpus import evidence_search, pins
from ...recordings.corpus.evidence import Citation, Evidence, evidence_of
from ...runner.selection import did_you_mean
from .._shared import books_of, provider_option

_ID = re.compile(r"(?:([a-z-]+)/(?:([\w.-]+)/)?)?([A-Za-z]+-\d+)")  # wire/provider/ID
_MOST = 5  # further rules for one error text


@click.command("explain")
@click.argument("what", metavar="RULE|TEXT")
@click.option("--wire", help="Search only this wire format. Default: all.")
@provider_option("Search the rules of this provider. Needs --wire. Default: the format's own provider.")
def command(what: str, wire: str | None, provider: str) -> None:
    """Explain a rule (openai-chat/ORD-002), or find the rules behind the text of an error.

    With ORD-002 alone, the command explains the rule of each wire format that has this number.

    The explanation has the reason for the rule, the smallest request that breaks it, the API's answer, the fix and the
    evidence, with the recorded exchange if the corpus was fetched. TEXT is an error message or the whole error body
    of a provider.

    conformance explain "tool_use ids were found without tool_result blocks"

    Exit code 0: a rule or another cause was found; 2: there is no such rule, or nothing is known about the text.
    """
    if found := _ID.fullmatch(what):
        wire, provider = found[1] or wire, found[2] or provider
        books = [*books_of(wire, provider), behaviour.book, server_rules.book]
        _explain_id(found[3], books, [] if provider else list(rules.books(wire or "")))
    else:
        books = books_of(wire, provider)
        _explain_error(what, books if wire else list(_all_books()))


def _explain_id(id: str, books: list[RuleBook], others: list[RuleBook]) -> None:
    """Prints the rule with an id: one text for each wire format that has its own, or else for each provider in `others`."""
    found = _with_rule(id, books) or _with_rule(id, others)
    if not found:
        ids = {rule for book in [*books, *others] for rule in book.rules}
        raise click.UsageError(
            f"There is no rule {id}{did_you_mean(id.upper(), ids)}. `conformance list` lists all rules."
        )
    told: set[str] = set()
    for book, rule in found:
        if rule.sentence not in told or rule.refusal:
            click.echo(explained(book, rule))
        told.add(rule.sentence)


def _with_rule(id: str, books: list[RuleBook]) -> list[tuple[RuleBook, Rule]]:
    return [(book, book.rules[id.upper()]) for book in books if id.upper() in book.rules]


def _explain_error(text: str, books: list[RuleBook]) -> None:
    """Prints the rule whose refusal is most like the text, and below it a line for each similar one."""
    found = matches(text, books)
    if not found:
        raise click.UsageError(_unknown(text, books))
    first = found[0]
    click.echo(explained(first.book, first.rule))
    others = {(each.book.wire, each.rule.id): each for each in found}
    others.pop((first.book.wire, first.rule.id))
    if others:
        click.echo("Similar texts:")
    for wire, id in list(others)[:_MOST]:
        sentence = " ".join(others[wire, id].rule.sentence.split())
        click.echo(f"  conformance explain {wire}/{id}  {sentence}")


def _unknown(text: str, books: list[RuleBook]) -> str:
    """Returns the message that no rule has a text, what the text says of a field or of another cause, and the nearest rule."""
    best = next(iter(nearest(text, books)), None)
    fault = fault_in(text)
    cause = other_cause(text) or (SAYS_NOTHING if says_nothing(text) else None)
    means = (
        f" It says that {cause.what}. {cause.advice}" if cause else f" It says that {fault}." if fault else ""
    )
    if best is None or best.alike == 0:
        return f"No rule knows this text, and none is near.{means} `conformance list` lists all rules."
    sentence = " ".join(best.rule.sentence.split())
    return (
        f"No rule knows this text.{means} The nearest is {best.rule.full_id} ({best.alike:.0%} alike): {sentence} "
        f"`conformance explain {best.rule.full_id}` explains it."
    )


def _all_books() -> Iterator[RuleBook]:
    """Yields the books of all providers, and that of whole conversations; a format's own provider comes first."""
    yield from map(rules.book, rules.WIRES)
    yield behaviour.book
    yield from (rules.book(wire, provider) for wire, provider in sorted(PROVIDER_ADDRESSES))
    yield from rules.books()


def explained(book: RuleBook, rule: Rule) -> str:
    """Returns the text about one rule of one book."""
    where = "any wire format" if book.wire == "*" else f"as {book.provider} has it"
    status = "preview: reported, but never a failure" if rule.preview else str(rule.kind)
    lines = [f"{rule.full_id}  {rule.level}, {status}  ({where})", "", rule.sentence]
    lines += ["", _unwrapped(rule.explain)] if rule.explain else []
    lines += ["", f"Models: {', '.join(rule.models)}"] if rule.models else []
    lines += ["", f"In force: {' '.join(days)}"] if (days := _days(rule)) else []
    lines += ["", "Source:", *(f"  {source}" for source in rule.source)]
    for counterexample in rule.counterexamples[:1]:
        lines += ["", "Smallest failing request:", json.dumps(counterexample, indent=2, ensure_ascii=False)]
        lines += _answer(book, rule, counterexample)
    lines += _evidence(evidence_of(book, rule)) if rule.refuses else []
    return "\n".join([*lines, ""])


def _unwrapped(text: str) -> str:
    """Returns a text without the line breaks of the source. The fix begins a line, and so do entries of a list."""
    return re.sub(r"(?<!\n)\n(?!\n|- )", " ", text).replace(" Fix: ", "\nFix: ")


def _days(rule: Rule) -> list[str]:
    """Returns the dates between which the rule holds, if it does not always hold."""
    since = [f"from {rule.since}"] if rule.since else []
    return [*since, f"until {rule.until}"] if rule.until else since


def _answer(book: RuleBook, rule: Rule, counterexample: dict[str, object]) -> list[str]:
    violation = verdict(rule, book.request(counterexample)).violations[0]
    lines = ["", f"Found at {violation.pointer or 'the top'}: {violation.message}."]
    lines += [f"Decided by: {fact}"] if (fact := violation.facts.get("decided")) else []
    if rule.refusal is None:
        return lines
    status, _, body = book.refuse(violation)
    return [*lines, "", f"The API answers {status}:", body.decode().rstrip()]


def _evidence(found: list[Evidence]) -> list[str]:
    """Returns the evidence that the API refuses such a request, with the first recording of the cache in full."""
    pinned = {pin.name: pin for pin in pins.load(pins.shipped())}
    lines = ["", "Evidence:"] if found else []
    shown = ""
    for each in found:
        if not isinstance(each, Citation):
            lines.append(f"  {each}")
            continue
        pin = pinned[each.pin]
        lines.append(f"  {each.member} {each.place} of {pin.name}: {pin.link(each.member)}")
        if not shown and pins.present(pin) and (recording := evidence_search.recorded(pin, each)):
            shown = evidence_search.exchange(recording)
    return [*lines, "", "Recorded:", shown] if shown else lines
