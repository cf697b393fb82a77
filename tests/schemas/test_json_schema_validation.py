"""Our validation of data against a JSON Schema agrees with the package `jsonschema`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from sixty_schemas import SCHEMAS

from ellmer_core.errors import ConversionError, UsageError
from ellmer_core.schemas.json_schema import check_data, check_schema, without_optional_nulls
from ellmer_core.schemas.type_functions import to_json_schema, type_of

KNOWN = [
    *(to_json_schema(type_of(type)) for _, type, _ in SCHEMAS),
    {"type": ["integer", "null"], "minimum": 2, "exclusiveMaximum": 9, "multipleOf": 2},
    {"enum": [1, "1", None, [1], {"a": 1}, True]},
    {"const": 1},
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 2},
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"maxLength": 1}, "minProperties": 1},
    {"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "string"}}}]},
    {"oneOf": [{"type": "integer"}, {"type": "number", "maximum": 3}]},
    {"not": {"type": "string"}},
    {"$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, "$ref": "#/$defs/A", "maxItems": 2},
]
SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10),
    st.sampled_from([0.5, 1.0, 3.0]),
    st.sampled_from(["", "a", "red", "ab"]),
)
DATA = st.recursive(
    SMALL,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b", "name", "value", "children", "n", "next", "kind"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def fits(data, schema):
    try:
        check_data(data, schema)
    except ConversionError:
        return False
    return True


@pytest.mark.parametrize("schema", KNOWN)
@settings(max_examples=10, deadline=None)
@given(data=DATA)
def test_it_agrees_with_jsonschema(schema, data):
    assert fits(data, schema) == Draft202012Validator(schema).is_valid(data)


@pytest.mark.parametrize(("name", "type", "value"), SCHEMAS, ids=[name for name, _, _ in SCHEMAS])
def test_the_sixty_values_fit(name, type, value):
    check_schema(to_json_schema(type_of(type)))
    check_data(value, to_json_schema(type_of(type)))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "text"}, "'text' is not a type"),
        ({"type": 3}, "3 is not a type"),
        ({"properties": []}, "`properties`"),
        ({"properties": {"a": {"items": [{}]}}}, "`items`"),
        ({"required": True}, "`required` is true"),
        ({"minimum": "1"}, "`minimum`"),
        ({"minLength": "1"}, "`minLength`"),
        ({"pattern": "("}, "regular expression"),
    ],
)
def test_what_is_no_schema_is_said_beforehand(schema, words):
    with pytest.raises(UsageError, match=words):
        check_schema(schema)


def test_a_problem_names_its_path():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"maximum": 3}}},
        "required": ["b"],
    }
    with pytest.raises(
        ConversionError, match=r"`value.b` is missing; `value.a\[1\]` must be at most 3, not 4"
    ):
        check_data({"a": [1, 4]}, schema)


def test_a_null_for_what_is_optional_is_left_out():
    inner = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": ["integer", "null"]}, "z": {}},
    }
    nulls = {"x": None, "y": None, "z": None}
    assert without_optional_nulls(nulls, inner) == {"y": None, "z": None}
    assert without_optional_nulls([nulls], {"items": inner}) == [{"y": None, "z": None}]
    choice = {"anyOf": [{"$ref": "#/$defs/I"}, {"type": "string"}], "$defs": {"I": inner}}
    assert without_optional_nulls({"x": None}, choice) == {}
    assert without_optional_nulls({"x": None}, {**inner, "required": ["x"]}) == {"x": None}
