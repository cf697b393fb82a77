"""The sources of a text as footnotes. Each source appears once, in the order of citation, with a mark at each cited
passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..contents.content import ContentCitation, ContentText, replaced
from .markup import in_code

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


#: Text in which a mark would be part of something else: code, formulas, links, tags.
CLOSED = re.compile(
    r"(?<!`)`++[^`\n]{1,2000}`++|\$\$[^$]{1,2000}\$\$|\$[^$\n]{1,2000}\$|\\\[(?:(?!\\\[).){1,2000}?\\\]|\\\((?:(?!\\\().){1,2000}?\\\)"
    r"|\[[^\]\n]{0,2000}\]\([^)\n]{0,2000}\)|<[^<>\n]{1,2000}>|https?://\S{1,2000}",
    re.DOTALL,
)

#: Characters that would end a link in Markdown, or would be code, a tag or a formula in it.
ESCAPED = re.compile(r"[<>\\\s()\[\]$`]")

#: Stands in a text where a source is cited.
MARK = "\ue000"
MARKED = re.compile(rf"\[{MARK}(\d{{1,4}})\]")

#: Between two marks, which would be one number without it: a narrow space.
BETWEEN = "\u202f"

LONGEST = 80  # characters of a quote that is used as a title


def sources_text(citations: Iterable[ContentCitation]) -> str:
    """Returns a line for each source, or nothing if there is none."""
    return "\n".join(f"[source {n}]: {source_line(c)}" for n, c in enumerate(_distinct(citations), 1))


def source_line(citation: ContentCitation) -> str:
    """Returns `Title <URL>`, or its known parts."""
    if citation.url:
        return f"{_one_line(citation.title)} <{citation.url}>".lstrip() if citation.title else citation.url
    return _name(citation)


def sources_markdown(citations: Iterable[ContentCitation]) -> str:
    """Returns a numbered list with the heading Sources."""
    lines = [f"{n}. {source_link(c)}" for n, c in enumerate(_distinct(citations), 1)]
    return "\n".join(["**Sources**", "", *lines]) if lines else ""


def sources_html(citations: Iterable[ContentCitation]) -> str:
    """Returns the list as HTML. Texts are escaped, and only web links are kept."""
    items = [f"<li>{source_anchor(citation)}</li>" for citation in _distinct(citations)]
    head = '<p class="sources"><strong>Sources</strong></p>'
    return "\n".join([head, '<ol class="sources">', *items, "</ol>"]) if items else ""


def marked(content: ContentText, mark: Callable[[int, ContentCitation], str]) -> str:
    """Returns the text with a mark after each cited passage. A source of the whole text has none."""
    text, citations = content.text, content.citations
    numbers = {_key(c): n for n, c in enumerate(_distinct(citations), 1)}
    places: dict[int, dict[int, ContentCitation]] = {}
    for citation in citations:
        if citation.end is not None:
            places.setdefault(_open_place(text, citation.end), {})[numbers[_key(citation)]] = citation
    for place, found in sorted(places.items(), reverse=True):
        if not in_code(f"{text[:place]}x"):
            marks = BETWEEN.join(mark(number, found[number]) for number in sorted(found))
            text = text[:place] + marks + text[place:]
    return text


def _open_place(text: str, place: int) -> int:
    """Returns the first position from here on where a mark does not break Markdown syntax."""
    place = min(place, len(text))
    place = next(
        (found.end() for found in CLOSED.finditer(text) if found.start() < place < found.end()), place
    )
    return len(text[:place].rstrip())


def marked_markdown(content: ContentText) -> str:
    """Returns the text with marks in Markdown: numbers that link to the web."""
    return marked(content, _mark_markdown)


def _mark_markdown(number: int, citation: ContentCitation) -> str:
    return f"<sup>{_link(str(number), citation.url)}</sup>"


def marked_for_rules(content: ContentText) -> str:
    """Returns the text with marks that only `mark_rules()` reads, and that no model can write."""
    plain = replaced(content, text=content.text.replace(MARK, ""))
    return marked(plain, lambda number, _: f"[{MARK}{number}]")


def mark_rules(parser: MarkdownIt) -> MarkdownIt:
    """Adds rules to a Markdown parser for the marks of its `citations`."""
    parser.inline.ruler.before("link", "source_mark", _find_mark)
    parser.add_render_rule("source_mark", _mark_html)
    return parser


def _find_mark(state: StateInline, silent: bool) -> bool:
    found = MARKED.match(state.src, state.pos, state.posMax)
    if found and not silent:
        state.push("source_mark", "", 0).meta["number"] = int(found[1])
    state.pos = found.end() if found else state.pos
    return found is not None


def _mark_html(_renderer: Any, tokens: Sequence[Token], place: int, _options: Any, env: Any) -> str:
    number, found = tokens[place].meta["number"], _distinct(env["citations"])
    if not 0 < number <= len(found):
        return ""
    return f"<sup>{_anchor(str(number), found[number - 1], label=f'Source {number}')}</sup>"


def _distinct(citations: Iterable[ContentCitation]) -> list[ContentCitation]:
    found: dict[tuple[str, ...], ContentCitation] = {}
    for citation in citations:
        found.setdefault(_key(citation), citation)
    return list(found.values())


def _key(citation: ContentCitation) -> tuple[str, ...]:
    return (citation.url,) if citation.url else (citation.title, "" if citation.title else citation.quote)


def source_link(citation: ContentCitation) -> str:
    """Returns a source as a Markdown link, or its name if it is not on the web."""
    return _link(re.sub(r"([\\\[\]<>*_`&!|])", r"\\\1", _name(citation)), citation.url)


def _link(name: str, url: str) -> str:
    return f"[{name}]({ESCAPED.sub(_percent, url)})" if _on_the_web(url) else name


def source_anchor(citation: ContentCitation) -> str:
    """Returns a source as an HTML link."""
    return _anchor(_name(citation), citation)


def _anchor(name: str, citation: ContentCitation, *, label: str = "") -> str:
    title = f' title="{escape(citation.quote)}"' if citation.quote else ""
    if not _on_the_web(citation.url):
        return f"<span{title}>{escape(name)}</span>"
    attribute = f' aria-label="{escape(label)}"' if label else ""
    link = f'href="{escape(citation.url)}" target="_blank" rel="noopener noreferrer"{attribute}'
    return f"<a {link}{title}>{escape(name)}</a>"


def _name(citation: ContentCitation) -> str:
    name = _one_line(citation.title or citation.url or citation.quote or "unnamed source")
    return name if len(name) <= LONGEST or citation.title else f"{name[:LONGEST]}…"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _on_the_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
