"""Makes a conversation shorter: its oldest rounds are removed, or replaced by a summary of the model.

A round is a message of the user and all that follows until the next one. Calls and their results stay together, as
every provider requires.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..contents.content import ContentToolResult
from ..contents.turns import AssistantTurn, SystemTurn, Turn, UserTurn
from ..conversation.history import History
from ..errors import UsageError

__all__ = ["PROMPT", "parted", "shorten"]

PROMPT = (
    "Summarize our conversation so far for yourself: what I asked for, what was found and decided, names, numbers and "
    "file names that will be needed, and what is still open. Your summary replaces the conversation. Answer with the "
    "summary only."
)


def parted(turns: Sequence[Turn], keep: int) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """Returns the system prompt, the older rounds and the last `keep` of them."""
    if not isinstance(keep, int) or isinstance(keep, bool) or keep < 0:
        raise UsageError(f"keep= must be the number of rounds to keep, 0 or more, not {keep!r}.")
    system: list[Turn] = [turn for turn in turns if isinstance(turn, SystemTurn)]
    said = [turn for turn in turns if not isinstance(turn, SystemTurn)]
    starts = [place for place, turn in enumerate(said) if _starts(turn)]
    kept = len(said) if not keep else (starts[-keep] if len(starts) >= keep else 0)
    return system, said[:kept], said[kept:]


def shorten(history: History, keep: int, summary: Turn | None) -> None:
    """Replaces the older rounds by their summary, or removes them if there is none."""
    system, older, kept = parted(history.turns, keep)
    if older:
        results = history.results if kept else {}
        history.replace([*system, *(_round(summary.text) if summary else []), *kept], results)


def _round(summary: str) -> list[Turn]:
    """Returns a round with the summary."""
    return [
        UserTurn([f"This is a summary of our conversation so far:\n\n{summary}"]),
        AssistantTurn(["I have read it, and go on from there."]),
    ]


def _starts(turn: Turn) -> bool:
    """Tells whether a turn has a message of the user, and not only tool results."""
    return isinstance(turn, UserTurn) and not any(isinstance(c, ContentToolResult) for c in turn.contents)
