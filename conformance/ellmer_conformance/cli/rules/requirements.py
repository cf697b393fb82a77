"""`conformance requirements`: the dated sets of rules that a score counts against, and their differences."""

from __future__ import annotations

from collections.abc import Mapping

import click

NOW = "now"


@click.command("requirements")
@click.argument("id", required=False)
@click.option(
    "--diff", "other", metavar="ID", help="Show the changes since the set ID. `now` means today's rules."
)
def command(id: str | None, other: str | None) -> None:
    """Show the rules of the requirement set ID (default: the latest), or compare two sets.

    \b
    conformance requirements 2026-11
    conformance requirements now --diff 2026-11

    Exit code 0: the set was shown, or the two are equal; 1: the two differ.
    """
    from ...report.requirements import LATEST  # noqa: PLC0415 - it reads every rule book

    if other is None:
        for place, rules in _levels(id or LATEST).items():
            for rule, level in rules.items():
                click.echo(f"{place:20} {rule:10} {level}")
        return
    lines = list(_differences(_levels(other), _levels(id or NOW)))
    for line in lines:
        click.echo(line)
    raise SystemExit(bool(lines))


def _levels(id: str) -> Mapping[str, Mapping[str, str]]:
    from ...report.requirements import as_of_now, providers, requirements  # noqa: PLC0415 - likewise

    if id == NOW:
        found: Mapping[str, Mapping[str, str]] = as_of_now(NOW, "", providers())["wires"]
        return found
    try:
        return requirements(id).wires
    except LookupError as error:
        raise click.UsageError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


def _differences(
    before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> list[str]:
    found = []
    for place in sorted({*before, *after}):
        old, new = before.get(place, {}), after.get(place, {})
        for rule in sorted({*old, *new}):
            was, is_now = old.get(rule, "absent"), new.get(rule, "absent")
            found += [f"{place:20} {rule:10} {was} → {is_now}"] if was != is_now else []
    return found
