"""The endpoints besides chat: embeddings, moderations, models, stored answers, conversations, counts."""

import json
import re
from base64 import b64decode, urlsafe_b64encode
from datetime import date
from math import isclose, sqrt
from pathlib import Path
from struct import unpack

import httpx
import pytest

from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.services.__main__ import page

ASK = {"role": "user", "content": "And now?"}
KEYS = {"authorization": "Bearer any-key"}
CLAUDE = {"x-api-key": "any-key", "anthropic-version": "2023-06-01"}
GOOGLE = {"x-goog-api-key": "any-key"}
PAGE = Path(__file__).parents[4] / "docs" / "conformance" / "endpoints.md"


@pytest.fixture
def server():
    with StrictServer() as started:
        yield started


def post(server, path, body, headers=KEYS):
    return httpx.post(server.origin + path, json=body, headers=headers)


def get(server, path, headers=KEYS):
    return httpx.get(server.origin + path, headers=headers)


# embeddings -----------------------------------------------------------------------------------------------

TITAN = "/model/amazon.titan-embed-text-v2:0/invoke"
PARTS = {"content": {"parts": [{"text": "Hi"}]}}
EMBEDDINGS = {
    "openai": ("/v1/embeddings", {"model": "text-embedding-3-small", "input": "Hi"}, 1536, KEYS),
    "openai, asked size": (
        "/v1/embeddings",
        {"model": "text-embedding-3-small", "input": "Hi", "dimensions": 8},
        8,
        KEYS,
    ),
    "mistral": ("/c/any/-@mistral/v1/embeddings", {"model": "mistral-embed", "input": ["Hi"]}, 1024, KEYS),
    "gemini": (
        "/v1beta/models/gemini-embedding-001:embedContent",
        PARTS | {"outputDimensionality": 16},
        16,
        GOOGLE,
    ),
    "cohere": (
        "/v2/embed",
        {"model": "embed-v4.0", "texts": ["Hi"], "input_type": "search_query"},
        1536,
        KEYS,
    ),
    "ollama": ("/api/embed", {"model": "nomic-embed-text", "input": "Hi"}, 768, KEYS),
    "bedrock": (TITAN, {"inputText": "Hi", "dimensions": 256}, 256, KEYS),
}


def numbers(value):
    """The first list of numbers in a reply."""
    match value:
        case [float() | int(), *_]:
            return value
        case list():
            return next(filter(None, map(numbers, value)), None)
        case dict():
            return next(filter(None, map(numbers, value.values())), None)
    return None


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_a_text_has_a_vector_of_the_asked_size(server, name):
    path, body, size, headers = EMBEDDINGS[name]
    reply = post(server, path, body, headers)
    assert reply.status_code == 200, reply.text
    found = numbers(reply.json())
    assert len(found) == size
    assert isclose(sqrt(sum(number**2 for number in found)), 1, rel_tol=1e-3)
    assert post(server, path, body, headers).json() == reply.json()


def test_texts_with_common_words_are_near(server):
    def vector(text):
        return post(server, "/v1/embeddings", {"model": "m", "input": text}).json()["data"][0]["embedding"]

    cat, kitten, car = map(
        vector, ("the small cat sleeps", "the small kitten sleeps", "stock prices fell today")
    )
    near, far = (sum(a * b for a, b in zip(cat, other, strict=True)) for other in (kitten, car))
    assert near > 0.5 > far


def test_vectors_as_base64(server):
    body = {"model": "m", "input": ["Hi"], "dimensions": 4}
    plain = post(server, "/v1/embeddings", body).json()["data"][0]["embedding"]
    packed = post(server, "/v1/embeddings", body | {"encoding_format": "base64"}).json()["data"][0][
        "embedding"
    ]
    assert unpack("<4f", b64decode(packed)) == pytest.approx(plain, rel=1e-6)


def test_an_embedding_of_nothing_is_refused(server):
    reply = post(server, "/v1/embeddings", {"model": "m"})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "input")


def test_a_text_is_moderated(server):
    kind, bad = (
        post(server, "/v1/moderations", {"input": text}).json()["results"][0] for text in ("Hello", "kill")
    )
    assert (kind["flagged"], bad["flagged"], bad["categories"]["violence"]) == (False, True, True)
    assert len(bad["categories"]) == len(bad["category_scores"]) == 13
    assert bad["categories"]["violence/graphic"] is False
    assert bad["category_applied_input_types"] == {category: ["text"] for category in bad["categories"]}


