"""Types in the JSON Schema of a provider's grammar, and unsupported keywords."""

import json
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, HttpUrl

from ellmer_core.contents.turns import UserTurn
from ellmer_core.schemas.type_functions import type_from_schema, type_of
from ellmer_core.tools.definition import tool
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.bedrock.to_wire import Bedrock
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

BEDROCK = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ASK = [UserTurn("Who?")]


class Place(BaseModel):
    street: str
    zip: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


class Person(BaseModel):
    name: str = Field(min_length=1, description="In full.")
    age: int = Field(ge=0, le=150)
    home: Place | None
    site: HttpUrl
    born: Annotated[str, Field(json_schema_extra={"format": "date"})]
    tags: list[str] = Field(min_length=2)
    some: list[str] = Field(min_length=1)
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


def answer_of_claude(type):
    return AnthropicMessages(model="m").request(ASK, type=type).json["output_config"]["format"]["schema"]


def test_what_claude_cannot_be_bound_to_is_said_in_the_description():
    properties = answer_of_claude(type_of(Person))["properties"]

    assert properties["name"] == {"type": "string", "description": "In full.\n\nminLength: 1"}
    assert properties["age"] == {"type": "integer", "description": "maximum: 150, minimum: 0"}
    assert properties["site"] == {
        "type": "string",
        "format": "uri",
        "description": "maxLength: 2083, minLength: 1",
    }
    assert properties["born"] == {"type": "string", "format": "date"}
    assert properties["tags"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "minItems: 2",
    }
    assert properties["some"]["minItems"] == 1


def test_every_object_that_does_not_say_otherwise_is_closed_for_claude():
    schema = answer_of_claude(type_of(Person))
    home, nothing = schema["properties"]["home"]["anyOf"]

    assert home["additionalProperties"] is schema["additionalProperties"] is False
    assert nothing == {"type": "null"}
    assert [pet["additionalProperties"] for pet in schema["properties"]["pet"]["anyOf"]] == [False, False]


def test_a_schema_of_the_callers_is_closed_for_claude_and_stays_as_it_was():
    given = {
        "$schema": "x",
        "type": "object",
        "properties": {"properties": {"type": "object"}, "default": {}},
    }
    text = json.dumps(given)

    schema = answer_of_claude(type := type_from_schema(text))

    inner = {"type": "object", "additionalProperties": False}
    assert schema == {"properties": {"properties": inner, "default": {}}, **inner}
    assert json.dumps(type.schema) == text


def test_what_is_open_on_purpose_stays_so_for_the_provider_to_refuse():
    open_map = answer_of_claude(type_of(dict[str, int]))
    assert open_map["additionalProperties"] == {"type": "integer"}


def test_bedrock_binds_answers_by_the_same_grammar():
    structured = Bedrock(model=BEDROCK).request(ASK, type=type_of(Person)).json["outputConfig"]
    schema = json.loads(structured["textFormat"]["structure"]["jsonSchema"]["schema"])
    assert schema == answer_of_claude(type_of(Person))


@pytest.mark.parametrize(
    "wire", [OpenAIChat(model="m"), OpenAIResponses(model="m")], ids=lambda wire: wire.name
)
def test_openai_is_told_formats_and_lengths_that_it_does_not_know(wire):
    mail_address = Annotated[str, Field(json_schema_extra={"format": "email"})]

    def visit(site: HttpUrl, mail: mail_address | None = None) -> str:
        """Visits."""

    function = wire.tool(tool(visit))
    function = function.get("function", function)

    assert function["strict"] is True
    assert function["parameters"]["properties"]["site"] == {
        "type": "string",
        "description": 'format: "uri", maxLength: 2083, minLength: 1',
    }
    assert function["parameters"]["properties"]["mail"] == {"type": ["string", "null"], "format": "email"}
