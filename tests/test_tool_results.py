"""Tool results: what may leave a tool, what the model reads of it, and the pointer form for media."""

import dataclasses
import enum
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import NamedTuple

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.contents.content import (
    Content,
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentUploaded,
)
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult
from ellmer_core.errors import ToolResultError
from ellmer_core.tools.result_check import check_tool_result
from ellmer_core.tools.results import described, flatten, result_text, split

CAT = ContentImageInline("image/png", "abc")
DOG = ContentImageRemote("https://example.com/dog.png")
PDF = ContentPDF("application/pdf", "JVBERi0=")


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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
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
    assert result_text(result("unused", error=error)) == f"Tool calling failed with error {said}"


def test_a_supplied_result_that_is_not_json_is_a_typed_error():
    with pytest.raises(ToolResultError, match=r"Tool `get_cat_image` .* `value.when` is object"):
        result_text(result({"when": object()}))


# the check at the tool's door -------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Weather:
    city: str
    day: date


class Model(pydantic.BaseModel):
    city: str
    day: date
    key: pydantic.SecretStr = pydantic.SecretStr("hush")


DAY = date(2026, 5, 4)
NOON = datetime.fromisoformat("2026-05-04T12:00:00")


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("text", "text"),
        ((1, (2, 3)), [1, [2, 3]]),
        (Point(1, 2), [1, 2]),
        ({1: "a", "b": Colour.RED, Colour.RED: None}, {"1": "a", "b": "red", "red": None}),
        (DAY, "2026-05-04"),
        ([datetime(2026, 5, 4, 1, 2, tzinfo=UTC)], ["2026-05-04T01:02:00+00:00"]),
        ({"price": Decimal("1.10"), "path": PurePosixPath("a/b")}, {"price": "1.10", "path": "a/b"}),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Weather("Köln", DAY), {"city": "Köln", "day": "2026-05-04"}),
        ([Weather("Köln", DAY)], [{"city": "Köln", "day": "2026-05-04"}]),
        (Model(city="Köln", day=DAY), {"city": "Köln", "day": "2026-05-04", "key": "**********"}),
        (CAT, CAT),
        ((CAT, "two", [3]), [CAT, "two", [3]]),
    ],
)
def test_what_has_an_evident_json_form_takes_it(value, normal):
    assert check_tool_result("f", value) == normal


class Frame:
    """The part of pandas' data frame that counts here."""

    def __init__(self, **columns):
        self.columns = columns

    def to_dict(self, orient):
        assert orient == "records"
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]


