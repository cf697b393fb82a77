"""The report as Markdown, for the summary of a CI job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from ..causes import causes, headline
from ..report_json import fraction
from ..results import VERDICTS, Report, Row, sentences
from .terminal import MARKS, rows
from .terminal_escaping import printable

_SHOWN = 20  # failures; the rest is in the HTML page


def markdown(report: Report, folder: str) -> str:
    """Returns a table of scores, a line of counts, and each failure once, with a link to the report's folder."""
    found = causes(report)
    blocks = [_heading(report), _scores(report), _counts(report.rows), *_abilities(report)]
    blocks += [f"- ✗ baseline: {_cell(problem)}" for problem in report.problems]
    blocks += [f"- ✗ {_cell(line)}" for line in sentences(report.unjudged)]
    blocks += [_failure(cause.rows, folder) for cause in found[:_SHOWN]]
    if len(found) > _SHOWN:
        blocks.append(f"… and {len(found) - _SHOWN} more, in the HTML page.")
    return printable("\n\n".join(blocks)) + "\n"


def _heading(report: Report) -> str:
    word = {0: "✓ kept", 1: "✗ broken", 2: "could not be judged"}[report.exit_code]
    told = headline(report)
    return f"## Conformance: {word}{f' ({told})' if told else ''}"


def _scores(report: Report) -> str:
    lines = [
        f"Requirements {report.requirements}: rules kept / rules that apply.",
        "",
        "| adapter | wire format | MUST | SHOULD | preview |",
        "|---|---|--:|--:|--:|",
    ]
    for name, counts in report.score.items():
        adapter, _, wire = name.partition(" ")
        levels = " | ".join(fraction(counts, level) for level in ("must", "should", "preview"))
        lines.append(f"| {_cell(adapter)} | {wire} | {levels} |")
    return "\n".join(lines)


def _abilities(report: Report) -> list[str]:
    """Returns the declared capabilities of each adapter, folded."""
    found = [f"| {_cell(name)} | {_cell(places)} | {_cell(able)} |" for name, places, able in rows(report)]
    head = [
        "<details><summary>Capabilities, as declared</summary>",
        "",
        "| adapter | where | what |",
        "|---|---|---|",
    ]
    return ["\n".join([*head, *found, "", "</details>"])] if found else []


def _counts(found: Sequence[Row]) -> str:
    counts = Counter(row.verdict for row in found)
    return " · ".join(
        f"{MARKS[verdict][0]} {verdict} {counts[verdict]}" for verdict in VERDICTS if counts[verdict]
    )


def _failure(group: Sequence[Row], folder: str) -> str:
    row = group[0]
    first = row.message.splitlines()[0] if row.message else row.verdict
    title = f"<b>{row.rule}</b> ({row.level}, {row.verdict}), {len(group)}×: {escape(first)}"
    places = list(dict.fromkeys(f"`{r.wire}/{r.provider}/{r.case}[{r.mode}]`" for r in group))
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    lines = [
        f"<details><summary>{title}</summary>",
        "",
        f"At `{row.pointer}` in {', '.join(places[:3])}{more}.",
        "",
    ]
    for language, text in (("", row.message), ("", row.excerpt), ("", row.provider_error)):
        lines += [f"````{language}", text, "````", ""] if text and text != first else []
    lines += [f"<{row.page}>", ""] if row.page else []
    lines += ["```sh", row.explain_command, row.repro_command(folder), "```", "", "</details>"]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return escape(text).replace("|", "\\|").replace("\n", " ")
