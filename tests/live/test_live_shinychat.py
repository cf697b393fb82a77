"""shinychat's input for a conversation: blocks for tool calls, one message for the texts of each side."""

# ruff: noqa: E402 - what is imported first decides whether there is anything to test

import json
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

shinychat = pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
from htmltools import HTMLDependency, TagList, div

from ellmer_core.contents.content import (
    Content,
    ContentImageInline,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.errors import EllmerWarning
from ellmer_core.render.html import contents_html
from ellmer_core.render.markdown import contents_markdown
from ellmer_core.render.shinychat import contents_shinychat
from ellmer_core.tools.definition import tool, tool_annotations
from ellmer_core.tools.results import flatten

CAT = ContentImageInline("image/png", "YWJj")
PDF = ContentPDF("application/pdf", "YWJj", "a&b.pdf")


def request(id="c1", name="get_current_weather", annotations=None, cls=ContentToolRequest, **arguments):
    arguments = arguments or {"city": "Köln"}
    made = tool(lambda **_: None, name=name, arguments=dict.fromkeys(arguments, str), annotations=annotations)
    return cls(id, name, arguments, made)


def block(content):
    """Returns the only block for a content, as a chunk of a stream and as a whole."""
    [as_chunk] = shinychat.message_content_chunk(content).blocks
    [whole] = shinychat.message_content(content).blocks
    assert as_chunk == whole
    return whole


def result(value=None, error=None, display=None, **of):
    return ContentToolResult(value, error, {"display": display} if display else {}, request(**of))


# one call ---------------------------------------------------------------------------------------------------


def test_a_request_waits_under_its_title_with_a_place_for_progress():
    shown = block(request())

    assert shown["type"] == "tool_request"
    assert shown["request_id"] == "c1"
    assert shown["title"] == 'Get current weather <ellmer-progress call="c1"></ellmer-progress>'
    assert json.loads(shown["arguments"]) == {"city": "Köln"}
    [script] = shinychat.message_content(request()).html_deps
    assert script.script[0]["src"] == "progress.js"


def test_a_result_takes_the_place_of_its_request():
    shown = block(result({"celsius": 18.5}))

    assert (shown["type"], shown["request_id"], shown["status"]) == ("tool_result", "c1", "success")
    assert shown["title"] == "Get current weather"
    assert json.loads(shown["value"]) == {"celsius": 18.5}
    assert json.loads(shown["request_call"])["arguments"] == {"city": "Köln"}
    assert (shown["expanded"], shown["open_style"]) == (False, "minimal")


def test_annotations_give_title_icon_and_layout():
    notes = tool_annotations(lambda a: f"Get weather in {a['city']}, MN", icon="🌦️", display="block")
    asked, done = (
        block(request(annotations=notes, city="Duluth")),
        block(result(1, annotations=notes, city="Duluth")),
    )

    assert asked["title"].startswith("Get weather in Duluth, MN <")
    assert done["title"] == "Get weather in Duluth, MN"
    assert asked["icon"] == done["icon"] == "🌦️"
    assert asked["grouping"] == done["grouping"] == "none"
    assert (done["open_style"], done["expanded"]) == ("framed", True)


def test_why_the_model_asks_is_shown_and_is_no_argument():
    shown = block(request(city="Köln", _intent="To pack"))

    assert shown["intent"] == "To pack"
    assert json.loads(shown["arguments"]) == {"city": "Köln"}


def test_an_error_is_marked():
    shown = block(result(error=RuntimeError("The printer is on fire.")))

    assert (shown["status"], shown["value_type"]) == ("error", "code")
    assert "The printer is on fire." in shown["value"]


def test_images_and_files_of_a_result_are_seen():
    shown = block(result(["See:", CAT, PDF]))

    assert (shown["value_type"], shown["expanded"]) == ("html", True)
    assert 'src="data:image/png;base64,YWJj" alt="Get current weather"' in shown["value"]
    assert 'download="a&amp;b.pdf"' in shown["value"]
    assert "<code>See:</code>" in shown["value"]
    assert block(result(ContentUploaded("files/1", "image/png", "gemini")))["value_type"] == "code"


@pytest.mark.parametrize(
    ("display", "expected"),
    [
        ({"html": "<b>3</b>", "text": "3"}, {"value": "<b>3</b>", "value_type": "html"}),
        ({"html": div("3", class_="n")}, {"value": '<div class="n">3</div>'}),
        ({"markdown": "*3*"}, {"value": "*3*", "value_type": "markdown"}),
        ({"text": "<3>"}, {"value": "<3>", "value_type": "text"}),
        ({"title": "3 <flights>", "icon": "✈"}, {"title": "3 &lt;flights&gt;", "icon": "✈"}),
        ({"label": "Lisbon", "value_preview": "3 found"}, {"label": "Lisbon", "value_preview": "3 found"}),
        ({"footer": "<i>now</i>", "full_screen": True}, {"footer": "<i>now</i>", "full_screen": True}),
        ({"show_request": False, "open": True}, {"show_request": False, "expanded": True}),
        ({"style": "block"}, {"open_style": "framed", "expanded": True}),
        ({"open_style": "framed", "open": False}, {"open_style": "framed", "expanded": False}),
        (shinychat.types.ToolResultDisplay(title="Theirs", markdown="*x*"), {"title": "Theirs", "value": "*x*"}),
    ],
    ids=str,
)  # fmt: skip
def test_a_result_with_a_display_of_its_own(display, expected):
    shown = block(result(1, display=display))

    assert {name: shown[name] for name in expected} == expected


def test_what_a_tag_depends_on_comes_along():
    depends = HTMLDependency("mine", "1", source={"href": "https://example.com"})
    message = contents_shinychat(result(1, display={"html": TagList(div("x"), depends)}))

    assert [d.name for d in message.html_deps] == ["mine"]


def test_a_display_that_is_none_is_named_and_costs_nothing():
    with pytest.warns(EllmerWarning, match="has no 'colour'"):
        assert block(result(1, display={"colour": "red", "title": "T"}))["title"] == "T"


def test_markup_of_a_model_is_text():
    shown = block(request(annotations=tool_annotations(lambda a: a["city"]), city="<script>1</script>"))

    assert shown["title"].startswith("&lt;script&gt;")


@pytest.mark.parametrize(("mode", "shown"), [("none", []), ("basic", ["1"]), ("rich", ["<b>1</b>"])])
def test_the_switch_of_shinychat(monkeypatch, mode, shown):
    monkeypatch.setenv("SHINYCHAT_TOOL_DISPLAY", mode)
    content = result(1, display={"html": "<b>1</b>"})

    assert [b["value"] for b in shinychat.message_content(content).blocks] == shown
    assert len(shinychat.message_content(request()).blocks) == len(shown)


# classes of one's own ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Titled(ContentToolRequest):
    title: str = "Get weather in Duluth, MN"


@dataclass(frozen=True)
class Forecast(ContentToolResult):
    @property
    def title(self):
        return "The forecast"


@dataclass(frozen=True)
class Tagged(ContentToolResult):
    pass


@dataclass(frozen=True)
class Marked(ContentToolResult):
    pass


@dataclass(frozen=True)
class Asked(ContentToolRequest):
    pass


@dataclass(frozen=True)
class Map(Content):
    place: str


contents_shinychat.register(Tagged)(lambda content: div(f"{content.value} °C", class_="mine"))
contents_shinychat.register(Asked)(lambda content: div("Asking", class_="asking"))
contents_markdown.register(Marked)(lambda content: f"**{content.value}**")
contents_markdown.register(Map)(lambda content: f"[map of {content.place}]")


def test_a_class_brings_its_title():
    assert block(request(cls=Titled))["title"].startswith("Get weather in Duluth, MN <")
    assert block(ContentToolResult(1, request=request(cls=Titled)))["title"] == "Get weather in Duluth, MN"
    assert block(Forecast(1, request=request(cls=Titled)))["title"] == "The forecast"


def test_a_class_brings_its_display_to_the_place_of_the_call():
    tagged, marked = block(Tagged(3, request=request())), block(Marked(3, request=request()))
    asked = block(request(cls=Asked))

    assert (tagged["type"], tagged["request_id"], tagged["value_type"]) == ("tool_result", "c1", "html")
    assert tagged["value"] == '<div class="mine">3 °C</div>'
    assert (marked["value"], marked["value_type"]) == ("**3**", "markdown")
    assert (asked["type"], asked["request_id"]) == ("tool_request", "c1")
    assert asked["title"].startswith('<div class="asking">Asking</div> <ellmer-progress')


def test_without_a_method_html_is_shown_and_else_markdown():
    assert shinychat.message_content(Map("Köln")).content == "[map of Köln]"
    assert "a&amp;b.pdf" in str(contents_shinychat(PDF))
    assert str(contents_shinychat(PDF)) == contents_html(PDF)


# conversations ----------------------------------------------------------------------------------------------

ONE, TWO = request("c1", city="Duluth"), request("c2", city="Köln")
TURNS = [
    SystemTurn("Be kind."),
    UserTurn(["Where is it warmer?", CAT, PDF]),
    AssistantTurn([ContentThinking("Hm."), "I look.", ONE, TWO]),
    UserTurn([ContentToolResult(3, request=ONE), ContentToolResult(CAT, request=TWO)]),
    AssistantTurn("In Köln."),
    UserTurn("Thanks!"),
]


def kinds(message):
    return [
        (s["type"], s["request_id"]) if isinstance(s, dict) else (s.content_type, s.content)
        for s in message.segments
    ]


def test_results_are_in_the_answer_that_asked_for_them_in_the_place_of_the_requests():
    question, answer, thanks = contents_shinychat(TURNS)

    assert [m.role for m in (question, answer, thanks)] == ["user", "assistant", "user"]
    assert [a.mime for a in question.attachments] == ["image/png", "application/pdf"]
    assert kinds(question) == [("text", "Where is it warmer?")]
    assert kinds(answer) == [
        ("thinking", "Hm."),
        ("markdown", "I look."),
        ("tool_result", "c1"),
        ("tool_result", "c2"),
        ("markdown", "In Köln."),
    ]


def test_a_request_without_a_result_says_that_it_was_never_called():
    dangling = [UserTurn("?"), AssistantTurn([ONE]), UserTurn("!")]
    _, answer, _ = contents_shinychat(dangling)

    [shown] = answer.blocks
    assert (shown["type"], shown["status"]) == ("tool_result", "error")
    assert "before the tool could be invoked" in shown["value"]


def test_what_broke_off_says_so():
    [message] = contents_shinychat([AssistantPartialTurn("Once upon", reason="cancelled")])

    assert [text for _, text in kinds(message)] == ["Once upon\n\n*[cancelled]*"]


def test_the_tags_that_wrap_media_for_the_model_are_not_shown():
    text = [ContentText('<content tool-call-id="c1" item="2">'), CAT, ContentText("</content>")]
    told = [UserTurn([ContentToolResult("[see below]", request=ONE), *text])]

    assert not re.search("</?content", str([m.segments for m in contents_shinychat(told)]))
    assert "content" not in contents_html(told).replace("content=", "")


@pytest.mark.parametrize("value", [[CAT, CAT], {"image": CAT, "plot": CAT}, [{"doc": CAT}, CAT]])
@pytest.mark.parametrize("words", [(), (ContentText("What do you see?"),)])
def test_no_tag_is_shown_however_many_media_and_words_follow_each_other(value, words):
    hoisted = flatten([ContentToolResult(value, request=ONE)])
    told = [UserTurn([*hoisted, *words])]

    [message] = [m for m in contents_shinychat(told) if m.role == "user"]
    assert [segment.content for segment in message.segments] == [w.text for w in words]
    assert len(message.attachments) == 2
    assert "tool-call-id" not in contents_html(told)
    assert "tool-call-id" not in contents_markdown(told)


def test_without_the_extra_the_error_names_it():
    program = (
        "import sys; sys.modules['shinychat'] = None; import ellmer_core as ec\n"
        "try: ec.contents_shinychat(ec.ContentThinking('x'))\n"
        "except ec.UsageError as error: print(error)\n"
        "try: ec.live_browser(ec.chat_anthropic(api_key='x', model='m'))\n"
        "except ec.UsageError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.count('pip install "ellmer-core[shiny]"') == 2
