"""What the server keeps and makes besides chat answers, as the official SDKs see it."""

import base64
import io
import json

import anthropic
import boto3
import cohere
import httpx
import mistralai.client as mistral
import openai
import pytest
from google import genai
from google.genai import types

from ellmer_conformance.server import StrictServer

HI = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def server():
    with StrictServer() as started:
        yield started


@pytest.fixture(scope="module")
def openai_client(server):
    with openai.OpenAI(base_url=f"{server.origin}/v1", api_key="k") as client:
        yield client


@pytest.fixture(scope="module")
def claude(server):
    with anthropic.Anthropic(base_url=server.origin, api_key="k") as client:
        yield client


@pytest.fixture(scope="module")
def http():
    with httpx.Client() as client:
        yield client


@pytest.fixture(scope="module")
def google(server):
    return genai.Client(api_key="k", http_options={"base_url": server.origin})


# formats that repeat another one ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runtime(server):
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
    return boto3.client("bedrock-runtime", endpoint_url=server.origin, **keys)


CLAUDE = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 50, "messages": HI}
INVOKED = {
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": (CLAUDE, ["content", 0, "text"]),
    "amazon.nova-lite-v1:0": (
        {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": [{"text": "Hello"}]}]},
        ["output", "message", "content", 0, "text"],
    ),
    "openai.gpt-oss-20b-1:0": ({"messages": HI}, ["choices", 0, "message", "content"]),
    "meta.llama3-1-70b-instruct-v1:0": ({"prompt": "Hello"}, ["generation"]),
    "mistral.mistral-7b-instruct-v0:2": ({"prompt": "Hello"}, ["outputs", 0, "text"]),
    "amazon.titan-text-lite-v1": ({"inputText": "Hello"}, ["results", 0, "outputText"]),
    "cohere.command-text-v14": ({"prompt": "Hello"}, ["generations", 0, "text"]),
}


@pytest.mark.parametrize("model", INVOKED)
def test_invoke_model_answers_in_the_form_of_the_maker(runtime, model):
    body, place = INVOKED[model]
    found = json.loads(runtime.invoke_model(modelId=model, body=json.dumps(body))["body"].read())
    for key in place:
        found = found[key]
    assert found == "Hello! How can I help you?"
    streamed = runtime.invoke_model_with_response_stream(modelId=model, body=json.dumps(body))
    chunks = [json.loads(event["chunk"]["bytes"]) for event in streamed["body"]]
    assert len(chunks) > 2
    assert "Hello!" in json.dumps(chunks)


def test_invoke_model_judges_the_body(runtime):
    for body, said in [
        ({**CLAUDE, "messages": [{"role": "tool", "content": "x"}]}, "role"),
        ({"max_tokens": 5, "messages": HI}, "anthropic_version"),
        ({**CLAUDE, "model": "claude"}, "model: Extra inputs"),
    ]:
        with pytest.raises(runtime.exceptions.ValidationException, match=said):
            runtime.invoke_model(modelId="anthropic.claude-sonnet-4-5-20250929-v1:0", body=json.dumps(body))


def test_claude_answers_through_vertex(server):
    asked = {"model": "claude-sonnet-4-5@20250929", "messages": HI}
    named = {"region": "us-east5", "project_id": "p", "access_token": "t"}
    with anthropic.AnthropicVertex(base_url=f"{server.origin}/v1", **named) as client:
        found = client.messages.create(max_tokens=50, **asked)
        assert (found.model, found.id[:11]) == ("claude-sonnet-4-5-20250929", "msg_vrtx_01")
        with client.messages.stream(max_tokens=50, **asked) as stream:
            assert stream.get_final_text() == "Hello! How can I help you?"
        assert client.messages.count_tokens(**asked).input_tokens > 0
        with pytest.raises(anthropic.BadRequestError, match="role"):
            client.messages.create(max_tokens=50, **asked | {"messages": [{"role": "x", "content": "y"}]})
    path = "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-5:rawPredict"
    missing = httpx.post(
        server.origin + path, json={"max_tokens": 5, "messages": HI}, headers={"authorization": "Bearer t"}
    )
    assert "anthropic_version" in missing.json()["error"]["message"]


def test_cohere_v1_has_its_own_form_and_events(server, http):
    client = cohere.Client(api_key="k", base_url=server.origin, httpx_client=http)
    found = client.chat(message="Hello", chat_history=[{"role": "USER", "message": "My name is Ada."}])
    assert (found.text, len(found.chat_history)) == ("Hello! How can I help you?", 3)
    kinds = [event.event_type for event in client.chat_stream(message="Hello")]
    assert (kinds[0], kinds[-1]) == ("stream-start", "stream-end")
    city = {"city": {"type": "str", "required": True}}
    tool = {"name": "get_weather", "description": "The weather.", "parameter_definitions": city}
    calls = client.chat(message="What is the weather in Paris?", tools=[tool]).tool_calls
    assert [(call.name, call.parameters) for call in calls] == [("get_weather", {"city": "Paris"})]
    results = [{"call": calls[0].dict(), "outputs": [{"weather": "sunny"}]}]
    assert (
        "sunny"
        in client.chat(
            message="What is the weather in Paris?",
            tools=[tool],
            tool_results=results,
            force_single_step=True,
        ).text
    )


def test_interactions_continue_and_are_stored(google):
    first = google.interactions.create(model="gemini-3.5-flash", input="My name is Alice.")
    second = google.interactions.create(
        model="gemini-3.5-flash", input="What is my name?", previous_interaction_id=first.id
    )
    assert "Alice" in second.steps[-1].content[0].text
    assert google.interactions.get(first.id).status == "completed"
    google.interactions.delete(first.id)
    with pytest.raises(Exception, match="not found"):
        google.interactions.get(first.id)


def test_interactions_call_tools_and_stream(google):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "name": "get_weather", "description": "The weather.", "parameters": schema}
    asked = {"model": "gemini-3.5-flash", "input": "What is the weather in Paris?", "tools": [tool]}
    found = google.interactions.create(**asked)
    call = found.steps[-1]
    assert (found.status, call.name, call.arguments) == ("requires_action", "get_weather", {"city": "Paris"})
    result = {"type": "function_result", "call_id": call.id, "name": "get_weather", "result": "sunny"}
    again = google.interactions.create(**{**asked, "input": [result]}, previous_interaction_id=found.id)
    assert "sunny" in again.steps[-1].content[0].text
    kinds = [event.event_type for event in google.interactions.create(**asked, stream=True)]
    assert kinds[0] == "interaction.created"
    assert kinds[-1] == "interaction.completed"


