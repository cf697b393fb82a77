"""Types: conversion of a model's JSON to Python values."""

import decimal
import json
import re
from datetime import date
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator
from python_types import Colour, Film, Point, Series, Size, Spot

from ellmer_core.errors import ConversionError, ResponseError, UsageError
from ellmer_core.schemas.type_classes import Type, TypeObject
from ellmer_core.schemas.type_functions import (
    TypeArray,
    TypeBasic,
    TypeEnum,
    TypeJsonSchema,
    convert,
    to_json_schema,
    type_array,
    type_boolean,
    type_enum,
    type_from_schema,
    type_integer,
    type_number,
    type_object,
    type_string,
)

PERSON = type_object(
    name=type_string(),
    age=type_integer(required=False),
    mood=type_enum(values=["good", "bad"]),
    at=type_array(items=type_object(x=type_number())),
)


def test_objects_become_dicts_in_the_order_of_their_type():
    value = convert({"at": [{"x": 1}], "mood": "bad", "name": "Ada"}, PERSON)

    assert value == {"name": "Ada", "age": None, "mood": "bad", "at": [{"x": 1}]}
    assert list(value) == ["name", "age", "mood", "at"]


def test_every_problem_is_named_with_its_path():
    with pytest.raises(ConversionError) as caught:
        convert({"age": "3", "mood": "so-so", "at": [{"x": True}, {"x": 1, "y": 2}, 7]}, PERSON)

    assert str(caught.value).split("; ") == [
        "`value.name` is missing",
        '`value.age` must be an integer, not "3"',
        '`value.mood` must be one of ["good", "bad"], not "so-so"',
        "`value.at[0].x` must be a number, not true",
        "`value.at[1]` has no property `y`",
        "`value.at[2]` must be an object, not 7",
    ]
    assert isinstance(caught.value, (ResponseError, ValueError))


@pytest.mark.parametrize(
    ("value", "type", "converted"),
    [
        (3.0, type_integer(), 3),
        (3.0, int, 3),
        (3, float, 3.0),
        (3, type_number(), 3),
        ("x", str, "x"),
        (True, bool, True),
        ("red", Colour, Colour.RED),
        (2, Size, Size.LARGE),
        ("2026-05-04", date, date(2026, 5, 4)),
        ("1.10", decimal.Decimal, decimal.Decimal("1.10")),
        ([1, 2.0], list[int], [1, 2]),
        ([1, 2], set[int], {1, 2}),
        ([1, "a"], tuple[int, str], (1, "a")),
        ({"x": 1.0}, Point, Point(1)),
        ({"x": 1, "y": None, "colour": "blue"}, Point, Point(1, 0.5, Colour.BLUE)),
        ({"title": "Psycho", "year": None}, Film, {"title": "Psycho"}),
        ([{"title": "Psycho"}], list[Film] | None, [{"title": "Psycho"}]),
        ({"films": [{"title": "Psycho"}]}, Annotated[Series, "unused"], {"films": [{"title": "Psycho"}]}),
        ([{"at": {"x": 1, "y": None}, "title": "t"}], list[Spot], [Spot(title="t", at=Point(1))]),
        (None, int | None, None),
        ({"a": [1.5, None]}, dict, {"a": [1.5, None]}),
        ({"a": [1.0, 2]}, Any, {"a": [1.0, 2]}),
        ({"extra": 1}, type_object(_additional_properties=True), {"extra": 1}),
        ({"a": 1, "b": 2}, type_from_schema('{"type":"object","properties":{"a":{"type":"integer"}}}'),
         {"a": 1, "b": 2}),
        ("anything", type_from_schema('{"type":["string","null"]}'), "anything"),
        ({"a": [1]}, type_from_schema('{"type":"object","properties":{"a":true,"b":false}}'), {"a": [1], "b": None}),
        ({"a": 1}, type_from_schema('{"type":"object","properties":["a"]}'), {"a": 1}),
        (3, Annotated[int, ["not", "hashable"]], 3),
        ("anything", type_from_schema('{"$ref":"#/definitions/x"}'), "anything"),
    ],
)  # fmt: skip
def test_convert(value, type, converted):
    result = convert(value, type)

    assert repr(result) == repr(converted)


