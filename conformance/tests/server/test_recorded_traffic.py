"""The strict server accepts every request that the real API accepted, and answers it in that API's form."""

import json
from urllib.parse import urlsplit

import pytest
from recorded_traffic import absent, by_family, interactions, judge

from ellmer_conformance.contract.readers import provider_of
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest, plain
from ellmer_conformance.server.http.routes import route_of
from ellmer_conformance.server.services.service_request import Conversation, StoredResponse

KEYS = {
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
    "anthropic-version": "2023-06-01",
}
PROTOCOLS = {"openai-chat", "openai-responses", "anthropic-messages", "gemini"}


def accepted():
    """Yields every recorded chat request of these formats that was answered with 200."""
    for name, this, _ in interactions():
        answered = this["protocol"] in PROTOCOLS and this["response"]["status"] == 200
        refused = str(this["response"].get("text")).startswith('data: {"error"')
        host = urlsplit(this["request"]["url"]).netloc
        played = provider_of(host) != host  # no api of the server is that of a provider whom nobody knows
        body = this["request"].get("body") or {}
        played = played and host.partition(":")[0] not in {"localhost", "127.0.0.1"}  # the server's own names
        played = played and not (host == "api.openai.com" and "/" in body.get("model", ""))  # vLLM
        if answered and played and not refused and body:
            yield name, this


@absent
@pytest.mark.parametrize("requests", by_family(accepted()))
def test_recorded_requests_are_answered(requests):
    judge(requests, is_answered)


def remember(engine, route, body):
    """Stores what a request refers to, since the API had it from an earlier request."""
    shelf = engine._services._shelf(route)
    conversation = body.get("conversation")
    id = conversation.get("id") if isinstance(conversation, dict) else conversation
    shelf.responses[body.get("previous_response_id")] = StoredResponse([], plain(200, [], b"{}"))
    shelf.conversations[id] = Conversation(id)


def is_answered(interaction):
    url, body = urlsplit(interaction["request"]["url"]), interaction["request"]["body"]
    target = f"{url.path}?{url.query}" if url.query else url.path
    headers = {"host": url.netloc, **KEYS, **interaction["request"]["headers"]}
    if "beta=true" in url.query:
        headers["anthropic-beta"] = "files-api-2025-04-14"  # the recorder dropped which
    engine = Engine({})
    remember(engine, route_of(target, url.netloc), body)
    reply = engine.answer(HttpRequest("POST", target, headers, json.dumps(body).encode()))
    assert reply.status == 200, reply.body.decode()
    assert (reply.length is None) == (body.get("stream") is True or ":streamGenerateContent" in target)