def test_a_background_interaction_runs_and_can_be_cancelled(google):
    started = google.interactions.create(
        agent="deep-research-pro-preview-12-2025", input="Hello", background=True
    )
    states = [started.status, *(google.interactions.get(started.id).status for _ in range(2))]
    assert states == ["in_progress", "in_progress", "completed"]
    other = google.interactions.create(
        agent="deep-research-pro-preview-12-2025", input="Hello", background=True
    )
    assert google.interactions.cancel(other.id).status == "cancelled"


# objects ------------------------------------------------------------------------------------------------


def test_a_cache_is_read_before_the_request(google):
    config = types.CreateCachedContentConfig(
        contents="The code word is violet. " * 200, display_name="words", ttl="300s"
    )
    cache = google.caches.create(model="gemini-3.5-flash", config=config)
    asked = types.GenerateContentConfig(cached_content=cache.name)
    found = google.models.generate_content(
        model="gemini-3.5-flash", contents="What is the code word?", config=asked
    )
    assert "violet" in found.text
    assert [each.name for each in google.caches.list()] == [cache.name]
    assert google.caches.update(name=cache.name, config={"ttl": "600s"}).name == cache.name
    google.caches.delete(name=cache.name)
    with pytest.raises(genai.errors.ClientError, match="CachedContent not found"):
        google.models.generate_content(model="gemini-3.5-flash", contents="Hi", config=asked)


def test_a_conversation_is_compacted(openai_client):
    said = [*HI, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "My name is Ada."}]
    short = openai_client.responses.compact(model="gpt-5.6-terra", input=said)
    assert [item.type for item in short.output] == ["message", "message", "compaction"]
    items = [item.model_dump(exclude_none=True, warnings=False) for item in short.output]
    found = openai_client.responses.create(model="gpt-5.6-terra", input=[*items, *HI])
    assert found.status == "completed"
    with pytest.raises(openai.BadRequestError, match="input"):
        openai_client.responses.compact(model="gpt-5.6-terra")


def test_chat_completions_are_stored_if_asked_for(openai_client):
    made = openai_client.chat.completions.create(
        model="gpt-4.1", messages=HI, store=True, metadata={"a": "b"}
    )
    stored = openai_client.chat.completions
    assert [each.id for each in stored.list()] == [made.id]
    assert stored.retrieve(made.id).choices[0].message.content == "Hello! How can I help you?"
    assert stored.update(made.id, metadata={"a": "c"}).metadata == {"a": "c"}
    assert [each.content for each in stored.messages.list(made.id)] == ["Hello"]
    assert stored.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        stored.retrieve(made.id)


