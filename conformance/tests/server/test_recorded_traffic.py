"""The strict server accepts every request that the real API accepted, and answers it in that API's form."""

import json
import re
from urllib.parse import urlsplit

import pytest
from traffic.recorded import absent, by_family, interactions, judge

from ellmer_conformance.contract.readers import provider_of
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest, plain
from ellmer_conformance.server.http.routes import route_of
from ellmer_conformance.server.services.service_request import Conversation, Interaction, StoredResponse

KEYS = {
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
    "anthropic-version": "2023-06-01",
}
PROTOCOLS = {"openai-chat", "openai-responses", "anthropic-messages", "gemini"}
PROTOCOLS |= {"gemini-interactions", "bedrock-invoke", "cohere-v1"}  # they are answered as one of the others
#: Models whose bodies InvokeModel does not take here: 501.
NOT_SERVED = re.compile(r"/model/(ai21\.j2|cohere\.(rerank|embed)|amazon\.nova-2-multimodal)")


#: What the user said before the calls of a stored interaction.
ASKED = {"type": "user_input", "content": [{"type": "text", "text": "Please."}]}


def accepted():
    """Yields every recorded chat request of these formats that was answered with 200."""
    for name, this, _ in interactions():
        answered = this["protocol"] in PROTOCOLS and this["response"]["status"] == 200
        refused = str(this["response"].get("text")).startswith('data: {"error"')
        host = urlsplit(this["request"]["url"]).netloc
        played = provider_of(host) != host  # no api of the server is that of a provider whom nobody knows
        body = this["request"].get("body") or {}
        played = played and host.partition(":")[0] not in {"localhost", "127.0.0.1"}  # the server's own names
        played = played and not NOT_SERVED.match(urlsplit(this["request"]["url"]).path)
        played = played and not (host == "api.openai.com" and "/" in body.get("model", ""))  # vLLM
        if answered and played and not refused and body:
            yield name, this


@absent
@pytest.mark.parametrize("requests", by_family(accepted()))
def test_recorded_requests_are_answered(requests):
    judge(requests, is_answered)


def remember(engine, route, body):
    """Stores what a request refers to, since the API had it from an earlier request."""
    google = engine._services.stored_for(route, "gemini")
    google.interactions[body.get("previous_interaction_id")] = Interaction({}, [ASKED, *calls_of(body)])
    cache = str(body.get("cachedContent")).rpartition("/")[2]
    model = f"models/{route.path.rpartition('/models/')[2].partition(':')[0]}"
    shown = {"model": model, "usageMetadata": {"totalTokenCount": 2048}}
    google.kept["cachedContents"] = {cache: {"asked": {}, "shown": shown}}
    shelf = engine._services.stored_for(route, "openai-chat")
    conversation = body.get("conversation")
    id = conversation.get("id") if isinstance(conversation, dict) else conversation
    shelf.responses[body.get("previous_response_id")] = StoredResponse([], plain(200, [], b"{}"))
    shelf.conversations[id] = Conversation(id)


def calls_of(body):
    """Yields the calls whose results a request to Interactions has."""
    steps = body.get("input")
    for step in steps if isinstance(steps, list) else ():
        contents = step.get("content") if isinstance(step, dict) else ()
        for content in contents if isinstance(contents, list) else ():
            if content.get("type") == "function_result":
                yield {
                    "type": "function_call",
                    "id": content["call_id"],
                    "name": content["name"],
                    "arguments": {},
                }


def is_answered(interaction):
    url, body = urlsplit(interaction["request"]["url"]), interaction["request"]["body"]
    target = f"{url.path}?{url.query}" if url.query else url.path
    told = {name: value for name, value in interaction["request"]["headers"].items() if value != "REDACTED"}
    headers = {"host": url.netloc, **KEYS, **told}
    if "beta=true" in url.query:
        headers["anthropic-beta"] = "files-api-2025-04-14,mcp-client-2025-11-20"  # the recorder dropped which
    engine = Engine({})
    remember(engine, route_of(target, url.netloc), body)
    reply = engine.answer(HttpRequest("POST", target, headers, json.dumps(body).encode()))
    assert reply.status == 200, reply.body.decode()
    assert (reply.length is None) == (
        body.get("stream") is True or ":streamGenerateContent" in target or target.endswith("-stream")
    )
