"""Escapes HTML in a model's Markdown, for pages that would interpret it. Markup is shown as text.

Otherwise, `<style>` would change the page, `<title>` would hide the rest of the answer, and `<div>` would be
invisible. Some markup stays: the tags that models use for formatting, without attributes; suggestions with their two
classes; and the tags that `flatten()` writes for the model, which are invisible. Addresses in `<>` become links, and
so do images, because loading an image would tell its server about the reader. The empty `<ellmer-image>` before the
link is the place where the page shows the image after a click. Code stays unchanged.

Formulas become MathML here, before Markdown removes their backslashes. This module scans text; a Markdown parser
finds the blocks of code, which depend on lists and quotes around them. shinychat itself removes event handlers and
addresses that run code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


# --- formulas --------------------------------------------------------------------------------------------


#: No formula that somebody reads is longer, in characters.
LONGEST = 2_000
ELEMENTS = frozenset(
    {"math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mstyle", "mpadded", "mphantom", "menclose"}
    | {"msqrt", "mroot", "mfrac", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"}
    | {"mprescripts", "none", "mtable", "mtr", "mlabeledtr", "mtd"}
)
ATTRIBUTES = frozenset(
    {
        "accent",
        "accentunder",
        "columnalign",
        "columnlines",
        "columnspacing",
        "depth",
        "display",
        "displaystyle",
    }
    | {
        "fence",
        "form",
        "height",
        "largeop",
        "linethickness",
        "lspace",
        "mathcolor",
        "mathsize",
        "mathvariant",
    }
    | {"maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel"}
    | {"separator", "stretchy", "symmetric", "voffset", "width"}
)
HARMLESS = re.compile(r"[\w .%#+-]*")
#: The end of a formula for each opening delimiter, and the limit of the search for it.
ENDS = {
    "$": (re.compile(r"(?<![\s\\])\$(?!\d)"), re.compile(r"\n")),
    "$$": (re.compile(r"(?<!\\)\$\$"), re.compile(r"\n[ \t]*\n")),
    "\\(": (re.compile(r"\\\)"), re.compile(r"\n[ \t]*\n")),
    "\\[": (re.compile(r"\\\]"), re.compile(r"\n[ \t]*\n")),
}
PUNCTUATION = re.compile(r"[^\w\s]", re.ASCII)


def formula_end(text: str, start: int, begin: str, *, last: bool) -> int | None:
    """Returns the end of the formula that `begin` opens at `start`; `start` if there is no formula, and `None` if
    that is unclear yet.

    `text` may continue (`last=False`). A sum of money is not a formula: before the second dollar sign there is no
    space, and after it no digit.
    """
    inside = start + len(begin)
    if begin == "$" and text[inside : inside + 1].isspace():
        return start
    end, barrier = ENDS[begin]
    horizon = min(len(text), inside + LONGEST)
    limit = barrier.search(text, inside, horizon)
    found = end.search(text, inside, limit.start() if limit else horizon)
    if found and (last or found.end() < len(text)) and text[inside : found.start()].strip():
        return found.end()
    return start if limit or last or horizon < len(text) else None


def formula_html(tex: str, *, block: bool = False) -> str:
    """Returns the MathML of a formula on one line. An unreadable formula becomes its source as code.

        formula_html("x^2")  # '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'

    `tex` is the source without its delimiters; `block` puts it on a line of its own. The result has no characters
    that Markdown would interpret.
    """
    display = "block" if block else "inline"
    try:
        from latex2mathml.converter import convert_to_element  # noqa: PLC0415 - of the extras `html` and `shiny`

        return "".join(_written(convert_to_element(tex, display=display)))
    except Exception:  # noqa: BLE001 - it raises whatever it meets, RecursionError too; the source is shown then
        return f"<code>{_text(' '.join(tex.split()))}</code>"


def formula_rules(parser: MarkdownIt) -> MarkdownIt:
    """Adds rules for formulas to a Markdown parser: tokens `math_inline`, `math_inline_double`, `math_block`."""
    parser.inline.ruler.before("escape", "formula", _formula)
    from mdit_py_plugins.dollarmath import dollarmath_plugin  # noqa: PLC0415 - of the extras
    from mdit_py_plugins.texmath import texmath_plugin  # noqa: PLC0415 - likewise

    parser.use(
        dollarmath_plugin, allow_space=False, allow_digits=False, allow_labels=False, double_inline=True
    )
    parser.use(texmath_plugin, delimiters="brackets")
    for kind in ("math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(kind, _rule(block=kind != "math_inline"))
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """Finds a formula within a paragraph, with any delimiters."""
    begin = next((b for b in ("$$", "$", "\\(", "\\[") if state.src.startswith(b, state.pos)), None)
    end = begin and formula_end(state.src, state.pos, begin, last=True)
    if not begin or not end or not state.pos < end <= state.posMax:
        return False
    if not silent:
        token = state.push("math_inline_double" if begin in {"$$", "\\["} else "math_inline", "math", 0)
        token.content = state.src[state.pos + len(begin) : end - len(begin)]
    state.pos = end
    return True


def _rule(*, block: bool) -> Any:
    def drawn(_renderer: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
        return formula_html(tokens[place].content.strip(), block=block)

    return drawn


def _written(element: Element) -> Iterator[str]:
    tag = element.tag if element.tag in ELEMENTS else "mrow"
    attributes = [(name, value) for name, value in element.attrib.items() if name in ATTRIBUTES]
    harmless = [f' {name}="{escape(value)}"' for name, value in attributes if HARMLESS.fullmatch(value)]
    yield f"<{tag}{''.join(harmless)}>{_text(element.text or '')}"
    for child in element:
        yield from _written(child)
    yield f"</{tag}>"


def _text(text: str) -> str:
    """Returns a text that neither HTML nor Markdown interprets."""
    return PUNCTUATION.sub(lambda mark: f"&#{ord(mark[0])};", unescape(text)).replace("\n", " ")


# --- escaping --------------------------------------------------------------------------------------------


FORMATTING = (
    "b|br|code|dd|del|details|dl|dt|em|h[1-6]|hr|i|ins|kbd|li|mark|ol|p|s|small|strong|sub|summary|sup|u|ul"
)
#: A suggestion is whole, on one line, and plain text: all that it sends is seen.
OFFER = re.compile(r"""<span class=(?:"suggestion(?: submit)?"|'suggestion(?: submit)?')>""")
SUGGESTION = re.compile(rf"{OFFER.pattern}(?:(?!!\[)[^<>\n`\\])*</span>")
UNDECIDED = re.compile(rf"{OFFER.pattern}(?:(?!!\[)[^<>\n`\\])*(?:<(?:/(?:s(?:p(?:an?)?)?)?)?)?")
KEPT = re.compile(
    rf"""</?(?:{FORMATTING})\s*/?>|<details\ open>|<content(?:\ tool-call-id="[^"<>]*")?(?:\ item="[^"<>]*")?>|</content>""",
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
#: Text that may precede a fence: quotes, items of lists, footnotes.
BEFORE = re.compile(r"[ \t]*(?:(?:>|(?:[-*+]|\d+[.)])[ \t]|\[\^[^\]]*\]:)[ \t]*)*")


def literal(text: str) -> str:
    """Returns a whole text with escaped markup."""
    return Literal().feed(text, last=True)


class Literal:
    """A text in pieces. A possible beginning of markup is held back until it is clear."""

    def __init__(self) -> None:
        self.rest = ""
        self.shown = ""
        self.indent = ""  # what the line begins with
        self.line = ""  # what it has after that
        self.fence = ""  # the text before this block of code, or a line end
        self.html = False  # whether a tag began this paragraph: then nothing in it is code
        self.unclear = False  # whether a mark in it had no second on its line: then no mark is taken for one

    def feed(self, text: str, *, last: bool = False) -> str:
        """Returns the next piece, after the text that was held back."""
        text, place, before = self.rest + text, 0, len(self.shown)
        held = "\r" if text.endswith("\r") and not last else ""
        text = re.sub(r"\r\n?", "\n", text.removesuffix(held))
        while place < len(text):
            token = TOKEN.match(text, place)
            assert token, "every character is of some kind"
            end = self._end(token, last=last)
            if end is None:
                break
            self.shown += self._read(token, text[place:end])
            place = end
        self.rest = text[place:] + held
        return self.shown[before:]

    def _end(self, token: re.Match[str], *, last: bool) -> int | None:
        """Returns the end of a construct, which for code includes the end mark, or `None` if it is not known yet."""
        text, unfinished = token.string, token.lastgroup and token[0]
        if not last and token.end() == len(text) and unfinished and not unfinished.endswith(">"):
            return None
        if not last and UNDECIDED.fullmatch(text, token.start()):
            return None
        line_end = text.find("\n", token.end())
        complete, limit = last or line_end >= 0, line_end if line_end >= 0 else len(text)
        if self._may_fence(token) and not complete:
            return None
        self._leave(token)
        if token["math"] and not self.fence:
            end = formula_end(text, token.start(), token[0], last=last)
            return None if end is None else max(end, token.end())
        if self.html or self.unclear or self.fence or self._may_fence(token) or not token[0].startswith("`"):
            return token.end()
        return self._code_end(token, limit, complete=complete)

    def _code_end(self, token: re.Match[str], limit: int, *, complete: bool) -> int | None:
        """Returns the end of inline code. The end of a table cell ends it, too."""
        for mark in MARK.finditer(token.string, token.end(), limit):
            if mark[0] == token[0] and (complete or mark.end() < limit):
                inside = token.string[token.end() : mark.start()]
                return token.end() if "|" in inside and "<" in inside else mark.end()
        return token.end() if complete else None

    def _may_fence(self, token: re.Match[str]) -> bool:
        return len(token["mark"] or "") >= 3 and BEFORE.fullmatch(self.line) is not None

    def _leave(self, token: re.Match[str]) -> None:
        """Ends a block of code at a line with less indent, because such a line may end the list or quote around it."""
        if not self.fence or self.line or token["line"]:
            return
        far = len(self.indent.expandtabs(4)) >= len(self.fence.expandtabs(4)) - 1
        if ">" in self.fence or not far:
            quote = re.match(r"[> \t]*", token[0])
            if not in_code(f"{self.shown}{quote[0] if quote else ''}x"):
                self.fence = ""

    def _fenced(self, token: re.Match[str]) -> str:
        """Returns the text before the block of code that contains the next line, or nothing if there is none."""
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
    """Tells whether the last line is in a fenced block of code."""
    line = text.count("\n")
    tokens = _reader().parse(text)
    return any(t.type == "fence" and t.map and t.map[0] < line < t.map[1] for t in tokens)


def complete(text: str) -> int:
    """Returns the length of the Markdown text that no longer changes: all blocks but the last, if no tag is open in
    them.
    """
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
    """Returns the replacement of a text in `<>`: the tag itself, a link, or text."""
    if KEPT.fullmatch(text) or SUGGESTION.fullmatch(text):
        return text
    if address := ADDRESS.fullmatch(text):
        label = re.sub(r"[\\\[\]*_~`]", r"\\\g<0>", address[1])
        return f"[{label}]({PARENTHESES.sub(_quoted, address[1])})"
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _quoted(character: re.Match[str]) -> str:
    return f"%{ord(character[0]):02X}"