def test_items_of_a_conversation(openai_client):
    conversation = openai_client.conversations.create(
        items=[{"type": "message", "role": "user", "content": "Hi"}]
    )
    item = openai_client.conversations.items.list(conversation.id).data[0]
    assert openai_client.conversations.items.retrieve(item.id, conversation_id=conversation.id).id == item.id
    openai_client.conversations.items.delete(item.id, conversation_id=conversation.id)
    assert openai_client.conversations.items.list(conversation.id).data == []


def test_an_upload_in_parts_becomes_a_file(openai_client):
    upload = openai_client.uploads.create(bytes=6, filename="a.txt", mime_type="text/plain", purpose="batch")
    parts = [
        openai_client.uploads.parts.create(upload.id, data=io.BytesIO(data)) for data in (b"abc", b"def")
    ]
    done = openai_client.uploads.complete(upload.id, part_ids=[part.id for part in parts])
    assert openai_client.files.content(done.file.id).content == b"abcdef"
    other = openai_client.uploads.create(bytes=6, filename="a.txt", mime_type="text/plain", purpose="batch")
    assert openai_client.uploads.cancel(other.id).status == "cancelled"


def test_vector_stores_and_containers_are_kept(openai_client):
    store = openai_client.vector_stores.create(name="docs")
    openai_client.vector_stores.files.create(store.id, file_id="file-1")
    assert [each.id for each in openai_client.vector_stores.files.list(store.id)] == ["file-1"]
    assert openai_client.vector_stores.update(store.id, name="papers").name == "papers"
    assert openai_client.vector_stores.delete(store.id).deleted
    with pytest.raises(openai.NotFoundError):
        openai_client.vector_stores.retrieve(store.id)
    container = openai_client.containers.create(name="box")
    assert [each.id for each in openai_client.containers.list()] == [container.id]
    with pytest.raises(openai.InternalServerError, match="does not serve"):
        openai_client.with_options(max_retries=0).vector_stores.search(store.id, query="x")


# batches ------------------------------------------------------------------------------------------------


def test_requests_of_batches_expire(openai_client, claude):
    lines = [
        {
            "custom_id": name,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "gpt-4.1", "messages": HI},
        }
        for name in ("expired-1", "b")
    ]
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    file = openai_client.files.create(file=("in.jsonl", data), purpose="batch")
    batch = openai_client.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
    )
    found = [openai_client.batches.retrieve(batch.id) for _ in range(2)][-1]
    assert (found.status, found.request_counts.completed) == ("expired", 1)
    assert "batch_expired" in openai_client.files.content(found.error_file_id).text

    params = {"model": "claude-sonnet-5", "max_tokens": 9, "messages": HI}
    asked = claude.messages.batches.create(
        requests=[{"custom_id": name, "params": params} for name in ("expired", "b")]
    )
    ended = [claude.messages.batches.retrieve(asked.id) for _ in range(2)][-1]
    assert (ended.request_counts.expired, ended.request_counts.succeeded) == (1, 1)
    assert [each.result.type for each in claude.messages.batches.results(asked.id)] == [
        "expired",
        "succeeded",
    ]


def test_batches_of_gemini_are_listed_cancelled_and_deleted(google):
    source = [{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}]
    batch = google.batches.create(model="gemini-3.5-flash", src=source)
    assert batch.name in [each.name for each in google.batches.list()]
    google.batches.cancel(name=batch.name)
    assert google.batches.get(name=batch.name).state == "JOB_STATE_CANCELLED"
    google.batches.delete(name=batch.name)
    with pytest.raises(genai.errors.ClientError, match="not found"):
        google.batches.get(name=batch.name)


def test_batches_and_code_of_mistral(server, http):
    client = mistral.Mistral(api_key="k", server_url=f"{server.origin}/c/any/-@mistral", client=http)
    job = client.batch.jobs.create(
        endpoint="/v1/chat/completions",
        model="mistral-small-latest",
        requests=[{"custom_id": "a", "body": {"messages": HI}}],
    )
    done = [client.batch.jobs.get(job_id=job.id) for _ in range(2)][-1]
    assert (done.status, done.succeeded_requests) == ("SUCCESS", 1)
    assert b"Hello!" in client.files.download(file_id=done.output_file).read()
    assert client.batch.jobs.list().total == 1
    filled = client.fim.complete(model="codestral-latest", prompt="say hello")
    assert filled.choices[0].message.content


