"""A run against recordings: every conversation under some paths is played to an adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ...adapters import Adapter
from ...baseline import Baseline
from ...report import Report, finished, judged
from ...report.formats.capabilities_table import abilities
from ...scenarios.case import MODES, Mode
from ...server import StrictServer
from .answer_server import RecordedAnswers
from .conversation_player import ConversationPlayer, Outcome
from .conversations import Conversation, conversations
from .summary import Summary

__all__ = ["play_recordings"]


def play_recordings(
    adapter: Adapter,
    asked: str,
    files: Iterable[Path],
    wanted: Mapping[str, Sequence[str]],
    *,
    baseline: Baseline | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> tuple[Summary, Report]:
    """Plays the selected conversations. Returns the counts and the report of the rules."""
    summary, parts = Summary(adapter.name), list[Report]()
    answers, seen = RecordedAnswers(), set[str]()
    modes: Sequence[Mode] = (
        [m for m in MODES if _matches(m, wanted["mode"])] if wanted["mode"] else ("sync", "stream")
    )
    with StrictServer(handler=answers) as server:
        player = ConversationPlayer(adapter, server, answers, modes)
        for path in files:
            on_file(path)
            for conversation in conversations([path], _noting(summary), seen):
                if conversation.first.wire not in adapter.wires:
                    summary.left_out[f"the adapter does not speak {conversation.first.wire}"] += 1
                elif _is_wanted(conversation, wanted):
                    outcome = player.play(conversation)
                    summary.outcomes.append(outcome)
                    parts += _judged(adapter, asked, outcome, baseline)
    report = Report.joined(parts)
    report.real = summary.counts()
    return summary, finished(report)


def _noting(summary: Summary) -> Callable[[str], None]:
    return lambda reason: summary.left_out.update([reason])


def _is_wanted(conversation: Conversation, wanted: Mapping[str, Sequence[str]]) -> bool:
    request = conversation.first
    place = {"wire": request.wire, "provider": request.provider, "case": conversation.name}
    return all(_matches(value, wanted[name]) for name, value in place.items())


def _matches(value: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(value, glob) for glob in globs)


def _judged(adapter: Adapter, asked: str, outcome: Outcome, baseline: Baseline | None) -> list[Report]:
    """Returns the report of one conversation, or nothing if it was not played."""
    if outcome.run is None:
        return []
    found = judged(adapter.name, outcome.run, outcome.verdicts)
    found.named = {adapter.name: asked}
    if outcome.provider in adapter.wires.get(outcome.wire, ()):
        place = f"{adapter.name} {outcome.wire}/{outcome.provider}"
        found.capabilities = {place: abilities(adapter.capabilities(outcome.wire, outcome.provider))}
    found.transcripts = {}
    if baseline:
        found.rows = [baseline.expected(row) for row in found.rows]
    return [found]
