"""Finds consequential failures. If a run breaks a rule, its transcript differs, too, and if a request is refused, no
answer can be shown.
"""

from __future__ import annotations

from collections import defaultdict

from .results import Report, Row

__all__ = ["consequences", "without_consequences"]

#: The rules that compare a play with what was expected of it as a whole.
_WHOLE = "CAS-"
#: The parts of a result that cannot be right after a refused request.
_OUTCOME = ("/replies", "/transcript")


def consequences(report: Report) -> dict[str, str]:
    """Returns the consequential failures by id, each with the id of its cause."""
    plays: dict[str, list[Row]] = defaultdict(list)
    for row in [*report.harness_errors, *report.failures]:
        plays[row.place].append(row)
    found: dict[str, str] = {}
    for rows in plays.values():
        causes = sorted((row for row in rows if not row.rule.startswith(_WHOLE)), key=_weight)
        found |= {row.id: causes[0].id for row in rows if causes and _follows(row, causes[0])}
    return found


def _follows(row: Row, cause: Row) -> bool:
    refused = cause.kind == "reject" and not cause.pointer.startswith(_OUTCOME)
    return row.rule.startswith(_WHOLE) or (refused and row.pointer.startswith(_OUTCOME))


def without_consequences(report: Report) -> list[Row]:
    """Returns the failures: harness errors first, then the causes in each run."""
    followed = consequences(report)
    return [row for row in [*report.harness_errors, *report.failures] if row.id not in followed]


def _weight(row: Row) -> tuple[bool, bool]:
    return row.verdict != "harness-error", row.kind != "reject"
