"""Measures which cases can show that a rule is broken: `python tests/support/measure_coverage.py` writes the table.

A case can show it if the rule checks something in it, or if the rule catches an adapter of `broken_on_purpose/` in it.
The table is `ellmer_conformance/coverage/reached.json`. With `--check`, it is only compared. It plays every case, so
`nox -s ways` checks the table instead of the tests.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from broken_on_purpose import BROKEN

from ellmer_conformance import coverage
from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.runner.from_cassettes import attempt
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import OURS, Play, select
from ellmer_conformance.scenarios.cases import all_cases

FILE = Path(coverage.__file__).with_name("reached.json")


@click.command()
@click.option("--check", is_flag=True, help="Compare the table with a run, and write nothing.")
def command(*, check: bool) -> None:
    """Find out which rules each case can show to be broken, from the cassettes in the working folder."""
    found = measured(Path("cassettes"))
    if not check:
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        click.echo(f"Wrote {FILE}: {len(found)} rules.")
        return
    table = coverage.reached()
    wrong = sorted(rule for rule in {*found, *table} if found.get(rule) != table.get(rule))
    if wrong:
        raise click.ClickException(
            f"{FILE.name} differs from a run, for {', '.join(wrong)}. "
            "Update it: python tests/support/measure_coverage.py"
        )
    click.echo(f"{FILE.name} agrees with a run: {len(found)} rules.")


def measured(cassettes: Path) -> Mapping[str, Sequence[str]]:
    """Returns each rule with its cases: every case is played with ellmer_core at each wire format's own provider."""
    met: defaultdict[str, set[str]] = defaultdict(set)
    for play in plays():
        run = attempt(play.adapter, play.wire, play.provider, play.case, play.mode, cassettes=cassettes)
        assert not run.trouble, run.trouble
        for verdict in judge(run):
            if verdict.checked:
                met[verdict.rule.id].add(play.case.name)
    met["TXT-001"] = {case.name for case in all_cases().values() if case.printed_alike}
    caught = cases_of_broken_adapters()
    return {
        rule: [*caught.get(rule, ()), *sorted(met[rule] - {*caught.get(rule, ())})]
        for rule in sorted({*met, *caught})
    }


def plays() -> Iterator[Play]:
    """Yields one run of each kind: streamed, whole, and async if there is no other. Combined cases are made anew for each run."""
    nothing: dict[str, list[Any]] = {"wire": [], "provider": [], "case": []}
    for play in select([OURS], nothing | {"mode": ["sync", "stream", "async"]}, combinations="none"):
        only_async = not {"sync", "stream"} & {*play.case.modes} or len(play.case.speakers) > 1
        if (play.wire, play.provider) in PROVIDER_ADDRESSES and (play.mode != "async" or only_async):
            yield play


def cases_of_broken_adapters() -> dict[str, list[str]]:
    """Returns each rule with the cases in which it catches a broken adapter."""
    found: dict[str, list[str]] = {}
    for broken in vars(BROKEN).values():
        for rule in broken.caught_by:
            cases = found.setdefault(rule, [])
            cases += [broken.case] if broken.case not in cases else []
    return found


if __name__ == "__main__":
    command()
