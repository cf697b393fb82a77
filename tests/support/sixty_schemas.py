"""Sixty types for structured output, each with a model's value."""

import json
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, Optional
from uuid import UUID

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ellmer_core import (
    type_array,
    type_boolean,
    type_enum,
    type_from_schema,
    type_integer,
    type_object,
    type_string,
)


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Person:
    name: str
    age: int
    email: str | None = None


@dataclass
class Node:
    value: int
    children: list["Node"] = field(default_factory=list)


class Tree(BaseModel):
    name: str
    left: Optional["Tree"] = None
    right: Optional["Tree"] = None


class Place(TypedDict):
    city: str
    country: NotRequired[str]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class Bounded(BaseModel):
    share: float = Field(ge=0, le=1)
    code: str = Field(min_length=2, max_length=4, pattern="^[A-Z]+$")
    tags: list[str] = Field(min_length=1, max_length=3)


class Open(BaseModel, extra="allow"):
    name: str


class Formats(BaseModel):
    day: date
    at: datetime
    id: UUID


class Nested(BaseModel):
    people: list[Person]
    place: Place
    lookup: dict[str, list[Person]]


class Empty(BaseModel):
    pass


Many = TypedDict("Many", {f"p{n}": NotRequired[int] for n in range(25)})
Unions = TypedDict("Unions", {f"p{n}": int | str for n in range(17)})

ANN = {"name": "Ann", "age": 3}
LEAF = {"value": 2, "children": []}
NODE = {"value": 1, "children": [LEAF]}
TREE = {"name": "a", "left": {"name": "b"}}


def schema(**said: Any) -> Any:
    return type_from_schema(json.dumps(said))


def deep(levels: int) -> Any:
    return (
        schema(type="object", properties={"x": {"type": "integer"}})
        if levels == 0
        else type_object(x=deep(levels - 1))
    )


def deep_value(levels: int) -> Any:
    return {"x": 1} if levels == 0 else {"x": deep_value(levels - 1)}


SCHEMAS: list[tuple[str, Any, Any]] = [
    ("str", str, "a"),
    ("int", int, 3),
    ("float", float, 0.5),
    ("bool", bool, True),
    ("literal", Literal["a", "b"], "a"),
    ("literal-int", Literal[1, 2], 1),
    ("literal-mixed", Literal["a", 1], 1),
    ("enum", Colour, "red"),
    ("int-enum", Level, 2),
    ("optional", int | None, None),
    ("union", int | str, "a"),
    ("union-of-lists", list[int] | list[str], ["a"]),
    ("union-of-objects", Cat | Dog, {"kind": "cat", "lives": 9}),
    ("union-in-list", list[int | str], [1, "a"]),
    ("described", Annotated[int, "How many."], 3),
    ("bounded-int", Annotated[int, Field(gt=0, le=10)], 3),
    ("multiple", Annotated[int, Field(multiple_of=5)], 10),
    ("pattern", Annotated[str, Field(pattern="^a+$")], "aa"),
    ("date", date, "2026-11-22"),
    ("uuid", UUID, "6f1c8a52-52cd-4c0e-9b51-3c7c28a5f7f1"),
    ("decimal", Decimal, "1.5"),
    ("list-of-str", list[str], ["a", "b"]),
    ("list-of-list", list[list[int]], [[1], [2, 3]]),
    ("tuple", tuple[int, str], [1, "a"]),
    ("set", set[int], [1, 2]),
    ("dict", dict[str, int], {"a": 1}),
    ("dict-of-any", dict[str, Any], {"a": [1, None]}),
    ("dict-of-lists", dict[str, list[str]], {"a": ["b"]}),
    ("dict-of-objects", dict[str, Person], {"x": ANN}),
    ("any", Any, {"whatever": 1}),
    ("list-of-any", list[Any], [1, "a", None]),
    ("object", object, 3),
    ("dataclass", Person, ANN),
    ("dataclass-whole", Person, {**ANN, "email": "a@example.com"}),
    ("typed-dict", Place, {"city": "Rome"}),
    ("list-of-objects", list[Person], [ANN]),
    ("optional-object", Person | None, ANN),
    ("recursion", Node, NODE),
    ("list-of-recursion", list[Node], [NODE]),
    ("recursion-optional", Tree, TREE),
    ("union-with-recursion", Tree | int, TREE),
    ("dict-of-recursion", dict[str, Node], {"a": LEAF}),
    ("discriminated", Owner, {"pet": {"kind": "dog", "tricks": ["sit"]}}),
    ("bounds", Bounded, {"share": 0.5, "code": "AB", "tags": ["x"]}),
    ("open-model", Open, {"name": "a", "more": 1}),
    (
        "formats",
        Formats,
        {"day": "2026-11-22", "at": "2026-11-22T10:00:00Z", "id": "6f1c8a52-52cd-4c0e-9b51-3c7c28a5f7f1"},
    ),
    ("nested", Nested, {"people": [ANN], "place": {"city": "Rome"}, "lookup": {"a": [ANN]}}),
    ("empty", Empty, {}),
    ("25-optional", Many, {"p3": 1}),
    ("17-unions", Unions, {f"p{n}": n for n in range(17)}),
    (
        "ours",
        type_object("A book.", title=type_string("Its title."), pages=type_integer(required=False)),
        {"title": "It"},
    ),
    ("ours-open", type_object(name=type_string(), _additional_properties=True), {"name": "a", "more": 1}),
    ("ours-array", type_array(items=type_enum(values=["a", "b"])), ["a"]),
    ("ours-recursion", type_object(tree=Tree, yes=type_boolean()), {"tree": TREE, "yes": True}),
    (
        "ours-odd-names",
        type_object(**{"größe": type_integer(), "a b": type_string()}),
        {"größe": 1, "a b": "c"},
    ),
    (
        "json-schema",
        schema(type="object", properties={"a": {"type": "integer", "minimum": 1}}, required=["a"]),
        {"a": 2},
    ),
    ("json-schema-choice", schema(anyOf=[{"type": "integer"}, {"type": "string"}]), "a"),
    (
        "json-schema-itself",
        schema(type="object", properties={"next": {"$ref": "#"}, "n": {"type": "integer"}}, required=["n"]),
        {"n": 1, "next": {"n": 2}},
    ),
    (
        "json-schema-older",
        schema(
            **{
                "$ref": "#/definitions/A",
                "definitions": {
                    "A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/B"}}},
                    "B": {"type": "string"},
                },
            }
        ),
        {"b": "c"},
    ),
    ("eleven-deep", deep(11), deep_value(11)),
]
