"""Escapes HTML in a model's Markdown, for pages that would interpret it: markup is shown as it was written.

Otherwise `<style>` would restyle the page, `<title>` swallow the rest of the answer, and `<div>` not be seen at all.
Kept are the tags that models format with, none of which has attributes; suggestions, whose two classes are all they
may have; and what `flatten()` writes for the model, which is not to be seen. Addresses in `<>` become links (to HTML
they would be tags with attributes), and so do images, which would tell their server that somebody looks: the empty
`<ellmer-image>` in front of the link is where the page shows it on a click. In code everything is as it is.

Formulas become MathML here, before Markdown would take their backslashes. This scans; where a block of code begins and ends, a parser of Markdown says, since that depends on the lists and
quotes around it. shinychat itself takes out handlers and addresses that run code.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from .math import formula_end, formula_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["Literal", "complete", "in_code", "literal"]

FORMATTING = (
    "b|br|code|dd|del|details|dl|dt|em|h[1-6]|hr|i|ins|kbd|li|mark|ol|p|s|small|strong|sub|summary|sup|u|ul"
)
#: A suggestion is whole, on one line, and plain text: all that it sends is seen.
OFFER = re.compile(r"""<span class=(?:"suggestion(?: submit)?"|'suggestion(?: submit)?')>""")
SUGGESTION = re.compile(rf"{OFFER.pattern}(?:(?!!\[)[^<>\n`\\])*</span>")
UNDECIDED = re.compile(rf"{OFFER.pattern}(?:(?!!\[)[^<>\n`\\])*(?:<(?:/(?:s(?:p(?:an?)?)?)?)?)?")
KEPT = re.compile(
    rf"""</?(?:{FORMATTING})\s*/?>|<details\ open>|<content\ tool-call-id="[^"<>]*"(?:\ item="\d+")?>|</content>""",
    re.IGNORECASE | re.VERBOSE,
)
#: Tags that come in twos.
PAIRED = re.compile(rf"<(/?)(?!(?:br|hr)\b)(?:{FORMATTING})\b[^<>]*>", re.IGNORECASE)
ADDRESS = re.compile(r"<((?:https?:|mailto:)[^\s<>]*)>", re.IGNORECASE)
PARENTHESES = re.compile(r"[()\\]")
#: An image is a link, after a place of ours for it.
IMAGE = "<ellmer-image></ellmer-image>["
TOKEN = re.compile(
    rf"(?P<mark>`+|~+)|(?P<line>\n[ \t]*)|(?P<math>\$\$?|\\[(\[])|(?P<escape>\\.?)|(?P<tag>{SUGGESTION.pattern}|<[^<>\n`]*>?)|(?P<image>!\[?)|[^`~\n\\<!$]+",
    re.DOTALL,
)
MARK = re.compile("`+")
#: What may stand in front of a fence: quotes, items of lists, footnotes.
BEFORE = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|\d+[.)])[ \t]|\[\^[^\]]*\]:)[ \t]*)*")


def literal(text: str) -> str:
    """Returns a whole text."""
    return Literal().feed(text, last=True)


