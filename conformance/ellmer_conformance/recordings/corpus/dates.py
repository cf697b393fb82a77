"""Checks the days on which rules begin and end against dated recordings.

An accepted request that breaks the rule must be outside the rule's days. A request that was refused with the rule's
text must be inside. A recording on the right side confirms the days, and one on the wrong side contradicts them.
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
from ..recorded_requests import Skip, refusal, request_of
from ..recording_files import Recording, Unreadable, find, read

__all__ = ["Dated", "dated"]


@dataclass
class Dated:
    """The recordings about one rule's days: the number that confirm them, and those that contradict them."""

    witnesses: int = 0
    contradictions: list[str] = field(default_factory=list)


def dated(paths: Iterable[Path]) -> dict[str, Dated]:
    """Returns the results by rule (`openai-chat openai REQ-007`), for each rule with days and dated recordings."""
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
    book = rules.book(request.wire, request.provider)
    for rule in book.rules.values():
        if (
            rule.refuses
            and (rule.since or rule.until)
            and (inside := _refused(rule, request, recording)) is not None
        ):
            entry = found.setdefault(f"{book.wire} {book.provider} {rule.id}", Dated())
            if inside == rule.holds_for(request.model, request.when):
                entry.witnesses += 1
            else:
                verb = "refused" if inside else "accepted"
                entry.contradictions.append(f"{path} {recording.place} was {verb} on {request.when}")


def _refused(rule: Rule, request: Request, recording: Recording) -> bool | None:
    """Tells whether a request that breaks the rule on any day was refused for it. Returns `None` if it does not break
    the rule, or was refused for another reason.
    """
    violations = verdict(rule, request).violations
    if not violations or not rule.chosen(request.model):
        return None
    error = refusal(recording)
    return False if error is None else (agrees(violations, request, error) or None)
