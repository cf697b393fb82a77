"""Markup of a model is text in the chat app, in any context, whole or in pieces."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from ellmer_core.render.markup import IMAGE, Literal, literal

READ = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(footnote_plugin)
PARTS = ["<style>", "</style>", "<div class=x>", "<br>", "`", "``", "```", "~~~", "\n", "\n\n", "a", " ", "\\", "<",
         "!--", "&", "*", "_", "[", "](", ")", "|", '"', "<x\n", "#", "![",
         '<span class="suggestion">', "</span>"]  # fmt: skip
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
        ("<https://a.com/?a=b> <a href=x>", "[https://a.com/?a=b](https://a.com/?a=b) &lt;a href=x>"),
        ("<https://a.com/_(x)[y]*>", "[https://a.com/\\_(x)\\[y\\]\\*](https://a.com/_%28x%29[y]*)"),
        (
            "![A](https://a.com/x.png) `![A](x)` \\![A](x)!",
            f"{IMAGE}A](https://a.com/x.png) `![A](x)` \\![A](x)!",
        ),
        ("```\n![A](x)\n```", "```\n![A](x)\n```"),
        (
            '<span class="suggestion submit" style="x">Go</span>',
            '&lt;span class="suggestion submit" style="x">Go&lt;/span>',
        ),
        (
            '<span class="suggestion fixed-top">Go</span>',
            '&lt;span class="suggestion fixed-top">Go&lt;/span>',
        ),
        ('<span class="suggestion">Go<b>!</b></span>', '&lt;span class="suggestion">Go<b>!</b>&lt;/span>'),
        ('<span class="suggestion">![A](x)</span>', f'&lt;span class="suggestion">{IMAGE}A](x)&lt;/span>'),
        ('<content style="x">', '&lt;content style="x">'),
        ("<ellmer-image></ellmer-image>", "&lt;ellmer-image>&lt;/ellmer-image>"),
        ('<span class="suggestion submit">Go</span>', '<span class="suggestion submit">Go</span>'),
        ('<content tool-call-id="c1" item="2">', '<content tool-call-id="c1" item="2">'),
        ('<content tool-call-id="c1" item="1.doc">', '<content tool-call-id="c1" item="1.doc">'),
        ('<content item="image">', '<content item="image">'),
        ("- ```\n  <p x>\n\n<p x>", "- ```\n  <p x>\n\n&lt;p x>"),
        ("a\n    ```\n    <p x>", "a\n    ```\n    &lt;p x>"),
        (
            "1. a\n\n    ```\n    <p x>\n    ```\n    <p x>",
            "1. a\n\n    ```\n    <p x>\n    ```\n    &lt;p x>",
        ),
        ("> ```\n> <p x>\n<p x>", "> ```\n> <p x>\n&lt;p x>"),
        ("<b>hi</b>\n```\n\n```\n<p x>", "<b>hi</b>\n```\n\n```\n&lt;p x>"),
        ("```\n    ```\n<p x>\n```\n<p x>", "```\n    ```\n<p x>\n```\n&lt;p x>"),
        ("[^1]: <p>\n`<p x>`", "[^1]: <p>\n`&lt;p x>`"),
        ("| ` | <p x> ` |\n|---|---|", "| ` | &lt;p x> ` |\n|---|---|"),
        ("`a\r\r<p x>`", "`a\n\n&lt;p x>`"),
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


@settings(max_examples=300)
@given(texts(*PARTS, *BLOCKS))
@example("` <style>")
def test_no_markup_gets_through(text):
    html = READ.render(literal(text))

    assert not re.findall(r"<(?:style|div|x)\b", html), html
