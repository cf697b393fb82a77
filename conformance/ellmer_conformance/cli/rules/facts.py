"""`conformance facts`: which feature a model has at a provider, with the evidence."""

from __future__ import annotations

import json
import sys
import zlib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ... import facts
from ...facts import changes, comparison, feed, openapi
from ...report.formats.terminal_escaping import printable
from ...runner.selection import did_you_mean

if TYPE_CHECKING:
    from rich.table import Table


@click.command("facts")
@click.option("--model", default="", help="A model (`gpt-5*`), or a family (`claude`). Default: all.")
@click.option("--feature", default="", help="A feature (`temperature`, `image_*`). Default: all.")
@click.option("--provider", default="", help="A provider (`openai`). Default: all.")
@click.option("--wire", default="", help="A wire format (`openai-chat`). Default: all.")
@click.option(
    "--answer",
    type=click.Choice(["yes", "no", "ignored", "unknown"]),
    help="Show only features with this answer.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "atom", "feed"]),
    default="table",
    show_default=True,
    help="The form of the output.",
)
@click.option(
    "--openapi",
    "as_openapi",
    is_flag=True,
    help="Print the OpenAPI document of the chat endpoint of --wire at --provider.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the data.")
@click.option(
    "--check",
    "checked",
    type=click.Path(path_type=Path, exists=True),
    help="Compare the facts with another table: LiteLLM's model_prices_and_context_window.json, models.dev's api.json, "
    "or a file or folder of LangChain's profiles.",
)
def command(
    form: str, *, schema: bool, as_openapi: bool, checked: Path | None, answer: str | None, **wanted: str
) -> None:
    """Show which features models have, since when, and what proves it.

    The formats `atom` and `feed` print the facts with a date as a feed.

    conformance facts --model gpt-5-mini --provider openai --feature temperature

    conformance facts --openapi --wire anthropic

    Exit code 0: the facts were shown, or no evidence contradicts the file of --check; 1: evidence contradicts it; 2: no
    model has these names.
    """
    if as_openapi:
        click.echo(json.dumps(_document(wanted["wire"], wanted["provider"]), indent=1, ensure_ascii=False))
        return
    if schema:
        click.echo(json.dumps(facts.schema(), indent=2))
        return
    if checked:
        _check(checked, form)
    found = facts.chosen(**wanted, answer=answer or "")
    if not found:
        raise click.UsageError(f"{_unknown(wanted)} `conformance facts` without options shows all cells.")
    if form == "json":
        click.echo(json.dumps(facts.as_data(found), indent=1, ensure_ascii=False))
    elif form in {"atom", "feed"}:
        entries = feed.entries(found, () if answer or any(wanted.values()) else changes.changes())
        click.echo(feed.atom(entries) if form == "atom" else json.dumps(feed.json_feed(entries), indent=1))
    else:
        from rich.console import Console  # noqa: PLC0415 - a large import, needed rarely

        Console(width=None if sys.stdout.isatty() else 200).print(_table(found))


def _document(wire: str, provider: str) -> dict[str, Any]:
    if (wire, provider) not in openapi.places() and (provider or wire not in openapi.ENDPOINTS):
        known = ", ".join(f"--wire {wire} --provider {name}" for wire, name in openapi.places())
        raise click.UsageError(f"--openapi needs one of these: {known}.")
    return openapi.document(wire, provider)


def _table(found: list[facts.Cell]) -> Table:
    from rich.table import Table  # noqa: PLC0415 - only a table needs it

    table = Table("model", "provider", "wire", "feature", "answer", "last seen", "evidence", box=None)
    for cell in found:
        days = "".join(f" {word} {day}" for word, day in (("from", cell.since), ("until", cell.until)) if day)
        proof = next(iter(cell.evidence), None)
        shown = f"{proof.kind}: {proof.said or proof.link}" if proof else cell.note
        answer = f"{cell.answer}{' (inferred)' * cell.inferred}{days}"
        table.add_row(cell.model, cell.provider, cell.wire, cell.feature, answer, cell.last_seen, shown)
    return table


def _unknown(wanted: dict[str, str]) -> str:
    """Returns the message that no cell fits: the first name that no cell has, or that the names do not occur together."""
    for kind in ("model", "feature", "provider", "wire"):
        known = facts.names(kind)
        if wanted[kind] and not any(fnmatchcase(each, wanted[kind]) for each in known):
            return f"No {kind} here is called {wanted[kind]!r}{did_you_mean(wanted[kind], known)}."
    return "No cell has all of these."


def _check(path: Path, form: str) -> None:
    try:
        found = comparison.contradictions(comparison.claims(path))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise click.UsageError(f"{path} cannot be compared: {error}") from error
    if form == "json":
        click.echo(json.dumps([each.plain() for each in found], indent=1, ensure_ascii=False))
    else:
        for each in found:
            click.echo(printable(str(each)))
        wrong = sum(each.kind == "contradicted" for each in found)
        click.echo(
            f"{wrong} claims are contradicted; {len(found) - wrong} are open questions, because this project does not know the answer."
        )
    sys.exit(any(each.kind == "contradicted" for each in found))
