"""Conversations for people: text, Markdown, HTML, files, and the user's own content classes."""

import re
import resource
import sys
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from ellmer_core import chat_anthropic
from ellmer_core.contents.content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import UsageError
from ellmer_core.render.html import _parser, contents_html, export, styles
from ellmer_core.render.markdown import contents_markdown, contents_text, loading_nothing
from ellmer_core.render.shinychat import contents_shinychat
from ellmer_core.tools.definition import tool, tool_annotations

CAT = ContentImageInline("image/png", "iVBORw0KGgo=")
DOG = ContentImageRemote("https://example.com/a (1).png")
PDF = ContentPDF("application/pdf", "JVBERi0=", "a&b.pdf")
REQUEST = ContentToolRequest("c1", "draw", {"what": "<cat>"})
PDF_LINK = f'<p><a href="data:application/pdf;base64,{PDF.data}" download="a&amp;b.pdf">a&amp;b.pdf</a></p>'
TURNS = [
    SystemTurn("Be kind."),
    UserTurn("Draw a *cat*."),
    AssistantTurn(["I try.", REQUEST]),
    UserTurn(ContentToolResult([CAT, "as asked"], request=REQUEST)),
    AssistantTurn("There it is."),
    UserTurn(["Thanks!", DOG]),
    AssistantTurn([]),
]


@pytest.mark.parametrize(
    ("content", "text", "markdown", "html"),
    [
        (ContentText("a *b*"), "a *b*", "a *b*", "<p>a <em>b</em></p>"),
        (CAT, None, "![](data:image/png;base64,iVBORw0KGgo=)", '<img src="data:image/png;base64,iVBORw0KGgo=" alt="">'),
        (
            DOG,
            None,
            "![](https://example.com/a%20%281%29.png)",
            '<ellmer-image></ellmer-image><a href="https://example.com/a (1).png" target="_blank" rel="noopener noreferrer">https://example.com/a (1).png</a>',
        ),
        (PDF, None, "`[PDF: a&b.pdf]`", PDF_LINK),
        (
            ContentUploaded("files/1", "image/png", "gemini"),
            None,
            "`[uploaded image/png file]`",
            "<p>[uploaded image/png file]</p>",
        ),
        (
            ContentJson({"a": "<ö>"}),
            None,
            '```json\n{\n  "a": "<ö>"\n}\n```',
            "<pre><code>{\n  &quot;a&quot;: &quot;&lt;ö&gt;&quot;\n}</code></pre>",
        ),
        (
            ContentThinking("*Hm.*"),
            None,
            "<thinking>\n*Hm.*\n</thinking>\n",
            "<details><summary>Thinking</summary>\n<p><em>Hm.</em></p>\n</details>",
        ),
        (REQUEST, None, None, None),
        (
            ContentToolResult("done", request=REQUEST),
            None,
            None,
            ('<details class="tool success">\n<summary>Draw <em>&lt;cat&gt;</em></summary>\n<pre><code>'
             "draw(what = &quot;&lt;cat&gt;&quot;)</code></pre>\n<pre><code>done</code></pre>\n</details>"),
        ),
        (ContentToolResult(error="late"), None, None,
         ('<details class="tool error">\n<summary>Tool <em>failed</em></summary>\n'
          "<pre><code>late</code></pre>\n</details>")),
        (ContentUnknown("w", {}), None, None, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Content) else "",
)  # fmt: skip
def test_each_content(content, text, markdown, html):
    assert contents_text(content) == text
    assert contents_markdown(content) == markdown
    assert contents_html(content) == html


def test_a_turn_with_an_image_in_a_tool_result_shows_the_image_and_no_tags():
    assert contents_markdown(TURNS[3]) == "![](data:image/png;base64,iVBORw0KGgo=)"
    assert '<img src="data:image/png;base64,iVBORw0KGgo=" alt="Draw">' in contents_html(TURNS[3])
    assert "tool-call-id" not in contents_html(TURNS)


def test_a_tool_call_bears_its_title():
    titled = tool(lambda what: what, name="draw", arguments={"what": str},
                  annotations=tool_annotations(lambda a: f"Draw <{a['what']}>"))  # fmt: skip
    request = ContentToolRequest("c1", "draw", {"what": "cat"}, titled)

    assert "<summary>Draw &lt;cat&gt;</summary>" in contents_html(ContentToolResult(1, request=request))


def test_several_turns():
    assert contents_text(TURNS) == (
        "<system>\nBe kind.\n</system>\n\n<user>\nDraw a *cat*.\n</user>\n\n"
        "<assistant>\nI try.There it is.\n</assistant>\n\n<user>\nThanks!\n</user>"
    )
    assert contents_markdown(TURNS) == (
        "## System\n\nBe kind.\n\n## User\n\nDraw a *cat*.\n\n"
        "## Assistant\n\nI try.\n\n![](data:image/png;base64,iVBORw0KGgo=)\n\nThere it is.\n\n"
        "## User\n\nThanks!\n\n![](https://example.com/a%20%281%29.png)"
    )
    assert re.findall(r'<section class="(\w+)">\n<h2>(\w+)</h2>', contents_html(TURNS)) == [
        ("system", "System"), ("user", "User"), ("assistant", "Assistant"), ("user", "User"),
    ]  # fmt: skip


class Chat:
    def get_turns(self):
        return TURNS


@pytest.mark.parametrize("render", [contents_text, contents_markdown, contents_html])
def test_a_chat_is_its_turns_and_anything_else_is_named(render):
    assert render(Chat()) == render(TURNS) == render(tuple(TURNS))
    assert render([]) == ""
    for wrong in ("text", 1, [ContentText("a")], None):
        with pytest.raises(UsageError, match=type(wrong).__name__):
            render(wrong)


def test_a_content_class_of_ones_own():
    @dataclass(frozen=True)
    class ContentMap(Content):
        place: str

    @dataclass(frozen=True)
    class Shown(ContentToolResult):
        html: str = ""

    @contents_markdown.register(ContentMap)
    def _(content):
        return f"[map of {content.place}]"

    @contents_html.register(Shown)
    def _(content):
        return content.html

    assert contents_markdown(UserTurn(["Look:", ContentMap("Köln")])) == "Look:\n\n[map of Köln]"
    assert contents_text(ContentMap("Köln")) is None
    assert contents_html(UserTurn(Shown(1, html="<b>1</b>"))) == "<b>1</b>"
    assert contents_markdown(Shown(CAT)) == contents_markdown(CAT)


def test_without_markdown_it_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    _parser.cache_clear()

    with pytest.raises(UsageError, match=re.escape('pip install "ellmer-core[html]"')):
        contents_html(ContentText("a"))
    assert contents_markdown(ContentText("a")) == "a"


# nothing runs -----------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.links = set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links |= {value for name, value in attrs if name in ("href", "src")}
        assert not [name for name, _ in attrs if name.startswith("on")]


HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) ![z](javascript:alert(1))",
    '"><script>alert(1)</script>',
    "</code></pre><script>alert(1)</script>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_of_a_model_or_a_tool_is_text(text):
    request = ContentToolRequest("c1", text, {"a": text})
    turn = AssistantTurn([
        ContentText(text),
        ContentThinking(text),
        ContentJson(text),
        ContentImageInline(text, text),
        ContentImageRemote(text),
        ContentPDF("application/pdf", "", text),
        ContentUploaded("u", text, "w"),
        ContentToolResult(text, request=request),
        ContentToolResult(error=text, request=request),
    ])  # fmt: skip
    tags = Tags(contents_html([turn]))

    assert tags.tags <= {
        "p",
        "pre",
        "code",
        "img",
        "details",
        "summary",
        "section",
        "h2",
        "em",
        "a",
        "blockquote",
    }
    assert not [link for link in tags.links if link.lower().startswith("javascript")] or text.startswith(
        "[x]"
    )
    assert len([link for link in tags.links if link.lower().startswith("javascript")]) == 0


