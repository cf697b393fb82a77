"""The field that an error names, in the forms of the providers; and lists of names as their sentences have them."""

import json

import pytest

from ellmer_conformance.contract.error_texts.error_bodies import read_error
from ellmer_conformance.contract.rules._openai.refusals import listed

GOOGLE = {
    "error": {
        "message": "No.",
        "status": "INVALID_ARGUMENT",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
            {"fieldViolations": [{"field": "contents[0].parts", "description": "No."}, {"field": "other"}]},
        ],
    }
}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"error": {"message": "No.", "param": "messages.[0].role"}}, "messages.[0].role"),
        ({"error": {"message": "No.", "param": "a sentence is no field"}}, ""),
        ({"error": {"message": "No.", "param": None}}, ""),
        ({"message": "No.", "param": "top"}, "top"),
        (GOOGLE, "contents[0].parts"),
        ({"error": {"message": "No.", "details": [{"fieldViolations": [{"description": "No."}]}]}}, ""),
    ],
)
def test_the_field_that_an_error_names(body, param):
    assert read_error(400, json.dumps(body).encode()).param == param


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "'a'"), (["a", "b"], "'a' and 'b'"), (["a", "b", "c"], "'a', 'b', and 'c'")],
)
def test_a_list_of_names(names, text):
    assert listed(names) == text
