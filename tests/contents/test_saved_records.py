"""A conversation is saved as plain JSON and continued: nothing is lost, and nothing is run."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

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
    ContentToolQuestion,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.json_serialization import OURS, contents_record, contents_replay
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, Tokens, UserTurn
from ellmer_core.errors import EllmerWarning, UsageError
from ellmer_core.providers.openai_compatible import chat_openai_compatible
from ellmer_core.tools.definition import tool

CAT = ContentImageInline("image/png", "YWJj")
REQUEST = ContentToolRequest(
    "c1", "draw", {"what": "cat", "at": [1, 2.5, None]}, raw="{…}", extra={"gemini": {"signature": "s"}}
)
EVERY = [
    ContentText("žluťoučký 🐈"),
    ContentText("It rains [1].", citations=(ContentCitation("https://w.test", "Weather", "Rain.", 3, 8),)),
    ContentCitation("https://w.test"),
    CAT,
    ContentImageRemote("https://example.com/a.png", "low"),
    ContentPDF("application/pdf", "YWJj", "a.pdf"),
    ContentThinking("hm", {"anthropic": {"signature": "x"}}),
    ContentFile("text/plain", "SGk=", "a.txt", "Hi"),
    ContentUploaded("f", "text/plain", "gemini", "Google/Gemini", 1.5, source=CAT),
    ContentJson({"a": [1, {"b": None}]}),
    ContentUploaded("files/1", "image/png", "gemini"),
    ContentUnknown("anthropic", {"type": "new"}),
    ContentProviderCall("anthropic", {"type": "server_tool_use"}, "s1", "web_search", {"query": "cats"}),
    ContentProviderResult(
        "anthropic", {"type": "web_search_tool_result"}, "s1", "web_search", {}, [{"url": "x"}]
    ),
    REQUEST,
    ContentToolRequest("c2", "draw", raw="{", problem="cut"),
    ContentToolQuestion("c3", "book", message="Which seat?", schema={"type": "object"}, url="https://w.test"),
    ContentToolResult([CAT, "two", {"deep": ContentText("x")}], extra={"display": CAT}, request=REQUEST),
    ContentToolResult(error="boom", request=REQUEST),
]
TURNS = [
    SystemTurn("Be terse."),
    UserTurn(["Hi", CAT]),
    AssistantTurn(
        [ContentThinking("hm"), REQUEST],
        tokens=Tokens(10, 5, cached=3, reasoning=1),
        finish_reason="tool_use",
        json={"id": "x", "$odd": [1]},
        cost=0.01,
        duration=1.5,
    ),
    UserTurn(EVERY),
    AssistantPartialTurn("Once", reason="cancelled"),
]


def through_json(value):
    return json.loads(json.dumps(value, allow_nan=False))


def fields_of(value):
    """Returns all fields of a value, also those that `==` ignores."""
    return (
        repr(value),
        getattr(value, "json", None),
        getattr(value, "duration", None),
        getattr(value, "raw", None),
    )


@pytest.mark.parametrize("value", EVERY + TURNS, ids=lambda value: type(value).__name__)
def test_everything_comes_back_through_json(value):
    replayed = contents_replay(through_json(contents_record(value)))

    assert replayed == value
    assert type(replayed) is type(value)
    assert fields_of(replayed) == fields_of(value)


def test_every_class_of_content_is_tried():
    concrete = {cls.__name__ for cls in OURS.values() if issubclass(cls, Content)} - {
        "Content",
        "ContentImage",
    }

    assert {type(value).__name__ for value in EVERY} == concrete


def test_lists():
    assert contents_replay(through_json(contents_record(TURNS))) == TURNS
    assert contents_replay(contents_record([])) == []


def test_a_chat_with_results_that_were_not_sent_goes_on_in_another():
    request = ContentToolRequest("c1", "f")
    chat, other = (chat_openai_compatible("s", model="m", base_url="http://x") for _ in "ab")
    chat.add_turn(UserTurn("Hi"), AssistantTurn([request]))
    chat._history.results[0] = ContentToolResult(5, request=request)
    saved = through_json(contents_record(chat))

    assert contents_replay(saved, tools=[tool(len, name="f", arguments={"obj": str})], chat=other) is other
    assert other.get_turns() == chat.get_turns()
    assert other._history.results == chat._history.results
    assert other.get_turns()[-1].tool_requests[0].tool is other.get_tools()["f"]
    with pytest.raises(UsageError, match="Pass chat="):
        contents_replay(saved)


@pytest.mark.filterwarnings("ignore:ContentToolResult has a value and an error")
def test_the_format_is_this():
    assert contents_record(UserTurn([ContentJson("Hi"), ContentToolResult({"$a": 1}, KeyError("k"))])) == {
        "version": 1,
        "class": "UserTurn",
        "props": {
            "contents": [
                {"$record": {"class": "ContentJson", "props": {"value": "Hi"}}},
                {
                    "$record": {
                        "class": "ContentToolResult",
                        "props": {
                            "value": {"$map": [["$a", 1]]},
                            "error": "KeyError: 'k'",
                            "extra": {},
                            "request": None,
                        },
                    }
                },
            ]
        },
    }


def test_requests_find_their_tools_by_name_also_inside_results():
    draw = tool(lambda what: what, name="draw", arguments={"what": str})
    turn = UserTurn([REQUEST, ContentToolResult(1, request=REQUEST), ContentToolRequest("c2", "gone")])

    request, result, gone = contents_replay(contents_record(turn), tools=[draw]).contents

    assert request.tool is draw
    assert result.request.tool is draw
    assert gone.tool is None
    assert "ToolDef" not in json.dumps(contents_record(ContentToolRequest("c1", "draw", tool=draw)))


@dataclass(frozen=True)
class ContentMap(Content):
    place: str
    markers: list[Any] = field(default_factory=list)


class Shown(ContentToolResult):
    def __init__(self, html):
        super().__init__(html)
        object.__setattr__(self, "html", html)


def test_classes_of_other_packages_come_back_when_they_are_handed_in():
    turn = UserTurn([ContentMap("Köln", [CAT]), Shown("<b>")])
    recorded = through_json(contents_record(turn))

    replayed = contents_replay(recorded, classes=[ContentMap, Shown])

    assert replayed == turn
    assert replayed.contents[1].html == "<b>"
    with pytest.raises(
        UsageError, match=re.escape(f"contents[0] is of the class `{ContentMap.__module__}.ContentMap`")
    ):
        contents_replay(recorded, classes=[Shown])


def test_a_class_cannot_pass_for_one_of_ours():
    class ContentText(Content):
        pass

    name = contents_record(ContentText())["class"]

    assert name.endswith("<locals>.ContentText")
    with pytest.raises(UsageError, match="is unknown"):
        contents_replay(contents_record(ContentText()))


def test_an_older_record_without_a_newer_field_has_its_default():
    recorded = contents_record(ContentPDF("application/pdf", "abc"))
    del recorded["props"]["filename"]

    assert contents_replay(recorded).filename == "document.pdf"


TEXT = contents_record(ContentText("a"))


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        (None, "record is not what contents_record() returns"),
        ("x", "record is not what contents_record() returns"),
        ({"class": "ContentText"}, "record is not what contents_record() returns"),
        ({**TEXT, "version": 2}, "of version 2; this release reads version 1"),
        ({**TEXT, "version": "1"}, "of version '1'"),
        ([TEXT, 1], "[1] is not what"),
        ({**TEXT, "class": "ContentText2"}, "the class `ContentText2`, which is unknown"),
        ({**TEXT, "class": "os.system"}, "the class `os.system`, which is unknown"),
        ({**TEXT, "class": ["ContentText"]}, "is not a record"),
        ({**TEXT, "props": []}, "is not a record"),
        ({**TEXT, "props": {}}, "record lacks `text`"),
        ({**TEXT, "props": {"text": "a", "colour": "red"}}, "a ContentText has no colour"),
        ({**TEXT, "props": {"text": 1}}, "record.text is int, not str"),
        ({**TEXT, "props": {"text": "a", "extra": []}}, "record.extra is list, not Mapping"),
        (
            {"version": 1, "class": "UserTurn", "props": {"contents": [1]}},
            "A turn contains contents and strings",
        ),
        (
            {"version": 1, "class": "UserTurn", "props": {"contents": [{"$record": 1}]}},
            "contents[0] is not a record",
        ),
    ],
)
def test_a_damaged_record_says_where(recorded, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        contents_replay(recorded)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1, "not int"),
        (["Hi"], "not str"),
        (ContentToolResult({"when": [object()]}), "ContentToolResult.value.when[0] is object"),
        (UserTurn(ContentToolResult({"f": print})), "UserTurn.contents[0].value.f is builtin"),
    ],
)
def test_what_cannot_be_recorded_says_where(value, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        contents_record(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just(CAT),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["$record", "$map", "$float", "$bytes", "class", "props"]) | st.text(), inner
        )
        | st.dictionaries(st.integers() | st.none(), inner, max_size=2)
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_value_survives(value):
    result = ContentToolResult(value, extra={"x": value})

    assert repr(contents_replay(through_json(contents_record(result)))) == repr(result)


def test_what_a_turn_remembers_of_itself_is_not_saved():
    turn = UserTurn("Hi")
    before = contents_record(turn)

    assert turn.is_plain
    assert contents_record(turn) == before


def test_what_cannot_be_saved_of_a_programs_own_data_is_left_out_with_a_warning():
    loop: dict[str, Any] = {}
    loop["self"] = loop
    extra = {"kept": [1, b"x"], "display": {"title": "T", "html": object()}, "frames": [object()]}
    with pytest.warns(EllmerWarning) as caught:
        saved = json.loads(json.dumps(contents_record(ContentToolResult("done", extra=extra))))

    assert contents_replay(saved).extra == {"kept": [1, b"x"], "display": {"title": "T"}}
    assert [str(each.message).partition(",")[0] for each in caught] == [
        "ContentToolResult.extra.display.html is object",
        "ContentToolResult.extra.frames[0] is object",
    ]
    with pytest.raises(UsageError, match="contains itself"):
        contents_record(ContentToolResult("done", extra=loop))