# media --------------------------------------------------------------------------------------------------


def test_images_and_sounds_are_made_and_read_again(openai_client):
    made = openai_client.images.generate(model="gpt-image-1", prompt="a red circle").data[0].b64_json
    url = f"data:image/png;base64,{made}"
    asked = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    seen = openai_client.chat.completions.create(
        model="gpt-4.1", messages=[{"role": "user", "content": asked}]
    )
    assert "a red image of 64 by 64" in seen.choices[0].message.content
    spoken = openai_client.audio.speech.create(
        model="gpt-4o-mini-tts", voice="alloy", input="Good day."
    ).content
    assert (
        openai_client.audio.transcriptions.create(model="whisper-1", file=("a.wav", spoken)).text
        == "Good day."
    )


def test_chat_answers_with_sound_if_asked_for(openai_client):
    found = openai_client.chat.completions.create(
        model="gpt-audio",
        messages=HI,
        modalities=["text", "audio"],
        audio={"voice": "alloy", "format": "wav"},
    )
    sound = found.choices[0].message.audio
    assert sound.transcript == "Hello! How can I help you?"
    assert base64.b64decode(sound.data).startswith(b"RIFF")


def test_tools_of_the_provider_run(openai_client, google, claude):
    ask = openai_client.responses.create
    drawn = ask(model="gpt-5.6-terra", input="Draw a blue house.", tools=[{"type": "image_generation"}])
    assert drawn.output[0].type == "image_generation_call"
    found = ask(model="gpt-5.6-terra", input="Search the web for news.", tools=[{"type": "web_search"}])
    assert [item.type for item in found.output] == ["web_search_call", "message"]
    assert found.output[1].content[0].annotations[0].url == "https://example.com/"
    container = {"type": "auto"}
    ran = ask(
        model="gpt-5.6-terra",
        input="Compute 6 * 7.",
        tools=[{"type": "code_interpreter", "container": container}],
    )
    assert ran.output_text == "The program printed 42."

    config = types.GenerateContentConfig(response_modalities=["TEXT", "IMAGE"])
    shown = google.models.generate_content(
        model="gemini-2.5-flash-image", contents="Paint a green frog.", config=config
    )
    assert shown.candidates[0].content.parts[0].inline_data.mime_type == "image/png"

    tool = {"type": "web_search_20250305", "name": "web_search"}
    asked = [{"role": "user", "content": "Search the web for news."}]
    searched = claude.messages.create(model="claude-sonnet-5", max_tokens=500, messages=asked, tools=[tool])
    assert [block.type for block in searched.content] == ["server_tool_use", "web_search_tool_result", "text"]


# the rest -----------------------------------------------------------------------------------------------


def test_reranking_guardrails_pulls_and_old_completions(server, runtime, openai_client, http):
    ranked = cohere.ClientV2(api_key="k", base_url=server.origin, httpx_client=http).rerank(
        model="rerank-v3.5",
        query="capital of France",
        documents=["Carson City", "Paris is the capital of France"],
    )
    assert ranked.results[0].index == 1
    named = {"guardrailIdentifier": "g", "guardrailVersion": "1", "source": "INPUT"}
    acts = [
        runtime.apply_guardrail(**named, content=[{"text": {"text": text}}])["action"]
        for text in ("Hello", "I will kill you")
    ]
    assert acts == ["NONE", "GUARDRAIL_INTERVENED"]
    pulled = http.post(f"{server.origin}/api/pull", json={"model": "llama3.2", "stream": False})
    assert pulled.json() == {"status": "success"}
    old = openai_client.completions.create(model="gpt-3.5-turbo-instruct", prompt="Hello", max_tokens=50)
    assert old.choices[0].text == "Hello! How can I help you?"
    pieces = openai_client.completions.create(model="gpt-3.5-turbo-instruct", prompt="Hello", stream=True)
    assert len(list(pieces)) > 2


def test_unknown_paths_have_the_providers_own_body(server):
    asked = {"/v1/nowhere": ({"x-api-key": "k", "anthropic-version": "2023-06-01"}, "not_found_error")}
    asked["/v1beta/nowhere"] = ({"x-goog-api-key": "k"}, "NOT_FOUND")
    asked["/v2/nowhere"] = ({"user-agent": "cohere-python", "authorization": "Bearer k"}, "invalid path")
    for path, (headers, said) in asked.items():
        reply = httpx.post(server.origin + path, json={}, headers=headers)
        assert reply.status_code == 404
        assert said in reply.text
