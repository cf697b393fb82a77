"""`python -m ellmer_conformance.coverage` writes the table of rules and cases; `--check` compares it.

It plays every case, so `nox -s ways` checks the table instead of the tests.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from . import measured, reached

FILE = Path(__file__).with_name("reached.json")


@click.command()
@click.option("--check", is_flag=True, help="Compare the table with a run, and write nothing.")
def command(*, check: bool) -> None:
    """Find out which rules each case can show to be broken, from the cassettes in the working folder."""
    found = measured(Path("cassettes"))
    if not check:
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    table = reached()
    wrong = sorted(rule for rule in {*found, *table} if found.get(rule) != table.get(rule))
    if wrong:
        raise click.ClickException(
            f"{FILE.name} differs from a run, for {', '.join(wrong)}. "
            "Update it: python -m ellmer_conformance.coverage"
        )
    click.echo(f"{FILE.name} agrees with a run: {len(found)} rules.")


if __name__ == "__main__":
    command()
