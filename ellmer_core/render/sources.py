"""The sources of a text, after it: each once, in the order in which they are cited."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from ..contents.content import ContentCitation

__all__ = ["source_anchor", "source_line", "source_link", "sources_html", "sources_markdown", "sources_text"]

#: What would end a link in Markdown.
ESCAPED = re.compile(r"[<>\\\s]")

LONGEST = 80  # characters of a quote that stands for a title


def sources_text(citations: Iterable[ContentCitation]) -> str:
    """A line for each source; nothing where there is none."""
    return "\n".join(f"[source {n}]: {source_line(c)}" for n, c in enumerate(_distinct(citations), 1))


def source_line(citation: ContentCitation) -> str:
    """`Title <URL>`, or what is known of it."""
    if citation.url:
        return f"{_one_line(citation.title)} <{citation.url}>".lstrip() if citation.title else citation.url
    return _name(citation)


def sources_markdown(citations: Iterable[ContentCitation]) -> str:
    """A numbered list under the word Sources."""
    lines = [f"{n}. {source_link(c)}" for n, c in enumerate(_distinct(citations), 1)]
    return "\n".join(["**Sources**", "", *lines]) if lines else ""


def sources_html(citations: Iterable[ContentCitation]) -> str:
    """The same as HTML; what was said is text, and links lead to the web only."""
    items = [f"<li>{source_anchor(citation)}</li>" for citation in _distinct(citations)]
    head = '<p class="sources"><strong>Sources</strong></p>'
    return "\n".join([head, '<ol class="sources">', *items, "</ol>"]) if items else ""


def _distinct(citations: Iterable[ContentCitation]) -> list[ContentCitation]:
    found: dict[tuple[str, ...], ContentCitation] = {}
    for citation in citations:
        key = (citation.url,) if citation.url else (citation.title, "" if citation.title else citation.quote)
        found.setdefault(key, citation)
    return list(found.values())


def source_link(citation: ContentCitation) -> str:
    """A source as a link in Markdown; its name, where it is not on the web."""
    name = re.sub(r"([\\\[\]<>*_`&!|])", r"\\\1", _name(citation))
    if not _on_the_web(citation.url):
        return name
    return f"[{name}](<{ESCAPED.sub(_percent, citation.url)}>)"


def source_anchor(citation: ContentCitation) -> str:
    """The same in HTML."""
    title = f' title="{escape(citation.quote)}"' if citation.quote else ""
    if not _on_the_web(citation.url):
        return f"<span{title}>{escape(_name(citation))}</span>"
    link = f'href="{escape(citation.url)}" target="_blank" rel="noopener noreferrer"'
    return f"<a {link}{title}>{escape(_name(citation))}</a>"


def _name(citation: ContentCitation) -> str:
    name = _one_line(citation.title or citation.url or citation.quote or "unnamed source")
    return name if len(name) <= LONGEST or citation.title else f"{name[:LONGEST]}…"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _on_the_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
