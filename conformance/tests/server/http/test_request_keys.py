"""The keys, headers and bodies that the strict server accepts, and its refusals of the others."""

import pytest
from servers.questions import CHAT, MESSAGES, NONCES, PROVIDERS, SCRIPTS, Provider

from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_apis.base import WRONG_KEY


@pytest.mark.parametrize(
    ("wire", "status", "message"),
    [
        ("openai-chat", 401, "You didn't provide an API key."),
        ("openai-responses", 401, "You didn't provide an API key."),
        ("anthropic", 401, "x-api-key header is required"),
        ("gemini", 403, "Method doesn't allow unregistered callers"),
    ],
)
def test_without_a_key_nobody_gets_in(server, client, wire, status, message):
    key_elsewhere = {"api-key": "any-key"}
    reply = client.post(
        server.origin + PROVIDERS[wire].path, json=PROVIDERS[wire].body, headers=key_elsewhere
    )
    assert (reply.status_code, reply.json()["error"]["message"][: len(message)]) == (status, message)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21", 200),
        ("/openai/v1/chat/completions", 200),
        ("/v1/chat/completions", 401),
    ],
)
def test_azure_has_a_header_of_its_own(server, client, path, status):
    reply = client.post(server.origin + path, json=CHAT.body, headers={"api-key": "any-key"})
    assert reply.status_code == status
    assert (
        client.post(server.origin + path, json=CHAT.body, headers={"api-key": WRONG_KEY}).status_code == 401
    )


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_observe_answers_without_a_key_and_notes_it(client, provider):
    with StrictServer(SCRIPTS, mode="observe") as server:
        reply = client.post(server.url("two", "n") + provider.path, json=provider.body)
        assert (reply.status_code, reply.headers["x-conformance-violations"]) == (200, "KEY-001")
        [noted] = client.get(f"{server.url('two', 'n')}/report").json()["exchanges"][0]["violations"]
        assert (noted["rule"], noted["message"]) == ("KEY-001", noted["provider"]["message"])


def test_gemini_takes_its_key_from_the_query_and_tells_nobody(server, client):
    gemini, url = PROVIDERS["gemini"], server.url("two", next(NONCES))
    assert client.post(f"{url}{gemini.path}?key=secret-1", json=gemini.body).status_code == 200
    assert "secret-1" not in client.get(f"{url}/report").text
    assert client.post(f"{url}{gemini.path}?key={WRONG_KEY}", json=gemini.body).status_code == 400


def test_anthropic_wants_its_version(post):
    versionless = Provider(MESSAGES.path, {"x-api-key": "any-key"}, MESSAGES.body)
    assert post(versionless, "two").json()["error"]["message"] == "anthropic-version: header is required"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"model": "\xff"}', b"model=gpt"])
@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_body_that_is_no_json_object(server, client, provider, content):
    reply = client.post(server.origin + provider.path, content=content, headers=provider.headers)
    assert reply.status_code == 400
    assert "JSON" in reply.json()["error"]["message"]


def test_an_error_comes_in_the_providers_own_layout(server, client):
    refused = client.post(
        f"{server.origin}/v1/chat/completions", headers={"authorization": f"Bearer {WRONG_KEY}"}
    )
    assert refused.text.startswith(
        '{\n    "error": {\n        "message": "Incorrect API key provided: wrong-key.'
    )
    refused = client.post(f"{server.origin}/v1/messages", headers=MESSAGES.headers | {"x-api-key": WRONG_KEY})
    assert refused.text.startswith(
        '{"type":"error","error":{"type":"authentication_error","message":"invalid x-'
    )
    assert refused.headers["request-id"] == refused.json()["request_id"]
