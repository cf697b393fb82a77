"""Code that the renderers share: the role of a section, and the visible parts of a tool result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ..contents.content import Content, ContentText, ContentToolResult, is_media
from ..contents.turns import AssistantPartialTurn, AssistantTurn, Turn
from ..conversation.history import merged, sendable
from ..errors import UsageError

__all__ = ["is_tag", "media_of", "note", "noted", "sections", "shown", "sides", "turns_of", "turns_shown"]

Render = Callable[[Any], str | None]

#: The text that `flatten()` puts around media for the model. Our history does not have it, but an imported one may.
TAG = re.compile(r'<content tool-call-id="[^"]*"(?: item="\d+")?>|</content>')


def is_tag(content: ContentText) -> bool:
    """Tells whether a text is only for the model."""
    return bool(TAG.fullmatch(content.text.strip()))


def media_of(result: ContentToolResult) -> list[Content]:
    """Returns the images and files of a tool's result, in order."""
    if result.error is not None:
        return []
    values = result.value if isinstance(result.value, (list, tuple)) else [result.value]
    return [value for value in values if is_media(value)]


def shown(contents: Sequence[Content], render: Render) -> list[str]:
    """Returns the visible parts of some contents, rendered."""
    return [text for text in map(render, _cited_whole(contents)) if text]


def sides(turns: Sequence[Turn]) -> Iterator[tuple[str, list[Content]]]:
    """Yields a role and its contents while the role stays the same. Tool results belong to the answer with their
    calls.
    """
    said = [(_side(turn, content), content) for turn in turns for content in turn.contents]
    for role, group in groupby(said, key=lambda pair: pair[0]):
        yield role, [content for _, content in group]


def sections(turns: Sequence[Turn], render: Render) -> Iterator[tuple[str, list[str]]]:
    """Renders the sections of `sides()`. A section without visible content is left out."""
    rendered = [(role, text) for role, contents in sides(turns) for text in shown(contents, render)]
    for role, group in groupby(rendered, key=lambda pair: pair[0]):
        yield role, [text for _, text in group]


def turns_of(value: Any) -> list[Turn]:
    """Returns the turns of a list of turns, or of a chat (anything that has `get_turns()`)."""
    turns = value.get_turns() if hasattr(value, "get_turns") else value
    if isinstance(turns, (list, tuple)) and all(isinstance(turn, Turn) for turn in turns):
        return list(turns)
    raise UsageError(f"Expected a content, a turn, a list of turns or a chat, not {type(value).__name__}.")


def turns_shown(value: Any) -> list[Turn]:
    """Returns the turns as `turns_of()`, in a closed form: each request has its result, and a partial answer has a
    note.
    """
    turns, history = turns_of(value), getattr(value, "_history", None)
    if history and history.open_requests and turns[-1] is history.turns[-1]:
        turns.append(history.reply(()))
    return [noted(turn) for turn in sendable(turns)]


def note(turn: Turn | None) -> list[Content]:
    """Returns the note after a partial answer."""
    return [ContentText(f"\n\n*[{turn.reason}]*")] if isinstance(turn, AssistantPartialTurn) else []


def noted(turn: Turn) -> Turn:
    """Returns the turn with its note."""
    return AssistantTurn([*turn.contents, *note(turn)]) if isinstance(turn, AssistantPartialTurn) else turn


def _side(turn: Turn, content: Content) -> str:
    return "assistant" if isinstance(content, ContentToolResult) else turn.role


def _cited_whole(contents: Sequence[Content]) -> list[Content]:
    """Returns the contents with joined texts. Providers split a text with citations into parts."""
    whole: list[Content] = []
    for is_text, group in groupby(contents, key=lambda content: type(content) is ContentText):
        parts = list(group)
        cited = is_text and any(part.citations for part in parts if isinstance(part, ContentText))
        whole += merged(parts) if cited else parts
    return whole
