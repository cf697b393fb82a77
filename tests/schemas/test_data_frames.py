"""Data frames of both libraries: their descriptions, and frames from structured answers."""

import json
from datetime import UTC, datetime

import pytest

from ellmer_core._chat.structured_output import Structured
from ellmer_core.contents.turns import AssistantTurn
from ellmer_core.errors import ConversionError, UsageError
from ellmer_core.schemas.data_frames import data_frame, df_schema
from ellmer_core.schemas.type_functions import type_array, type_integer, type_object, type_string

libraries = pytest.mark.parametrize("library", ["pandas", "polars"])
ROWS = type_array(items=type_object(name=type_string(), age=type_integer(required=False)))


@pytest.fixture
def frames(library):
    return pytest.importorskip(library, reason=f"{library} is not installed")


@libraries
def test_a_frame_in_words(frames):
    data = {
        "city": ["Köln", "Bonn", None],
        "size": [1.5, 0.5, 2.5],
        "note": [f"n{i}" for i in range(3)],
        "big": [True, False, True],
    }
    first, city, size, note, big = df_schema(frames.DataFrame(data)).splitlines()
    assert first == "A data frame with 3 rows and 4 columns:"
    assert city.startswith('- "city": ')
    assert city.endswith('values "Bonn", "Köln", 1 missing')
    assert size.lower() == '- "size": float64, from 0.5 to 2.5'
    assert note.endswith('values "n0", "n1", "n2"')
    assert big.endswith("values false, true")


@libraries
def test_long_wide_empty_and_nested_frames(frames):
    many = frames.DataFrame({"id": [f"x{i}" for i in range(11)], "list": [[1]] * 11, "none": [None] * 11})
    text = df_schema(many, max_cols=1)
    assert "11 different values" in text
    assert text.endswith("(and 2 more columns)")
    assert df_schema(frames.DataFrame({})) == "A data frame with 0 rows and 0 columns:"
    assert df_schema(many).endswith("11 missing")


@libraries
def test_dates_have_a_range(frames):
    days = [datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]
    assert 'from "2026-01-01' in df_schema(frames.DataFrame({"day": days}))


def test_what_is_no_frame():
    with pytest.raises(UsageError, match="not list"):
        df_schema([1])


@libraries
def test_an_array_of_objects_becomes_a_frame(frames, library):
    wanted = Structured(ROWS, frame=library)
    rows = [{"name": "Ann", "age": 3}, {"name": "Otto", "age": None}]
    frame = wanted.value(AssistantTurn(json.dumps({"wrapper": rows})))
    assert list(frame.columns) == ["name", "age"]
    assert frame["name"].to_list() == ["Ann", "Otto"]
    assert list(wanted.value(AssistantTurn('{"wrapper": []}')).columns) == ["name", "age"]
    with pytest.raises(ConversionError):
        wanted.value(AssistantTurn('{"wrapper": [{"name": 1}]}'))


def test_only_an_array_of_objects_can():
    for type in (type_integer(), type_array(items=type_integer()), type_object(a=type_integer())):
        with pytest.raises(UsageError, match="an array of objects"):
            Structured(type, frame="pandas")


def test_libraries_that_are_not_there(monkeypatch):
    with pytest.raises(UsageError, match='"pandas" or "polars", not \'numpy\''):
        data_frame([], [], "numpy")
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UsageError, match="pip install polars"):
        data_frame([], [], "polars")
