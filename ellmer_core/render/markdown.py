"""Conversations as Markdown."""

from __future__ import annotations

import json
from functools import singledispatch
from typing import Any, assert_never

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
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    any_content,
)
from ..contents.turns import Turn
from .citation_footnotes import source_link, sources_markdown
from .turn_sections import media_of, sections, shown, turns_of

__all__ = ["contents_markdown"]


#: The characters that would end the address of a link.
_IN_A_LINK = {ord(character): f"%{ord(character):02X}" for character in " ()<>\n"}


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
def _(content: Content) -> str | None:  # noqa: C901, PLR0911 - one case per class
    match any_content(content):
        case ContentText(text=text, citations=citations):
            return "\n\n".join(filter(None, [text, sources_markdown(citations)]))
        case ContentCitation() as citation:
            return f"Source: {source_link(citation)}"
        case ContentThinking(thinking=thinking):
            return f"<thinking>\n{thinking}\n</thinking>\n" if thinking else None
        case ContentImageInline(type=type, data=data):
            return f"![](data:{type};base64,{data})"
        case ContentImageRemote(url=url):
            return f"![]({url.translate(_IN_A_LINK)})"
        case ContentPDF(filename=filename):
            return f"`[PDF: {filename}]`"
        case ContentFile(filename=filename):
            return f"`[file: {filename}]`"
        case ContentUploaded(type=type):
            return f"`[uploaded {type} file]`"
        case ContentJson(value=value):
            return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```"
        case ContentToolResult() as result:
            return "\n\n".join(shown(media_of(result), contents_markdown)) or None
        case ContentUnknown() | ContentToolRequest() | None:
            return None
        case never:
            assert_never(never)


@contents_markdown.register(Turn)
def _(turn: Turn) -> str:
    return "\n\n".join(shown(turn.contents, contents_markdown))
