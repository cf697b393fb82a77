"""Markup that a model writes is text in the chat app, whatever it stands in, whole or in pieces."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ellmer_core.render.literal_markup import Literal, literal

READ = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PARTS = ["<style>", "</style>", "<div class=x>", "<br>", "`", "``", "```", "~~~", "\n", "\n\n", "a", " ", "\\", "<",
         "!--", "&", "*", "_", "[", "](", ")", "|", '"', "<x\n", "#"]  # fmt: skip
BLOCKS = [">", "- ", "1. ", "> ", "    ", "\t"]


def texts(*parts):
    return st.lists(st.sampled_from(parts), max_size=24).map("".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use <div> and <b>bold</b>.", "Use &lt;div> and <b>bold</b>."),
        ("a < b, 1<2, x<y>z", "a < b, 1<2, x&lt;y>z"),
        ("| a<br>b | <sub>2</sub> |", "| a<br>b | <sub>2</sub> |"),
        ("`<div>` and ``a ` <p x>`` and <p x>", "`<div>` and ``a ` <p x>`` and &lt;p x>"),
        ("```html\n<div>\n```\n<div>", "```html\n<div>\n```\n&lt;div>"),
        ("- a\n  ~~~\n  <div>\n  ~~~\n  <div>", "- a\n  ~~~\n  <div>\n  ~~~\n  &lt;div>"),
        ("one ` mark, <div>", "one ` mark, &lt;div>"),
        ("`<div>\n<div>`", "`&lt;div>\n&lt;div>`"),
        ("\\<div> \\`<div>`", "\\<div> \\`&lt;div>`"),
        ("<https://example.com/?a=b> <a href=x>", "<https://example.com/?a=b> &lt;a href=x>"),
        ('<span class="suggestion submit">Go</span>', '<span class="suggestion submit">Go</span>'),
        ('<content tool-call-id="c1" item="2">', '<content tool-call-id="c1" item="2">'),
        ("<br>\n`<div>`", "<br>\n`&lt;div>`"),  # what a tag begins is HTML, and nothing in it code
        ("<!-- <?php </div>", "&lt;!-- &lt;?php &lt;/div>"),
        ("a <sty", "a &lt;sty"),
    ],
)
def test_markup_is_text_but_for_what_models_format_with(text, shown):
    assert literal(text) == shown


@given(texts(*PARTS, *BLOCKS), st.lists(st.integers(1, 6), min_size=60, max_size=60))
def test_pieces_show_what_the_whole_does(text, sizes):
    pieces, shown, rest = Literal(), "", text
    for size in sizes:
        shown, rest = shown + pieces.feed(rest[:size]), rest[size:]

    assert shown + pieces.feed(rest, last=True) == literal(text)


@settings(max_examples=1000)
@given(texts(*PARTS))
@example("` <style>")
def test_no_markup_gets_through(text):
    """Where no list or quote ends in the middle of a code block: to know that takes a parser of Markdown."""
    html = READ.render(literal(text))

    assert not re.findall(r"<(?:style|div|x)\b", html), html
