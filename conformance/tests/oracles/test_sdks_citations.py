"""Citations, provider-run searches and other requested parts, in the SDKs' typed objects."""

import anthropic
import boto3
import cohere
import httpx
import httpx2
import openai
import pytest
from botocore.config import Config
from google import genai
from google.genai import types
from sdks.replies import serving

from ellmer_conformance.scenarios.messages import Source
from ellmer_conformance.scenarios.script import Answer, Say, Search, Usage

PAGE = Source("https://example.com/oslo", "Oslo", "Rain all day.", "It rains in Oslo")
CITED = Answer(
    (
        Search("weather Oslo", (PAGE, Source("https://example.com/bergen", "Bergen"))),
        Say("Ja: It rains in Oslo.", sources=(PAGE,)),
    ),
    usage=Usage(40, 20),
)
HELLO = [{"role": "user", "content": "Weather in Oslo?"}]
START, END = 4, 20


@pytest.fixture(scope="module")
def server():
    with serving(
        {"cited": CITED, "plain": Answer((Say("Hello."),)), "blocked": Answer((), stop="filter")}
    ) as server:
        yield server


@pytest.fixture
def url(server):
    return lambda case: server.url(case, next(server.nonces))


def openai_client(url):
    return openai.OpenAI(
        base_url=f"{url}/v1", api_key="key", max_retries=0, http_client=httpx2.Client(verify=False)
    )


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic(url, stream):
    with anthropic.Anthropic(
        base_url=url("cited"), api_key="key", max_retries=0, http_client=httpx2.Client(verify=False)
    ) as client:
        tools = [{"type": "web_search_20250305", "name": "web_search"}]
        body = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": HELLO, "tools": tools}
        if stream:
            with client.messages.stream(**body) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**body)
    call, result, text = message.content
    assert (call.type, call.name, call.input) == ("server_tool_use", "web_search", {"query": "weather Oslo"})
    assert result.tool_use_id == call.id
    assert [page.url for page in result.content] == [PAGE.url, "https://example.com/bergen"]
    (citation,) = text.citations
    assert (citation.type, citation.url, citation.cited_text) == (
        "web_search_result_location",
        PAGE.url,
        PAGE.quote,
    )
    assert message.usage.server_tool_use.web_search_requests == 1


@pytest.mark.parametrize("stream", [False, True])
def test_openai_responses(url, stream):
    include = ["message.output_text.logprobs", "web_search_call.action.sources"]
    body = {"model": "gpt-4.1", "input": HELLO, "tools": [{"type": "web_search"}], "include": include}
    seen = []
    with openai_client(url("cited")) as client:
        if stream:
            with client.responses.stream(**body) as events:
                seen = [event.type for event in events]
                reply = events.get_final_response()
        else:
            reply = client.responses.create(**body)
    search, message = reply.output
    assert (search.type, search.status, search.action.query) == (
        "web_search_call",
        "completed",
        "weather Oslo",
    )
    assert search.action.sources[0].url == PAGE.url
    text = message.content[0]
    (cited,) = text.annotations
    assert (cited.type, cited.url, cited.start_index, cited.end_index) == (
        "url_citation",
        PAGE.url,
        START,
        END,
    )
    assert "".join(one.token for one in text.logprobs) == CITED.text
    assert reply.model_dump()["tool_usage"]["web_search"] == {"num_requests": 1}
    if stream:
        assert [name for name in seen if "search" in name or "annotation" in name] == [
            "response.web_search_call.in_progress",
            "response.web_search_call.searching",
            "response.web_search_call.completed",
            "response.output_text.annotation.added",
        ]


