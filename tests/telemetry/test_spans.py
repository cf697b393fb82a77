"""Spans for a backend: the SDK's own exporter writes into memory."""

import asyncio
import json
import subprocess
import sys

import jsonschema
import pytest

import ellmer_core
from ellmer_core import chat_openai_completions, tool_reject
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentJson,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
    ContentUploaded,
)
from ellmer_core.contents.turns import AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation import retries
from ellmer_core.errors import AuthenticationError, IncompleteResponseError

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ellmer_core.telemetry import gen_ai_attributes

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
KEY = "sk-secret-0123456789"
#: The shapes of the conventions' gen-ai-input-messages.json, in short.
PARTS = {
    "text": {"content": {"type": "string"}},
    "reasoning": {"content": {"type": "string"}},
    "tool_call": {"id": {"type": "string"}, "name": {"type": "string"}, "arguments": {"type": "object"}},
    "tool_call_response": {"id": {"type": "string"}, "response": {}},
    "blob": {"modality": {"type": "string"}, "mime_type": {"type": "string"}, "content": {"type": "string"}},
    "uri": {"modality": {"type": "string"}, "uri": {"type": "string"}},
    "file": {"modality": {"type": "string"}, "mime_type": {"type": "string"}, "file_id": {"type": "string"}},
}
MESSAGES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["role", "parts"],
        "properties": {
            "role": {"enum": ["user", "assistant", "tool"]},
            "parts": {
                "type": "array",
                "items": {
                    "anyOf": [
                        {
                            "type": "object",
                            "properties": {"type": {"const": name}, **fields},
                            "required": ["type", *fields],
                            "additionalProperties": False,
                        }
                        for name, fields in PARTS.items()
                    ]
                },
            },
        },
    },
}


