"""Formulas in a model's text: TeX between `$…$`, `$$…$$`, `\\(…\\)` or `\\[…\\]`, as MathML for browsers.

The extras `html` and `shiny` install `latex2mathml`, which reads TeX. Its output for a model's text is untrusted:
only known elements and harmless attributes are written, and every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["formula_end", "formula_html", "formula_rules"]

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
    from latex2mathml.converter import convert_to_element  # noqa: PLC0415 - of the extras `html` and `shiny`

    display = "block" if block else "inline"
    try:
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
    known = [(name, value) for name, value in element.attrib.items() if name in ATTRIBUTES]
    harmless = [f' {name}="{escape(value)}"' for name, value in known if HARMLESS.fullmatch(value)]
    yield f"<{tag}{''.join(harmless)}>{_text(element.text or '')}"
    for child in element:
        yield from _written(child)
    yield f"</{tag}>"


def _text(text: str) -> str:
    """Returns a text that neither HTML nor Markdown interprets."""
    return PUNCTUATION.sub(lambda mark: f"&#{ord(mark[0])};", unescape(text)).replace("\n", " ")
