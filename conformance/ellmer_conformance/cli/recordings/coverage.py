"""`conformance coverage`: which rules recorded requests reach."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import Any

import click

from ...coverage import reached as reached_by_cases
from ...recordings.rule_coverage import Coverage, WireAndProvider, cover
from ...report.formats.terminal_escaping import printable
from .._shared import Effort, counted, effort_options, format_option, located, sources_argument


@click.command("coverage")
@sources_argument
@format_option
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="List the rules that no request reaches, each with a case that does.",
)
@click.option(
    "--exclude", multiple=True, help="Leave out paths that match a pattern, like vendor/* (repeatable)."
)
@effort_options
def command(
    paths: tuple[str, ...], *, form: str, verbose: bool, exclude: tuple[str, ...], effort: Effort
) -> None:
    """Count the rules that recorded requests reach.

    PATHS contain recordings, in the formats and at the places of `conformance lint`. The default is the folders in
    CONFORMANCE_TRAFFIC. A request reaches a rule if it has what the rule is about: a tool result, an image, a
    schema. The recordings do not test a rule that no request reaches.

    Exit code 0: some requests were read; 2: a file could not be read, or there was no request.
    """
    found = Coverage()
    with ExitStack() as stack, effort.explained(lambda: found.count):
        cover(
            located(paths, exclude),
            found,
            jobs=effort.jobs,
            engine=effort.engine,
            journal=effort.journal(stack, "coverage"),
            most=effort.most,
            on_file=stack.enter_context(counted()),
        )
    text = json.dumps(_as_json(found), indent=1) if form == "json" else _text(found, verbose=verbose)
    click.echo(printable(text))
    sys.exit(2 if found.unreadable or not found.judged else 0)


def _text(found: Coverage, *, verbose: bool) -> str:
    lines = [f"{'wire format':18} {'provider':18} {'requests':>9} {'rules':>6} {'reached':>8}"]
    for place in sorted(found.requests):
        held = list(found.rules(place))
        hit = sum(count > 0 for _, count in held)
        lines.append(f"{place[0]:18} {place[1]:18} {found.requests[place]:9,} {len(held):6} {hit:8}")
        lines += _missing(found, place) if verbose else []
    lines += [] if found.judged else ["There was no request to a model."]
    lines += [f"Not read: {count:5}  {reason}" for reason, count in found.skipped.most_common()]
    return "\n".join(lines + [f"unreadable: {problem}" for problem in found.unreadable])


def _missing(found: Coverage, place: WireAndProvider) -> list[str]:
    cases = reached_by_cases()
    return [
        f"  {rule.id:9} {' '.join(rule.sentence.split())}{_shown_by(cases.get(rule.id, ()))}"
        for rule, count in found.rules(place)
        if not count
    ]


def _shown_by(cases: Any) -> str:
    return f" (case: {cases[0]})" if cases else ""


def _as_json(found: Coverage) -> dict[str, Any]:
    return {
        "version": 1,
        "places": [
            {
                "wire": wire,
                "provider": provider,
                "requests": count,
                "rules": {rule.id: hits for rule, hits in found.rules((wire, provider))},
            }
            for (wire, provider), count in sorted(found.requests.items())
        ],
        "skipped": dict(found.skipped.most_common()),
        "unreadable": found.unreadable,
    }
