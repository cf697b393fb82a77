"""Requests that the strict server accepts and refuses, and its state, through HTTP."""

import re
from datetime import date
from typing import get_args

import httpx
import pytest
from servers.questions import (
    CHAT,
    FUNCTION,
    MESSAGES,
    NONCES,
    OPENAI,
    PROVIDERS,
    SCRIPTS,
    USER,
    assistant,
    chat,
    result,
)

from ellmer_conformance.scenarios.script import FailureKind
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_api_lookup import CHAT_APIS

# routes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_path_without_a_case_is_answered(server, client, provider):
    reply = client.post(server.origin + provider.path, json=provider.body, headers=provider.headers)
    assert reply.status_code == 200
    assert "How can I help you?" in reply.text


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/chat/completions", "/openai/v1/chat/completions"])
@pytest.mark.parametrize("prefix", ["", "/c/any/a%20nonce"])
def test_base_urls_with_and_without_a_version(server, client, prefix, path):
    reply = client.post(server.origin + prefix + path, json=CHAT.body, headers=OPENAI)
    assert reply.json()["object"] == "chat.completion"


def test_messages_without_a_version(server, client):
    reply = client.post(f"{server.url('any', '1')}/messages", json=MESSAGES.body, headers=MESSAGES.headers)
    assert reply.json()["type"] == "message"


@pytest.mark.parametrize("header", ["host", "x-forwarded-host"])
def test_the_provider_is_the_one_that_the_client_meant(post, header):
    reply = post(CHAT, "two", chat(USER, model="deepseek-v4-flash"), **{header: "api.deepseek.com"})
    assert reply.json()["model"] == "deepseek-v4-flash"
    assert "prompt_cache_hit_tokens" in reply.json()["usage"]


def test_vertex_is_known_by_its_path(server, client):
    path = "/v1/projects/p/locations/us/publishers/google/models/gemini-2.5-flash:generateContent"
    body = PROVIDERS["gemini"].body
    assert client.post(server.origin + path, json=body).status_code == 401
    reply = client.post(server.origin + path, json=body, headers={"authorization": "Bearer token"})
    assert reply.json()["usageMetadata"]["trafficType"] == "ON_DEMAND"


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_an_unknown_case_is_named_with_the_known_ones(post, provider):
    reply = post(provider, "none")
    assert reply.status_code == 404
    known = "any, calls, cut, cut-inside, fails, sees, thinks, two"
    assert reply.json()["error"]["message"] == f"There is no case 'none' here. The cases are: {known}."


def test_an_unknown_path(server, client):
    reply = client.post(f"{server.url('any', '1')}/v1/no-such-endpoint", json={}, headers=OPENAI)
    assert reply.status_code == 404
    assert reply.json()["error"]["message"] == "Invalid URL (POST /v1/no-such-endpoint)"


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_wrong_method_is_refused_as_the_provider_does(server, client, provider):
    reply = client.put(server.origin + provider.path, headers=provider.headers)
    assert reply.status_code == 404
    assert reply.json()["error"]["message"]


def test_the_page_at_the_root_says_where_to_point_a_client(server, client):
    page = client.get(server.origin).text
    assert f"OPENAI_BASE_URL={server.origin}/v1" in page
    assert client.head(server.origin).headers["content-length"] == str(len(page.encode()))


