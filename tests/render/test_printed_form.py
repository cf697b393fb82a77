"""The printed form: every documented form, the figures of a real chat, and never an exception."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    Content,
    ContentCitation,
    ContentFile,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentProviderCall,
    ContentProviderResult,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
    replaced,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Tokens, UserTurn
from ellmer_core.render.printed_form import format_chat, format_content, format_turn

CAT = ContentImageInline("image/png", "abc")
PDF = ContentPDF("application/pdf", "abc")


@dataclass(frozen=True)
class ContentMine(Content):
    pass


def request(id="call_1", name="get_weather", **arguments):
    return ContentToolRequest(id, name, arguments)


def result(value=None, error=None, id="call_1"):
    made = ContentToolResult(value, request=request(id))
    return made if error is None else replaced(made, error=error)  # a subclass may check less


# the documentation ------------------------------------------------------------------------------------------


def documented():
    """Yields section, name and printed form of every row of the tables in docs/chat/transcript.md."""
    page = Path(__file__).parents[2].joinpath("docs", "chat", "transcript.md").read_text(encoding="utf-8")
    for section in page.split("\n## ")[1:]:
        for name, form in re.findall(r"^\| (.+?) \| `(.+)` \|$", section, flags=re.MULTILINE):
            yield section.splitlines()[0], name, form.replace("⏎", "\n")


CHAT = [
    SystemTurn("Be terse."),
    UserTurn("1 + 1?"),
    AssistantTurn("2", tokens=Tokens(10, 5), cost=0.01),
    UserTurn("2 + 2?"),
    AssistantTurn("4", tokens=Tokens(15, 7), cost=0.01),
]

EXAMPLES = {
    "text": ContentText("Hello, *world*."),
    "text with citations": ContentText(
        "It rains.", citations=(ContentCitation("https://example.com", "Weather"),)
    ),
    "citation": ContentCitation("https://example.com", "Weather"),
    "thinking": ContentThinking("Hm."),
    "remote image": ContentImageRemote("https://example.com/cat.png"),
    "inline image": CAT,
    "PDF": PDF,
    "JSON": ContentJson({"city": "Köln"}),
    "file": ContentFile("text/markdown", "SGk=", "notes.md", "Hi"),
    "uploaded file": ContentUploaded("files/1", "image/png", "gemini"),
    "provider's call": ContentProviderCall("anthropic", {}, "s1", "web_search", {"query": "cats"}),
    "provider's result": ContentProviderResult("anthropic", {}, "s1", "web_search", {}, "3 pages"),
    "provider's call and result": ContentProviderCall(
        "openai-responses", {}, "s1", "web_search", {"query": "cats"}, "completed"
    ),
    "unknown block": ContentUnknown("anthropic", {"type": "new_thing"}),
    "content of another package": ContentMine(),
    "tool request": request(city="Köln", days=3),
    "tool request, long": request(name="write", text="a" * 100),
    "tool request, cut or unreadable": ContentToolRequest(
        "call_1", "get_weather", raw='{"city":\n "Kö', problem="cut"
    ),
    "tool result": result("21 °C"),
    "tool result, several lines": result("one\ntwo"),
    "tool result, JSON": result({"celsius": 21.5, "sky": ["clear", None]}),
    "tool result, empty": result(""),
    "tool result, error": result(error=ValueError("boom")),
    "tool result, image": result(CAT),
    "tool result, not sendable": result(object()),
    "user": UserTurn("Hi."),
    "user, with audio": UserTurn(["What is said?", ContentFile("audio/wav", "UklGRg==", "sound.wav")]),
    "tool returned an image": UserTurn(result(CAT)),
    "tool returned several": UserTurn(result(["a cat", PDF])),
    "partial": AssistantPartialTurn("Once upon a"),
}


@pytest.mark.parametrize(("section", "name", "form"), list(documented()))
def test_every_documented_form(section, name, form):
    if section == "Contents":
        assert format_content(EXAMPLES[name]) == str(EXAMPLES[name]) == form
    elif section == "Turns":
        assert format_turn(EXAMPLES[name]) == str(EXAMPLES[name]) == form
    else:
        turns = [*CHAT, EXAMPLES["partial"]] if name == "partial" else CHAT
        unsent = UserTurn(result("21 °C")) if name.startswith("results") else None
        chat = format_chat("OpenAI", "gpt-5-nano", turns, unsent)
        assert form in chat.splitlines()


def test_every_form_is_documented():
    names = [name for section, name, _ in documented() if section in ("Contents", "Turns")]

    assert names == list(EXAMPLES)


# a real chat ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("citation", "form"),
    [
        (ContentCitation("https://example.com/a"), "https://example.com/a"),
        (ContentCitation(title="The report\nof 2024"), "The report of 2024"),
        (ContentCitation(quote="It rains."), "It rains."),
        (ContentCitation(quote="word " * 40), f"{('word ' * 16)}…"),
        (ContentCitation(), "unnamed source"),
    ],
)
def test_a_source_has_the_parts_that_are_known(citation, form):
    assert format_content(citation) == f"[source]: {form}"


def test_the_figures_of_a_real_chat_have_no_negative_ones():
    first, second = "call_jjoIvBbPW336sG0FWh6U9b5U", "call_M2b8yTCopQZWj0HyA5zVT0d1"
    turns = [
        UserTurn("Get a random cat image and describe what the cat is feeling."),
        AssistantTurn(request(first, "get_cat_image", n_images=1), tokens=Tokens(149, 281), cost=0.0001),
        UserTurn(result(CAT, id=first)),
        AssistantTurn("The cat looks curious.", tokens=Tokens(368, 624, cached=200), cost=0.0002),
        UserTurn("Get 2 random cat images and describe what the cats are feeling."),
        AssistantTurn(request(second, "get_cat_image", n_images=2), tokens=Tokens(495, 346), cost=0.0001),
        UserTurn(result([CAT, CAT], id=second)),
        AssistantTurn("- Item 1\n- Item 2", tokens=Tokens(814, 691), cost=0.0003),
    ]

    assert format_chat("OpenAI", "gpt-5-nano", turns) == (
        """\
