"""Measures which scenarios can show a violation of each rule.

A scenario can show a violation if the rule checks something in it, or if the rule catches a broken adapter
(`adapters/broken_on_purpose/`) in it. `reached.json` has the result, which is written by

    python -m ellmer_conformance.coverage

and checked by `nox -s ways`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..adapters.broken_on_purpose import BROKEN
from ..adapters.shared.endpoints import WHERE
from ..runner.from_cassettes import attempt
from ..runner.judgement import judge
from ..runner.selection import OURS, Play, select
from ..scenarios.cases import all_cases
from .catalogue import BEYOND, CATALOGUE, HELD_BY

__all__ = ["BEYOND", "CATALOGUE", "HELD_BY", "measured", "reached", "table"]

Reached = Mapping[str, Sequence[str]]


@cache
def reached() -> Reached:
    """Returns each rule with its scenarios, the most significant first."""
    found: Reached = json.loads(files(__name__).joinpath("reached.json").read_text(encoding="utf-8"))
    return found


def measured(cassettes: Path) -> Reached:
    """Returns the same from new runs: every case is played with ellmer_core at each wire format's own provider."""
    met: defaultdict[str, set[str]] = defaultdict(set)
    for play in _plays():
        run = attempt(play.adapter, play.wire, play.provider, play.case, play.mode, cassettes=cassettes)
        assert not run.trouble, run.trouble
        for verdict in judge(run):
            if verdict.checked:
                met[verdict.rule.id].add(play.case.name)
    met["TXT-001"] = {case.name for case in all_cases().values() if case.printed_alike}
    shown = _shown()
    return {
        rule: [*shown.get(rule, ()), *sorted(met[rule] - {*shown.get(rule, ())})]
        for rule in sorted({*met, *shown})
    }


def table() -> Iterator[tuple[str, str, str]]:
    """Yields each rule of the catalogue: id, level, and its scenarios, or the rule that covers it, or why no scenario
    reaches it.
    """
    for id, level in CATALOGUE.items():
        if id in BEYOND:
            yield id, level, f"not reached: {BEYOND[id]}"
        elif id in HELD_BY:
            yield id, level, f"held by {', '.join(HELD_BY[id])}"
        else:
            yield id, level, _few(reached().get(id, ()))


def _plays() -> Iterator[Play]:
    """Yields one run of each kind: streamed, whole, and async if there is no other."""
    nothing: dict[str, list[Any]] = {"wire": [], "provider": [], "case": []}
    for play in select([OURS], nothing | {"mode": ["sync", "stream", "async"]}):
        only_async = not {"sync", "stream"} & {*play.case.modes} or len(play.case.speakers) > 1
        if (play.wire, play.provider) in WHERE and (play.mode != "async" or only_async):
            yield play


def _shown() -> dict[str, list[str]]:
    """Returns each rule with the scenarios in which it catches a broken adapter."""
    found: dict[str, list[str]] = {}
    for broken in vars(BROKEN).values():
        for rule in broken.caught_by:
            scenes = found.setdefault(rule, [])
            scenes += [broken.case] if broken.case not in scenes else []
    return found


def _few(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - 4} more" if len(cases) > 5 else ""
    return ", ".join(cases[: 4 if more else 5]) + more
