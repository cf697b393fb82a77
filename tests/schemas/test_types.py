"""Types: conversion of calls and Python types to JSON Schema."""

import json
import re
from datetime import date
from typing import Annotated, Any, Literal

import pydantic
import pytest
from python_types import Colour, Film, Node, Point, Size, Spot

from ellmer_core.errors import UsageError
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import (
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
from ellmer_core.wire.shared.schemas import json_schema

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
        (
            lambda: type_string(False),
            "The first argument of type_string() must be the description, not False",
        ),
        (lambda: type_object(type_string()), "The first argument of type_object() must be the description"),
        (lambda: type_enum("Colour"), "needs values="),
        (lambda: type_enum("Colour", "red"), "needs values="),
        (lambda: type_enum("Colour", [1, 2]), "needs values="),
        (lambda: type_enum("Colour", []), "one or more different strings"),
        (lambda: type_enum("Colour", ["a", "a"]), "one or more different strings"),
        (lambda: type_array("Numbers"), "needs items="),
        (lambda: type_array("Numbers", [1]), "items= must be a type"),
        (lambda: type_object(description="A person"), "property `description` must be a type"),
        (lambda: type_object(f=print), "cannot be described as JSON Schema"),
        (lambda: type_of({"type": "object"}), "{'type': 'object'} is not a type"),
        (lambda: type_of("string"), "type_from_schema()"),
        (lambda: type_of(None), "None is not a type"),
        (type_from_schema, "either text="),
        (lambda: type_from_schema("{}", "x.json"), "either text="),
        (lambda: type_from_schema("{"), "text= does not contain a JSON Schema"),
        (lambda: type_from_schema("[]"), "text= holds list"),
        (
            lambda: type_from_schema(path="no/such/file.json"),
            "no/such/file.json does not contain a JSON Schema",
        ),
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


def test_a_type_that_refers_to_itself_is_defined_once_for_the_whole_schema():
    sent = json_schema(type_object(first=Node, rest=type_array(items=Node)))

    assert sent["properties"]["first"] == {"$ref": "#/$defs/Node"}
    assert sent["properties"]["rest"] == {"type": "array", "items": {"$ref": "#/$defs/Node"}}
    assert [*sent["$defs"]] == ["Node"]


def test_required_is_true_or_false_and_a_schema_may_be_a_dictionary():
    with pytest.raises(UsageError, match="required= is True or False, not 'no'"):
        type_string(required="no")

    assert type_from_schema({"type": "string"}).schema == type_from_schema('{"type": "string"}').schema
