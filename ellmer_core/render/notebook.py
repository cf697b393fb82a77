"""Chats and turns as the last value of a notebook cell."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import UsageError
from .html import contents_html

__all__ = ["notebook_html", "styles"]


def notebook_html(value: Any) -> str | None:
    """Returns HTML with its style sheet. Returns `None` without the extra `html`, and the notebook then shows the
    Markdown.
    """
    try:
        html = contents_html(value)
    except UsageError:
        return None
    return f'<div class="ellmer-chat">\n<style>\n{styles()}</style>\n{html}\n</div>'


@cache
def styles() -> str:
    """Returns the style sheet of exported pages and of notebooks."""
    return files(__package__).joinpath("www", "chat.css").read_text(encoding="utf-8")