# models and counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "model"),
    [("deepseek", "deepseek-v4-flash"), ("groq", "openai/gpt-oss-120b"), ("xai", "grok-4.3")],
)
def test_each_provider_lists_its_own_models(server, provider, model):
    names = [each["id"] for each in get(server, f"/c/any/-@{provider}/v1/models").json()["data"]]
    assert model in names
    assert "gpt-4.1" not in names


def test_mistral_describes_its_models(server):
    first, *_ = get(server, "/c/any/-@mistral/v1/models").json()["data"]

    assert first["capabilities"]["completion_chat"]
    assert get(server, f"/c/any/-@mistral/v1/models/{first['id']}").json() == first


def test_cohere_lists_its_models_to_its_sdk(server):
    found = get(server, "/v1/models", KEYS | {"user-agent": "cohere/7.1.0"}).json()
    assert found["models"][0]["name"] == "command-a-03-2025"


def test_tokens_are_counted_as_answers_count_them(server):
    converse = {"messages": [{"role": "user", "content": [{"text": "How many tokens are these?"}]}]}
    path = "/model/us.anthropic.claude-sonnet-5/"
    counted = post(server, f"{path}count-tokens", {"input": {"converse": converse}}).json()["inputTokens"]
    assert counted == post(server, f"{path}converse", converse).json()["usage"]["inputTokens"]
    words = post(server, "/v1/tokenize", {"text": "two words", "model": "command-a-03-2025"}).json()
    assert words["token_strings"] == ["two", " words"]


def test_ollama_generates_and_lists_what_runs(server):
    asked = {"model": "qwen3-vl:4b", "prompt": "What is 6 * 7?"}
    assert post(server, "/api/generate", asked | {"stream": False}).json()["response"] == "42"
    lines = [json.loads(line) for line in post(server, "/api/generate", asked).text.splitlines()]
    assert ("".join(line["response"] for line in lines), lines[-1]["done"]) == ("42", True)
    assert get(server, "/api/ps").json()["models"][0]["name"]


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("gpt-oss:20b", {"values": ["low", "medium", "high"], "default": "medium"}),
        ("qwen3:4b", {"values": [True, False], "default": True}),
        ("gemma3:1b", {"values": [False], "default": False}),
    ],
)
def test_ollama_tells_the_values_of_think_which_its_chat_takes(server, model, thinking):
    assert post(server, "/api/show", {"model": model}).json()["thinking"] == thinking
    for value in thinking["values"]:
        sent = {"model": model, "messages": [ASK], "think": value, "stream": False}
        assert post(server, "/api/chat", sent).status_code == 200


# GPT-6 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "mode", "status"),
    [("gpt-6.2-sol", "pro", 400), ("gpt-6.2-sol", "standard", 200), ("gpt-5.6", "pro", 200)],
)
def test_the_effort_changes_within_a_conversation_but_not_in_the_pro_mode(server, model, mode, status):
    update = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    sent = {"model": model, "input": [ASK, update], "reasoning": {"mode": mode}}
    answer = post(server, "/v1/responses", sent)
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["error"]["message"] == (
            "The 'configuration_update' item type is not supported with pro or tournament models."
        )


# stored answers -------------------------------------------------------------------------------------------

NAME = {"model": "gpt-4.1", "input": "My name is Ada."}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
#: A token of the form that OpenAI's encrypted reasoning has: https://github.com/fernet/spec/blob/master/Spec.md
FERNET = urlsafe_b64encode(b"\x80" + bytes(24 + 16 + 32)).decode()


def text(answer):
    return answer["output"][-1]["content"][0]["text"]


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_continues_a_stored_one(server, stream):
    first = post(server, "/v1/responses", NAME | {"stream": stream})
    id = re.search(r"resp_\w+", first.text)[0]
    second = post(
        server, "/v1/responses", {"model": "gpt-4.1", "input": "What is my name?", "previous_response_id": id}
    )
    assert text(second.json()) == "You said: “My name is Ada.”"
    third = {
        "model": "gpt-4.1",
        "input": "And what is my name now?",
        "previous_response_id": second.json()["id"],
    }
    assert "Ada" in text(post(server, "/v1/responses", third).json())


