"""Bedrock, Ollama, Mistral and Cohere on the strict server: keys, signatures, names, and errors in their form."""

import json
from typing import get_args

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.scenarios.script import Answer, Call, Cut, Say, Script, Think
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_api_lookup import CHAT_APIS
from ellmer_conformance.server.chat_apis.base import WRONG_KEY, WRONG_MODEL, FailureKind, Ticket
from ellmer_conformance.server.chat_apis.providers.perplexity import PerplexityAgent

SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
THINKING = {"additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 1024}}}
HELLO = {"role": "user", "content": "Hello"}
HELLO_BLOCKS = {"role": "user", "content": [{"text": "Hello"}]}
BEARER = {"authorization": "Bearer any-key"}

#: A path, a body, and what else it takes to be answered; `{model}` where the model is in the path.
SERVICES = {
    "openai-chat": ("/v1/chat/completions", {"messages": [HELLO]}, {"x-forwarded-host": "api.openai.com"}),
    "openai-responses": ("/v1/responses", {"input": "Hello"}, {}),
    "anthropic": (
        "/v1/messages",
        {"max_tokens": 9, "messages": [HELLO]},
        {"anthropic-version": "2023-06-01"},
    ),
    "gemini": ("/v1beta/models/{model}:generateContent", {"contents": [{"parts": [{"text": "Hello"}]}]}, {}),
    "bedrock": ("/model/{model}/converse", {"messages": [HELLO_BLOCKS]}, {}),
    "ollama": ("/api/chat", {"messages": [HELLO], "stream": False}, {}),
    "mistral": ("/v1/chat/completions", {"messages": [HELLO]}, {"x-forwarded-host": "api.mistral.ai"}),
    "cohere": ("/v2/chat", {"messages": [HELLO]}, {}),
}
SCRIPTS = {
    "think": Script(
        (
            Answer((Think("They greet me."), Call("wave"))),
            Answer((Say("I waved."),)),
        )
    ),
    "cut": Script((Cut(Answer((Call("wave", {"to": "everybody"}),)), at="inside-arguments"),)),
}


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(verify=False) as client:
        client.headers["x-goog-api-key"] = client.headers["x-api-key"] = "any-key"
        yield client


def post(client, server, wire, headers=BEARER, *, case="any", model="some-model", **more):
    path, body, own = SERVICES[wire]
    body = {**body, **({} if "{model}" in path else {"model": model}), **more}
    url = server.url(case, "1") + path.format(model=model)
    return client.post(url, json=body, headers={**own, **headers})


# what is not there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "status", "words"),
    [
        ("openai-chat", 404, "does not exist or you do not have access"),
        ("openai-responses", 400, "does not exist"),
        ("anthropic", 404, f"model: {WRONG_MODEL}"),
        ("gemini", 404, "is not found for API version"),
        ("bedrock", 400, "The provided model identifier is invalid."),
        ("ollama", 404, f"model '{WRONG_MODEL}' not found"),
        ("mistral", 400, f"Invalid model: {WRONG_MODEL}"),
        ("cohere", 404, "make sure the correct model ID was used"),
    ],
)
def test_a_model_that_is_not_there(client, server, wire, status, words):
    assert post(client, server, wire).status_code == 200
    reply = post(client, server, wire, model=WRONG_MODEL)
    assert (reply.status_code, words in reply.text) == (status, True), reply.text


@pytest.mark.parametrize("api", CHAT_APIS.values(), ids=lambda api: api.__name__)
def test_every_api_has_words_for_every_trouble(api):
    writer = api(Ticket(Request(api.wire, api.provider, {}), "any", 0))
    assert set(api.failures) == set(get_args(FailureKind))
    assert writer.no_model("gpt-5.6-terra") is None
    assert writer.no_model("gpt-nonexistent").status in {400, 404}


def test_perplexity_announces_a_search_as_a_call():
    asked = Request("openai-responses", "perplexity", {"input": "Hi", "tools": [{"type": "web_search"}]})
    frames = PerplexityAgent(Ticket(asked, "any", 0)).frames(Answer((Say("Hello"),)))
    events = [json.loads(frame.data.removeprefix(b"data: ")) for frame in frames]
    begun, sought, found, done = events[2:6]
    assert (begun["item"]["name"], begun["item"]["type"]) == ("search_web", "function_call")
    assert sought["type"] == "response.reasoning.search_queries"
    assert found["type"] == "response.reasoning.search_results"
    assert sought["call_id"] == found["call_id"] == begun["item"]["call_id"]
    assert (done["item"]["type"], done["output_index"]) == ("search_results", begun["output_index"])


