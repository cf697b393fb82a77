"""Files that the provider has deleted: the file itself is sent instead of its id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TypeVar

from ...contents.content import Content, ContentUploaded
from ...contents.turns import Turn

__all__ = ["expiring", "sent_along"]

T = TypeVar("T", bound=Turn)

EARLY = 60.0  # seconds: a file that is about to go may be gone when the provider looks for it


def expiring(turns: Sequence[Turn]) -> bool:
    """Tells whether a turn refers to a file that expires and that could be sent itself."""
    return any(_at(content, inf) is not content for turn in turns for content in turn.contents)


def sent_along(turn: T, now: float) -> T:
    """Returns the turn with the files themselves that have expired by now (Unix time)."""
    contents = tuple(_at(content, now) for content in turn.contents)
    same = all(new is old for new, old in zip(contents, turn.contents, strict=True))
    return turn if same else replace(turn, contents=contents)


def _at(content: Content, now: float) -> Content:
    """Returns the content for a request at a time: the file itself if its provider has deleted it and its bytes are
    known.
    """
    if isinstance(content, ContentUploaded) and content.source is not None and content.expires_at is not None:
        return content.source if content.expires_at - EARLY <= now else content
    return content