def test_a_browser_gets_a_page_that_needs_nothing_else(server, client):
    page = client.get(server.origin, headers={"accept": "text/html,*/*"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"OPENAI_BASE_URL={server.origin}/v1" in page.text
    assert not re.search(r"""(src|href)=|url\(|@import|https?://(?!127\.0\.0\.1)""", page.text)


def test_the_index_has_every_conversation_and_the_latest_first(client):
    with StrictServer(SCRIPTS) as server:
        assert client.get(f"{server.origin}/reports").json() == {"entries": 0, "conversations": []}
        for target, body in (
            ("/c/two/1", CHAT.body),
            ("", chat(USER, result("call_1"))),
            ("/c/two/1", CHAT.body),
        ):
            client.post(server.origin + target + CHAT.path, json=body, headers=OPENAI)
        index = client.get(f"{server.origin}/reports").json()
        found = [
            (c["case"], c["nonce"], c["exchanges"], c["violations"] > 0, c["last"])
            for c in index["conversations"]
        ]
        assert found == [("two", "1", 2, False, 3), ("any", "", 1, True, 2)]
        reports = [client.get(f"{server.origin}/c/two/1/report?last={n}").json()["exchanges"] for n in (0, 1)]
        assert [[exchange["number"] for exchange in exchanges] for exchanges in reports] == [[1, 3], [3]]
        assert len(client.get(f"{server.origin}/c/any/-/report").json()["exchanges"]) == 1


def test_a_page_is_only_read(server, client):
    assert client.post(server.origin).status_code == 405


# rules ----------------------------------------------------------------------------------------------------


def test_a_misordered_request_gets_the_providers_400(post):
    reply = post(CHAT, "two", chat(USER, assistant("call_1"), USER, result("call_1")))
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["message"] == (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_1"
    )
    assert (error["type"], error["param"]) == ("invalid_request_error", "messages.[2].role")


HELLO = {"type": "text", "text": "Hello", "bogus": 1}


def test_what_nothing_backs_and_what_is_only_lost_is_noted_and_answered(server, post):
    nonce = next(NONCES)
    asked = chat({"role": "user", "content": [HELLO]}, assistant("a"), {**result("a"), "content": ""})
    assert post(CHAT, "two", asked, nonce=nonce).status_code == 200
    broken = {v.rule.id for verdict in server.verdicts("two", nonce) for v in verdict.violations}
    assert broken == {"REQ-107", "EMP-005"}  # a preview, and a loss


def test_a_refused_request_takes_no_step(server, post):
    nonce = next(NONCES)
    assert post(CHAT, "two", chat(USER, result("call_1")), nonce=nonce).status_code == 400
    said = [post(CHAT, "two", nonce=nonce).json()["choices"][0]["message"]["content"] for _ in range(3)]
    assert said == ["first", "second", "second"]
    assert [exchange.response.status for exchange in server.exchanges("two", nonce)] == [400, 200, 200, 200]
    broken = [v.rule.id for verdict in server.verdicts("two", nonce) for v in verdict.violations]
    assert broken


@pytest.mark.parametrize(
    "messages",
    [
        [USER, USER],
        [assistant("a"), result("a")],
        [USER, {"role": "system", "content": "Be brief."}, USER],
        [USER, {**assistant("a"), "content": ""}, result("a"), USER],
        [USER, {**assistant("a"), "content": None}, {**result("a"), "name": "get_weather"}],
        [USER, assistant("a", "b"), result("b"), result("a"), {"role": "user", "content": ""}],
        [USER, {"role": "assistant", "content": "Hi"}, {"role": "assistant", "content": "there"}],
    ],
)
def test_legal_oddities_are_taken(post, messages):
    assert post(CHAT, "two", chat(*messages)).status_code == 200


def test_observe_answers_and_notes_what_was_wrong(client):
    with StrictServer(SCRIPTS, mode="observe") as server:
        url = server.url("two", "n")
        reply = client.post(url + CHAT.path, json=chat(USER, result("call_1")), headers=OPENAI)
        assert (reply.status_code, reply.json()["choices"][0]["message"]["content"]) == (200, "first")
        noted = reply.headers["x-conformance-violations"]
        assert "/messages/1" in noted
        assert (
            "x-conformance-violations"
            not in client.post(url + CHAT.path, json=CHAT.body, headers=OPENAI).headers
        )
        report = client.get(f"{url}/report").json()
        first, second = report["exchanges"]
        assert report["violations"] == len(first["violations"]) > 0
        assert (second["violations"], first["violations"][0]["rule"]) == ([], noted.split()[0])
        assert client.get(f"{server.origin}/c/two/report").json()["exchanges"] == report["exchanges"]


def test_a_pointer_is_safe_in_a_header(client):
    with StrictServer(SCRIPTS, mode="observe") as server:
        odd = {"a\r\nx-evil: 1": {"type": "object"}}
        tool = {
            "type": "function",
            "function": {**FUNCTION, "strict": True, "parameters": {"type": "object", "properties": odd}},
        }
        reply = client.post(server.url("two", "n") + CHAT.path, json=chat(USER, tools=[tool]), headers=OPENAI)
        assert reply.status_code == 200
        assert "%0D%0A" in reply.headers["x-conformance-violations"]
        assert "x-evil" not in reply.headers


def test_the_report_keeps_no_key(server, client, post):
    nonce = next(NONCES)
    post(CHAT, "two", nonce=nonce)
    report = client.get(f"{server.url('two', nonce)}/report").json()
    assert report["exchanges"][0]["request"]["headers"]["authorization"] == "Bearer ***"


# --- the day, the version and the betas of a request -----------------------------------------------------


@pytest.mark.parametrize(
    ("today", "version", "status"),
    [
        (None, "2023-06-01", 200),
        (None, "2026-10-21", 400),
        (None, "bogus", 400),
        (date(2026, 10, 1), "2026-10-21", 400),
        (date(2026, 10, 1), "2023-06-01", 200),
    ],
)
def test_a_request_is_judged_by_its_version_as_of_the_servers_day(today, version, status):
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "temperature": 1}
    body["messages"] = [{"role": "user", "content": "Hi"}]
    with StrictServer(today=today) as server:
        headers = {"x-api-key": "k", "anthropic-version": version, "anthropic-beta": "context-1m-2025-08-07"}
        reply = httpx.post(f"{server.origin}/v1/messages", json=body, headers=headers)
        assert reply.status_code == status
        if status == 400:
            valid = version == "2026-10-21" and today is None
            words = "temperature: Extra inputs are not permitted" if valid else "is not a valid version"
            assert words in reply.json()["error"]["message"]
        if version != "bogus":
            (entry,) = server.requests
            told = entry.report()["request"]
            assert (told["api_version"], list(told["betas"])) == (version, ["context-1m-2025-08-07"])


@pytest.mark.parametrize("api", CHAT_APIS.values(), ids=lambda api: f"{api.wire}-{api.provider}")
def test_the_words_of_a_provider_are_for_failures_that_a_script_can_name(api):
    kinds = set(get_args(FailureKind))

    assert set(api.failures) == kinds
    assert set(api.retry) <= kinds
