"""A growing text in a terminal. Complete parts scroll up, and the rest is drawn again."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown
from rich.segment import Segment

from ..render.html import SUGGESTION
from ..render.markup_escaping import complete
from ..render.math import formula_rules
from ..render.rich_console import safe

__all__ = ["Bottom", "complete", "markdown"]

#: The beginning of a suggestion of which the rest is still to come.
BEGUN = re.compile(r"<(?:s(?:p(?:a(?:n[^<>]*)?)?)?)?$|<span class=[^<>]*>[^<>]*(?:<[^>]*)?$")


class Bottom:
    """The end of a renderable, as much as fits on the screen."""

    def __init__(self, whole: RenderableType) -> None:
        self.whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = max(1, console.size.height - 2)
        lines = console.render_lines(self.whole, options.update(height=None), pad=False)
        for line in lines[-room:]:
            yield from line
            yield Segment.line()


def markdown(text: str) -> Markdown:
    """Returns a model's Markdown for a terminal. Suggestions are shown as text to type."""
    shown = Markdown("")
    shown.parsed = _parsed(BEGUN.sub("", SUGGESTION.sub(r"“\1”", safe(text))))
    return shown


def _parsed(text: str) -> list[Token]:
    """Returns the tokens of a Markdown text. Formulas stay as source, which Markdown would change."""
    tokens = _with_formulas().parse(text)
    for token in [*tokens, *(child for block in tokens for child in block.children or [])]:
        if token.type.startswith("math_"):
            token.type, token.tag = (
                ("fence", "code") if token.type == "math_block" else ("code_inline", "code")
            )
    return tokens


@cache
def _with_formulas() -> MarkdownIt:
    return formula_rules(MarkdownIt().enable("strikethrough").enable("table"))
