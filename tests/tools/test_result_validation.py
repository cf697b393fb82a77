"""Tool results: the check of return values, and the JSON of a value."""

import dataclasses
import enum
import json
import re
import uuid
from base64 import b64decode, b64encode
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import NamedTuple

import pydantic
import pytest
from chats.tool_values import CAT, json_values
from hypothesis import given

from ellmer_core.contents.content import (
    Content,
    ContentFile,
    ContentImageInline,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.errors import EllmerWarning, ToolResultError, UsageError
from ellmer_core.tools.results import check_tool_result, flatten, result_text


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


@pytest.mark.parametrize(
    ("library", "types"), [("pandas", "int64 float64 str"), ("polars", "Int64 Float64 String")]
)
def test_a_data_frame_is_a_table(library, types):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = frames.DataFrame({"a": [1, 2], "b": [0.1, float("nan")], "c": ["x|y\nz", None]})
    a, b, c = types.split()
    assert check_tool_result("f", frame).text == (
        f"(2 rows, 3 columns)\n\n| a ({a}) | b ({b}) | c ({c}) |\n| --- | --- | --- |\n"
        "| 1 | 0.1 | x\\|y<br>z |\n| 2 | null | null |"
    )
    assert check_tool_result("f", {"column": frame["b"]}) == {"column": [0.1, None]}
    assert result_text(ContentToolResult([frame])) == json.dumps([check_tool_result("f", frame).text])


def test_an_index_is_a_column_and_a_large_frame_is_cut():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    named = pandas.DataFrame(
        {"n": range(5000)}, index=pandas.date_range("2026-01-01", periods=5000, name="day")
    )
    lines = check_tool_result("f", named).text.splitlines()
    assert lines[0] == "(first 100 of 5000 rows, 2 columns)"
    assert lines[2].startswith("| day (datetime64")
    assert lines[4] == "| 2026-01-01T00:00:00 | 0 |"
    assert len(lines) == 104
    wide = pandas.DataFrame([range(60)] * 2, columns=["same"] * 60)
    assert "first 50 of 60 columns" in check_tool_result("f", wide).text


def test_a_series_keeps_its_labels():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    counted = pandas.Series(["x", "y", "x"], name="c").value_counts()
    assert check_tool_result("f", counted).text.splitlines()[4:] == ["| x | 2 |", "| y | 1 |"]
    unnamed = pandas.Series([1, 2], index=["a", "b"])
    assert "| index (str) | value (int64) |" in check_tool_result("f", unnamed).text
    assert check_tool_result("f", pandas.Series([1, 2])) == [1, 2]
    assert check_tool_result("f", pandas.Series(range(1000))).text.startswith("(first 100 of 1000 rows, ")


def test_frames_without_columns_and_cells_that_are_arrays():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert check_tool_result("f", pandas.DataFrame(index=range(5))).text == "(5 rows, 0 columns)"
    arrays = pandas.DataFrame({"a": [pandas.Series([1, 2]).to_numpy()]})
    assert check_tool_result("f", arrays).text.endswith("| [1 2] |")


def test_a_table_of_arrow_is_a_table():
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = arrow.table({"list": [[1], None], "at": [{"x": 1}, None]})
    assert check_tool_result("f", table).text == (
        "(2 rows, 2 columns)\n\n| list (list<item: int64>) | at (struct<x: int64>) |\n| --- | --- |\n"
        '| [1] | {"x": 1} |\n| null | null |'
    )
    same = arrow.Table.from_arrays([arrow.array([1]), arrow.array(["a|b"])], names=["a", "a"])
    assert check_tool_result("f", same).text.endswith(
        "| a (int64) | a (string) |\n| --- | --- |\n| 1 | a\\|b |"
    )


PDF = ContentPDF("application/pdf", b64encode(b"%PDF-1.4\n%%EOF").decode())


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("pandas", lambda lib: lib.DataFrame({"title": ["a", "b"], "doc": [PDF, None], "day": [date(2026, 1, 2), 1.5]})),
        ("polars", lambda lib: lib.DataFrame({"title": ["a", "b"], "doc": lib.Series([PDF, None], dtype=lib.Object), "day": lib.Series([date(2026, 1, 2), 1.5], dtype=lib.Object)})),
    ],
)  # fmt: skip
def test_documents_in_a_frame_are_sent_and_its_rows_are_objects(library, make):
    frame = make(pytest.importorskip(library, reason=f"{library} is not installed"))
    value = check_tool_result("f", frame)
    assert value == [
        {"title": "a", "doc": PDF, "day": "2026-01-02"},
        {"title": "b", "doc": None, "day": 1.5},
    ]
    result = ContentToolResult(value, request=ContentToolRequest("c1", "f", {}))
    text, opening, document, closing = flatten([result])
    assert text.value[0]["doc"] == "[see below: item 1.doc]"
    assert [opening.text, document, closing.text] == [
        '<content tool-call-id="c1" item="1.doc">',
        PDF,
        "</content>",
    ]


