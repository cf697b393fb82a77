"""Conversations as HTML. Texts of models and tools are escaped. Only HTML that the author of a tool marked as such is
kept (`ToolResultDisplay`, an icon).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, singledispatch
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from ..base.file_replacement import NO_ROOM, explained, replace_file
from ..contents.content import (
    Content,
    ContentCitation,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentProviderCall,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    any_content,
)
from ..contents.turns import Turn
from ..errors import UsageError
from .citation_footnotes import mark_rules, marked_for_rules, source_anchor, sources_html
from .markdown import contents_markdown, is_tag, sections, shown, turns_shown
from .markup import formula_rules
from .printed_form import format_turn
from .tool_card import Card, card, value_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

__all__ = ["contents_html", "export"]


#: A model's suggestion for the next message. A chat app shows a link; elsewhere, it is plain text.
SUGGESTION = re.compile(r"""<span class=["']suggestion[^<>]*>([^<]*)</span>""")

#: Around a table, which may be wider than the page: it scrolls, with a keyboard, too.
WIDE = '<div class="wide" role="group" aria-label="Table" tabindex="0">'


@singledispatch
def contents_html(value: Any) -> str | None:
    """Renders a content, a turn, a list of turns or a chat as HTML.

    Text is read as Markdown (needs markdown-it-py, the extra `html`). Tool calls become cards that fold. Each turn
    becomes a `<section>` whose class is its role.

    Args:
        value: The content, turn, list of turns, or chat.

    Returns:
        The HTML; `None` for a content that has nothing to show.

    Raises:
        UsageError: The extra `html` is not installed.

    Examples:
        >>> contents_html(ContentText("**Hello**")).strip()
        '<p><strong>Hello</strong></p>'
    """
    parts = sections(turns_shown(value), contents_html)
    return "\n".join(
        "\n".join([f'<section class="{role}">', f"<h2>{role.capitalize()}</h2>", *texts, "</section>"])
        for role, texts in parts
    )


@contents_html.register(Content)
def _(content: Content) -> str | None:  # noqa: C901, PLR0911, PLR0912 - one case per class
    match any_content(content):
        case ContentText() as text:
            return None if is_tag(text) else _text(text)
        case ContentCitation() as citation:
            return f'<p class="sources">Source: {source_anchor(citation)}</p>'
        case ContentThinking(thinking=thinking):
            thought = _from_markdown(thinking)
            return f"<details><summary>Thinking</summary>\n{thought}\n</details>" if thought else None
        case ContentImageInline() as image:
            return _image(image)
        case ContentImageRemote(url=url) as image:
            return _image(image, url)
        case ContentPDF(data=data, filename=filename):
            return _download(f"data:application/pdf;base64,{data}", filename)
        case ContentFile() as file:
            return _file(file)
        case ContentUploaded(type=type):
            return f"<p>[uploaded {escape(type)} file]</p>"
        case ContentJson(value=value):
            return f"<pre><code>{escape(json.dumps(value, ensure_ascii=False, indent=2))}</code></pre>"
        case ContentToolResult() as result:
            return card_html(card(result))
        case ContentProviderCall(result=ContentToolResult() as result):
            return card_html(card(result))
        case ContentUnknown() | ContentToolRequest() | None:
            return None
        case never:
            assert_never(never)


def _text(content: ContentText) -> str:
    html = _from_markdown(SUGGESTION.sub(r"\1", marked_for_rules(content)), content.citations)
    return "\n".join(filter(None, [html, sources_html(content.citations)]))


def _file(file: ContentFile) -> str:
    source = f"data:{file.type};base64,{file.data}"
    if file.type.startswith(("audio/", "video/")):
        tag = file.type.partition("/")[0]
        return f'<{tag} controls src="{escape(source)}" title="{escape(file.filename)}"></{tag}>'
    return _download(source, file.filename)


def _download(source: str, filename: str) -> str:
    name = escape(filename)
    return f'<p><a href="{escape(source)}" download="{name}">{name}</a></p>'


