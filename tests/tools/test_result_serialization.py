"""Tool results: their text for the model, and the pointer form for media."""

import json

import pytest
from chats.tool_values import CAT, DOG, PDF, json_values
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    Content,
    ContentFile,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentToolRequest,
    ContentToolResult,
    ContentUploaded,
)
from ellmer_core.errors import EllmerWarning, ToolResultError
from ellmer_core.tools.results import described, flatten, result_text, split


def result(value=None, id="c9", **kwargs):
    return ContentToolResult(value, request=ContentToolRequest(id, "get_cat_image"), **kwargs)


def opening(id="c9", item=None):
    return ContentText(f'<content tool-call-id="{id}"' + (f' item="{item}"' if item else "") + ">")


CLOSING = ContentText("</content>")


# flatten and split ------------------------------------------------------------------------------------------


def test_a_single_image_becomes_a_pointer_and_the_image_between_tags():
    assert flatten([result(CAT)]) == [result("[see below]"), opening(), CAT, CLOSING]


def test_two_images_are_numbered_from_one():
    flat = flatten([result([CAT, PDF])])

    assert result_text(flat[0]) == '["[see below: item 1]","[see below: item 2]"]'
    assert flat[1:] == [opening(item=1), CAT, CLOSING, opening(item=2), PDF, CLOSING]


def test_other_items_keep_their_value_and_their_count():
    flat = flatten([result(["a cat", CAT, {"n": 1}, DOG])])

    assert flat[0].value == ["a cat", "[see below: item 2]", {"n": 1}, "[see below: item 4]"]
    assert flat[1:] == [opening(item=2), CAT, CLOSING, opening(item=4), DOG, CLOSING]


def test_a_list_of_one_image_is_still_a_list():
    assert result_text(flatten([result([CAT])])[0]) == '["[see below: item 1]"]'


def test_a_deeper_medium_has_a_path():
    found = [{"title": "A", "doc": PDF}, {"title": "B", "docs": [CAT, {"x": DOG}]}]
    pointed, *parts = flatten([result({"found": found, "plot": CAT})])
    assert pointed.value == {
        "found": [
            {"title": "A", "doc": "[see below: found.1.doc]"},
            {"title": "B", "docs": ["[see below: found.2.docs.1]", {"x": "[see below: found.2.docs.2.x]"}]},
        ],
        "plot": "[see below: plot]",
    }
    items = ["found.1.doc", "found.2.docs.1", "found.2.docs.2.x", "plot"]
    assert parts[::3] == [opening(item=item) for item in items]
    assert parts[1::3] == [PDF, CAT, DOG, CAT]
    assert flatten([result(found)])[0].value[0]["doc"] == "[see below: item 1.doc]"


def test_a_text_file_is_text_and_another_file_follows():
    notes = ContentFile("text/markdown", "SGk=", "notes.md", "Hi")
    sound = ContentFile("audio/wav", "UklGRgAAAABXQVZF", "a.wav")
    assert result_text(result(notes)) == '<file name="notes.md">\nHi\n</file>'
    assert result_text(result({"n": notes})) == '{"n":"<file name=\\"notes.md\\">\\nHi\\n</file>"}'
    assert flatten([result([sound])])[1:] == [opening(item=1), sound, CLOSING]
    assert described([result([sound])])[0].value == [
        "[The tool returned a file (audio/wav) here, which this model cannot be shown.]"
    ]


def test_an_uploaded_file_is_media_too():
    upload = ContentUploaded("files/1", "image/png", "gemini")

    assert flatten([result(upload)]) == [result("[see below]"), opening(), upload, CLOSING]


def test_media_stays_where_it_is_in_the_list_of_contents():
    text, first, second = ContentText("Hi"), result(CAT, "c1"), result("plain", "c2")

    assert flatten([text, first, second]) == [
        text, result("[see below]", "c1"), opening("c1"), CAT, CLOSING, second,
    ]  # fmt: skip


def test_split_puts_results_first_and_keeps_both_orders():
    flat = flatten([ContentText("Hi"), result(CAT, "c1"), result("plain", "c2")])

    results, rest = split(flat)

    assert [r.id for r in results] == ["c1", "c2"]
    assert rest == [ContentText("Hi"), opening("c1"), CAT, CLOSING]