CALLING = {
    "model": "gpt-5-mini",
    "reasoning": {"effort": "high"},
    "input": "What is the weather in Paris?",
    "tools": [
        {
            "type": "function",
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        }
    ],
}


def test_what_continues_a_stored_call_must_answer_it_and_repeat_nothing(server):
    first = post(server, "/v1/responses", CALLING).json()
    reasoning, call = first["output"]

    def goes_on(*items):
        body = CALLING | {"input": [*items], "previous_response_id": first["id"]}
        reply = post(server, "/v1/responses", body)
        return reply.json()["error"]["message"] if reply.status_code == 400 else reply.status_code

    answer = {"type": "function_call_output", "call_id": call["call_id"], "output": "21C"}
    said = {"role": "user", "content": "Never mind."}
    other = answer | {"call_id": "call_other"}
    assert goes_on(answer) == 200
    assert goes_on(said) == f"No tool output found for function call {call['call_id']}."
    assert goes_on(answer, other) == "No tool call found for function call output with call_id call_other."
    assert goes_on(reasoning, call, answer).startswith(f"Duplicate item found with id {reasoning['id']}.")


def test_a_stored_answer_is_retrieved_and_deleted(server):
    answer = post(server, "/v1/responses", NAME).json()
    path = f"/v1/responses/{answer['id']}"
    assert get(server, path).json() == answer
    (item,) = get(server, f"{path}/input_items").json()["data"]
    assert item["content"] == [{"type": "input_text", "text": "My name is Ada."}]
    assert httpx.delete(server.origin + path, headers=KEYS).json()["deleted"] is True
    assert get(server, path).status_code == 404
    assert post(server, f"{path}/cancel", {}).status_code == 404


@pytest.mark.parametrize("more", [{"store": False}, {}])
def test_an_answer_that_is_not_stored_cannot_be_continued(server, more):
    id = post(server, "/v1/responses", NAME | more).json()["id"] if more else "resp_unknown"
    reply = post(server, "/v1/responses", NAME | {"previous_response_id": id})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"], error["param"]) == (
        400,
        "previous_response_not_found",
        "previous_response_id",
    )
    assert error["message"] == f"Previous response with id '{id}' not found."


def test_a_background_answer_is_queued_then_runs_then_is_complete(server):
    queued = post(server, "/v1/responses", NAME | {"background": True}).json()
    states = [get(server, f"/v1/responses/{queued['id']}").json() for _ in range(3)]
    assert [queued["status"], *(state["status"] for state in states)] == [
        *("queued", "in_progress", "completed", "completed")
    ]
    assert "Ada" in text(states[-1])
    other = post(server, "/v1/responses", NAME | {"background": True, "input": "Hi"}).json()
    assert post(server, f"/v1/responses/{other['id']}/cancel", {}).json()["status"] == "cancelled"
    assert get(server, f"/v1/responses/{other['id']}").json()["status"] == "cancelled"


def test_a_conversation_has_the_items_of_its_answers(server):
    id = post(server, "/v1/conversations", {"metadata": {"topic": "names"}}).json()["id"]
    post(server, "/v1/responses", NAME | {"conversation": id})
    reply = post(
        server, "/v1/responses", {"model": "gpt-4.1", "input": "What is my name?", "conversation": {"id": id}}
    )
    assert text(reply.json()) == "You said: “My name is Ada.”"
    items = get(server, f"/v1/conversations/{id}/items?order=asc").json()["data"]
    assert [item["role"] for item in items] == ["user", "assistant", "user", "assistant"]
    assert get(server, f"/v1/conversations/{id}").json()["metadata"] == {"topic": "names"}
    assert httpx.delete(f"{server.origin}/v1/conversations/{id}", headers=KEYS).json()["deleted"] is True
    assert post(server, "/v1/responses", NAME | {"conversation": id}).status_code == 404


