"""The days on which rules begin and end, against recordings that have dates.

What was accepted although the rule would refuse it must lie outside of the rule's days, what was refused in the rule's
words inside: a recording on the right side is a witness, one on the wrong side contradicts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...contract import rules
from ...contract.exchange import Request
from ...contract.rule import Rule
from ...contract.verdict import verdict
from ..calibrate import agrees
from ..recorded_requests import Skip, request_of
from ..recording_files import Recording, Unreadable, find, read
from ..refusals_behind_200 import refusal

__all__ = ["Dated", "dated"]


@dataclass
class Dated:
    """What recordings say of one rule's days: how many bear them out, and which contradict."""

    witnesses: int = 0
    contradictions: list[str] = field(default_factory=list)


def dated(paths: Iterable[Path]) -> dict[str, Dated]:
    """By rule (`openai-chat openai REQ-007`), for each rule with days that a dated recording says something of."""
    found: dict[str, Dated] = {}
    for path in find(paths):
        try:
            for recording in read(path) or ():
                _count(found, path, recording)
        except Unreadable:
            continue
    return found


def _count(found: dict[str, Dated], path: Path, recording: Recording) -> None:
    request = request_of(recording)
    if isinstance(request, Skip) or request.when is None or not recording.status or recording.status >= 500:
        return
    book = rules.book(request.wire, request.vendor)
    for rule in book.rules.values():
        if (
            rule.refuses
            and (rule.since or rule.until)
            and (inside := _refused(rule, request, recording)) is not None
        ):
            entry = found.setdefault(f"{book.wire} {book.vendor} {rule.id}", Dated())
            if inside == rule.holds_for(request.model, request.when):
                entry.witnesses += 1
            else:
                verb = "refused" if inside else "accepted"
                entry.contradictions.append(f"{path} {recording.place} was {verb} on {request.when}")


def _refused(rule: Rule, request: Request, recording: Recording) -> bool | None:
    """Tells whether a request that breaks the rule, whatever the day, was refused for it; None where it does
    not break it, or was refused for something else.
    """
    violations = verdict(rule, request).violations
    if not violations or not rule.chosen(request.model):
        return None
    error = refusal(recording)
    return False if error is None else (agrees(violations, request, error) or None)
