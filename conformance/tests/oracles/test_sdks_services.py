"""Models, token counts, files and batches of the strict server, through the official SDKs."""

import io
import itertools
import json
from contextlib import closing

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai import errors as google_errors
from google.genai import types as google_types
from mistralai.client import Mistral

from ellmer_conformance.scenarios.script import Answer, Say, Script
from ellmer_conformance.server import StrictServer

SCRIPTS = {"two": Script((Answer((Say("one"),)), Answer((Say("two"),))))}
NONCES = map(str, itertools.count())
LEGAL = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture
def of_openai(server):
    url = server.url("two", next(NONCES))
    with openai.OpenAI(
        base_url=f"{url}/v1", api_key="k", max_retries=0, http_client=httpx2.Client(verify=False)
    ) as client:
        yield client


@pytest.fixture
def of_anthropic(server):
    url = server.url("two", next(NONCES))
    with anthropic.Anthropic(
        base_url=url, api_key="k", max_retries=0, http_client=httpx2.Client(verify=False)
    ) as client:
        yield client


@pytest.fixture
def of_google(server):
    options = google_types.HttpOptions(base_url=server.url("two", next(NONCES)))
    with genai.Client(api_key="k", http_options=options) as client:
        yield client


# OpenAI ---------------------------------------------------------------------------------------------------


def test_openai_models(of_openai):
    names = [model.id for model in of_openai.models.list()]
    assert "gpt-4.1" in names
    assert of_openai.models.retrieve("anything-else").id == "anything-else"
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        of_openai.models.retrieve("gpt-does-not-exist")


def test_openai_counts_tokens_of_legal_requests(of_openai):
    count = of_openai.responses.input_tokens.count
    few, many = (count(model="gpt-5.4", input=text).input_tokens for text in ("Hello", "Hello " * 50))
    assert 0 < few < many
    orphan = [{"type": "function_call_output", "call_id": "call_1", "output": "5"}]
    with pytest.raises(openai.BadRequestError, match="No tool call found"):
        count(model="gpt-5.4", input=orphan)


def test_openai_files(of_openai):
    file = of_openai.files.create(file=("notes.txt", b"\r\n--line\r\n\x00"), purpose="user_data")
    assert (file.filename, file.bytes, file.purpose) == ("notes.txt", 11, "user_data")
    assert [each.id for each in of_openai.files.list()] == [file.id]
    assert of_openai.files.content(file.id).content == b"\r\n--line\r\n\x00"
    assert of_openai.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError, match="No such File object"):
        of_openai.files.retrieve(file.id)


def test_a_batch_of_openai_is_judged_and_answered(of_openai):
    bodies = {"legal": LEGAL, "orphan": [{"role": "tool", "tool_call_id": "c", "content": "5"}]}
    lines = [
        {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}
        for name, body in {n: {"model": "gpt-4.1", "messages": m} for n, m in bodies.items()}.items()
    ]
    file = of_openai.files.create(
        file=("batch.jsonl", "\n".join(map(json.dumps, lines)).encode()), purpose="batch"
    )
    batch = of_openai.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    states = [batch.status, *(of_openai.batches.retrieve(batch.id).status for _ in range(2))]
    assert states == ["validating", "in_progress", "completed"]
    batch = of_openai.batches.retrieve(batch.id)
    assert (batch.request_counts.completed, batch.request_counts.failed) == (1, 1)
    answered = json.loads(of_openai.files.content(batch.output_file_id).text)
    assert answered["custom_id"] == "legal"
    assert answered["response"]["body"]["choices"][0]["message"]["content"] == "one"
    refused = json.loads(of_openai.files.content(batch.error_file_id).text)
    assert (refused["custom_id"], refused["response"]["status_code"]) == ("orphan", 400)


# Anthropic ------------------------------------------------------------------------------------------------


def test_anthropic_models(of_anthropic):
    assert "claude-sonnet-5" in [model.id for model in of_anthropic.models.list()]
    with pytest.raises(anthropic.NotFoundError, match="model: claude-nonexistent"):
        of_anthropic.models.retrieve("claude-nonexistent")


def test_anthropic_counts_tokens_of_legal_requests(of_anthropic):
    count = of_anthropic.messages.count_tokens
    few, many = (
        count(model="claude-sonnet-5", messages=[{"role": "user", "content": text}]).input_tokens
        for text in ("Hello", "Hello " * 50)
    )
    assert 0 < few < many
    with pytest.raises(anthropic.BadRequestError, match="at least one message is required"):
        count(model="claude-sonnet-5", messages=[])