<Chat OpenAI/gpt-5-nano turns=8 tokens=1826/1942 $0.00>
── user [149] ──────────────────────────────────────────────────────────────────
Get a random cat image and describe what the cat is feeling.
── assistant [281] ─────────────────────────────────────────────────────────────
[tool request (call_jjoIvBbPW336sG0FWh6U9b5U)]: get_cat_image(n_images = 1)
── user ────────────────────────────────────────────────────────────────────────
[tool result  (call_jjoIvBbPW336sG0FWh6U9b5U)]: [see below]
<content tool-call-id="call_jjoIvBbPW336sG0FWh6U9b5U">
[inline image]
</content>
── assistant [624] ─────────────────────────────────────────────────────────────
The cat looks curious.
── user ────────────────────────────────────────────────────────────────────────
Get 2 random cat images and describe what the cats are feeling.
── assistant [346] ─────────────────────────────────────────────────────────────
[tool request (call_M2b8yTCopQZWj0HyA5zVT0d1)]: get_cat_image(n_images = 2)
── user ────────────────────────────────────────────────────────────────────────
[tool result  (call_M2b8yTCopQZWj0HyA5zVT0d1)]: ["[see below: item 1]","[see below: item 2]"]
<content tool-call-id="call_M2b8yTCopQZWj0HyA5zVT0d1" item="1">
[inline image]
</content>
<content tool-call-id="call_M2b8yTCopQZWj0HyA5zVT0d1" item="2">
[inline image]
</content>
── assistant [691] ─────────────────────────────────────────────────────────────
- Item 1
- Item 2"""
    )


def rules(turns):
    return [line.strip("─ ") for line in format_chat("V", "m", turns).splitlines() if line.startswith("── ")]


def test_what_nobody_told_is_a_question_mark():
    unknown = [
        UserTurn("a"),
        AssistantTurn("b"),
        UserTurn("c"),
        AssistantTurn("d", tokens=Tokens(9, 3), cost=1.0),
    ]

    assert format_chat("V", "m", unknown).splitlines()[0] == "<Chat V/m turns=4 tokens=?/?>"
    assert rules(unknown) == ["user [?]", "assistant [?]", "user [?]", "assistant [3]"]


def test_a_partial_answer_counts_for_nothing():
    turns = [
        *CHAT[1:3],
        UserTurn("go on"),
        AssistantPartialTurn("2 +", reason="cancelled", tokens=Tokens(99, 99)),
        UserTurn("well?"),
        AssistantTurn("2", tokens=Tokens(20, 1), cost=0.01),
    ]

    assert rules(turns)[2:] == ["user [?]", "assistant [cancelled]", "user [5]", "assistant [1]"]
    assert format_chat("V", "m", turns).splitlines()[0] == "<Chat V/m turns=6 tokens=30/6 $0.02>"


def test_an_empty_chat_and_an_unanswered_one():
    assert format_chat("V", "m", []) == "<Chat V/m turns=0 tokens=0/0>"
    assert rules([UserTurn("a")]) == ["user [?]"]


def test_a_rule_is_eighty_columns_whatever_its_label():
    wide = AssistantPartialTurn(reason="時間切れ\nです")
    rule = format_chat("V", "m", [wide]).splitlines()[1]

    assert rule.startswith("── assistant [時間切れ です] ─")
    assert len(rule) + len("時間切れです") == 80
    assert format_chat("V", "m", [AssistantPartialTurn(reason="x" * 100)]).splitlines()[1].endswith("x] ──")


def test_a_wide_tool_call_is_cut_by_columns():
    printed = format_content(request(name="f", text="猫" * 50)).removeprefix("[tool request (call_1)]: ")

    assert printed == 'f(text = "' + "猫" * 33 + "...)"


def test_history_keeps_the_value_that_is_printed_as_a_pointer():
    turn = UserTurn(result(CAT))

    format_turn(turn)

    assert turn.contents[0].value is CAT


# never an exception -----------------------------------------------------------------------------------------


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


class Loud(Exception):
    def __str__(self):
        raise RuntimeError


cycle: dict = {}
cycle["again"] = cycle


def printed_everywhere(value):
    contents = [
        result(value),
        result(error=value),
        request(x=value),
        ContentJson(value),
        ContentUnknown("w", {"x": value}),
        replaced(ContentText(""), text=value),
        replaced(ContentThinking(""), thinking=value),
    ]
    return format_turn(UserTurn(contents)), format_chat("V", "m", [UserTurn(contents)])


@pytest.mark.parametrize(
    "value",
    [
        CAT,
        [[CAT]],
        b"\xff",
        cycle,
        Hostile(),
        [Hostile()],
        float("nan"),
        10**5000,
        "\ud83d",
        {(1, 2): 3},
        Loud(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_printing_never_raises(value):
    for printed in printed_everywhere(value):
        printed.encode()


@pytest.mark.parametrize(
    "value", [Hostile(), [Hostile()], cycle, 10**5000, Loud()], ids=lambda v: type(v).__name__
)
def test_a_page_shows_any_result_and_any_error(value):
    turn = UserTurn([result(value), result(error=value), request(x=value)])
    assert "</" in turn._repr_html_()
    assert isinstance(turn._repr_markdown_(), str)


@given(
    st.recursive(
        st.none() | st.floats() | st.binary() | st.text(st.characters()),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_printing_never_raises_on_data(value):
    for printed in printed_everywhere(value):
        printed.encode()


def test_what_has_no_words_has_no_line():
    turn = AssistantTurn(
        [ContentThinking("", extra={"gemini": {"sealed": True}}), ContentText("Yes."), ContentText("")]
    )
    assert format_turn(turn) == "<Turn: assistant>\nYes."
