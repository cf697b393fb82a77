"""Message threads of Anthropic: the strict server keeps a conversation, and the next request has only what is new."""

import httpx
import pytest

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rules import book
from ellmer_conformance.server import StrictServer

HEADERS = {
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "message-threads-2026-08-12",
}
TOOL = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ASKED = {
    "model": "claude-sonnet-5",
    "max_tokens": 500,
    "system": "Be brief.",
    "tools": [TOOL],
    "tool_choice": {"type": "any"},
    "thread": {"type": "create"},
    "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
}


@pytest.fixture(scope="module")
def server():
    with StrictServer({}) as server:
        yield server


def post(server, **body):
    return httpx.post(f"{server.origin}/v1/messages", json=body, headers=HEADERS)


def going_on(id, *content):
    thread = {"type": "continue", "previous_message_id": id}
    messages = [{"role": "user", "content": [*content]}] if content else []
    return {"model": ASKED["model"], "max_tokens": 500, "thread": thread, "messages": messages}


def result(id):
    return {"type": "tool_result", "tool_use_id": id, "content": "21 degrees"}


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def called(server, request):
    """The id of an answer that is kept in a thread, and that of its call."""
    reply = post(server, **ASKED, stream=request.param)
    assert reply.status_code == 200, reply.text
    ids = [reply.text.partition(f'"id":"{start}')[2].partition('"')[0] for start in ("msg_", "toolu_")]
    assert all(ids)
    return f"msg_{ids[0]}", f"toolu_{ids[1]}"


def test_a_thread_goes_on_with_what_is_new(server, called):
    message, call = called
    reply = post(server, **going_on(message, result(call)))

    assert reply.status_code == 200, reply.text
    assert "21 degrees" in reply.json()["content"][0]["text"]
    assert (
        post(server, **going_on(reply.json()["id"], {"type": "text", "text": "Thanks."})).status_code == 200
    )


def test_calls_of_a_thread_are_answered_by_its_next_request(server, called):
    message, call = called
    other = post(server, **going_on(message, result("toolu_other")))
    none = post(server, **going_on(message, {"type": "text", "text": "Never mind."}))

    assert "without `tool_result` blocks" in none.json()["error"]["message"]
    assert other.status_code == 400
    assert call in none.text


def test_an_unknown_thread_is_refused_so_that_the_sdk_sends_everything_again(server):
    reply = post(server, **going_on("msg_unknown", result("toolu_1")))

    assert reply.status_code == 404
    assert reply.json()["error"]["details"] == {"error_code": "thread_not_found"}


@pytest.mark.parametrize("content", [(), (result("toolu_1"),)], ids=["nothing", "a result"])
def test_rules_know_that_the_rest_is_in_the_thread(content):
    body = going_on("msg_1", *content) | {"tool_choice": {"type": "auto"}}
    asked = Request("anthropic", "anthropic", body, headers=HEADERS, model=body["model"])
    alone = Request("anthropic", "anthropic", {**body, "thread": {"type": "create"}}, headers=HEADERS)

    assert {found.rule.id for found in book("anthropic").judge(asked) if found.violations} == set()
    assert {found.rule.id for found in book("anthropic").judge(alone) if found.violations} >= {"REQ-030"}
