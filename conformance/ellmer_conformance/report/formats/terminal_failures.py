"""Failures on a terminal: equal failures once, with the place, the provider's text and the next command."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from ..results import Row
from .terminal_escaping import printable
from .terminal_matrix import MARKS

__all__ = ["chosen", "failure", "grouped"]

_LINES = 12  # of a message
_FAILURES = 20  # in full; the page has all
_PER_RULE = 3
#: Fields of a row with text from elsewhere.
_SAID = ("adapter", "wire", "provider", "case", "pointer", "message", "excerpt", "provider_error")


def grouped(failures: Iterable[Row]) -> list[list[Row]]:
    """Groups rows with equal messages."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in failures:
        groups[row.rule, row.fingerprint].append(row)
    return list(groups.values())


def chosen(groups: Sequence[list[Row]]) -> list[list[Row]]:
    """Returns some rows of each rule: first the refusals of the API, last the differences from a recording."""
    ordered = sorted(
        groups,
        key=lambda g: (g[0].verdict != "harness-error", g[0].kind != "reject", g[0].rule.startswith("CAS-")),
    )
    seen: dict[str, int] = defaultdict(int)
    chosen = []
    for group in ordered:
        seen[group[0].rule] += 1
        if seen[group[0].rule] <= _PER_RULE:
            chosen.append(group)
    return chosen[:_FAILURES]


def failure(group: Sequence[Row], folder: Path | None) -> Text:
    told: dict[str, Any] = {name: printable(getattr(group[0], name)) for name in _SAID}
    row = replace(group[0], **told)
    text = Text().append(MARKS[row.verdict][0], style=MARKS[row.verdict][1])
    text.append(f" {row.rule} ({row.verdict}) ", style="bold").append(_cut(row.message))
    text.append(f"\n    at {row.pointer}")
    if row.excerpt:
        text.append("\n" + "\n".join(f"    {line}" for line in row.excerpt.splitlines()), style="dim")
    if row.provider_error:
        text.append(f"\n    the provider would answer ({row.status}): {row.provider_error}")
    places = list(dict.fromkeys(printable(f"{r.wire}/{r.provider}/{r.case}[{r.mode}]") for r in group))
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    text.append(f"\n    in {', '.join(places[:3])}{more}", style="dim")
    text.append(f"\n    {row.explain_command}", style="dim")
    again = f"\n    {row.repro_command(str(folder))}" if folder else ""
    return text.append(again, style="dim")


def _cut(message: str) -> str:
    lines = message.splitlines()
    return "\n".join(
        [*lines[:_LINES], f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else lines
    )
