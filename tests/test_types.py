"""Types: from calls and from Python types to JSON Schema, and a model's JSON back to Python values."""

import dataclasses
import decimal
import enum
import json
import re
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.errors import ConversionError, ResponseError, UsageError
from ellmer_core.schemas.type_values import TypeObject
from ellmer_core.schemas.types import (
    Type,
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
    type_of,
    type_string,
)

# the functions ----------------------------------------------------------------------------------------------


def test_the_description_comes_first_and_the_schema_has_a_fixed_order():
    person = type_object(
        "A person.",
        name=type_string("The name."),
        age=type_integer(required=False),
        mood=type_enum("As it looks.", ["good", "bad"]),
        scores=type_array("Of each round.", type_number()),
        alive=type_boolean(),
    )

    assert json.dumps(to_json_schema(person)) == json.dumps(
        {
            "type": "object",
            "description": "A person.",
            "properties": {
                "name": {"type": "string", "description": "The name."},
                "age": {"type": "integer"},
                "mood": {"type": "string", "description": "As it looks.", "enum": ["good", "bad"]},
                "scores": {"type": "array", "description": "Of each round.", "items": {"type": "number"}},
                "alive": {"type": "boolean"},
            },
            "required": ["name", "mood", "scores", "alive"],
            "additionalProperties": False,
        }
    )


def test_a_property_may_bear_any_name():
    type = type_object(
        description=type_string(), required=type_boolean(), self=type_integer(), _required=False
    )

    assert list(type.properties) == ["description", "required", "self"]
    assert (type.description, type.required) == (None, False)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: type_enum(["a", "b"]), "write type_enum(values=…)"),
        (lambda: type_array(type_string()), "write type_array(items=…)"),
        (lambda: type_string(False), "The first argument of type_string() is the description, not False"),
        (lambda: type_object(type_string()), "The first argument of type_object() is the description"),
        (lambda: type_enum("Colour"), "needs values="),
        (lambda: type_enum("Colour", "red"), "needs values="),
        (lambda: type_enum("Colour", [1, 2]), "needs values="),
        (lambda: type_enum("Colour", []), "some different strings"),
        (lambda: type_enum("Colour", ["a", "a"]), "some different strings"),
        (lambda: type_array("Numbers"), "needs items="),
        (lambda: type_array("Numbers", [1]), "items= must be a type"),
        (lambda: type_object(description="A person"), "property `description` must be a type"),
        (lambda: type_object(f=print), "cannot be described as JSON Schema"),
        (lambda: type_object(node=Node), "refers to itself"),
        (lambda: type_of({"type": "object"}), "{'type': 'object'} is no type"),
        (lambda: type_of("string"), "type_from_schema()"),
        (lambda: type_of(None), "None is no type"),
        (type_from_schema, "either text="),
        (lambda: type_from_schema("{}", "x.json"), "either text="),
        (lambda: type_from_schema("{"), "No JSON Schema in text="),
        (lambda: type_from_schema("[]"), "text= holds list"),
        (lambda: type_from_schema(path="no/such/file.json"), "No JSON Schema in no/such/file.json"),
    ],
)
def test_a_wrong_call_says_what_to_write(call, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        call()


def test_a_schema_is_sent_as_it_is(tmp_path):
    schema = {"type": "object", "title": "Keep", "description": "me", "x-odd": 1}
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(schema))

    assert to_json_schema(type_from_schema(json.dumps(schema))) == schema
    assert type_from_schema(path=file) == TypeJsonSchema("me", True, schema)


def test_a_type_nobody_knows_is_named():
    class TypeMine(Type):
        pass

    with pytest.raises(UsageError, match="TypeMine"):
        to_json_schema(TypeMine())
    with pytest.raises(UsageError, match="TypeMine"):
        convert(1, TypeMine())


# Python types -----------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    colour: Colour = Colour.RED


class Film(TypedDict):
    title: str
    year: NotRequired[int]


