"""The typed error for every error body, recorded ones and worse."""

import json

import pytest
from chats.error_classes import error_class
from hypothesis import given
from hypothesis import strategies as st
from traffic.recorded import absent, errors

from ellmer_core.errors import (
    BadRequestError,
    ProviderError,
)
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses
from ellmer_core.wire.shared.endings_and_errors import in_band_error

WIRES = [OpenAIChat(), OpenAIResponses(), AnthropicMessages(), Gemini()]


def error(body, status=400, headers=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return OpenAIChat().error(status, headers or {}, raw)


@absent
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_every_recorded_error(wire):
    for record in errors():
        if record["where"] != "http-status":
            continue
        body, status = record.get("body"), record["status"]
        raw = (
            record["text"].encode()
            if "text" in record
            else b""
            if body is None
            else json.dumps(body).encode()
        )
        found = wire.error(status, record["headers"], raw)
        assert type(found) is error_class(status, found.message)
        assert found.status == status
        assert found.message.strip()
        outer = body[0] if isinstance(body, list) else body
        inner = outer.get("error") if isinstance(outer, dict) else None
        if isinstance(inner, dict):
            assert found.message.startswith(inner["message"] if isinstance(inner["message"], str) else "")
            assert "type" not in inner or found.type == (inner["type"] or None)
            assert found.code == (None if inner.get("code") is None else str(inner["code"]))
        elif isinstance(outer, dict) and isinstance(outer.get("message"), str):
            assert found.message == outer["message"]
        if "retry-after" in record["headers"]:
            assert found.retry_after is not None


@pytest.mark.parametrize(
    ("body", "message", "type", "code"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, "m", "t", "c"),
        (
            [{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}],
            "m",
            "INVALID_ARGUMENT",
            "400",
        ),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            "m",
            "overloaded_error",
            None,
        ),
        (
            {"object": "error", "message": "m", "type": "invalid_model", "code": "1500"},
            "m",
            "invalid_model",
            "1500",
        ),
        ({"message": "m"}, "m", None, None),
        ({"detail": "m"}, "m", None, None),
        (
            {"detail": [{"loc": ["body", "n"], "msg": "is odd"}, {"loc": ["x"], "msg": "y"}]},
            "body.n: is odd; x: y",
            None,
            None,
        ),
        ({"error": "m"}, "m", None, None),
        ({"code": "invalid-argument", "error": "m"}, "m", None, "invalid-argument"),
        ({"id": "1", "message": "m"}, "m", None, None),
        ({"errors": [{"code": 10000, "message": "m"}], "success": False}, "m", None, "10000"),
        ({"error": ["a", "b"]}, "a", None, None),
        (b"upstream connect error", "upstream connect error", None, None),
        (
            b"<html><head><title>502 Bad Gateway</title><script>x()</script></head></html>",
            "502 Bad Gateway",
            None,
            None,
        ),
        (b'event: error\ndata: {"error": {"message": "m", "type": "t"}}\n\n', "m", "t", None),
        (b'id:1\nevent:error\n:HTTP_STATUS/400\ndata:{"code":"C","message":"m"}\n\n', "m", None, "C"),
        (b"data: not JSON", "data: not JSON", None, None),
        (b"", "HTTP 400, without an explanation", None, None),
        (b"null", "HTTP 400, without an explanation", None, None),
        (b"\xff\xfe", "\ufffd\ufffd", None, None),
        (
            {"errors": {"model": ["unknown"]}},
            'HTTP 400, with no message in its body: {"errors": {"model": ["unknown"]}}',
            None,
            None,
        ),
    ],
)
def test_every_shape_of_body(body, message, type, code):
    found = error(body)
    assert (found.message, found.type, found.code) == (message, type, code)


def test_a_redirect_says_where_to():
    page = b"<html><title>308 Permanent Redirect</title></html>"
    found = error(page, 308, {"Location": "https://api.example.com/v1"})
    assert isinstance(found, BadRequestError)
    assert "moved to https://api.example.com/v1. Is base_url right?" in found.message
    assert error(page, 304).message == "308 Permanent Redirect"


def test_an_error_in_a_200_without_a_message_is_quoted():
    found = in_band_error({"error": {"reasons": ["a"]}})
    assert found.message.endswith('with no message in its body: {"error": {"reasons": ["a"]}}')


def test_the_text_of_the_provider_behind_a_gateway_is_told():
    raw = json.dumps({"error": {"message": "the real reason", "type": "x"}})
    assert error(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    ).message == ("Provider returned error: the real reason")
    plain = {"error": {"message": "Provider returned error", "metadata": {"raw": "free text"}}}
    assert error(plain).message == "Provider returned error: free text"
    param = {"error": {"message": "Param Incorrect", "param": "Not supported model x"}}
    assert error(param).message == "Param Incorrect: Not supported model x"
    details = {"error": "400 Bad Request", "details": {"error": {"message": "the real reason"}}}
    assert error(details).message == "400 Bad Request: the real reason"


@pytest.mark.parametrize(
    ("body", "headers", "seconds"),
    [
        ({}, {"Retry-After": "7"}, 7),
        ({}, {"retry-after": "1", "retry-after-ms": "250"}, 0.25),
        ({}, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({}, {"retry-after": "Wed, 21 Oct 2026 07:28:07 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 7),
        ({}, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:28:07 GMT"}, 0),
        ({"error": {"message": "x", "details": [{"@type": "h"}, {"retryDelay": "48.5s"}]}}, {}, 48.5),
        ({"error": {"message": "Please retry in 48.939935699s."}}, {}, 48.939935699),
        ({"error": {"message": "Please try again in 84ms. Visit"}}, {}, 0.084),
        ({"error": {"message": "Please try again in 1m2.5s."}}, {}, 62.5),
        ({"error": {"message": "Please try again in 6m0s."}}, {}, 360),
        ({"error": {"message": "try again in a while"}}, {}, None),
        ({"error": {"message": "x", "metadata": {"retry_after_seconds": 3}}}, {}, 3),
    ],
)
def test_when_to_come_back(body, headers, seconds):
    assert error(body, 429, headers).retry_after == (None if seconds is None else pytest.approx(seconds))


def test_whom_to_ask():
    assert error({}, headers={"X-Request-Id": "req_1"}).request_id == "req_1"
    assert error({"request_id": "req_2"}).request_id == "req_2"


@given(st.binary(max_size=80), st.integers(300, 599))
def test_no_body_crashes_it(body, status):
    found = error(body, status)
    assert isinstance(found, ProviderError)
    assert found.message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda v: (
            st.lists(v, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["error", "message", "detail", "type", "code", "metadata", "raw", "details", "status"]
                ),
                v,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_no_json_crashes_it(body):
    assert error(body).message
