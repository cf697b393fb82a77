"""Data for demanded schemas that the server's model makes: it satisfies them, with the words of the user where they fit."""

import json

import jsonschema
import pytest

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.server.model import answer_of

TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def closed(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def listed(items, **more):
    return {"type": "array", "items": items, **more}


def pattern(text, **more):
    return {"type": "string", "pattern": text, **more}


def answered(question, schema):
    form = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    body = {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": question}],
        "response_format": form,
    }
    return json.loads(answer_of(Request("openai-chat", "openai", body)).text)


PEOPLE = closed(people=listed(closed(name=TEXT, age=WHOLE, email={"type": "string", "format": "email"})))
ROUND, SQUARE = closed(kind={"const": "circle"}, radius=NUMBER), closed(kind={"const": "square"}, side=NUMBER)
MOOD = closed(mood={"enum": ["positive", "negative", "neutral"]})


@pytest.mark.parametrize(
    ("question", "schema", "data"),
    [
        (
            "Ada Lovelace was born on December 10, 1815 in London. She is 36.",
            closed(name=TEXT, birth_date={"type": "string", "format": "date"}, birth_place=TEXT, age=WHOLE),
            {"name": "Ada Lovelace", "birth_date": "1815-12-10", "birth_place": "London", "age": 36},
        ),
        (
            "Anna (30, anna@x.org) and Bob (41, bob@x.org) work at Acme",
            PEOPLE,
            {
                "people": [
                    {"name": "Anna", "age": 30, "email": "anna@x.org"},
                    {"name": "Bob", "age": 41, "email": "bob@x.org"},
                ]
            },
        ),
        (
            "A square of side 7",
            closed(shape={"oneOf": [ROUND, SQUARE]}),
            {"shape": {"kind": "square", "side": 7}},
        ),
        ("The food was terrible, I hate this place", MOOD, {"mood": "negative"}),
        ("I love it! Best purchase ever", MOOD, {"mood": "positive"}),
        ("The train leaves at noon", MOOD, {"mood": "neutral"}),
        (
            "Three fruits: apple, banana and cherry",
            closed(fruits=listed(TEXT)),
            {"fruits": ["apple", "banana", "cherry"]},
        ),
        (
            "Red and blue, please",
            closed(colours=listed({"enum": ["red", "green", "blue"]})),
            {"colours": ["red", "blue"]},
        ),
        ("东京有1400万人口", closed(city=TEXT, population=NUMBER), {"city": "东京", "population": 14_000_000}),
        ("Berlin has 3.7 million people", closed(city=TEXT, people=WHOLE), {"city": "Berlin", "people": 3_700_000}),
    ],
)  # fmt: skip
def test_data_come_from_the_words(question, schema, data):
    assert answered(question, schema) == data


NODE = closed(value=TEXT, children=listed({"$ref": "#/$defs/Node"}))


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"Node": NODE}, "$ref": "#/$defs/Node"},
        closed(a=listed({"enum": ["a", "b", "c"]}, uniqueItems=True, minItems=2)),
        closed(a=listed(NUMBER | {"minimum": 1e300}, uniqueItems=True, minItems=3)),  # 1e300 + 1 is 1e300
        closed(a={"type": "array", "contains": {"const": 5}, "items": WHOLE, "minItems": 2}),
        closed(a={"type": "array", "prefixItems": [NUMBER, TEXT], "items": False, "minItems": 2}),
        closed(a={"type": "object", "additionalProperties": WHOLE, "minProperties": 2}),
        {
            "type": "object",
            "patternProperties": {"^x_": TEXT},
            "minProperties": 2,
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"a": {"enum": ["x", "y"]}, "b": TEXT},
            "required": ["a"],
            "if": {"properties": {"a": {"const": "x"}}},
            "then": {"required": ["b"]},
        },
        {
            "type": "object",
            "properties": {"card": TEXT, "address": TEXT},
            "required": ["card"],
            "dependentRequired": {"card": ["address"]},
        },
        closed(a={"type": "string", "format": "idn-email"}, b={"type": "string", "format": "uri-reference"}),
        closed(
            a={"type": "string", "format": "regex"},
            b={"type": "string", "format": "relative-json-pointer"},
        ),
        closed(a=pattern("^[a-z]+$", minLength=5), b=pattern("^[A-Z]*$", minLength=2, maxLength=3)),
        closed(a=pattern(r"^(?=.*\d)[a-z\d]{4,}$"), b=pattern(r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$")),
        closed(a=pattern(r"^([0-9A-F]{2}:){5}[0-9A-F]{2}$"), b=pattern("^(yes|no)$")),
    ],
)
def test_data_satisfy_rare_demands(schema):
    form = jsonschema.FormatChecker()
    jsonschema.validate(
        answered("Make one", schema), schema, cls=jsonschema.Draft202012Validator, format_checker=form
    )