@given(st.text(st.sampled_from("<>\"'&;[]()!`*_#- \nax:/")))
def test_no_markup_gets_through(text):
    assert not Tags(contents_html(AssistantTurn(text))).tags & {"script", "x", "a:", "style", "iframe"}


def test_a_suggestion_for_a_chat_app_is_its_text():
    assert (
        contents_html(ContentText('<span class="suggestion submit">Go *on*</span>'))
        == "<p>Go <em>on</em></p>"
    )


def test_a_thought_without_words_is_not_shown():
    sealed = ContentThinking("", extra={"anthropic": {"block": {}}})
    assert contents_html(sealed) is contents_markdown(sealed) is contents_shinychat(sealed) is None
    assert contents_markdown(AssistantTurn([sealed, "Hi."])) == "Hi."


def test_rich_shows_chats_turns_contents_and_tools():
    chat = chat_anthropic("Be kind.", model="m", api_key="k")
    chat.set_turns([*TURNS, AssistantPartialTurn(["[b]*So*", ContentThinking("")], reason="cancelled")])
    draw = tool(lambda what: what, "Draws.", name="draw", arguments={"what": str})
    failed = ContentToolResult(error="no \x1b[31mink", request=REQUEST)

    for width in (40, 100):
        console = Console(width=width, file=StringIO())
        console.print(chat, draw, failed, TURNS[2], TURNS[1], sep="\n")
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        text = "\n".join(line.strip("─ ") for line in lines)
        assert text.startswith("<Chat Anthropic/m turns=8")
        assert "[tool request (c1)]: draw(what =" in text
        assert "[inline image]" in text
        assert "<content" not in text
        assert "assistant [cancelled]" in text
        assert "[b]So" in text
        assert "<ToolDef draw(what)>\nDraws." in text
        assert "\\x1b[31mink" in text
        assert text.endswith("user\nDraw a cat.")