@pytest.fixture
def spans(monkeypatch):
    """Returns the exported spans, the oldest start first."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.delenv(CAPTURE, raising=False)
    return lambda: sorted(exporter.get_finished_spans(), key=lambda span: span.start_time)


@pytest.fixture
def chat(server):
    chat = chat_openai_completions(
        "Be brief.",
        model="gpt-4.1",
        api_key=KEY,
        base_url=server.url,
        echo="none",
        params={"temperature": 0.5},
    )
    chat.register_tool(add)
    chat.register_tool(fail)
    return chat


def add(x: int, y: int) -> int:
    """Adds."""
    with trace.get_tracer("user").start_as_current_span("inside"):
        return x + y


def fail():
    raise ValueError(f"the message has {KEY} in it")


def call(id, name="add", arguments='{"x": 2, "y": 3}'):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def whole(content=None, *calls, finish="stop"):
    message = {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {})
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
    body = {"id": "chatcmpl-1", "model": "gpt-4.1-2025", "usage": usage}
    return json.dumps({**body, "choices": [{"message": message, "finish_reason": finish}]}).encode()


def tree(spans):
    """Returns the names of spans below those of their parents."""
    names = {span.context.span_id: span.name for span in spans}
    return [(names.get(span.parent.span_id) if span.parent else None, span.name) for span in spans]


def talk(chat, how):
    match how:
        case "chat":
            return chat.chat("Go")
        case "chat_async":
            return asyncio.run(chat.chat_async("Go"))


@pytest.mark.parametrize("how", ["chat", "chat_async"])
def test_a_chat_with_tools(server, reply, chat, spans, how):
    two = whole(None, call("c1"), call("c2"), finish="tool_calls")
    server.answers(reply([two]), reply([whole("Five.")]))
    assert talk(chat, how) == "Five."
    root, first, *tools, last = spans()

    assert tree(spans()) in (
        [
            (None, "invoke_agent"),
            ("invoke_agent", "chat gpt-4.1"),
            *[("invoke_agent", "execute_tool add"), ("execute_tool add", "inside")] * 2,
            ("invoke_agent", "chat gpt-4.1"),
        ],
        [  # both at once
            (None, "invoke_agent"),
            ("invoke_agent", "chat gpt-4.1"),
            *[("invoke_agent", "execute_tool add")] * 2,
            *[("execute_tool add", "inside")] * 2,
            ("invoke_agent", "chat gpt-4.1"),
        ],
    )
    assert dict(first.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.output.type": "text",
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "gpt-4.1-2025",
        "gen_ai.response.finish_reasons": ("tool_call",),
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read.input_tokens": 3,
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rpartition(":")[2]),
    }
    assert (first.kind, root.kind) == (trace.SpanKind.CLIENT, trace.SpanKind.INTERNAL)
    assert last.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert dict(tools[0].attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "add",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Adds.",
    }


def test_what_is_said_is_there_only_if_asked_for(server, reply, chat, spans, monkeypatch):
    monkeypatch.setenv(CAPTURE, "true")
    server.answers(reply([whole(None, call("c1"), finish="tool_calls")]), reply([whole("Five.")]))
    chat.chat("Go", ContentImageInline("image/png", "iVBORw0KGgo="))
    _, _, ran, _, last = spans()
    said = {name: json.loads(value) for name, value in last.attributes.items() if str(value).startswith("[")}

    jsonschema.validate(said["gen_ai.input.messages"], MESSAGES)
    assert [message["role"] for message in said["gen_ai.input.messages"]] == ["user", "assistant", "tool"]
    assert said["gen_ai.input.messages"][2]["parts"] == [
        {"type": "tool_call_response", "id": "c1", "response": "5"}
    ]
    assert said["gen_ai.output.messages"] == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Five."}], "finish_reason": "stop"}
    ]
    assert said["gen_ai.system_instructions"] == [{"type": "text", "content": "Be brief."}]
    assert said["gen_ai.tool.definitions"][0]["parameters"]["required"] == ["x", "y"]
    assert ran.attributes["gen_ai.tool.call.arguments"] == '{"x":2,"y":3}'
    assert ran.attributes["gen_ai.tool.call.result"] == "5"


def test_what_is_said_is_in_no_span_and_no_log_if_it_is_not_asked_for(server, reply, chat, spans, caplog):
    caplog.set_level(0)
    secret = "canary-4711"
    refusal = json.dumps({"error": {"message": secret}}).encode()
    calls = call("c1", arguments=json.dumps({"x": secret, "y": 3})), call("c2", "fail", "{}")
    calls += (call("c3", secret, "{}"),)  # no tool has this name, which is the model's text
    server.answers(
        reply([whole(secret, *calls, finish="tool_calls")]),
        reply([whole(secret)]),
        reply([refusal], status=400),
    )
    chat.chat(secret, ContentImageInline("image/png", "iVBORw0KGgo="))
    with pytest.raises(ellmer_core.BadRequestError):
        chat.chat(secret)
    told = "".join(span.to_json() for span in spans())
    told += "".join(record.getMessage() for record in caplog.records if record.name.startswith("ellmer"))

    assert secret not in told
    assert "iVBORw0KGgo=" not in told
    assert KEY not in told


def test_what_a_provider_calls_things_is_short_in_spans(server, reply, chat, spans):
    long = "x" * 100_000
    asked = json.loads(whole(None, call(long), finish="tool_calls"))
    told = json.loads(whole("Five."))
    server.answers(
        reply([json.dumps({**asked, "id": long, "model": {"a": long}}).encode()]),
        reply([json.dumps({**told, "id": long, "model": long}).encode()]),
    )
    chat.chat("Go")

    kept = [value for span in spans() for value in [span.name, *span.attributes.values()]]
    assert max(len(str(value)) for value in kept) < 300


def test_every_content_has_a_part():
    request = ContentToolRequest("c", "draw", {"x": 1})
    said = [
        *(ContentThinking("Hm"), ContentText("Hi"), ContentJson({"x": 1}), request),
        ContentImageRemote("https://example.com/a.png"),
    ]
    asked = [
        ContentToolResult([1, ContentPDF("application/pdf", "JVBERi0=")], request=request),
        ContentUploaded("file-1", "image/png", "openai-chat"),
    ]
    system, messages = gen_ai_attributes.conversation([SystemTurn("S"), AssistantTurn(said), UserTurn(asked)])

    jsonschema.validate(messages, MESSAGES)
    assert system == [{"type": "text", "content": "S"}]
    kinds = [(message["role"], [part["type"] for part in message["parts"]]) for message in messages]
    assert kinds == [
        ("assistant", ["reasoning", "text", "text", "tool_call", "uri"]),
        ("tool", ["tool_call_response"]),
        ("user", ["text", "blob", "text", "file"]),
    ]
    unknown = AssistantTurn([ContentUnknown("w", {"type": "new", "x": 1})], finish_reason="max_tokens")
    [message] = gen_ai_attributes.output(unknown)
    assert message == {"role": "assistant", "parts": [{"type": "new", "x": 1}], "finish_reason": "length"}


def test_a_stream(server, reply, chat, spans):
    events = [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    chunks = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    server.answers(reply([*chunks, b"data: [DONE]\n\n"], headers={"content-type": "text/event-stream"}))
    for _ in chat.stream("Go"):
        assert not trace.get_current_span().is_recording()  # a stream does not leak its span
    _, call = spans()

    assert call.attributes["gen_ai.request.stream"] is True
    assert call.attributes["gen_ai.response.time_to_first_chunk"] > 0
    assert call.attributes["gen_ai.response.finish_reasons"] == ("stop",)


def test_an_abandoned_stream(server, reply, chat, spans):
    event = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}]})
    chunks = [f"data: {event}\n\n".encode(), lambda server: server.until_left()]
    server.answers(reply(chunks, headers={"content-type": "text/event-stream"}))
    stream = chat.stream("Go")
    next(stream)
    stream.close()

    assert [(span.name, span.attributes.get("error.type")) for span in spans()] == [
        ("invoke_agent", "GeneratorExit"),
        ("chat gpt-4.1", "GeneratorExit"),
    ]


def test_an_error_of_the_provider(server, reply, chat, spans):
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    server.answers(reply([body], status=401))
    with pytest.raises(AuthenticationError):
        chat.chat("Go")
    root, call = spans()

    assert root.attributes["error.type"] == call.attributes["error.type"] == "AuthenticationError"
    assert call.attributes["http.response.status_code"] == 401
    assert call.status.status_code is trace.StatusCode.ERROR
    assert KEY not in "".join(span.to_json() for span in (root, call))


def test_tries_are_one_span(server, reply, chat, spans, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.001)
    server.answers(reply([b"{}"], status=500), reply([whole("Hi")]))
    chat.chat("Go")

    assert [span.name for span in spans()] == ["invoke_agent", "chat gpt-4.1"]
    assert "error.type" not in spans()[1].attributes


def test_tools_that_fail_and_tools_that_do_not_run(server, reply, chat, spans, monkeypatch):
    monkeypatch.setenv(CAPTURE, "true")
    chat.on_tool_request(lambda request: tool_reject() if request.name == "add" else None)
    calls = call("c1"), call("c2", "fail", "{}"), call("c3", "nobody", "{}")
    server.answers(reply([whole(None, *calls, finish="tool_calls")]), reply([whole("Well.")]))
    chat.chat("Go")
    ran = [span for span in spans() if span.name.startswith("execute_tool")]

    assert [(span.name, span.attributes["error.type"]) for span in ran] == [
        ("execute_tool fail", "ValueError"),
        ("execute_tool nobody", "tool_error"),
    ]


def test_structured_data_cut_short(server, reply, chat, spans):
    server.answers(reply([whole('{"x"', finish="length")]))
    with pytest.raises(IncompleteResponseError):
        chat.chat_structured("Go", type=dict[str, int])
    _, call = spans()

    assert call.attributes["gen_ai.output.type"] == "json"
    assert call.attributes["error.type"] == "IncompleteResponseError"


def test_the_spans_around_are_parents(server, reply, chat, spans):
    server.answers(reply([whole("Hi")]))
    with trace.get_tracer("user").start_as_current_span("mine"):
        chat.chat("Go")

    assert tree(spans())[:2] == [(None, "mine"), ("mine", "invoke_agent")]


@pytest.mark.parametrize("name", ["AWS/Bedrock", "Google/Gemini", "DeepSeek", "Together AI"])
def test_providers_have_the_names_of_the_conventions(name):
    class Provider(ellmer_core.chat_openai(api_key="k").wire.__class__):
        provider = name

    expected = {"AWS/Bedrock": "aws.bedrock", "Google/Gemini": "gcp.gemini", "DeepSeek": "deepseek"}
    assert gen_ai_attributes.of_request(Provider(model="m"))["gen_ai.provider.name"] == expected.get(
        name, "together_ai"
    )


def test_who_does_not_ask_for_spans_does_not_pay():
    code = """
import sys, ellmer_core
from ellmer_core.telemetry.spans import tracer
assert tracer() is None
chat = ellmer_core.chat_openai(api_key="k", model="m")
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
import opentelemetry.trace
assert tracer() is None, "no provider is set up"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