# keys -----------------------------------------------------------------------------------------------------


def signed(url, body, key="AKIAIOSFODNN7EXAMPLE"):
    request = AWSRequest("POST", url, data=body, headers={"content-type": "application/json"})
    SigV4Auth(Credentials(key, "secret"), "bedrock", "us-east-1").add_auth(request)
    return dict(request.headers)


def converse(client, server, change=lambda headers: None, **options):
    url = server.url("any", "1") + f"/model/{SONNET}/converse"
    body = json.dumps({"messages": [HELLO_BLOCKS]})
    headers = signed(url, body, **options)
    change(headers)
    return client.post(url, content=body, headers=headers)


def test_bedrock_takes_a_signature_or_a_key(client, server):
    assert converse(client, server).status_code == 200
    assert post(client, server, "bedrock").status_code == 200


@pytest.mark.parametrize(
    ("options", "change", "kind"),
    [
        ({}, lambda h: h.pop("Authorization"), "MissingAuthenticationTokenException"),
        ({}, lambda h: h.update(Authorization=h["Authorization"][:-9]), "IncompleteSignatureException"),
        ({}, lambda h: h.pop("X-Amz-Date"), "IncompleteSignatureException"),
        ({"key": WRONG_KEY}, lambda h: None, "UnrecognizedClientException"),
    ],
)
def test_bedrock_refuses_what_is_not_signed(client, server, options, change, kind):
    reply = converse(client, server, change, **options)
    assert (reply.status_code, reply.headers["x-amzn-errortype"].partition(":")[0]) == (403, kind)
    assert set(reply.json()) == {"message"}


def test_ollama_asks_for_no_key(client, server):
    assert post(client, server, "ollama", headers={}).status_code == 200


@pytest.mark.parametrize("wire", ["mistral", "cohere"])
def test_the_others_ask_for_one(client, server, wire):
    assert post(client, server, wire, headers={}).status_code == 401


def test_a_session_token_is_not_kept(client, server):
    url = server.url("any", "secret") + f"/model/{SONNET}/converse"
    headers = {**BEARER, "x-amz-security-token": "very-secret"}
    client.post(url, json={"messages": [HELLO_BLOCKS]}, headers=headers)
    (exchange,) = server.exchanges("any", "secret")
    assert exchange.request.headers["x-amz-security-token"] == "***"
    assert exchange.request.headers["authorization"] == "Bearer ***"


# refusals in the form of the service ----------------------------------------------------------------------


def test_bedrock_names_the_type_in_a_header(client, server):
    reply = post(client, server, "bedrock", messages=[{"role": "user", "content": []}])
    assert reply.status_code == 400
    assert reply.headers["x-amzn-errortype"] == (
        "ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/"
    )
    assert reply.json()["message"].startswith(
        "The content field in the Message object at messages.0 is empty."
    )


def test_ollama_has_one_sentence(client, server):
    reply = post(client, server, "ollama", messages=[{"role": "user", "content": [{"type": "text"}]}])
    field = "ChatRequest.messages.content of type string"
    assert (reply.status_code, reply.json()) == (
        400,
        {"error": f"json: cannot unmarshal array into Go struct field {field}"},
    )


def test_mistral_has_a_list_of_details_or_an_error_object(client, server):
    details = post(client, server, "mistral", seed=1)
    assert details.status_code == 422
    assert details.json()["detail"] == [
        {
            "type": "extra_forbidden",
            "loc": ["body", "seed"],
            "msg": "Extra inputs are not permitted",
            "input": 1,
        }
    ]
    order = post(client, server, "mistral", messages=[HELLO, {"role": "tool", "content": "5"}])
    assert order.status_code == 400
    assert order.json() == {
        "object": "error",
        "message": "Unexpected role 'tool' after role 'user'",
        "type": "invalid_request_message_order",
        "param": None,
        "code": "3230",
    }


