"""Conversations as plain text."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ..contents.content import Content, ContentText
from ..contents.turns import Turn
from .sections import sections, shown, turns_of

__all__ = ["contents_text"]


@singledispatch
def contents_text(value: Any) -> str | None:
    """The text of a content (None for all but text), a turn, a list of turns or a chat.

    Of several turns, each side's words stand between `<user>` and `</user>`, and so on.
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