@pytest.mark.parametrize(
    ("value", "type", "said"),
    [
        ("3", int, '`value` must be an integer, not "3"'),
        (True, int, "`value` must be an integer, not true"),
        (1, bool, "`value` must be a boolean, not 1"),
        (3.5, int, "`value` must be an integer, not 3.5"),
        (1, str, "`value` must be a string, not 1"),
        ("1.5", float, '`value` must be a number, not "1.5"'),
        (None, type_string(), "`value` must be a string, not null"),
        ("x", type_array(items=int), '`value` must be a list, not "x"'),
        ("x" * 100, type_integer(), 'not "' + "x" * 56 + "..."),
        (["3"], list[int], '`value[0]`: Input should be a valid integer, not "3"'),
        ([3.5], list[int], "`value[0]`"),
        ({"x": "1"}, Point, "`value.x`"),
        ({"title": "t", "at": {"x": 1, "colour": "green"}}, Spot, "`value.at.colour`"),
        ("green", Colour, "Input should be 'red' or 'blue'"),
        (1, date, "`value`"),
        ({}, Film, "`value.title`"),
        (
            {"a": "1"},
            type_from_schema('{"type":"object","properties":{"a":{"type":"integer"}}}'),
            "`value.a`",
        ),
    ],
)
def test_nothing_is_coerced(value, type, said):
    with pytest.raises(ConversionError, match=re.escape(said)):
        convert(value, type)


def test_the_path_starts_where_the_caller_says():
    with pytest.raises(ConversionError, match=r"`n\[1\]` must be an integer"):
        convert([1, "2"], type_array(items=int), path="n")


def test_what_came_is_not_changed_and_not_shared():
    came = {"free": {"a": [1]}}

    convert(came, type_object(_additional_properties=True))["free"]["a"].append(2)
    convert(came, type_from_schema('{"oneOf":[]}'))["free"]["a"].append(2)
    convert(came, dict)["free"]["a"].append(2)

    assert came == {"free": {"a": [1]}}


basic = st.sampled_from([type_boolean(), type_integer(), type_number(), type_string()])
enums = st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True).map(lambda v: type_enum(values=v))
types = st.recursive(
    basic | enums,
    lambda inner: (
        inner.map(lambda t: type_array(items=t))
        | st.dictionaries(st.text("ab_", min_size=1).filter(lambda n: n[0] != "_"), inner, max_size=3).map(
            lambda properties: type_object(**properties)
        )
    ),
    max_leaves=6,
)


def values_of(type):
    match type:
        case TypeBasic():
            of = {"boolean": st.booleans(), "integer": st.integers(), "string": st.text()}
            return of.get(type.type, st.floats(allow_nan=False, allow_infinity=False))
        case TypeEnum():
            return st.sampled_from(type.values)
        case TypeArray():
            return st.lists(values_of(type.items), max_size=3)
        case TypeObject():
            return st.fixed_dictionaries({name: values_of(t) for name, t in type.properties.items()})


@given(types.flatmap(lambda type: st.tuples(st.just(type), values_of(type))))
def test_a_fitting_value_is_kept_and_its_schema_reads_back_as_the_type(pair):
    type, value = pair

    def text(value):
        return json.dumps(value, sort_keys=True)

    assert text(convert(value, type)) == text(value)
    assert text(convert(value, type_from_schema(json.dumps(to_json_schema(type))))) == text(value)


words = st.sampled_from([
    "type", "properties", "required", "items", "enum", "const", "anyOf", "$ref", "$defs", "additionalProperties",
    "object", "array", "string", "a", "#/$defs/a",
])  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def test_a_type_without_a_conversion_is_refused():
    with pytest.raises(UsageError, match="is not a type that a value can be converted to"):
        convert({}, Type())


@given(st.dictionaries(words, json_values), json_values)
def test_whatever_is_written_as_a_schema_does_not_crash(schema, value):
    try:
        converted = convert(value, TypeJsonSchema(schema=schema))
    except ConversionError:
        return
    assert json.dumps(converted)


def test_the_words_of_a_validator_are_the_problem():
    class Adult(BaseModel):
        age: int
        name: str

        @field_validator("age")
        @classmethod
        def grown(cls, age: int) -> int:
            if age < 18:
                raise ValueError("too young")
            return age

    with pytest.raises(ConversionError) as caught:
        convert({"age": 3}, Adult)
    assert str(caught.value) == "`value.age` is 3: too young; `value.name` is missing"