class Literal:
    """A text in pieces. What may be the beginning of something is kept back until it is clear."""

    def __init__(self) -> None:
        self.rest = ""
        self.shown = ""
        self.indent = ""  # what the line begins with
        self.line = ""  # what it has after that
        self.fence = ""  # what stands in front of this block of code; a line end where there is none
        self.html = False  # whether a tag began this paragraph: then nothing in it is code
        self.unclear = False  # whether a mark in it had no second on its line: then no mark is taken for one

    def feed(self, text: str, *, last: bool = False) -> str:
        """Returns the next piece, and what was kept back before it."""
        text, place, before = self.rest + text, 0, len(self.shown)
        kept = "\r" if text.endswith("\r") and not last else ""
        text = re.sub(r"\r\n?", "\n", text.removesuffix(kept))
        while place < len(text):
            token = TOKEN.match(text, place)
            assert token, "every character is of some kind"
            end = self._end(token, last=last)
            if end is None:
                break
            self.shown += self._read(token, text[place:end])
            place = end
        self.rest = text[place:] + kept
        return self.shown[before:]

    def _end(self, token: re.Match[str], *, last: bool) -> int | None:
        """Returns where it ends, code between marks with its end; None if that is not known yet."""
        text, unfinished = token.string, token.lastgroup and token[0]
        if not last and token.end() == len(text) and unfinished and not unfinished.endswith(">"):
            return None
        if not last and UNDECIDED.fullmatch(text, token.start()):
            return None
        line_end = text.find("\n", token.end())
        known, limit = last or line_end >= 0, line_end if line_end >= 0 else len(text)
        if self._may_fence(token) and not known:
            return None
        self._leave(token)
        if token["math"] and not self.fence:
            end = formula_end(text, token.start(), token[0], last=last)
            return None if end is None else max(end, token.end())
        if self.html or self.unclear or self.fence or self._may_fence(token) or not token[0].startswith("`"):
            return token.end()
        return self._code_end(token, limit, known=known)

    def _code_end(self, token: re.Match[str], limit: int, *, known: bool) -> int | None:
        """Returns the end of code between marks. A cell of a table would end in the middle of it."""
        for mark in MARK.finditer(token.string, token.end(), limit):
            if mark[0] == token[0] and (known or mark.end() < limit):
                inside = token.string[token.end() : mark.start()]
                return token.end() if "|" in inside and "<" in inside else mark.end()
        return token.end() if known else None

    def _may_fence(self, token: re.Match[str]) -> bool:
        return len(token["mark"] or "") >= 3 and BEFORE.fullmatch(self.line) is not None

    def _leave(self, token: re.Match[str]) -> None:
        """A line of less indent may end the list or the quote that the block of code is in."""
        if not self.fence or self.line or token["line"]:
            return
        far = len(self.indent.expandtabs(4)) >= len(self.fence.expandtabs(4)) - 1
        if ">" in self.fence or not far:
            quote = re.match(r"[> \t]*", token[0])
            if not in_code(f"{self.shown}{quote[0] if quote else ''}x"):
                self.fence = ""

    def _fenced(self, token: re.Match[str]) -> str:
        """Returns what stands in front of the block of code in which the next line is; nothing if it is in none."""
        before = re.sub(r"[^>\t]", " ", self.indent + self.line)
        rest = token.string[token.start() :].partition("\n")[0]
        return f"{before}\n" if in_code(f"{self.shown}{rest}\n{before}x") else ""

    def _read(self, token: re.Match[str], text: str) -> str:
        if self._may_fence(token):
            fence = self._fenced(token)
            self.unclear = self.unclear and not (fence or self.fence)
            self.unclear |= not (fence or self.fence) and text.startswith("`")
            self.fence = fence and (self.fence or fence)
        elif token["tag"] and not self.fence:
            self.html = self.html or bool(KEPT.fullmatch(text) and BEFORE.fullmatch(self.line))
            text = _tag(text)
        elif text == "![" and not self.fence:
            text = IMAGE
        elif token["line"] and not self.line:
            self.html = self.unclear = False
        elif token["math"] and text != token[0]:
            text = formula_html(text[len(token[0]) : -len(token[0])].strip(), block=token[0] in {"$$", "\\["})
        elif text == token["mark"] and text.startswith("`"):
            self.unclear = True
        if token["line"]:
            self.indent, self.line = text[1:], ""
        else:
            self.line += text
        return text


def in_code(text: str) -> bool:
    """Tells whether the last line is in a block of code that a fence began."""
    line = text.count("\n")
    tokens = _reader().parse(text)
    return any(t.type == "fence" and t.map and t.map[0] < line < t.map[1] for t in tokens)


def complete(text: str) -> int:
    """Returns how much of a Markdown text changes no more: all blocks but the last, if no tag is open in them."""
    blocks = [token.map[0] for token in _reader().parse(text) if token.level == 0 and token.map]
    done = "".join(text.splitlines(keepends=True)[: blocks[-1]]) if blocks else ""
    begun = [bool(tag[1]) for tag in PAIRED.finditer(done)]
    return len(done) if 2 * sum(begun) == len(begun) else 0


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - of the extra `shiny`
    from mdit_py_plugins.footnote import footnote_plugin  # noqa: PLC0415 - likewise

    reader = MarkdownIt("commonmark").use(footnote_plugin)
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader


def _tag(text: str) -> str:
    """Returns what stands in `<>`: kept, a link, or text."""
    if KEPT.fullmatch(text) or SUGGESTION.fullmatch(text):
        return text
    if address := ADDRESS.fullmatch(text):
        label = re.sub(r"[\\\[\]*_~`]", r"\\\g<0>", address[1])
        return f"[{label}]({PARENTHESES.sub(_quoted, address[1])})"
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _quoted(character: re.Match[str]) -> str:
    return f"%{ord(character[0]):02X}"