@contents_html.register(Turn)
def _(turn: Turn) -> str:
    return "\n".join(shown(turn.contents, contents_html))


def media_html(items: Sequence[object], title: str) -> str:
    """Returns a tool's result: its images with the call's title, its files, and other values."""
    return "\n".join(_item(item, title) for item in items)


def _item(item: object, title: str) -> str:
    match item:
        case ContentImageInline():
            return _image(item, title)
        case ContentImageRemote(url):
            return _image(item, f"{title}: {url}")
    html = contents_html(item) if isinstance(item, Content) else None
    return html or _code(value_text(item))


def _image(image: ContentImageInline | ContentImageRemote, alt: str = "") -> str:
    if isinstance(image, ContentImageRemote):
        return image_link(image.url, escape(alt or image.url))
    source = f"data:{image.type};base64,{image.data}"
    return f'<img src="{escape(source)}" alt="{escape(alt)}">'


def image_link(url: str, name: str) -> str:
    """Returns a remote image as a link, because loading it would tell its server about the reader."""
    if not url.lower().startswith(("http:", "https:")):
        return name
    return f'<ellmer-image></ellmer-image><a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{name}</a>'


def card_html(shown_as: Card) -> str:
    """Returns a tool call: the call, its result and a footer. It is folded unless its result is to be seen."""
    display = shown_as.display
    kinds = f"tool {shown_as.status}{' block' * shown_as.block}"
    asked = bool(shown_as.request.id) and display.get("show_request", True)
    lines = [
        f'<details class="{kinds}"{" open" * shown_as.open}>',
        _summary(shown_as),
        _code(shown_as.call) if asked else "",
        _body(shown_as),
        f"<footer>{display['footer']}</footer>" if "footer" in display else "",
        "</details>",
    ]
    return "\n".join(filter(None, lines))


def _summary(shown_as: Card) -> str:
    icon = f'<span aria-hidden="true">{shown_as.icon}</span> ' if shown_as.icon is not None else ""
    beside = [*filter(None, [shown_as.label, str(shown_as.display.get("value_preview", ""))])]
    words = {"error": ["failed"], "denied": ["denied"]}.get(shown_as.status, [])
    beside = [*filter(None, [shown_as.intent]), *beside, *words]
    return f"<summary>{icon}{escape(shown_as.title)}{''.join(f' <em>{escape(b)}</em>' for b in beside)}</summary>"


def _body(shown_as: Card) -> str:
    match shown_as.kind:
        case "html":
            return str(shown_as.body)
        case "markdown":
            return _from_markdown(shown_as.body)
        case "text":
            return f"<p>{escape(shown_as.body)}</p>"
        case "media":
            return media_html(shown_as.body, shown_as.title)
    return _code(shown_as.body)


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def _from_markdown(text: str, citations: Sequence[ContentCitation] = ()) -> str:
    return str(_parser().render(text, {"citations": citations})).rstrip("\n")


@cache
def _parser() -> MarkdownIt:
    """Returns a parser of CommonMark with tables and formulas. HTML is shown as text, images become links, and links
    that run code are removed.
    """
    try:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - an extra

        parser = formula_rules(MarkdownIt("commonmark", {"html": False}).enable("table"))
    except ImportError as error:  # rich brings the parser without its plugins
        raise UsageError(
            'Markdown to HTML needs markdown-it-py and its plugins: pip install "ellmer-core[html]".'
        ) from error
    parser.add_render_rule("table_open", lambda *_: f"{WIDE}<table>\n")
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("image", _image_in_text)
    return mark_rules(parser)


def _image_in_text(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: Any
) -> str:
    token = tokens[place]
    name = renderer.renderInlineAsText(token.children, options, env)
    url = str(token.attrs.get("src", ""))
    if url.startswith("data:image/"):
        return f'<img src="{escape(url)}" alt="{escape(name)}">'
    return image_link(url, escape(name or url))


# --- notebooks -------------------------------------------------------------------------------------------


