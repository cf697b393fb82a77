"""`conformance calibrate`: compares the rules with the verdicts of real APIs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain

import click

from ...recordings.calibrate import Calibration, Case, Tally, as_json, calibrate_files
from ...report.formats.terminal_escaping import printable
from .._shared import Effort, collected, counted, effort_options, format_option, located, sources_argument

_COLUMNS = {
    "accepted": "accepted",
    "accepted_flagged": "flagged",
    "rejected": "rejected",
    "rejected_modelled": "visible",
    "caught": "caught",
    "missed": "missed",
    "text_equal": "same text",
}


@click.command("calibrate")
@sources_argument
@format_option
@click.option(
    "--exclude", multiple=True, help="Leave out paths that match a pattern, like vendor/* (repeatable)."
)
@effort_options
def command(paths: tuple[str, ...], *, form: str, exclude: tuple[str, ...], effort: Effort) -> None:
    """Compare each rule's verdict with the answer of a real API.

    PATHS contain recordings with answers, in the formats and at the places of `conformance lint`. The default is the
    corpus that `conformance corpus fetch` downloaded, and the folders in CONFORMANCE_TRAFFIC. Equal requests are
    judged once. No rule may refuse a request that the API accepted. A request that the API refused should be
    refused with the same status, type and error text or field. The cause of a refusal comes from a table of
    error texts that is independent of the rules.

    Exit code 0: no accepted request is flagged and no refusal is missed; 1: some are; 2: a file could not be
    read, or nothing was judged.
    """
    found = Calibration()
    with ExitStack() as stack, effort.explained(lambda: found.count):
        calibrate_files(
            located(paths or [str(folder) for folder in collected()], exclude),
            found,
            jobs=effort.jobs,
            engine=effort.engine,
            journal=effort.journal(stack, "calibrate"),
            most=effort.most,
            on_file=stack.enter_context(counted()),
        )
    if form == "json":
        click.echo(printable(json.dumps(as_json(found), indent=1, ensure_ascii=False)))
    else:
        for line in _lines(found):
            click.echo(printable(line))
    wrong = found.kinds["flagged"] or found.kinds["missed"]
    sys.exit(2 if found.unreadable or not found.wires else int(bool(wrong)))


def _lines(found: Calibration) -> Iterator[str]:
    return chain(_tables(found), _cases(found), _counts(found))


def _tables(found: Calibration) -> Iterator[str]:
    yield from _table("wire", found.wires)
    for title, rows in (("provider", found.providers), ("recorded in", found.months), ("rule", found.rules)):
        yield ""
        yield from _table(title, rows)


def _cases(found: Calibration) -> Iterator[str]:
    for kind, title in (
        ("flagged", "Accepted by the API, refused by a rule"),
        ("missed", "Refused by the API, but by no rule"),
        ("unknown", "Refused for an unknown cause"),
        ("contradicted", "Accepted in one recording, refused for what it has in it in another"),
    ):
        if found.kinds[kind]:
            yield from ("", f"{title}:", *map(_case, found.of(kind)))


def _counts(found: Calibration) -> Iterator[str]:
    if found.wires and (recall := found.total.recall) is not None:
        total = found.total
        yield ""
        yield f"Caught: {total.caught} of {total.rejected_modelled} refusals that a request can show ({recall:.1%})."
        yield f"Not placed: the cause of {found.unplaced} of {total.rejected} refusals, by their texts."
    if "middle" in found.age:
        age = found.age
        since = f"from {age['oldest']} to {age['newest']}, half of the requests since {age['middle']}"
        yield from ("", f"Recorded {since}; {age['undated']} have no date.")
    if found.places:
        judged = ", ".join(f"{count} {how}" for how, count in sorted(found.places.items()))
        yield from ("", f"Places of the requests (types of values, further fields of objects): {judged}.")
    if found.causes:
        yield ""
        yield "Causes of refusals: " + ", ".join(f"{c} {n}" for c, n in found.causes.most_common())
    if not found.wires:
        yield "Nothing was judged."
    yield from (f"Not judged: {count:5}  {reason}" for reason, count in found.skipped.most_common())
    yield from (f"unreadable: {problem}" for problem in found.unreadable)


def _table(title: str, rows: dict[str, Tally]) -> list[str]:
    width = max([len(title), *map(len, rows)])
    head = f"{title:{width}}" + "".join(f"{name:>11}" for name in _COLUMNS.values())
    return [
        head,
        *(
            f"{name:{width}}" + "".join(f"{getattr(tally, column):11}" for column in _COLUMNS)
            for name, tally in sorted(rows.items())
        ),
    ]


def _case(case: Case) -> str:
    rule = f" {case.rule} at {case.pointer}:" if case.rule else ""
    return f"  {case.file} {case.place} [{case.wire}, {case.provider}]{rule} {case.said[:200]}"