def test_a_result_with_an_error_is_never_expanded():
    with pytest.warns(EllmerWarning, match="a value and an error"):
        failed = result(CAT, error="boom")

    assert flatten([failed]) == [failed]


def test_the_call_id_cannot_break_out_of_its_attribute():
    flat = flatten([result(CAT, id='x"><content tool-call-id="y')])

    assert flat[1].text == '<content tool-call-id="x&quot;&gt;&lt;content tool-call-id=&quot;y">'


def test_a_subclass_of_another_package_survives_flattening():
    class Shown(ContentToolResult):
        def __init__(self, value, html):
            super().__init__(value)
            object.__setattr__(self, "html", html)

    shown = flatten([Shown(CAT, "<b>cat</b>")])[0]

    assert type(shown) is Shown
    assert (shown.value, shown.html) == ("[see below]", "<b>cat</b>")


media = st.sampled_from([CAT, DOG, PDF])
results = st.builds(
    result, st.lists(media | json_values, max_size=5) | media | json_values, id=st.text(min_size=1)
)
contents = st.lists(results | media | st.builds(ContentText, st.text()), max_size=6)


@given(contents)
def test_flatten_loses_nothing_and_flattening_twice_changes_nothing(contents):
    flat = flatten(contents)

    assert flatten(flat) == flat
    assert [c for c in flat if c in (CAT, DOG, PDF)] == [m for c in contents for m in all_media(c)]
    assert [r.request for r in split(flat)[0]] == [r.request for r in split(contents)[0]]
    results, rest = split(flat)
    assert len(results) + len(rest) == len(flat)


def all_media(content):
    if not isinstance(content, ContentToolResult):
        return [content] if content in (CAT, DOG, PDF) else []
    values = content.value if isinstance(content.value, list) else [content.value]
    return [v for v in values if isinstance(v, Content)]


# the text a model reads -------------------------------------------------------------------------------------


@given(json_values.filter(lambda v: not isinstance(v, str)))
def test_json_is_exact(value):
    text = result_text(result(value))

    assert json.loads(text) == value
    assert repr(json.loads(text)) == repr(value)  # 1 is not 1.0, and -0.0 is not 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2025-09-12 02:03:03 UTC", "2025-09-12 02:03:03 UTC"),
        ("žluťoučký 🐈", "žluťoučký 🐈"),
        ({"city": "Köln", "at": [50.937531, 6.960279]}, '{"city":"Köln","at":[50.937531,6.960279]}'),
        (None, "null"),
        (True, "true"),
        ([], "[]"),
        ("", "(no output)"),
        (" \n\t", "(no output)"),
        (ContentText("from a content"), "from a content"),
        (ContentJson({"a": 1}), '{"a":1}'),
        ([ContentText("one"), ContentJson([2]), 3], '["one",[2],3]'),
        (CAT, "[see below]"),
        ([1, CAT], '[1,"[see below: item 2]"]'),
    ],
)
def test_result_text(value, text):
    assert result_text(result(value)) == text


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("boom", "boom"),
        (ValueError("boom"), "boom"),
        (ValueError(), "ValueError"),
        (KeyError("city"), "KeyError: 'city'"),
        (Unprintable(), "Unprintable"),
    ],
)
def test_an_error_is_told_in_a_sentence(error, said):
    assert result_text(result(error=error)) == f"Tool calling failed with error {said}"


def test_a_supplied_result_that_is_not_json_is_a_typed_error():
    with pytest.raises(ToolResultError, match=r"Tool `get_cat_image` .* `value.when` is object"):
        result_text(result({"when": object()}))


@pytest.mark.parametrize(
    ("media", "kind"),
    [
        (ContentImageRemote("https://x/a.png"), "an image at https://x/a.png"),
        (ContentPDF("application/pdf", "YWJj"), "a PDF document"),
        (ContentUploaded("files/1", "video/mp4", "gemini"), "an uploaded file"),
    ],
)
def test_media_that_cannot_be_shown_is_named_for_what_it_is(media, kind):
    [result] = described([ContentToolResult(media)])
    assert result.value == f"[The tool returned {kind} here, which this model cannot be shown.]"