@pytest.mark.parametrize("stream", [False, True])
def test_openai_chat(url, stream):
    body = {"model": "gpt-4.1", "messages": HELLO, "n": 2, "logprobs": True, "service_tier": "priority"}
    with openai_client(url("cited")) as client:
        if stream:
            with client.chat.completions.stream(**body) as events:
                reply = events.get_final_completion()
        else:
            reply = client.chat.completions.create(**body)
    assert len(reply.choices) == 2
    assert reply.service_tier == "priority"
    for choice in reply.choices:
        cited = choice.message.model_dump()["annotations"][0]["url_citation"]
        assert (cited["url"], cited["start_index"], cited["end_index"]) == (PAGE.url, START, END)
        assert "".join(one.token for one in choice.logprobs.content) == CITED.text


@pytest.mark.parametrize("stream", [False, True])
def test_gemini(url, stream):
    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url("cited")))
    config = types.GenerateContentConfig(
        tools=[types.Tool(google_search=types.GoogleSearch())], candidate_count=2
    )
    asked = {"model": "gemini-2.5-flash", "contents": "Weather in Oslo?", "config": config}
    if stream:
        reply = list(client.models.generate_content_stream(**asked))[-1]
    else:
        reply = client.models.generate_content(**asked)
    assert len(reply.candidates) == 2
    found = reply.candidates[0].grounding_metadata
    assert found.web_search_queries == ["weather Oslo"]
    assert [chunk.web.uri for chunk in found.grounding_chunks] == [PAGE.url]
    (support,) = found.grounding_supports
    assert (support.segment.start_index, support.segment.end_index) == (START, END)
    assert (support.segment.text, support.grounding_chunk_indices) == (PAGE.cited, [0])


def test_gemini_blocks_a_prompt(url):
    client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=url("blocked")))
    reply = client.models.generate_content(model="gemini-2.5-flash", contents="Hi")
    assert not reply.candidates
    assert reply.prompt_feedback.block_reason == types.BlockedReason.PROHIBITED_CONTENT


def test_cohere(url):
    with httpx.Client(verify=False) as http:
        client = cohere.ClientV2(api_key="key", base_url=url("cited"), httpx_client=http)
        reply = client.chat(model="command-a-03-2025", messages=HELLO)
        events = list(client.chat_stream(model="command-a-03-2025", messages=HELLO))
    (cited,) = reply.message.citations
    assert (cited.start, cited.end, cited.text) == (START, END, PAGE.cited)
    assert cited.sources[0].document["url"] == PAGE.url
    started = next(event for event in events if event.type == "citation-start")
    assert started.delta.message.citations.text == PAGE.cited
    assert any(event.type == "citation-end" for event in events)


@pytest.mark.parametrize("stream", [False, True])
def test_bedrock(url, stream):
    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url("cited"),
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="secret",
        config=Config(retries={"total_max_attempts": 1}),
    )
    body = {
        "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "messages": [{"role": "user", "content": [{"text": "Weather in Oslo?"}]}],
        "guardrailConfig": {"guardrailIdentifier": "g1", "guardrailVersion": "1", "trace": "enabled"},
    }
    if stream:
        events = list(client.converse_stream(**body)["stream"])
        deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
        cited = next(delta["citation"] for delta in deltas if "citation" in delta)
        trace = next(event["metadata"]["trace"] for event in events if "metadata" in event)
    else:
        reply = client.converse(**body)
        (block,) = reply["output"]["message"]["content"]
        assert block["citationsContent"]["content"] == [{"text": CITED.text}]
        cited, trace = block["citationsContent"]["citations"][0], reply["trace"]
    assert cited["location"]["web"] == {"url": PAGE.url, "domain": "example.com"}
    assert cited["sourceContent"] == [{"text": PAGE.quote}]
    assert list(trace["guardrail"]["inputAssessment"]) == ["g1"]


def test_nothing_is_added_where_nothing_is_cited(url):
    with openai_client(url("plain")) as client:
        reply = client.chat.completions.create(model="gpt-4.1", messages=HELLO)
        response = client.responses.create(model="gpt-4.1", input=HELLO)
    assert reply.choices[0].message.annotations == []
    assert (len(reply.choices), reply.choices[0].logprobs, reply.service_tier) == (1, None, "default")
    assert [item.type for item in response.output] == ["message"]
