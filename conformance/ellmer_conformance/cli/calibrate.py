"""`conformance calibrate`: compares the rules with the verdicts of real APIs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ..recordings.calibrate import Calibration, Case, Tally, as_json, calibrate
from ..report.formats.terminal_escaping import printable
from ._shared import files_argument, progress, traffic

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
@files_argument
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(paths: tuple[Path, ...], *, form: str) -> None:
    """Compare each rule's verdict with the one a real API gave.

    PATHS contain recordings with answers, in the formats of `conformance lint`. The default is the corpus
    that `conformance corpus fetch` downloaded, and the folders in CONFORMANCE_TRAFFIC. Equal requests are
    judged once. No rule may refuse a request that the API accepted. A request that the API refused should be
    refused with the same status, type and error text or field. The cause of a refusal comes from a table of
    error texts that is independent of the rules.

    Exit code 0: no accepted request is flagged and no refusal is missed; 1: some are; 2: a file could not be
    read, or nothing was judged.
    """
    files = traffic(paths)
    with progress(files) as advance:
        found = calibrate(files, on_file=advance)
    text = json.dumps(as_json(found), indent=1, ensure_ascii=False) if form == "json" else _text(found)
    click.echo(printable(text))
    wrong = found.of("flagged") or found.of("missed")
    sys.exit(2 if found.unreadable or not found.wires else int(bool(wrong)))


def _text(found: Calibration) -> str:
    lines = [
        *_table("wire", found.wires),
        "",
        *_table("provider", found.providers),
        "",
        *_table("recorded in", found.months),
        "",
        *_table("rule", found.rules),
    ]
    for kind, title in (
        ("flagged", "Accepted by the API, refused by a rule"),
        ("missed", "Refused by the API, but by no rule"),
        ("unknown", "Refused for an unknown cause"),
    ):
        if cases := found.of(kind):
            lines += ["", f"{title}:", *map(_case, cases)]
    if found.wires and (recall := found.total.recall) is not None:
        total = found.total
        lines += [
            "",
            f"Caught: {total.caught} of {total.rejected_modelled} refusals that a request can show ({recall:.1%}).",
            f"Not placed: the cause of {found.unplaced} of {total.rejected} refusals, by their texts.",
        ]
    if "middle" in found.age:
        age = found.age
        since = f"from {age['oldest']} to {age['newest']}, half of the requests since {age['middle']}"
        lines += ["", f"Recorded {since}; {age['undated']} have no date."]
    if found.places:
        judged = ", ".join(f"{count} {how}" for how, count in sorted(found.places.items()))
        lines += ["", f"Places of the requests (types of values, further fields of objects): {judged}."]
    if found.causes:
        lines += ["", "Causes of refusals: " + ", ".join(f"{c} {n}" for c, n in found.causes.most_common())]
    lines += [] if found.wires else ["Nothing was judged."]
    lines += [f"Not judged: {count:5}  {reason}" for reason, count in found.skipped.most_common()]
    return "\n".join(lines + [f"unreadable: {problem}" for problem in found.unreadable])


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
