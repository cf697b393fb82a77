"""Formats at other endpoints: each body is judged by the book of its own format."""

import json

import pytest

from ellmer_conformance.contract import readers, rules
from ellmer_conformance.recordings.recorded_requests import Recording, Skip, request_of

INVOKE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/{}/invoke"
RUN = "https://api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.2-1b-instruct"
ASK = {"role": "user", "content": "What is 2 + 3?"}
CLAUDE = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 16, "messages": [ASK]}
HAIKU = INVOKE.format("us.anthropic.claude-haiku-4-5-20251001-v1%3A0")


def judged(url, body):
    return request_of(Recording("/0", "POST", url, body=json.dumps(body).encode(), status=200))


@pytest.mark.parametrize(
    ("url", "body", "wire", "provider", "model"),
    [
        (HAIKU, CLAUDE, "anthropic", "bedrock", "claude-haiku-4-5-20251001-v1:0"),
        (
            INVOKE.format("amazon.nova-lite-v1:0"),
            {"schemaVersion": "messages-v1", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
            "bedrock",
            "bedrock-invoke",
            "amazon.nova-lite-v1:0",
        ),
        (
            INVOKE.format("openai.gpt-oss-20b-1:0"),
            {"messages": [ASK]},
            "openai-chat",
            "bedrock-invoke",
            "openai.gpt-oss-20b-1:0",
        ),
        (RUN, {"messages": [ASK]}, "openai-chat", "cloudflare", "@cf/meta/llama-3.2-1b-instruct"),
    ],
)
def test_a_body_is_of_the_format_of_its_models_maker(url, body, wire, provider, model):
    request = judged(url, body)
    assert (request.wire, request.provider, request.model) == (wire, provider, model)
    assert not any(v.violations for v in rules.book(wire, provider).judge(request) if v.rule.refuses)


@pytest.mark.parametrize(
    ("url", "body", "reason"),
    [
        (
            INVOKE.format("meta.llama3-1-70b-instruct-v1:0"),
            {"prompt": "Hi"},
            "a bare prompt (bedrock-invoke)",
        ),
        (INVOKE.format("cohere.embed-v4:0"), {"texts": ["Hi"]}, "not a chat request"),
        (INVOKE.format("amazon.nova-lite-v1:0"), ["Hi"], "the body is not a JSON object"),
        (
            "http://localhost:11434/api/generate",
            {"prompt": "Hi"},
            "there are no rules for ollama-generate yet",
        ),
        ("https://example.com/v1/chat", {"message": "Hi"}, "there are no rules for cohere-v1 yet"),
    ],
)
def test_what_is_not_judged_is_named(url, body, reason):
    assert judged(url, body) == Skip(reason)


COHERE = "https://api.cohere.com/v1/chat"
INTERACTIONS = "https://generativelanguage.googleapis.com/v1beta/interactions"


def items(request):
    return [(each.kind, each.role, each.text or each.name) for each in readers.read(request)]


def test_version_1_of_cohere_has_a_book_of_its_own():
    history = [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "Hello!"}]
    tools = [{"type": "function", "function": {"name": "add"}}]
    request = judged(COHERE, {"preamble": "Be brief.", "chat_history": history, "message": "2 + 3?"})
    assert (request.wire, request.provider) == ("cohere", "cohere-v1")
    assert items(request) == [
        ("system", "system", "Be brief."),
        ("text", "user", "Hi"),
        ("text", "assistant", "Hello!"),
        ("text", "user", "2 + 3?"),
    ]
    book = rules.book("cohere", "cohere-v1")
    assert not any(v.violations for v in book.judge(request))
    (broken,) = [
        v.violations[0] for v in book.judge(judged(COHERE, {"message": "Hi", "tools": tools})) if v.violations
    ]
    status, _, answer = book.refuse(broken)
    said = json.loads(answer)["message"]
    assert (status, said) == (400, "invalid request: all elements in tools must have a name.")


def test_results_of_version_1_stand_beside_their_calls():
    call = {"name": "add", "parameters": {"x": 2}}
    history = [{"role": "CHATBOT", "message": "", "tool_calls": [call]}]
    more = {"chat_history": history, "tool_results": [{"call": call, "outputs": [{"sum": 5}]}]}
    assert [(each.kind, each.name) for each in readers.read(judged(COHERE, more))] == [
        ("call", "add"),
        ("result", "add"),
    ]


def test_interactions_are_read_step_by_step():
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "2 + 3?"}]},
        {"type": "thought", "signature": "c2ln"},
        {"type": "function_call", "id": "a", "name": "add", "arguments": {"x": 2}},
        {"type": "function_result", "call_id": "a", "name": "add", "result": {"sum": 5}},
        {"type": "model_output", "content": [{"type": "text", "text": "5"}]},
        {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo="},
    ]
    request = judged(INTERACTIONS, {"model": "gemini-3-pro", "system_instruction": "Add.", "input": steps})
    assert (request.wire, request.provider, request.model) == (
        "gemini",
        "gemini-interactions",
        "gemini-3-pro",
    )
    assert [each[:2] for each in items(request)] == [
        ("system", "system"),
        ("text", "user"),
        ("thinking", "assistant"),
        ("call", "assistant"),
        ("result", "tool"),
        ("text", "assistant"),
        ("image", "user"),
    ]
    assert items(judged(INTERACTIONS, {"input": "Hi"})) == [("text", "user", "Hi")]
    assert items(judged(INTERACTIONS, {"input": {"type": "text", "text": "Hi"}})) == [("text", "user", "Hi")]


def test_claude_behind_invoke_model_is_refused_in_anthropics_words():
    body = {**CLAUDE, "temperature": 0.5, "top_p": 0.5}
    request = judged(HAIKU, body)
    book = rules.book("anthropic", "bedrock")
    (broken,) = [v.violations[0] for v in book.judge(request) if v.rule.refuses and v.violations]
    status, headers, answer = book.refuse(broken)
    sentence = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    assert (status, json.loads(answer)) == (400, {"message": sentence})
    assert headers["x-amzn-errortype"].startswith("ValidationException:")
    unpaired = {
        **CLAUDE,
        "messages": [ASK, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}],
    }
    assert "PAIR-002" in {v.rule.id for v in book.judge(judged(HAIKU, unpaired)) if v.violations}
