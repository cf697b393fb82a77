"""Errors of the live API compared with those of the strict server."""

import json

from ellmer_conformance.contract.observed.exchange import Request, Response
from ellmer_conformance.live_apis.drift import differences

ASKED = Request("openai-chat", "openai", {})


def error(message, kind="invalid_request_error", status=400):
    return Response(status, {}, json.dumps({"error": {"message": message, "type": kind}}).encode())


def test_the_same_error_for_another_place_is_no_difference():
    assert not [
        *differences(ASKED, error("Invalid 'messages[0].role'."), error("Invalid 'messages[2].role'."))
    ]


def test_type_and_text_are_told_apart():
    found = [*differences(ASKED, error("Never."), error("Not so.", "bad_request"))]
    assert [each.kind for each in found] == ["type", "text"]
    assert found[1].sentence == "text: live 'Never.', the strict server 'Not so.'"


def test_a_refusal_that_the_strict_server_does_not_know_is_a_difference_of_status():
    [found] = differences(ASKED, error("Never."), Response(200, {}, b"{}"))
    assert found.sentence == "status: live 400 'Never.', the strict server 200"