def test_batches_are_listed_and_cancelled(server):
    request = {
        "custom_id": "1",
        "params": {
            "model": "claude-sonnet-5",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "Hi"}],
        },
    }
    id = post(server, "/v1/messages/batches", {"requests": [request]}, CLAUDE).json()["id"]
    assert [each["id"] for each in get(server, "/v1/messages/batches", CLAUDE).json()["data"]] == [id]
    assert (
        post(server, f"/v1/messages/batches/{id}/cancel", {}, CLAUDE).json()["processing_status"]
        == "canceling"
    )


def test_a_file_for_mistral_needs_no_purpose(server):
    file = {"file": ("a.jsonl", b"{}")}
    reply = httpx.post(f"{server.origin}/c/any/-@mistral/v1/files", files=file, headers=KEYS)
    assert (reply.status_code, reply.json()["purpose"], reply.json()["source"]) == (
        200,
        "fine-tune",
        "upload",
    )


# what is not served ---------------------------------------------------------------------------------------

NOT_SERVED = {
    "openai": ("/v1/audio/voices", KEYS),
    "anthropic": ("/v1/skills", CLAUDE),
    "gemini": ("/v1beta/corpora", GOOGLE),
    "bedrock": ("/async-invoke", KEYS),
    "cohere": ("/v2/parse", KEYS),
    "mistral": ("/c/any/-@mistral/v1/ocr", KEYS),
    "ollama": ("/v1/systemone", KEYS),
}


@pytest.mark.parametrize("name", NOT_SERVED)
def test_what_is_not_served_is_501_in_the_providers_form(server, name):
    path, headers = NOT_SERVED[name]
    reply = post(server, path, {}, headers)
    assert reply.status_code == 501
    assert "does not serve" in json.dumps(reply.json())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"model": "text-embedding-3-small", "input": "Hi"}),
        ("/v1/moderations", {"input": "Hi"}),
    ],
)
@pytest.mark.parametrize("other", [GOOGLE, CLAUDE], ids=["google", "anthropic"])
def test_a_path_of_one_provider_is_its_own_whatever_keys_a_request_carries(server, path, body, other):
    assert post(server, path, body, KEYS | other).json()["model"]


def test_what_no_provider_has_is_404(server):
    assert post(server, "/v1/no-such-endpoint", {}).status_code == 404


def test_the_page_has_every_endpoint():
    assert PAGE.read_text("utf-8") == page(), (
        "write it again: python -m ellmer_conformance.server.services > docs/conformance/endpoints.md"
    )


def test_a_batch_without_requests_is_refused_as_anthropic_does(server):
    reply = post(server, "/v1/messages/batches", {}, CLAUDE)
    assert reply.status_code == 400
    assert reply.json()["error"] == {"type": "invalid_request_error", "message": "requests: Field required"}


@pytest.mark.parametrize(
    ("model", "key"), [("claude-sonnet-4-5", "content"), ("count-tokens", "input_tokens")]
)
def test_claude_on_vertex_needs_no_header_for_the_version(server, model, key):
    path = f"/v1/projects/p/locations/l/publishers/anthropic/models/{model}:rawPredict"
    named = {"model": "claude-sonnet-4-5"} if model == "count-tokens" else {"max_tokens": 9}
    body = {
        "anthropic_version": "vertex-2023-10-16",
        "messages": [{"role": "user", "content": "Hi"}],
        **named,
    }
    reply = post(server, path, body, {"authorization": "Bearer any-key"})
    assert reply.status_code == 200, reply.text
    assert key in reply.json()


def test_an_item_of_a_stored_answer_can_be_named_by_its_id(server):
    said = post(server, "/v1/responses", NAME).json()["output"][-1]
    asked = {"model": "gpt-4.1", "input": [{"type": "item_reference", "id": said["id"]}, ASK]}
    assert post(server, "/v1/responses", asked).status_code == 200


@pytest.mark.parametrize(
    "reference", [{"type": "item_reference", "id": "msg_made_up"}, {"id": "msg_made_up"}]
)
def test_an_unknown_item_is_refused(server, reference):
    reply = post(server, "/v1/responses", {"model": "gpt-4.1", "input": [reference, ASK]})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (404, "input")
    assert error["message"] == "Item with id 'msg_made_up' not found."


