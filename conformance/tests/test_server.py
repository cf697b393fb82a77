"""What the strict server takes, refuses and remembers; through HTTP, as a client meets it."""

import base64
import itertools
import json
import re
from hashlib import sha256

import httpx
import pytest

from ellmer_conformance.scenarios.script import Answer, Call, Cut, Failure, Say, Script, Sees, Think
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.dialects.base import WRONG_KEY

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
WEATHER = Call("get_weather", {"city": "Zürich"})
CALLS = Answer((Say("Let me look."), WEATHER, Call("get_time", {"zone": "CET"})))
SCRIPTS = {
    "two": Script((Answer((Say("first"),)), Answer((Say("second"),)))),
    "calls": Script((CALLS, Answer((Say("Sunny."),)))),
    "sees": Script((Sees((sha256(PNG).hexdigest(),), Answer((Say("one pixel"),))),)),
    "thinks": Script((Answer((Think("A thought."), WEATHER)), Answer((Say("done"),)))),
    "cut": Script((Cut(CALLS),)),
    "cut-inside": Script((Cut(CALLS, at="inside-arguments"),)),
    "fails": Script((Failure("overloaded", after=Answer((Say("One moment"),))),)),
}

USER = {"role": "user", "content": "Hello"}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS}


class Provider:
    """How to ask one provider something."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body

    def stream_path(self):
        return self.path.replace(":generateContent", ":streamGenerateContent?alt=sse")

    def stream_body(self):
        return self.body if "generateContent" in self.path else self.body | {"stream": True}


OPENAI = {"authorization": "Bearer any-key"}
PROVIDERS = {
    "openai-chat": Provider(
        "/v1/chat/completions",
        OPENAI,
        {"model": "gpt-4.1", "messages": [USER], "tools": [{"type": "function", "function": FUNCTION}]},
    ),
    "openai-responses": Provider(
        "/v1/responses",
        OPENAI,
        {"model": "gpt-5.6-terra", "input": "Hello", "tools": [{"type": "function", **FUNCTION}]},
    ),
    "anthropic": Provider(
        "/v1/messages",
        {"x-api-key": "any-key", "anthropic-version": "2023-06-01"},
        {
            "model": "claude-sonnet-5",
            "max_tokens": 999,
            "messages": [USER],
            "tools": [{"name": "get_weather", "input_schema": PARAMETERS}],
        },
    ),
    "gemini": Provider(
        "/v1beta/models/gemini-3.5-flash:generateContent",
        {"x-goog-api-key": "any-key"},
        {
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "tools": [{"functionDeclarations": [FUNCTION]}],
        },
    ),
}
CHAT, MESSAGES = PROVIDERS["openai-chat"], PROVIDERS["anthropic"]
NONCES = map(str, itertools.count())


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture(scope="module")
def client():
    with httpx.Client(verify=False) as client:
        yield client


@pytest.fixture
def post(server, client):
    """Posts to a case in a conversation of its own, or in a given one."""

    def post(provider, case, body=None, *, nonce=None, stream=False, server=server, **headers):
        path = provider.stream_path() if stream else provider.path
        given = body or (provider.stream_body() if stream else provider.body)
        return client.post(
            server.url(case, nonce or next(NONCES)) + path, json=given, headers=provider.headers | headers
        )

    return post


def chat(*messages, **more):
    return CHAT.body | {"messages": list(messages), **more}


def assistant(*ids):
    call = {"type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    return {"role": "assistant", "tool_calls": [{"id": id, **call} for id in ids]}


def result(id):
    return {"role": "tool", "tool_call_id": id, "content": "sunny"}


# routes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_path_without_a_case_is_answered(server, client, provider):
    reply = client.post(server.origin + provider.path, json=provider.body, headers=provider.headers)
    assert reply.status_code == 200
    assert "Your request is legal" in reply.text


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/chat/completions", "/openai/v1/chat/completions"])
@pytest.mark.parametrize("prefix", ["", "/c/any/a%20nonce"])
def test_base_urls_with_and_without_a_version(server, client, prefix, path):
    reply = client.post(server.origin + prefix + path, json=CHAT.body, headers=OPENAI)
    assert reply.json()["object"] == "chat.completion"


def test_messages_without_a_version(server, client):
    reply = client.post(f"{server.url('any', '1')}/messages", json=MESSAGES.body, headers=MESSAGES.headers)
    assert reply.json()["type"] == "message"


@pytest.mark.parametrize("header", ["host", "x-forwarded-host"])
def test_the_vendor_is_the_one_that_the_client_meant(post, header):
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
    reply = client.post(f"{server.url('any', '1')}/v1/embeddings", json={}, headers=OPENAI)
    assert reply.status_code == 404
    assert reply.json()["error"]["message"] == "Invalid URL (POST /v1/embeddings)"


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_a_wrong_method_is_refused_as_the_provider_does(server, client, provider):
    reply = client.get(server.origin + provider.path, headers=provider.headers)
    assert reply.status_code == 404
    assert reply.json()["error"]["message"]


def test_the_page_at_the_root_says_where_to_point_a_client(server, client):
    page = client.get(server.origin).text
    assert f"OpenAI     {server.origin}/v1" in page
    assert client.head(server.origin).headers["content-length"] == str(len(page.encode()))


def test_a_browser_gets_a_page_that_needs_nothing_else(server, client):
    page = client.get(server.origin, headers={"accept": "text/html,*/*"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert f"OpenAI     {server.origin}/v1" in page.text
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


# keys and bodies ------------------------------------------------------------------------------------------


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


def test_what_nothing_backs_and_what_is_only_lost_is_noted_and_answered(server, post):
    nonce = next(NONCES)
    asked = chat(USER, assistant("a"), {**result("a"), "content": ""}) | {"tools": []}
    assert post(CHAT, "two", asked, nonce=nonce).status_code == 200
    broken = {v.rule.id for verdict in server.verdicts("two", nonce) for v in verdict.violations}
    assert broken == {"SCH-008", "EMP-005"}  # a preview, and a loss


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


# scripts --------------------------------------------------------------------------------------------------


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


# signatures -----------------------------------------------------------------------------------------------


def anthropic_thought(change=None):
    def body(reply):
        block, *others = reply["content"]
        return MESSAGES.body | {
            "messages": [
                USER,
                {"role": "assistant", "content": [{**block, **(change(block) if change else {})}, *others]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": b["id"], "content": "sunny"}
                        for b in others
                        if b["type"] == "tool_use"
                    ],
                },
            ]
        }

    return body


def swapped(text):
    """The text with one letter of its middle changed to another."""
    middle = len(text) // 2
    return text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (None, 200),
        (lambda block: {"signature": swapped(block["signature"])}, 400),
        (lambda block: {"thinking": block["thinking"] + "!"}, 400),
        (lambda _: {"signature": ""}, 400),
        (lambda _: {"signature": "RXFRQkNrWUlCQmdD" * 9}, 400),
    ],
    ids=["unchanged", "signature", "text", "empty", "foreign"],
)
def test_anthropic_checks_its_signatures(post, change, status):
    nonce, thinking = next(NONCES), {"thinking": {"type": "adaptive"}}
    first = post(MESSAGES, "thinks", MESSAGES.body | thinking, nonce=nonce).json()
    reply = post(MESSAGES, "thinks", anthropic_thought(change)(first) | thinking, nonce=nonce)
    assert reply.status_code == status
    if status == 400:
        message = reply.json()["error"]["message"]
        assert message == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.parametrize(("changed", "status"), [(False, 200), (True, 400)])
def test_responses_checks_its_encrypted_reasoning(post, changed, status):
    provider, nonce = PROVIDERS["openai-responses"], next(NONCES)
    items = post(provider, "thinks", nonce=nonce).json()["output"]
    if changed:
        items[0]["encrypted_content"] = swapped(items[0]["encrypted_content"])
    output = {"type": "function_call_output", "call_id": items[1]["call_id"], "output": "sunny"}
    reply = post(provider, "thinks", provider.body | {"input": [USER, *items, output]}, nonce=nonce)
    assert reply.status_code == status
    if changed:
        assert reply.json()["error"]["code"] == "invalid_encrypted_content"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (None, 200),
        (lambda signature: signature.replace("+", "-").replace("/", "_").rstrip("="), 200),
        (lambda _: "skip_thought_signature_validator", 200),
        (swapped, 400),
    ],
    ids=["unchanged", "other alphabet", "bypass", "changed"],
)
def test_gemini_checks_its_signatures(post, change, status):
    provider, nonce = PROVIDERS["gemini"], next(NONCES)
    content = post(provider, "thinks", nonce=nonce).json()["candidates"][0]["content"]
    call = content["parts"][0]
    if change:
        call["thoughtSignature"] = change(call["thoughtSignature"])
    answer = {"name": "get_weather", "id": call["functionCall"]["id"], "response": {"output": "sunny"}}
    contents = [
        *provider.body["contents"],
        content,
        {"role": "user", "parts": [{"functionResponse": answer}]},
    ]
    assert post(provider, "thinks", provider.body | {"contents": contents}, nonce=nonce).status_code == status


def test_the_open_case_takes_signatures_that_it_cannot_check(post):
    foreign = anthropic_thought()(
        {
            "content": [
                {"type": "thinking", "thinking": "2 + 3", "signature": "RXFRQkNrWUlCQmdD" * 9},
                {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
            ]
        }
    )
    assert post(MESSAGES, "any", foreign).status_code == 200