# cards ------------------------------------------------------------------------------------------------------


def test_an_image_is_seen_in_its_open_card():
    html = contents_html(ContentToolResult([CAT, "as asked"], request=REQUEST))

    assert html.startswith('<details class="tool success" open>')
    assert html.index("<summary>") < html.index("<img") < html.index("as asked") < html.index("</details>")


def test_a_display_of_ones_own():
    display = {"html": "<b>3</b>", "style": "block", "show_request": False, "footer": "<i>now</i>",
               "value_preview": "3 <found>", "icon": "✈"}  # fmt: skip

    assert contents_html(ContentToolResult(3, request=REQUEST, extra={"display": display})) == (
        '<details class="tool success block" open>\n'
        '<summary><span aria-hidden="true">✈</span> Draw <em>&lt;cat&gt;</em> <em>3 &lt;found&gt;</em></summary>\n'
        "<b>3</b>\n<footer><i>now</i></footer>\n</details>"
    )


def test_a_chat_leaves_no_call_open_and_says_where_an_answer_broke_off():
    chat = chat_anthropic(api_key="none", model="m")
    chat.set_turns([UserTurn("?"), AssistantTurn([REQUEST])])
    assert '<details class="tool error">' in contents_html(chat)
    assert len(chat.get_turns()) == 2

    chat.set_turns([UserTurn("?"), AssistantPartialTurn("Once upon", reason="cancelled")])
    assert contents_html(chat).endswith("<p>Once upon</p>\n<p><em>[cancelled]</em></p>\n</section>")


# notebooks --------------------------------------------------------------------------------------------------


def test_a_notebook_shows_chats_and_turns():
    chat = chat_anthropic(api_key="none", model="m")
    chat.set_turns(TURNS)

    for shown, html, markdown in (
        (chat, contents_html(chat), contents_markdown(chat)),
        (TURNS[3], contents_html([TURNS[3]]), contents_markdown([TURNS[3]])),
    ):
        page = unescape(re.search('srcdoc="([^"]*)"', shown._repr_html_())[1])
        assert f'<div class="ellmer-chat">\n{html}\n</div>' in page
        assert styles() in page
        assert shown._repr_markdown_() == loading_nothing(markdown)
    assert ".ellmer-chat" in styles()


def test_a_notebook_that_shows_no_frames_shows_the_text():
    shown = UserTurn("Is <b> *bold*?")._repr_html_()

    assert shown.endswith('<pre class="ellmer-text">&lt;Turn: user&gt;\nIs &lt;b&gt; *bold*?</pre>')


@pytest.mark.parametrize("missing", ["markdown_it", "mdit_py_plugins.dollarmath"])
def test_without_markdown_it_a_notebook_shows_the_markdown(monkeypatch, missing):
    """rich brings markdown-it-py without the plugins."""
    monkeypatch.setitem(sys.modules, missing, None)
    _parser.cache_clear()

    assert TURNS[1]._repr_html_() is None
    assert TURNS[1]._repr_markdown_() == "## User\n\nDraw a *cat*."


# files ------------------------------------------------------------------------------------------------------


def test_export(tmp_path):
    page = export(Chat(), tmp_path / "chat.html", title="Cats & <dogs>")
    notes = export(TURNS, str(tmp_path / "chat.md"))

    text = page.read_text(encoding="utf-8")
    assert "<title>Cats &amp; &lt;dogs&gt;</title>" in text
    assert contents_html(TURNS) in text
    assert "default-src 'none'; img-src data:;" in text
    assert notes.read_text(encoding="utf-8") == f"# Chat\n\n{contents_markdown(TURNS)}\n"


def test_an_existing_file_is_kept_unless_asked_otherwise(tmp_path):
    file = tmp_path / "chat.md"
    file.write_text("mine")

    with pytest.raises(UsageError, match=r"chat\.md already exists\. Pass overwrite=True"):
        export(TURNS, file)
    assert file.read_text() == "mine"
    export(TURNS, file, overwrite=True)
    assert file.read_text() != "mine"


@pytest.mark.parametrize("there", [True, False])
def test_an_export_for_which_there_is_no_room_leaves_what_was_there(tmp_path, there):
    if there:
        export(TURNS, tmp_path / "chat.md")
    old, limits = (
        {each: each.read_bytes() for each in tmp_path.iterdir()},
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(
            OSError, match=r"File too large\. What was there is unchanged\. Make room.*chat\.md"
        ):
            export([UserTurn("a" * 5000)], tmp_path / "chat.md", overwrite=there)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_an_export_to_something_else(tmp_path):
    with pytest.raises(UsageError, match=r"not '\.pdf'"):
        export(TURNS, tmp_path / "chat.pdf")
    assert not list(tmp_path.iterdir())