class Series(TypedDict, total=False):
    films: list[Film]


class Node(pydantic.BaseModel):
    value: int
    next: Optional["Node"] = None


class Spot(pydantic.BaseModel):
    """Somewhere small."""

    title: str = pydantic.Field(description="What it is called.")
    at: Point
    note: str | None = None
    default: Literal["a", "b"] = "a"


POINT = TypeObject(
    properties={
        "x": TypeBasic(type="integer"),
        "y": TypeBasic(type="number", required=False),
        "colour": TypeEnum(values=("red", "blue"), required=False),
    }
)


def test_point_has_a_docstring_of_its_own_making():
    # dataclasses write one ("Point(x: int, …)"); a model is not shown it
    assert type_of(Point).description is None


@pytest.mark.parametrize(
    ("annotation", "type"),
    [
        (int, TypeBasic(type="integer")),
        (bool, TypeBasic(type="boolean")),
        (type_string("as it is"), TypeBasic("as it is", type="string")),
        (Literal["a", "b"], TypeEnum(values=("a", "b"))),
        (Literal["a"], TypeEnum(values=("a",))),
        (Colour, TypeEnum(values=("red", "blue"))),
        (list[str], TypeArray(items=TypeBasic(type="string"))),
        (tuple[float, ...], TypeArray(items=TypeBasic(type="number"))),
        (list, TypeArray(items=TypeJsonSchema())),
        (dict, TypeObject(additional_properties=True)),
        (Any, TypeJsonSchema()),
        (Annotated[int, pydantic.Field(description="How many.")], TypeBasic("How many.", type="integer")),
        (Point, POINT),
        (list[Point], TypeArray(items=POINT)),
        (
            Film,
            TypeObject(
                properties={
                    "title": TypeBasic(type="string"),
                    "year": TypeBasic(type="integer", required=False),
                }
            ),
        ),
        (
            Spot,
            TypeObject(
                "Somewhere small.",
                properties={
                    "title": TypeBasic("What it is called.", type="string"),
                    "at": POINT,
                    "note": TypeBasic(type="string", required=False),
                    "default": TypeEnum(values=("a", "b"), required=False),
                },
            ),
        ),
        (date, TypeJsonSchema(schema={"type": "string", "format": "date"})),
        (Size, TypeJsonSchema(schema={"enum": [1, 2], "type": "integer"})),
        (int | None, TypeJsonSchema(schema={"anyOf": [{"type": "integer"}, {"type": "null"}]})),
        (int | str, TypeJsonSchema(schema={"anyOf": [{"type": "integer"}, {"type": "string"}]})),
        (
            dict[str, int],
            TypeJsonSchema(schema={"type": "object", "additionalProperties": {"type": "integer"}}),
        ),
    ],
)
def test_python_types(annotation, type):
    assert type_of(annotation) == type


def test_types_inside_types_may_be_python_types():
    assert type_object(at=Point, n=int).properties == {"at": POINT, "n": TypeBasic(type="integer")}
    assert type_array(items=Literal["a"]).items == TypeEnum(values=("a",))


def test_a_union_of_models_holds_no_reference():
    schema = to_json_schema(type_of(Annotated[Point | Spot, "unused"]))

    assert "$ref" not in json.dumps(schema)
    assert schema["anyOf"][0]["required"] == ["x"]


def test_a_type_that_refers_to_itself_keeps_its_references():
    schema = to_json_schema(type_of(Node))

    assert schema["$defs"]["Node"]["properties"]["next"]["anyOf"][0] == {"$ref": "#/$defs/Node"}
    assert convert({"value": 1, "next": {"value": 2}}, Node).next.value == 2


# conversion -------------------------------------------------------------------------------------------------

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


@given(st.dictionaries(words, json_values), json_values)
def test_whatever_is_written_as_a_schema_does_not_crash(schema, value):
    try:
        converted = convert(value, TypeJsonSchema(schema=schema))
    except ConversionError:
        return
    assert json.dumps(converted)