def test_cohere_has_an_id_and_a_sentence(client, server):
    reply = post(client, server, "cohere", preamble="Be brief.")
    assert (reply.status_code, set(reply.json())) == (422, {"id", "message"})


@pytest.mark.parametrize(
    ("wire", "status"), [("bedrock", 400), ("ollama", 400), ("mistral", 422), ("cohere", 400)]
)
def test_a_body_that_is_no_json(client, server, wire, status):
    path, _, own = SERVICES[wire]
    url = server.url("any", "1") + path.format(model="m")
    reply = client.post(url, content=b"{", headers={**BEARER, **own})
    assert reply.status_code == status
    assert reply.json()


# signatures -----------------------------------------------------------------------------------------------


def test_claude_on_bedrock_signs_its_thoughts_and_checks_them(client, server):
    url = server.url("think", "signed") + f"/model/{SONNET}/converse"
    tools = {"tools": [{"toolSpec": {"name": "wave", "inputSchema": {"json": {"type": "object"}}}}]}
    body = {"messages": [HELLO_BLOCKS], "toolConfig": tools, **THINKING}
    said = client.post(url, json=body, headers=BEARER).json()["output"]["message"]
    thought, use = (block for block in said["content"])
    result = {"toolUseId": use["toolUse"]["toolUseId"], "content": [{"text": "done"}]}
    again = {**body, "messages": [HELLO_BLOCKS, said, {"role": "user", "content": [{"toolResult": result}]}]}

    thought["reasoningContent"]["reasoningText"]["text"] += "!"
    refused = client.post(url, json=again, headers=BEARER)
    assert refused.status_code == 400
    assert "messages.1.content.0: Invalid `signature` in `thinking` block" in refused.json()["message"]

    thought["reasoningContent"]["reasoningText"]["text"] = "They greet me."
    answered = client.post(url, json=again, headers=BEARER).json()
    assert answered["output"]["message"]["content"] == [{"text": "I waved."}]


# cuts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["ollama", "mistral", "cohere"])
def test_a_cut_stream_ends_inside_the_arguments(client, server, wire):
    text = post(client, server, wire, case="cut", stream=True).text
    assert "wave" in text
    assert "everybody" not in text
    assert not text.rstrip().endswith(("[DONE]", '"done":true}'))


# providers that speak Chat Completions ----------------------------------------------------------------------

BAD_MODEL = {"model": WRONG_MODEL, "messages": [HELLO]}


@pytest.mark.parametrize(
    ("asked", "status", "answer"),
    [
        (
            ("api.x.ai", "any-key", BAD_MODEL),
            400,
            {"code": "invalid-argument", "error": f"Model not found: {WRONG_MODEL}"},
        ),
        (
            ("api.x.ai", WRONG_KEY, {}),
            400,
            {
                "code": "invalid-argument",
                "error": "Incorrect API key provided. You can obtain an API key from https://console.x.ai.",
            },
        ),
        (
            ("openrouter.ai", "any-key", BAD_MODEL),
            400,
            {
                "error": {"message": f"{WRONG_MODEL} is not a valid model ID", "code": 400},
                "user_id": "user_conformance",
            },
        ),
        (
            ("openrouter.ai", WRONG_KEY, {}),
            401,
            {"error": {"message": "No cookie auth credentials found", "code": 401}},
        ),
        (
            ("api.perplexity.ai", "any-key", BAD_MODEL),
            400,
            {
                "error": {
                    "message": f"Invalid model '{WRONG_MODEL}'. Permitted models can be found in the documentation at "
                    "https://docs.perplexity.ai/guides/model-cards.",
                    "type": "invalid_model",
                    "code": 400,
                }
            },
        ),
        (
            ("api.groq.com", "any-key", BAD_MODEL),
            404,
            {
                "error": {
                    "message": f"The model `{WRONG_MODEL}` does not exist or you do not have access to it.",
                    "type": "invalid_request_error",
                    "code": "model_not_found",
                }
            },
        ),
    ],
)
def test_providers_have_errors_of_their_own(client, server, asked, status, answer):
    host, key, body = asked
    headers = {"authorization": f"Bearer {key}", "x-forwarded-host": host}
    reply = client.post(server.url("any", "1") + "/v1/chat/completions", json=body, headers=headers)
    assert (reply.status_code, reply.json()) == (status, answer)