@pytest.mark.parametrize(("sealed", "status"), [("gAAAAABmade_up", 400), (FERNET, 200)])
def test_reasoning_that_no_api_has_encrypted_is_refused(server, sealed, status):
    """The server cannot decrypt what another server encrypted, but it knows the form."""
    thought = {"type": "reasoning", "summary": [], "encrypted_content": sealed}
    asked = {"model": "gpt-5", "store": False, "input": [ASK, thought, SAID, ASK]}
    reply = post(server, "/v1/responses", asked)
    assert reply.status_code == status
    if status == 400:
        assert reply.json()["error"]["code"] == "invalid_encrypted_content"


CLOUD_PATHS = {
    "vertex": "/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-5:rawPredict",
    "bedrock": "/model/anthropic.claude-opus-4-5-20251101-v1:0/invoke",
    "bedrock, newer": "/model/anthropic.claude-opus-4-7-v1:0/invoke",
}
NOT_VALID = 'anthropic-version: "{}" is not a valid version'


@pytest.mark.parametrize(
    ("cloud", "version", "refusal"),
    [
        ("vertex", "vertex-2023-10-16", None),
        ("vertex", "2026-10-21", None),
        ("vertex", "bogus", NOT_VALID),
        ("vertex", "bedrock-2023-05-31", NOT_VALID),
        ("vertex", 20231016, NOT_VALID),
        ("bedrock", "bedrock-2023-05-31", None),
        ("bedrock", "bogus", "Invalid API version: {}"),
        ("bedrock", "2026-10-21", "Invalid API version: {}"),
        ("bedrock, newer", "2026-10-21", None),
    ],
)
def test_the_version_in_the_body_is_one_of_the_clouds(server, cloud, version, refusal):
    body = {
        "anthropic_version": version,
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    reply = post(server, CLOUD_PATHS[cloud], body, {"authorization": "Bearer any-key"})
    found = reply.json()
    assert reply.status_code == (400 if refusal else 200), reply.text
    if refusal:
        assert found.get("error", found)["message"] == refusal.format(version)


@pytest.mark.parametrize("cloud", ["vertex", "bedrock, newer"])
def test_the_version_in_the_body_decides_about_parameters(server, cloud):
    body = {
        "anthropic_version": "2026-10-21",
        "max_tokens": 9,
        "temperature": 1,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    reply = post(server, CLOUD_PATHS[cloud], body, {"authorization": "Bearer any-key"})
    found = reply.json()
    assert reply.status_code == 400
    assert found.get("error", found)["message"] == "temperature: Extra inputs are not permitted"


def test_a_cloud_has_a_version_from_its_first_day_on():
    body = {
        "anthropic_version": "2026-10-21",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    with StrictServer(today=date(2026, 10, 20)) as earlier:
        reply = post(earlier, CLOUD_PATHS["vertex"], body, {"authorization": "Bearer any-key"})
    assert reply.json()["error"]["message"] == NOT_VALID.format("2026-10-21")


# lists in pages, and what excludes each other -----------------------------------------------------------


def test_stored_completions_come_in_pages(server):
    ask = {"model": "gpt-4.1", "store": True}
    made = [
        post(
            server,
            "/v1/chat/completions",
            {**ask, "messages": [{"role": "user", "content": word}], "metadata": {"n": word}},
        ).json()["id"]
        for word in ("one", "two", "three")
    ]
    first = get(server, "/v1/chat/completions?limit=2").json()
    assert [each["id"] for each in first["data"]] == made[:2]
    assert first["has_more"] is True
    rest = get(server, f"/v1/chat/completions?limit=2&after={first['last_id']}").json()
    assert ([each["id"] for each in rest["data"]], rest["has_more"]) == (made[2:], False)
    named = get(server, "/v1/chat/completions?metadata[n]=two").json()
    assert [each["id"] for each in named["data"]] == [made[1]]


def test_items_and_files_come_in_pages(server):
    items = [{"type": "message", "role": "user", "content": str(n)} for n in range(3)]
    id = post(server, "/v1/conversations", {"items": items}).json()["id"]
    found = get(server, f"/v1/conversations/{id}/items?order=asc&limit=2").json()
    assert [item["content"] for item in found["data"]] == ["0", "1"]
    before = get(server, f"/v1/conversations/{id}/items?order=asc&limit=1&before={found['last_id']}").json()
    assert [item["content"] for item in before["data"]] == ["0"]
    models = get(server, "/v1/models?limit=1", CLAUDE).json()
    assert (len(models["data"]), models["has_more"]) == (1, True)
    google = get(server, "/v1beta/models?pageSize=1", GOOGLE).json()
    more = get(server, f"/v1beta/models?pageSize=1&pageToken={google['nextPageToken']}", GOOGLE).json()
    assert google["models"] != more["models"]


@pytest.mark.parametrize(
    "more",
    [{"background": True, "store": False}, {"previous_response_id": "resp_1", "conversation": "conv_1"}],
)
def test_settings_that_exclude_each_other_are_refused(server, more):
    assert post(server, "/v1/responses", {"model": "gpt-5.6-terra", "input": "Hi", **more}).status_code == 400


def test_a_stream_can_be_read_again_from_an_event(server):
    asked = {"model": "gpt-5.6-terra", "input": "2 + 2?", "background": True, "stream": True}
    events = post(server, "/v1/responses", asked).text
    id = json.loads(events.partition("data: ")[2].partition("\n")[0])["response"]["id"]
    assert get(server, f"/v1/responses/{id}?stream=true").text == events
    rest = get(server, f"/v1/responses/{id}?stream=true&starting_after=1").text
    assert events.endswith(rest)
    assert '"sequence_number":2' in rest.partition("\n\n")[0]
    whole = post(server, "/v1/responses", {"model": "gpt-5.6-terra", "input": "Hi"}).json()["id"]
    assert get(server, f"/v1/responses/{whole}?stream=true").status_code == 400


def test_a_vector_is_no_longer_than_its_model_has(server):
    asked = {"model": "text-embedding-3-small", "input": [1, 2, 3]}
    refused = post(server, "/v1/embeddings", asked | {"dimensions": 1537})
    assert (refused.status_code, "1536" in refused.text) == (400, True)
    assert post(server, "/v1/embeddings", asked).json()["usage"]["total_tokens"] == 3


def test_mistral_has_its_own_categories_and_ids(server):
    base = "/c/any/1@mistral/v1"
    found = post(
        server, f"{base}/moderations", {"model": "mistral-moderation-latest", "input": "I will kill it"}
    )
    categories = found.json()["results"][0]["categories"]
    assert [name for name, flag in categories.items() if flag] == ["violence_and_threats"]
    assert "pii" in categories
    assert post(server, f"{base}/embeddings", {"model": "mistral-embed", "input": "a"}).json()["id"]


def test_a_cache_needs_a_size(server):
    asked = {
        "model": "models/gemini-3.5-flash",
        "contents": [{"role": "user", "parts": [{"text": "short"}]}],
    }
    refused = post(server, "/v1beta/cachedContents", asked, GOOGLE).json()["error"]
    assert refused["message"].startswith("Cached content is too small. total_token_count=")


OWN, OTHER = "models/gemini-3.5-flash", "models/gemini-2.5-flash"


def test_a_cache_is_used_with_its_own_model(server):
    long = {"role": "user", "parts": [{"text": "A long story, told again. " * 400}]}
    asked = {"model": OWN, "contents": [long]}
    name = post(server, "/v1beta/cachedContents", asked, GOOGLE).json()["name"]
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "cachedContent": name}

    own = post(server, f"/v1beta/{OWN}:generateContent", body, GOOGLE)
    other = post(server, f"/v1beta/{OTHER}:generateContent", body, GOOGLE)

    assert (own.status_code, other.status_code) == (200, 400)
    said = other.json()["error"]["message"]
    assert (
        said
        == f"Model used by GenerateContent request ({OTHER}) and CachedContent ({OWN}) has to be the same."
    )


def test_a_batch_of_claude_in_progress_is_not_deleted(server):
    params = {"model": "claude-sonnet-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    id = post(
        server, "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": params}]}, CLAUDE
    ).json()["id"]
    path = f"/v1/messages/batches/{id}"
    assert httpx.delete(server.origin + path, headers=CLAUDE).status_code == 400
    post(server, f"{path}/cancel", {}, CLAUDE)
    assert httpx.delete(server.origin + path, headers=CLAUDE).json()["type"] == "message_batch_deleted"
