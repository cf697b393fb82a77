"""Files that the provider has deleted meanwhile: the file itself is sent in the place of its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...contents.content import Content, ContentUploaded
from ...contents.turns import Turn, are_plain

__all__ = ["expiring", "sent_along"]

T = TypeVar("T", bound=Turn)

EARLY = 60.0  # seconds: a file that is about to go may be gone when the provider looks for it


def expiring(turns: Sequence[Turn]) -> bool:
    """Whether a file is named that goes at some time, and that could be sent along."""
    others = [turn for turn, plain in zip(turns, are_plain(turns), strict=True) if not plain]
    return any(_expires(content) is not None for turn in others for content in turn.contents)


def sent_along(turn: T, now: float) -> T:
    """The turn with the files themselves that are gone by now (Unix time)."""
    gone = [(ends := _expires(content)) is not None and ends - EARLY <= now for content in turn.contents]
    if not any(gone):
        return turn
    return type(turn)([_source(c) if late else c for c, late in zip(turn.contents, gone, strict=True)])


def _expires(content: Content) -> float | None:
    """When the provider deletes the file, if it does, and the file is known here."""
    if isinstance(content, ContentUploaded) and content.source is not None:
        return content.expires_at
    return None


def _source(content: Content) -> Content:
    return (content.source or content) if isinstance(content, ContentUploaded) else content
