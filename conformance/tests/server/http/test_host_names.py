"""A server that is called by its own name, as in a container's network, is as strict as on 127.0.0.1."""

import json

import pytest

from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.http.routes import route_of

ORPHANED = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "call_1", "content": "21"}]
BODY = json.dumps({"model": "gpt-4.1", "messages": ORPHANED}).encode()


def asked(host, **options):
    headers = {"host": host, "authorization": "Bearer any-key"}
    return Engine({}, **options).answer(HttpRequest("POST", "/v1/chat/completions", headers, BODY))


@pytest.mark.parametrize(
    "host",
    [
        "model:8087",
        "172.17.0.2:8087",
        "[fd00::2]:8087",
        "host.docker.internal:8087",
        "llm.default.svc.cluster.local",
    ],
)
def test_a_name_of_a_local_network_is_no_provider(host):
    assert asked(host).status == 400
    assert route_of("/v1/messages", host).provider == "anthropic"
    assert route_of("/v2/chat", host).provider == "cohere"


def test_a_name_with_a_dot_is_told_by_name():
    assert asked("llm.example.com").status == 200, "an unknown provider takes what OpenAI refuses"
    assert asked("llm.example.com", names=frozenset({"llm.example.com"})).status == 400


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("groq", "groq"),
        ("api.groq.com", "groq"),
        ("mistral:80", "mistral"),
        ("vllm:8000", "vllm"),
        ("ollama:11434", "ollama"),
    ],
)
def test_a_host_may_still_name_a_provider(host, provider):
    assert route_of("/v1/chat/completions", host).provider == provider


def test_the_pages_open_under_a_name_of_one_word_and_not_under_another_domain():
    page = {
        host: Engine({}).answer(HttpRequest("GET", "/journal", {"host": host}))
        for host in ("model:8087", "evil.example")
    }
    assert [reply.status for reply in page.values()] == [200, 403]


def test_a_path_names_a_provider_where_the_host_does_not():
    assert route_of("/api/v1/chat/completions", "127.0.0.1:8087").provider == "openrouter"
    assert route_of("/api/v1/chat/completions", "api.groq.com").provider == "groq"
    assert route_of("/v1/chat/completions", "127.0.0.1:8087").provider == "openai"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("0.0.0.0", "http://127.0.0.1:8087"),
        ("::", "http://[::1]:8087"),
        ("fd00::7", "http://[fd00::7]:8087"),
        ("llm.example.com", "http://llm.example.com:8087"),
    ],
)
def test_the_address_is_one_that_a_client_can_call(host, origin):
    assert StrictServer({}, host=host, port=8087).origin == origin
