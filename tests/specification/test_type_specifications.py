"""ellmer 0.2.1's page on type specifications, sentence by sentence. `moving.md` lists where this library differs."""

import json

import pytest

from ellmer_core import (
    UsageError,
    chat_anthropic,
    tool,
    type_array,
    type_boolean,
    type_enum,
    type_from_schema,
    type_integer,
    type_number,
    type_object,
    type_string,
)
from ellmer_core.schemas.type_functions import to_json_schema
from ellmer_core.testing import ScriptedModel, run_tool

SIMPLE = (type_boolean, type_integer, type_number, type_string)


@pytest.mark.parametrize("make", SIMPLE)
def test_a_simple_type_takes_a_description_and_required_in_this_order(make):
    described = make("What for.", False)
    assert (described.description, described.required) == ("What for.", False)
    assert make(description="What for.", required=False) == described


@pytest.mark.parametrize("make", SIMPLE)
def test_a_simple_type_has_no_description_and_is_required_by_default(make):
    assert (make().description, make().required) == (None, True)


@pytest.mark.parametrize("make", SIMPLE)
def test_the_name_is_that_of_json_schema(make):
    assert to_json_schema(make()) == {"type": make.__name__.removeprefix("type_")}


def test_an_enum_takes_description_values_and_required_in_this_order():
    unit = type_enum("Unit", ["C", "F"], False)
    assert (unit.description, unit.values, unit.required) == ("Unit", ("C", "F"), False)
    assert to_json_schema(unit) == {"type": "string", "description": "Unit", "enum": ["C", "F"]}


def test_an_enum_needs_values():
    with pytest.raises(UsageError, match="values="):
        type_enum("Unit")


def test_an_array_takes_description_items_and_required_in_this_order():
    names = type_array("Names", type_string(), False)
    assert (names.description, names.items, names.required) == ("Names", type_string(), False)


def test_an_array_needs_items():
    with pytest.raises(UsageError, match="items="):
        type_array("Names")


def test_the_items_of_an_array_are_any_type():
    for items in (
        *(make() for make in SIMPLE),
        type_enum(None, ["a"]),
        type_array(items=type_string()),
        type_object(a=type_string()),
    ):
        assert to_json_schema(type_array(items=items))["items"] == to_json_schema(items)


def test_an_object_takes_a_description_and_pairs_of_names_and_types():
    row = type_object("A row", x=type_boolean(), y=type_string())
    assert row.description == "A row"
    assert dict(row.properties) == {"x": type_boolean(), "y": type_string()}


def test_an_object_is_required_and_closed_by_default():
    row = type_object(x=type_boolean())
    assert (row.required, row.additional_properties) == (True, False)
    assert to_json_schema(row)["additionalProperties"] is False


def test_an_object_may_be_optional_and_open():
    row = type_object(x=type_boolean(), _required=False, _additional_properties=True)
    assert (row.required, row.additional_properties) == (False, True)
    assert to_json_schema(row)["additionalProperties"] is True


def test_the_names_of_an_objects_own_options_are_free_for_properties():
    assert list(type_object(description=type_string(), required=type_boolean()).properties) == [
        "description",
        "required",
    ]


def test_only_properties_that_are_required_are_named_so():
    row = type_object(x=type_boolean(), y=type_string(required=False))
    assert to_json_schema(row)["required"] == ["x"]


def test_required_applies_only_inside_of_an_object():
    assert to_json_schema(type_string(required=False)) == to_json_schema(type_string())
    optional = type_array(items=type_string(required=False))
    assert to_json_schema(optional) == to_json_schema(type_array(items=type_string()))


def test_a_schema_is_a_text_of_json():
    assert type_from_schema('{"type": "string"}').schema == {"type": "string"}
    assert type_from_schema(text='{"type": "string"}').schema == {"type": "string"}


def test_a_schema_is_a_file_of_json(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text('{"type": "string"}')
    assert (
        type_from_schema(path=path).schema == type_from_schema(None, str(path)).schema == {"type": "string"}
    )


def test_the_example_of_integers():
    assert to_json_schema(type_array(items=type_integer())) == {"type": "array", "items": {"type": "integer"}}


def test_the_example_of_a_data_frame():
    rows = type_array(items=type_object(x=type_boolean(), y=type_string(), z=type_number()))
    model = ScriptedModel(lambda _asked: [{"x": True, "y": "a", "z": 1.5}])
    assert model.chat().chat_structured("Go", type=rows) == [{"x": True, "y": "a", "z": 1.5}]


def test_the_example_of_a_date():
    words = "The creation date, in YYYY-MM-DD format."
    assert to_json_schema(type_string(words)) == {"type": "string", "description": words}


def test_the_model_reads_the_description():
    model = ScriptedModel({"x": "a"})
    model.chat().chat_structured("Go", type=type_object("A row", x=type_string("The cell")))
    assert model.asked[0].schema["description"] == "A row"
    assert model.asked[0].schema["properties"]["x"]["description"] == "The cell"


def test_the_types_describe_the_arguments_of_a_tool():
    added = tool(
        lambda x, y: x + y,
        name="add",
        description="Adds.",
        arguments={"x": type_integer("One"), "y": type_integer("Other")},
    )
    assert to_json_schema(added.arguments)["required"] == ["x", "y"]
    assert run_tool(added, {"x": 1, "y": 2}).value == 3


def test_an_argument_that_is_not_required_has_the_functions_default():
    greet = tool(
        lambda name="you": f"Hi {name}",
        name="greet",
        description="Greets.",
        arguments={"name": type_string(required=False)},
    )
    assert run_tool(greet, {}).value == "Hi you"


def test_an_argument_that_is_not_required_needs_a_default():
    with pytest.raises(UsageError, match="default"):
        tool(
            lambda name: name,
            name="greet",
            description="Greets.",
            arguments={"name": type_string(required=False)},
        )


def test_an_argument_that_is_required_must_come():
    greet = tool(lambda name: name, name="greet", description="Greets.", arguments={"name": type_string()})
    assert "`name` is missing" in str(run_tool(greet, {}).error)


def test_data_that_are_not_required_may_be_left_out():
    person = type_object(name=type_string(), age=type_integer(required=False))
    assert (
        ScriptedModel({"name": "Ann", "age": None}).chat().chat_structured("Ann", type=person)["name"]
        == "Ann"
    )
    assert ScriptedModel({"name": "Ann"}).chat().chat_structured("Ann", type=person)["name"] == "Ann"


def test_claude_takes_additional_properties():
    filed = tool(
        lambda **_words: "",
        name="file",
        description="Files.",
        arguments=type_object(_additional_properties=True),
    )
    chat = chat_anthropic(model="claude-sonnet-5", api_key="k")
    chat.register_tool(filed)
    sent = json.dumps(chat.wire.request([], [filed]).json)
    assert '"additionalProperties": true' in sent
