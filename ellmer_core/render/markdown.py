"""Conversations as Markdown."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import Any

from ..contents.content import (
    Content,
    ContentCitation,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUploaded,
)
from ..contents.tool_requests_and_results import ContentToolResult
from ..contents.turns import Turn
from .citation_footnotes import source_link, sources_markdown
from .turn_sections import media_of, sections, shown, turns_of

__all__ = ["contents_markdown"]


@singledispatch
def contents_markdown(value: Any) -> str | None:
    """Renders a content, a turn, a list of turns or a chat as Markdown.

    Several turns each have a heading, `## User` or `## Assistant`.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        The Markdown; `None` for a content that has nothing to show.

    Examples:
        >>> contents_markdown(ContentText("**Hello**"))
        '**Hello**'
    """
    parts = sections(turns_of(value), contents_markdown)
    return "\n\n".join("\n\n".join([f"## {role.capitalize()}", *texts]) for role, texts in parts)


@contents_markdown.register(Content)
def _(_content: Content) -> None:
    return None


@contents_markdown.register(ContentText)
def _(content: ContentText) -> str:
    return "\n\n".join(filter(None, [content.text, sources_markdown(content.citations)]))


@contents_markdown.register(ContentCitation)
def _(content: ContentCitation) -> str:
    return f"Source: {source_link(content)}"


@contents_markdown.register(ContentThinking)
def _(content: ContentThinking) -> str | None:
    return f"<thinking>\n{content.thinking}\n</thinking>\n" if content.thinking else None


@contents_markdown.register(ContentImageInline)
def _(content: ContentImageInline) -> str:
    return f"![](data:{content.type};base64,{content.data})"


@contents_markdown.register(ContentImageRemote)
def _(content: ContentImageRemote) -> str:
    url = content.url
    for character in " ()<>\n":
        url = url.replace(character, f"%{ord(character):02X}")
    return f"![]({url})"


@contents_markdown.register(ContentPDF)
def _(content: ContentPDF) -> str:
    return f"`[PDF: {content.filename}]`"


@contents_markdown.register(ContentFile)
def _(content: ContentFile) -> str:
    return f"`[file: {content.filename}]`"


@contents_markdown.register(ContentUploaded)
def _(content: ContentUploaded) -> str:
    return f"`[uploaded {content.type} file]`"


@contents_markdown.register(ContentJson)
def _(content: ContentJson) -> str:
    return f"```json\n{json.dumps(content.value, ensure_ascii=False, indent=2)}\n```"


@contents_markdown.register(ContentToolResult)
def _(content: ContentToolResult) -> str | None:
    return "\n\n".join(shown(media_of(content), contents_markdown)) or None


@contents_markdown.register(Turn)
def _(turn: Turn) -> str:
    return "\n\n".join(shown(turn.contents, contents_markdown))
