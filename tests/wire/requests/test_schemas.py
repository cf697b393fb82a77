"""Schemas in the four wire formats: structured output, strict if possible."""

import pytest
from wires.four_wires import CHAT, RESPONSES, every_wire

from ellmer_core.contents.content import ToolDef
from ellmer_core.contents.turns import UserTurn
from ellmer_core.schemas.type_classes import TypeObject
from ellmer_core.schemas.type_functions import TypeArray, TypeBasic, TypeEnum, TypeJsonSchema


@every_wire
def test_structured_output_is_asked_for_by_schema(wire):
    type = TypeObject(properties={"n": TypeBasic(type="number"), "tags": TypeArray(required=False)})
    body = wire.request([UserTurn("hi")], type=type).json
    match wire.name:
        case "openai-chat":
            schema = body["response_format"]["json_schema"]["schema"]
        case "openai-responses":
            schema = body["text"]["format"]["schema"]
        case "anthropic":
            schema = body["output_config"]["format"]["schema"]
        case _:
            assert body["generationConfig"]["responseMimeType"] == "application/json"
            schema = body["generationConfig"]["responseJsonSchema"]
    assert schema["properties"]["n"] == {"type": "number"}
    assert schema["additionalProperties"] is False
    nullable = wire.name.startswith("openai")
    assert schema["required"] == (["n", "tags"] if nullable else ["n"])
    assert schema["properties"]["tags"]["type"] == (["array", "null"] if nullable else "array")


@pytest.mark.parametrize(
    "type",
    [
        TypeObject(additional_properties=True),
        TypeObject(properties={"a": TypeJsonSchema(schema={"type": "object"})}),
        *(
            TypeObject(properties={"a": TypeJsonSchema(schema=schema)})
            for schema in (
                {},
                {"description": "Anything."},
                {"type": "array"},
                {"type": "array", "items": {}},
                {"type": "array", "items": {"type": "array", "prefixItems": [{"type": "string"}]}},
                {"anyOf": [{"type": "string"}, {}]},
                {"$ref": "#/$defs/A", "$defs": {"A": {}}},
            )
        ),
    ],
)
def test_what_strict_schemas_cannot_say_is_not_strict(type):
    assert CHAT.tool(ToolDef(print, "t", "", type))["function"]["strict"] is False
    assert RESPONSES.tool(ToolDef(print, "t", "", type))["strict"] is False
    assert CHAT.schema(type)["required"] == list(type.properties)


def test_a_property_may_bear_the_name_of_a_keyword():
    type = TypeObject(properties={"not": TypeBasic(), "items": TypeObject(), "enum": TypeEnum(values=("a",))})
    assert RESPONSES.tool(ToolDef(print, "t", "", type))["strict"] is True


def test_an_optional_json_schema_may_be_null():
    x = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}
    type = TypeObject(properties={"a": TypeJsonSchema(required=False, schema=x)})
    assert CHAT.schema(type)["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}


@every_wire
def test_the_words_beside_a_reference_are_sent(wire):
    place = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    closed = {**place, "additionalProperties": False}
    home = {"$ref": "#/$defs/place", "description": "Where it is."}
    whole = {"type": "object", "properties": {"home": home}, "required": ["home"], "$defs": {"place": closed}}
    type = TypeJsonSchema(schema={**whole, "additionalProperties": False})

    body = wire.request([UserTurn("hi")], type=type).json

    assert "Where it is." in str(body)
    if wire.name != "anthropic":
        assert "{'anyOf': [{'$ref': '#/$defs/place'}], 'description': 'Where it is.'}" in str(body)


def test_a_whole_schema_that_is_a_reference_is_an_object_with_its_words():
    schema = {"$ref": "#/$defs/x", "description": "All.", "$defs": {"x": {"type": "object"}}}

    said = CHAT.schema(TypeJsonSchema(schema=schema))

    assert (said["type"], said["description"]) == ("object", "All.")
