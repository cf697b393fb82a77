"""The type and the sentence of an error body, in the forms of the providers."""

import json

import pytest

from ellmer_conformance.contract.error_texts.error_bodies import read_error

FORMS = {
    "OpenAI": ({"error": {"message": "Too long.", "type": "invalid_request_error"}}, "invalid_request_error"),
    "Google": ({"error": {"message": "Too long.", "status": "INVALID_ARGUMENT"}}, "INVALID_ARGUMENT"),
    "Cohere": ({"message": "Too long."}, ""),
    "FastAPI": ({"detail": "Too long."}, ""),
    "Cloudflare": (
        {"errors": [{"message": "Too long.", "code": 5006}], "success": False, "result": {}, "messages": []},
        "5006",
    ),
    "a message beside a list": ({"message": "Too long.", "errors": [{"message": "other"}]}, ""),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_sentence_is_found(form):
    body, kind = FORMS[form]

    error = read_error(400, json.dumps(body).encode())

    assert (error.message, error.type) == ("Too long.", kind)