#: What a page of a conversation may do. A page of its own has no scripts, and loads nothing.
POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
#: A page in a frame of the notebook. Its colors are its own, because a notebook does not tell a frame what it uses.
CELL = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<base target="_blank">
<title>Chat</title>
<style>
:root {{ background: Canvas; color: CanvasText; color-scheme: light dark; }}
body {{ margin: 0; }}
{styles}</style>
</head>
<body>
<div class="ellmer-chat">
{body}
</div>
</body>
</html>
"""
#: The frame runs no scripts; the notebook gives it the height of its page. A notebook that is not trusted shows neither frames
#: nor style sheets: it shows the text.
FRAME = """\
<style>.ellmer-text {{ display: none; }}</style>
<iframe title="Chat" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads" \
style="border: 0; height: 24rem; resize: vertical; width: 100%" onload="{fits}" srcdoc="{page}"></iframe>
<pre class="ellmer-text">{text}</pre>"""
FITS = "const frame = this, page = frame.contentDocument.documentElement; \
new ResizeObserver(() => { frame.style.height = page.offsetHeight + 'px' }).observe(page)"


def notebook_html(value: Any) -> str | None:
    """Returns a frame with a page of its own, which has a content security policy. Returns `None` without the extra `html`, and the
    notebook then shows the Markdown.
    """
    try:
        html = contents_html(value)
    except UsageError:
        return None
    page = CELL.format(policy=POLICY, styles=styles(), body=html)
    text = "\n\n".join(map(format_turn, turns_shown(value)))
    return FRAME.format(fits=escape(FITS), page=escape(page), text=escape(text))


@cache
def styles() -> str:
    """Returns the style sheet of exported pages and of notebooks."""
    return files("ellmer_core.render").joinpath("www", "chat.css").read_text(encoding="utf-8")


# --- files -----------------------------------------------------------------------------------------------


PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; max-width: 46rem; padding: 0 1rem; }}
{styles}</style>
</head>
<body>
<main class="ellmer-chat">
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def whole_page(chat: Any, title: str) -> str:
    """Returns the self-contained page of a chat or a list of turns."""
    return PAGE.format(policy=POLICY, title=escape(title), styles=styles(), body=contents_html(chat))


def export(chat: Any, path: str | Path, *, title: str = "Chat", overwrite: bool = False) -> Path:
    """Writes a chat to a file: Markdown for `.md`, a self-contained page for `.html`.

    The page contains its images, runs no scripts and loads nothing from other hosts. It shows the address of an image
    that the provider fetched.

    Args:
        chat: A chat or a list of turns.
        path: Path of the file.
        title: Title of the page. Default: `"Chat"`.
        overwrite: Whether an existing file is replaced. Default: `False`.

    Returns:
        The path.

    Raises:
        UsageError: The file exists, or its name has another suffix.
        OSError: It cannot be written. A file that existed is unchanged, and no new one is left behind.

    Examples:
        >>> export([UserTurn("Hello"), AssistantTurn("Hi!")], "chat.md").name
        'chat.md'
    """
    path = Path(path)
    match path.suffix.lower():
        case ".md" | ".markdown":
            text = f"# {title}\n\n{contents_markdown(chat)}\n"
        case ".html" | ".htm":
            text = whole_page(chat, title)
        case suffix:
            raise UsageError(f"A chat is exported to .md or .html, not {suffix!r} ({path}).")
    with explained(path, "What was there is unchanged. Make room, or choose another folder", NO_ROOM):
        _write(path, text.encode("utf-8", "backslashreplace"), overwrite=overwrite)
    return path


def _write(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Writes a file whole, or not at all. A device and a pipe are written in place."""
    if overwrite and path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    known = path.is_file()
    try:
        path.touch(exist_ok=overwrite)  # nobody else has the name then
    except FileExistsError as error:
        raise UsageError(f"{path} already exists. Pass overwrite=True to replace it.") from error
    try:
        replace_file(path.resolve(), data, mode=path.stat().st_mode & 0o777)
    except OSError:
        if not known:
            path.unlink()
        raise
