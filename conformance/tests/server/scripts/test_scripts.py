"""The strict server answers by its script: the texts, truncations and failures."""

import json

import httpx
import pytest
from botocore.eventstream import EventStreamBuffer
from servers.questions import CHAT, DATA_URL, NONCES, PROVIDERS, assistant, chat, result

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_api_lookup import chat_api_of
from ellmer_conformance.server.chat_apis.base import Ticket


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_reply_depends_on_case_and_place_alone(post, provider, stream):
    first, again = (post(provider, "calls", nonce=next(NONCES), stream=stream) for _ in range(2))
    assert first.content == again.content
    assert first.headers == again.headers


def test_ids_differ_from_answer_to_answer(post):
    nonce = next(NONCES)
    ids = {post(CHAT, "two", nonce=nonce).json()["id"] for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"type": "image_url", "image_url": {"url": DATA_URL}}], "one pixel"),
        (
            [{"type": "image_url", "image_url": {"url": DATA_URL.replace("WjR9", "WjR8")}}],
            "no image received",
        ),
        ([{"type": "image_url", "image_url": {"url": DATA_URL}}] * 2, "no image received"),
        ([{"type": "text", "text": "no image"}], "no image received"),
    ],
)
def test_what_the_model_says_depends_on_the_bytes_it_sees(post, parts, said):
    reply = post(CHAT, "sees", chat({"role": "user", "content": parts}))
    assert reply.json()["choices"][0]["message"]["content"] == said


def test_the_model_sees_what_came_after_its_last_word(post):
    image = {"type": "image_url", "image_url": {"url": DATA_URL}}
    asked = {"role": "user", "content": [image]}
    reply = post(CHAT, "sees", chat(asked, assistant("a"), result("a"), asked))
    assert reply.json()["choices"][0]["message"]["content"] == "one pixel"


TERMINAL = {
    "openai-chat": (b'"finish_reason":"', b"[DONE]"),
    "openai-responses": (b"response.completed",),
    "anthropic": (b'"stop_reason":"', b"message_stop"),
    "gemini": (b'"finishReason"',),
}


@pytest.mark.parametrize("wire", PROVIDERS)
def test_a_cut_stream_ends_well_and_without_its_marker(post, wire):
    whole = post(PROVIDERS[wire], "calls", stream=True).content
    cut = post(PROVIDERS[wire], "cut", stream=True).content
    inside = post(PROVIDERS[wire], "cut-inside", stream=True).content
    assert all(marker in whole for marker in TERMINAL[wire])
    assert not any(marker in cut + inside for marker in TERMINAL[wire])
    assert (b"get_time" in cut, b"get_time" in inside, b"get_weather" in inside) == (True, False, True)


@pytest.mark.parametrize("wire", PROVIDERS)
def test_a_cut_reply_is_no_json(post, wire):
    for case in ("cut", "cut-inside"):
        reply = post(PROVIDERS[wire], case)
        assert reply.status_code == 200
        with pytest.raises(ValueError, match=r".+"):
            json.loads(reply.content)
        assert b"get_weather" in reply.content or wire == "openai-responses"


@pytest.mark.parametrize("wire", PROVIDERS)
def test_a_failure_comes_after_the_text_that_was_sent(post, wire):
    stream = post(PROVIDERS[wire], "fails", stream=True)
    assert stream.status_code == 200
    said, _, failed = stream.text.partition('"error"' if wire != "openai-responses" else "event: error")
    assert "moment" in said
    assert "overloaded" in failed.lower()
    assert post(PROVIDERS[wire], "fails").status_code in {503, 529}


def test_a_failure_within_a_stream_of_bedrock_is_an_exception_event():
    request = Request("bedrock", "bedrock", {}, "http://127.0.0.1/x", model="m", stream=True)
    buffer = EventStreamBuffer()
    for data in chat_api_of(Ticket(request, "case", 0)).broken("overloaded", []):
        buffer.add_data(data)

    (failed,) = (event.to_response_dict() for event in buffer)
    assert failed["headers"][":message-type"] == "exception"
    assert failed["headers"][":exception-type"] == "serviceUnavailableException"
    assert "capacity" in json.loads(failed["body"])["message"]


@pytest.mark.parametrize(
    ("status", "path", "body", "headers", "type"),
    [
        (
            429,
            "/v1/messages",
            {"model": "claude-sonnet-5", "max_tokens": 9},
            {"x-api-key": "k", "anthropic-version": "2023-06-01"},
            "rate_limit_error",
        ),
        (
            503,
            "/v1/chat/completions",
            {"model": "gpt-4.1"},
            {"authorization": "Bearer k"},
            "server_error",
        ),
        (
            418,
            "/v1/chat/completions",
            {"model": "gpt-4.1"},
            {"authorization": "Bearer k"},
            "invalid_request_error",
        ),
    ],
)
def test_an_error_with_a_status_has_the_providers_type_for_it(status, path, body, headers, type):
    with StrictServer(script=[{"error": {"status": status, "message": "No."}}]) as server:
        body = {**body, "messages": [{"role": "user", "content": "Hi"}]}
        reply = httpx.post(server.origin + path, json=body, headers=headers)
    assert (reply.status_code, reply.json()["error"]["type"]) == (status, type)