def test_a_long_frame_of_pictures_says_so_and_two_columns_of_one_name_stay_apart():
    pandas = pytest.importorskip("pandas")
    long = check_tool_result("f", pandas.DataFrame({"doc": [b"%PDF-1.4\n%%EOF"] * 101}))
    assert len(long) == 101
    assert long[0]["doc"] == PDF
    assert long[-1] == "(first 100 of 101 rows, 1 column)"
    twice = pandas.DataFrame([[[PDF], b"no picture"]], columns=["a", "a"])
    assert check_tool_result("f", twice) == [{"a": [PDF], "a (2)": "b'no picture'"}]


def test_a_lazy_frame_is_collected_by_the_tool():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    with pytest.raises(ToolResultError, match=r"`value` is LazyFrame. Call its collect\(\) first."):
        check_tool_result("f", polars.LazyFrame({"a": [1]}))


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
    with pytest.raises(ToolResultError, match="inf cannot be written as JSON"):
        check_tool_result("f", numpy.array([float("inf")]))


PNG_DATA = "iVBORw0KGgo="
EMPTY = ContentImageInline("image/png", "")
NO_BASE64 = ContentImageInline("image/png", "no base64!")
NO_PDF = ContentPDF("application/pdf", PNG_DATA)
NOTES = ContentFile("text/markdown", "SGk=", "notes.md", "Hi")


class Holder(pydantic.BaseModel):
    images: list[ContentImageInline]


@dataclass
class Wrapped:
    image: Content


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError("no " + name)


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ({"deep": {"image": CAT}}, {"deep": {"image": CAT}}),
        ([1, [CAT]], [1, [CAT]]),
        ({"my key": (CAT,)}, {"my key": [CAT]}),
        ([Wrapped(CAT)], [{"image": CAT}]),
        ([Holder(images=[CAT])], [{"images": [CAT]}]),
        ({"a": ContentText("deep")}, {"a": ContentText("deep")}),
        (ContentJson({"x": CAT}), {"x": CAT}),
        ({"plot": b64decode(PNG_DATA)}, {"plot": ContentImageInline("image/png", PNG_DATA)}),
        ([{"doc": NOTES}], [{"doc": NOTES}]),
    ],
)
def test_contents_may_be_at_any_depth(value, normal):
    assert check_tool_result("f", value) == normal


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (EMPTY, "its data is empty"),
        (NO_BASE64, "its data is not standard base64"),
        (NO_PDF, "its bytes are image/png, not application/pdf"),
        (ContentImageInline("image/jpeg", "aGk="), "its bytes are not image/jpeg"),
        (ContentPDF("image/png", PNG_DATA), "its type is 'image/png', not application/pdf"),
    ],
)
def test_damaged_media_are_refused_with_the_reason(content, fault):
    with pytest.raises(ToolResultError, match=f"A model cannot read it, because {fault}"):
        check_tool_result("draw", [content])


