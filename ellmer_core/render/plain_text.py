"""Conversations as plain text."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..contents.content import Content, ContentText
from ..contents.turns import Turn
from .turn_sections import sections, shown, turns_of

__all__ = ["contents_text"]


@singledispatch
def contents_text(value: Any) -> str | None:
    """Returns the text of a content, a turn, a list of turns or a chat.

    Several turns are each enclosed in `<user>` and `</user>`, or `<assistant>` and `</assistant>`.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        The text; `None` for a content that is not text.

    Examples:
        >>> contents_text(ContentText("Hello"))
        'Hello'
    """
    parts = sections(turns_of(value), contents_text)
    return "\n\n".join(f"<{role}>\n{''.join(texts)}\n</{role}>" for role, texts in parts)


@contents_text.register(Content)
def _(_content: Content) -> None:
    return None


@contents_text.register(ContentText)
def _(content: ContentText) -> str:
    return content.text


@contents_text.register(Turn)
def _(turn: Turn) -> str:
    return "".join(shown(turn.contents, contents_text))
