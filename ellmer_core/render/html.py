"""Conversations as HTML. Whatever a model or a tool wrote is text: no markup of theirs gets through."""

from __future__ import annotations

import json
from functools import cache, singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

from ..content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolResult,
    ContentUploaded,
)
from ..errors import UsageError
from ..transcript import format_content
from ..turns import Turn
from ._sections import media_of, sections, shown, turns_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["contents_html"]


@singledispatch
def contents_html(value: Any) -> str | None:
    """HTML of a content (None where it has nothing to show), a turn, a list of turns or a chat.

    Text is read as Markdown (needs markdown-it-py, the extra `html`). Tool calls are folded. Of several turns,
    each side's words are a `<section>` whose class is the role.
    """
    parts = sections(turns_of(value), contents_html)
    return "\n".join(
        "\n".join([f'<section class="{role}">', f"<h2>{role.capitalize()}</h2>", *texts, "</section>"])
        for role, texts in parts
    )


@contents_html.register(Content)
def _(_content: Content) -> None:
    return None


@contents_html.register(ContentText)
def _(content: ContentText) -> str:
    return _from_markdown(content.text)


@contents_html.register(ContentThinking)
def _(content: ContentThinking) -> str:
    return _folded("Thinking", _from_markdown(content.thinking))


@contents_html.register(ContentImageInline)
def _(content: ContentImageInline) -> str:
    return f'<img src="data:{escape(content.type)};base64,{escape(content.data)}" alt="">'


@contents_html.register(ContentImageRemote)
def _(content: ContentImageRemote) -> str:
    return f'<img src="{escape(content.url)}" alt="{escape(content.url)}">'


@contents_html.register(ContentPDF)
def _(content: ContentPDF) -> str:
    return f"<p>[PDF: {escape(content.filename)}]</p>"


@contents_html.register(ContentUploaded)
def _(content: ContentUploaded) -> str:
    return f"<p>[uploaded {escape(content.type)} file]</p>"


@contents_html.register(ContentJson)
def _(content: ContentJson) -> str:
    return f"<pre><code>{escape(json.dumps(content.value, ensure_ascii=False, indent=2))}</code></pre>"


@contents_html.register(ContentToolResult)
def _(content: ContentToolResult) -> str:
    request = content.request
    title = (
        request.tool.title(request.arguments) if request and request.tool else request.name if request else ""
    )
    lines = [format_content(c).partition("]: ")[2] for c in (request, content) if c]
    folded = _folded(title or "Tool", f"<pre><code>{escape(chr(10).join(lines))}</code></pre>")
    return "\n".join([folded, *shown(media_of(content), contents_html)])


@contents_html.register(Turn)
def _(turn: Turn) -> str:
    return "\n".join(shown(turn.contents, contents_html))


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{inside}\n</details>"


def _from_markdown(text: str) -> str:
    return str(_parser().render(text)).rstrip("\n")


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; HTML in it is shown as text, and links that run code are none."""
    try:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError('Markdown to HTML needs markdown-it-py: pip install "ellmer-core[html]".') from error
    return MarkdownIt("commonmark", {"html": False}).enable("table")