cycle: list = []
cycle.append(cycle)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"my key": (EMPTY,)}, "value['my key'][0]"),
        ([1, {"doc": NO_PDF}], "value[1].doc"),
        (Holder(images=[NO_BASE64]), "value.images[0]"),
        (ContentFile("audio/wav", PNG_DATA, "a.wav"), "value"),
        (ContentThinking("hm"), "value"),
        ([ContentToolRequest("1", "f")], "value[0]"),
        ([ContentToolResult(1)], "value[0]"),
        (ContentJson({"x": print}), "value.value.x"),
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
    with pytest.warns(EllmerWarning, match="has a value and an error. The model gets the error only"):
        failed = ContentToolResult(object(), error=ValueError("boom"))
    assert check_tool_result("f", failed) is failed

    with pytest.raises(UsageError, match="error"):
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


def test_images_of_python_become_images():
    pillow = pytest.importorskip("PIL.Image")
    png = b"\x89PNG\r\n\x1a\n"

    assert check_tool_result("f", png) == ContentImageInline("image/png", "iVBORw0KGgo=")
    assert check_tool_result("f", [1, bytearray(png)])[1].type == "image/png"
    assert isinstance(check_tool_result("f", b"%PDF-1.4"), ContentPDF)
    for mode in ("RGB", "CMYK", "F"):
        assert check_tool_result("f", {"image": pillow.new(mode, (2, 2))})["image"].type == "image/png"

    class Figure:
        def savefig(self, file, format, dpi):
            file.write(png)

    assert check_tool_result("f", Figure()).type == "image/png"
    with pytest.raises(ToolResultError, match="`value` is bytes"):
        check_tool_result("f", b"no image")


def test_charts_of_altair_become_images():
    alt = pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    bars = alt.Chart(alt.Data(values=[{"x": 1}, {"x": 2}])).mark_bar().encode(x="x:O")

    assert check_tool_result("f", {"chart": bars})["chart"].type == "image/png"
    assert check_tool_result("f", bars | bars).type == "image/png"


PNG = b"\x89PNG\r\n\x1a\n"


class Plotly:
    def to_image(self, format):
        return PNG if format == "png" else b""


class Plotnine:
    def save(self, file, *, format, dpi, verbose):
        file.write(PNG if format == "png" and dpi and not verbose else b"")


class Model:
    """A row of a database, say: it saves itself, and nobody asked for that."""

    def save(self, *_, **__):
        raise AssertionError("saved")


def test_charts_of_plotly_and_plotnine_become_images():
    for library, base in {"plotly.graph_objs._figure": Plotly, "plotnine.ggplot": Plotnine}.items():
        chart = type("Chart", (base,), {"__module__": library})
        derived = type("MyChart", (chart,), {})
        for value in (chart(), derived()):
            assert check_tool_result("f", [value])[0].type == "image/png"


def test_a_value_that_can_be_saved_is_no_chart():
    with pytest.raises(ToolResultError, match=r"`value` is Model\. Return a string"):
        check_tool_result("f", Model())


def test_a_figure_that_cannot_be_drawn_names_its_place():
    class Figure:
        def savefig(self, *_, **__):
            raise OSError("no font")

    with pytest.raises(ToolResultError, match=r"`value\[1\]` is Figure. It cannot be drawn: no font"):
        check_tool_result("f", [1, Figure()])


def test_data_frames_keep_an_index_that_says_something():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"n": [1, 2]})

    def head(frame):
        return re.findall(r"(\w+) \(", check_tool_result("f", frame).text.splitlines()[2])

    assert head(rows) == ["n"]
    assert head(rows.set_axis(["a", "b"])) == ["index", "n"]
    assert head(rows.rename_axis("row")) == ["row", "n"]
    assert check_tool_result("f", pandas.Series([5, 6])) == [5, 6]