def test_a_data_frame_becomes_records_with_null_for_missing_cells():
    frame = Frame(city=["Köln", "Rom"], day=[DAY, DAY], celsius=[21.123456789, float("nan")])

    assert check_tool_result("f", frame) == [
        {"city": "Köln", "day": "2026-05-04", "celsius": 21.123456789},
        {"city": "Rom", "day": "2026-05-04", "celsius": None},
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_real_data_frame(library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = frames.DataFrame({
        "a": [1, 2], "b": [0.1, float("nan")], "c": ["x", None], "d": [NOON, None],
    })  # fmt: skip

    assert check_tool_result("f", frame) == [
        {"a": 1, "b": 0.1, "c": "x", "d": "2026-05-04T12:00:00"},
        {"a": 2, "b": None, "c": None, "d": None},
    ]
    assert check_tool_result("f", {"column": frame["b"]}) == {"column": [0.1, None]}
    json.dumps(check_tool_result("f", frame), allow_nan=False)


def test_no_column_of_a_data_frame_is_lost():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    with pytest.raises(ToolResultError, match="two of its columns bear the same name"):
        check_tool_result("f", pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_what_pandas_has_for_missing():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")

    assert check_tool_result("f", [pandas.NA, pandas.NaT, pandas.Timestamp(NOON)]) == [
        None,
        None,
        "2026-05-04T12:00:00",
    ]


def test_real_arrays():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")

    assert check_tool_result("f", numpy.array([[1.5, float("nan")], [2.0, 3.0]])) == [[1.5, None], [2.0, 3.0]]
    assert (
        repr(check_tool_result("f", [numpy.int64(3), numpy.float32(0.5), numpy.bool_(True)]))
        == "[3, 0.5, True]"
    )
    with pytest.raises(ToolResultError, match="inf has no JSON"):
        check_tool_result("f", numpy.array([float("inf")]))


class Holder(pydantic.BaseModel):
    images: list[ContentImageInline]


@dataclass
class Wrapped:
    image: Content


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError("no " + name)


cycle: list = []
cycle.append(cycle)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"deep": {"image": CAT}}, "value.deep.image"),
        ([1, [CAT]], "value[1][0]"),
        ([1, 2, {"image": CAT}], "value[2].image"),
        ({"my key": (CAT,)}, "value['my key'][0]"),
        ([Wrapped(CAT)], "value[0].image"),
        (Holder(images=[CAT]), "value.images[0]"),
        ([Holder(images=[CAT])], "value[0].images[0]"),
        ({"a": ContentText("deep")}, "value.a"),
        (ContentThinking("hm"), "value"),
        ([ContentToolRequest("1", "f")], "value[0]"),
        ([ContentToolResult(1)], "value[0]"),
        (ContentJson({"x": CAT}), "value.value.x"),
        (b"bytes", "value"),
        ({"data": bytearray(b"x")}, "value.data"),
        ({1, 2}, "value"),
        ({"f": print}, "value.f"),
        (object(), "value"),
        ([Hostile()], "value[0]"),
        (Model, "value"),
        (float("nan"), "value"),
        ([1.0, {"x": float("-inf")}], "value[1].x"),
        ("half \ud83d", "value"),
        ({"half \ud83d": 1}, "value"),
        (ContentText("half \ud83d"), "value.text"),
        ({"a": 10**5000}, "value.a"),
        ({(1, 2): 3}, "value"),
        ({1: "a", "1": "b"}, "value"),
        (cycle, "value[0][0]"),
    ],
)
def test_what_cannot_be_sent_is_named_with_its_path(value, path):
    for returned in (value, ContentToolResult(value)):
        with pytest.raises(ToolResultError) as caught:
            check_tool_result("draw", returned)

        assert "Tool `draw`" in str(caught.value)
        assert f"`{path}" in str(caught.value)


def test_a_result_of_the_tools_own_is_checked_and_keeps_its_class():
    @dataclasses.dataclass(frozen=True)
    class Shown(ContentToolResult):
        html: str = ""

    shown = check_tool_result("f", Shown((1, 2), html="<b>"))

    assert shown == Shown([1, 2], html="<b>")


def test_a_failed_result_is_let_through_and_its_error_must_be_one():
    failed = ContentToolResult(object(), error=ValueError("boom"))
    assert check_tool_result("f", failed) is failed

    with pytest.raises(ToolResultError, match="error"):
        check_tool_result("f", ContentToolResult(error=404))


def test_nothing_of_the_callers_is_changed():
    inner = [1]
    value = {"a": inner}

    checked = check_tool_result("f", value)
    inner.append(2)

    assert checked == {"a": [1]}


@given(json_values)
def test_plain_json_passes_unchanged(value):
    checked = check_tool_result("f", value)

    assert repr(checked) == repr(value)
    assert check_tool_result("f", checked) == checked


@pytest.mark.parametrize(
    ("media", "kind"),
    [
        (ContentImageRemote("https://x/a.png"), "an image"),
        (ContentPDF("application/pdf", "YWJj"), "a PDF document"),
        (ContentUploaded("files/1", "video/mp4", "gemini"), "an uploaded file"),
    ],
)
def test_media_that_cannot_be_shown_is_named_for_what_it_is(media, kind):
    [result] = described([ContentToolResult(media)])
    assert result.value == f"[The tool returned {kind} here, which this model cannot be shown.]"
