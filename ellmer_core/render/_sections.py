"""What the renderers share: whose words they are, and what a tool result holds to be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ..content import Content, ContentToolResult, is_media
from ..errors import UsageError
from ..turns import Turn

__all__ = ["media_of", "sections", "shown", "turns_of"]

Render = Callable[[Any], str | None]


def media_of(result: ContentToolResult) -> list[Content]:
    """The images and files that a tool returned, in order."""
    if result.error is not None:
        return []
    return [
        v
        for v in (result.value if isinstance(result.value, (list, tuple)) else [result.value])
        if is_media(v)
    ]


def shown(contents: Sequence[Content], render: Render) -> list[str]:
    """What is to be seen of some contents, rendered."""
    return [text for text in map(render, contents) if text]


def sections(turns: Sequence[Turn], render: Render) -> Iterator[tuple[str, list[str]]]:
    """Role and rendered contents, one section for as long as the same side speaks. What tools returned
    belongs to the answer in which they were called."""
    rendered = [(_side(turn), shown(turn.contents, render)) for turn in turns]
    for role, group in groupby((pair for pair in rendered if pair[1]), key=lambda pair: pair[0]):
        yield role, [text for _, texts in group for text in texts]


def turns_of(value: Any) -> list[Turn]:
    """The turns of a list of turns, or of a chat (anything that has `get_turns()`)."""
    turns = value.get_turns() if hasattr(value, "get_turns") else value
    if isinstance(turns, (list, tuple)) and all(isinstance(turn, Turn) for turn in turns):
        return list(turns)
    raise UsageError(f"Expected a content, a turn, a list of turns or a chat, not {type(value).__name__}.")


def _side(turn: Turn) -> str:
    by_tools = turn.contents and all(isinstance(c, ContentToolResult) for c in turn.contents)
    return "assistant" if by_tools else turn.role