def test_anthropic_files(of_anthropic):
    files = of_anthropic.beta.files
    file = files.upload(file=("notes.txt", b"hello", "text/plain"))
    assert (file.filename, file.size_bytes, file.mime_type) == ("notes.txt", 5, "text/plain")
    assert [each.id for each in files.list()] == [file.id]
    with pytest.raises(anthropic.BadRequestError, match="not downloadable"):
        files.download(file.id)
    files.delete(file.id)
    with pytest.raises(anthropic.NotFoundError):
        files.retrieve_metadata(file.id)


def test_a_batch_of_anthropic_is_judged_and_answered(of_anthropic):
    asked = {"legal": LEGAL, "empty": []}
    batches = of_anthropic.messages.batches
    batch = batches.create(
        requests=[
            {
                "custom_id": name,
                "params": {"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages},
            }
            for name, messages in asked.items()
        ]
    )
    states = [batch.processing_status, *(batches.retrieve(batch.id).processing_status for _ in range(2))]
    assert states == ["in_progress", "in_progress", "ended"]
    legal, empty = (each.result for each in batches.results(batch.id))
    assert (legal.type, legal.message.content[0].text) == ("succeeded", "one")
    assert (empty.type, empty.error.error.type) == ("errored", "invalid_request_error")


# Gemini ---------------------------------------------------------------------------------------------------


def test_gemini_models(of_google):
    assert "models/gemini-2.5-flash" in [model.name for model in of_google.models.list()]
    with pytest.raises(google_errors.ClientError, match="not supported for getModel"):
        of_google.models.get(model="gemini-nonexistent")


def test_gemini_counts_tokens(of_google):
    count = of_google.models.count_tokens
    few, many = (
        count(model="gemini-2.5-flash", contents=text).total_tokens for text in ("Hello", "Hello " * 50)
    )
    assert 0 < few < many


def test_gemini_files(of_google):
    config = {"mime_type": "text/plain", "display_name": "notes"}
    file = of_google.files.upload(file=io.BytesIO(b"hello"), config=config)
    assert (file.display_name, file.size_bytes, file.mime_type) == ("notes", 5, "text/plain")
    assert [each.name for each in of_google.files.list()] == [file.name]
    of_google.files.delete(name=file.name)
    with pytest.raises(google_errors.ClientError, match="PERMISSION_DENIED"):
        of_google.files.get(name=file.name)


def test_a_batch_of_gemini_is_judged_and_answered(of_google):
    legal = {"contents": [{"parts": [{"text": "Hello"}], "role": "user"}]}
    odd = {"contents": [{"parts": [{"text": "Hello"}], "role": "nobody"}]}
    batch = of_google.batches.create(model="gemini-2.5-flash", src=[legal, odd])
    while not batch.done:
        batch = of_google.batches.get(name=batch.name)
    answered, refused = batch.dest.inlined_responses
    assert answered.response.text == "one"
    assert "valid role" in refused.error.message


# all ------------------------------------------------------------------------------------------------------


def test_mistral_models(server):
    with Mistral(api_key="key", server_url=server.url("any", "1@mistral")) as client:
        listed = client.models.list().data
        one = client.models.retrieve(model_id="mistral-small-latest")

    assert "mistral-small-latest" in {each.id for each in listed}
    assert one.capabilities.function_calling


def test_ollama_models(server):
    client = ollama.Client(host=server.origin)
    with closing(client._client):
        assert "qwen3-vl:4b" in {each.model for each in client.list().models}
        assert "tools" in client.show("qwen3-vl:4b").capabilities
        with pytest.raises(ollama.ResponseError, match="model 'wrong-model' not found"):
            client.show("wrong-model")


@pytest.mark.parametrize("path", ["/v1/models", "/v1beta/models", "/v1/files"])
def test_a_service_asks_for_a_key(server, path):
    reply = httpx.get(server.url("two", next(NONCES)) + path)
    assert reply.status_code in {401, 403}


def test_a_visit_is_in_the_report(server, of_openai):
    nonce = of_openai.base_url.path.strip("/").split("/")[2]
    of_openai.models.list()
    (exchange,) = server.exchanges("two", nonce)
    assert (exchange.request.method, exchange.response.status) == ("GET", 200)
