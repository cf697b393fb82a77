"""Formulas of a model, in each place that shows them."""

import io

import pytest
from rich.console import Console

from ellmer_core import ContentText
from ellmer_core.live.console import markdown
from ellmer_core.render.html import contents_html
from ellmer_core.render.markup import Literal, formula_html, literal

X = formula_html("x_1")
XX = formula_html("x_1", block=True)
FORMULAS = {
    r"so $x_1$ is": f"so {X} is",
    r"so \(x_1\) is": f"so {X} is",
    "so\n\\[\nx_1\n\\]\nis": f"so\n{XX}\nis",
    "so $$x_1$$": f"so {XX}",
    "$$\nx_1\n$$": XX,
}
TEXTS = [
    "It costs $5 and $6.",
    "from 5$ to 10$",
    r"\$x\$",
    "`$x_1$`",
    "```\n$x_1$\n```",
    "a $x\n\ny$",
    "$ x $",
    "$$",
]
HOSTILE = [
    r"\text{<script>alert(1)</script>}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{position:fixed}{x}",
    r"\class{suggestion submit}{x}",
    r'\color{red" onclick="alert(1)}{x}',
    "{" * 3000,
    r"\frac{",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_mathml_whole_and_in_pieces(text):
    pieces = Literal()

    assert literal(text) == FORMULAS[text]
    assert "".join(map(pieces.feed, text)) + pieces.feed("", last=True) == FORMULAS[text]
    assert "<math" in contents_html(ContentText(text))


@pytest.mark.parametrize("text", TEXTS)
def test_money_code_and_single_signs_are_no_formulas(text):
    assert "<math" not in literal(text) + contents_html(ContentText(text))


@pytest.mark.parametrize("tex", HOSTILE)
def test_a_formula_runs_and_styles_nothing(tex):
    shown = formula_html(tex)

    assert not any(word in shown for word in ("<script", "href", "style=", "class", "onclick", "javascript"))


def test_what_cannot_be_read_is_shown_as_it_was_written():
    assert formula_html(r"\frac{") == "<code>&#92;frac&#123;</code>"


def test_a_terminal_shows_the_source_with_its_backslashes():
    console = Console(file=io.StringIO(), width=80)
    console.print(markdown("so \\(\\frac{a}{b}\\) and $x_1$\n\n$$\n\\alpha_1\n$$"))

    assert r"so \frac{a}{b} and x_1" in console.file.getvalue()
    assert r"\alpha_1" in console.file.getvalue()


def test_a_formula_without_an_end_is_not_waited_for_without_an_end():
    pieces = Literal()

    assert pieces.feed("\\(" + "x" * 3000).endswith("x")
