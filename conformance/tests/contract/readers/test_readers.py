"""Readers and detection: the content of a request, its wire format and its provider."""

import json
from base64 import b64encode

import pytest

from ellmer_conformance.contract import readers
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.readers.json_access import decoded, linked, parsed

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
DATA = b64encode(PNG).decode()


@pytest.mark.parametrize(
    ("url", "wire", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai-chat", "openai"),
        (
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "openai-chat",
            "azure",
        ),
        ("https://api.groq.com/openai/v1/chat/completions", "openai-chat", "groq"),
        ("https://api.deepseek.com/chat/completions", "openai-chat", "deepseek"),
        ("https://openrouter.ai/api/v1/chat/completions", "openai-chat", "openrouter"),
        ("https://router.huggingface.co/v1/chat/completions", "openai-chat", "huggingface"),
        (
            "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
            "openai-chat",
            "qwen",
        ),
        ("http://localhost:11434/v1/chat/completions", "openai-chat", "ollama"),
        ("http://localhost:8000/v1/chat/completions", "openai-chat", "localhost"),
        ("https://api.openai.com/v1/responses", "openai-responses", "openai"),
        ("https://api.x.ai/v1/responses", "openai-responses", "xai"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/models/g:generateContent", "gemini", "google"),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse",
            "gemini",
            "google",
        ),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
            "gemini",
            "vertex",
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-pro-v1%3A0/converse",
            "bedrock",
            "bedrock",
        ),
        (
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-pro-v1:0/converse-stream",
            "bedrock",
            "bedrock",
        ),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/7:generateContent",
            "gemini",
            "vertex",
        ),
        (
            "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:streamRawPredict",
            "anthropic",
            "vertex",
        ),
        (
            "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/amazon.nova-pro-v1:0/converse",
            "bedrock",
            "bedrock",
        ),
        ("http://gpu.example.com/api/chat", "ollama", "ollama"),
        ("https://api.mistral.ai/v1/chat/completions", "mistral", "mistral"),
        ("https://api.cohere.com/v2/chat", "cohere", "cohere"),
        ("https://api.cohere.ai/v1/chat", "cohere-v1", "cohere"),
        ("https://api.minimax.io/v1/chat/completions", "openai-chat", "minimax"),
        ("https://api.minimaxi.com/anthropic/v1/messages", "anthropic", "minimax"),
        ("https://api.perplexity.ai/v1/agent", "openai-responses", "perplexity"),
        ("https://api.perplexity.ai/v1/sonar", "openai-chat", "perplexity"),
        ("https://integrate.api.nvidia.com/v1/chat/completions", "openai-chat", "nvidia"),
        ("https://api.individual.githubcopilot.com/responses", "openai-responses", "copilot"),
        ("https://acme.gcp.databricks.com/serving-endpoints/chat/completions", "openai-chat", "databricks"),
        ("http://127.0.0.1:9/c/one_tool/x1/v1/chat/completions", "openai-chat", "openai"),
        ("http://127.0.0.1:9/c/one_tool/x1/v1/messages", "anthropic", "anthropic"),
    ],
)
def test_a_url_tells_wire_and_provider(url, wire, provider):
    assert readers.detect(url, {}) == (wire, provider)


def test_on_the_strict_server_the_host_header_tells_the_provider():
    url = "http://127.0.0.1:9/c/one_tool/x1/chat/completions"
    assert readers.detect(url, {}, {"Host": "api.deepseek.com"}) == ("openai-chat", "deepseek")
    assert readers.detect(url, {}, {"Host": "api.mistral.ai"}) == ("mistral", "mistral")
    assert readers.request("POST", url, {}, b"{}", "mistral").wire == "mistral"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1/models",
        "https://api.openai.com/v1/embeddings",
        "https://api.anthropic.com/v1/messages/count_tokens",
        "https://api.anthropic.com/v1/messages/batches",
        "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
        "https://generativelanguage.googleapis.com/v1beta/models/g:countTokens",
        "http://localhost:1234/api/v1/chat",  # LM Studio's own
    ],
)
def test_what_is_no_chat_is_not_taken_for_one(url):
    assert readers.detect(url, {}) is None
    with pytest.raises(ValueError, match="not a chat endpoint"):
        readers.request("POST", url, {}, b"{}")


def test_a_request_knows_its_model_and_whether_it_streams():
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent"
    request = readers.request("POST", url, {}, b"{}")
    assert (request.model, request.stream, request.provider) == ("gemini-2.5-flash", True, "google")
    azure = "https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions"
    assert readers.request("POST", azure, {}, b"{}").model == "gpt-4o"
    assert (
        readers.request("POST", azure, {}, b'{"model": "x", "stream": true}', "elsewhere").provider
        == "elsewhere"
    )


def test_the_model_of_bedrock_is_in_the_url():
    host = "https://bedrock-runtime.us-east-1.amazonaws.com"
    request = readers.request("POST", f"{host}/model/us.amazon.nova-pro-v1%3A0/converse-stream", {}, b"{}")
    assert (request.model, request.stream) == ("us.amazon.nova-pro-v1:0", True)
    profile = "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-sonnet-5"
    request = readers.request("POST", f"{host}/model/{profile}/converse", {}, b"{}")
    assert request.model.endswith(":inference-profile/us.anthropic.claude-sonnet-5")
    assert not request.stream


def test_ollama_streams_unless_told_not_to():
    url = "http://localhost:11434/api/chat"
    assert readers.request("POST", url, {}, b"{}").stream
    assert not readers.request("POST", url, {}, b'{"stream": false}').stream


def test_a_body_that_is_no_object_is_an_error_with_a_sentence():
    with pytest.raises(ValueError, match="not an object"):
        readers.request("POST", "https://api.openai.com/v1/responses", {}, b"[]")


CHAT = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "5"}]},
    ]
}
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Look:"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"},
            ],
        },
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "a", "output": [{"type": "input_text", "text": "5"}]},
    ],
}
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "5"}]}
            ],
        },
    ],
}
GEMINI = {
    "system_instruction": {"parts": {"text": "Be brief."}},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "Look:"}, {"inline_data": {"mime_type": "image/png", "data": DATA}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True},
                {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}},
            ],
        },
        {
            "role": "user",
            "parts": [{"function_response": {"id": "a", "name": "f", "response": {"output": "5"}}}],
        },
    ],
}


BEDROCK = {
    "system": [{"text": "Be brief."}],
    "messages": [
        {
            "role": "user",
            "content": [{"text": "Look:"}, {"image": {"format": "png", "source": {"bytes": DATA}}}],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
                {"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1}}},
            ],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "5"}]}}]},
    ],
}
MISTRAL = {
    "messages": [
        *CHAT["messages"][:2],
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}],
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "5"},
    ]
}
COHERE = {
    "messages": [
        *CHAT["messages"][:2],
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm."}],
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "5"}]},
    ]
}
OLLAMA = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look:"},
        {"role": "user", "content": "", "images": [DATA]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm.",
            "tool_calls": [{"id": "a", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}}],
        },
        {"role": "tool", "tool_name": "f", "tool_call_id": "a", "content": "5"},
    ]
}


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai-chat", CHAT),
        ("openai-responses", RESPONSES),
        ("anthropic", ANTHROPIC),
        ("gemini", GEMINI),
        ("bedrock", BEDROCK),
        ("ollama", OLLAMA),
        ("mistral", MISTRAL),
        ("cohere", COHERE),
    ],
)
def test_every_format_says_the_same(wire, body):
    found = readers.read(Request(wire, "", body))
    kinds = [item.kind for item in found if item.within is None]
    assert kinds == ["system", "text", "image", "thinking", "call", "result"]
    system, text, image, thinking, call, result = (item for item in found if item.within is None)
    assert (system.text, text.text, thinking.text, result.text) == ("Be brief.", "Look:", "Hm.", "5")
    assert image.media.data == PNG
    assert image.media.type == (
        "image/*" if wire == "ollama" else "image/png"
    )  # it has no place for the type
    assert (call.id, call.name, call.arguments) == ("a", "f", {"x": 1})
    assert result.id == "a"
    assert [item.turn for item in found] == sorted(item.turn for item in found)
    for item in found:
        assert resolved(body, item.pointer) is not None, item.pointer


def resolved(value, pointer):
    for key in pointer.split("/")[1:]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], ["x"], [[]], [{}], {"x": []}])
def test_a_reader_never_raises(wire, odd):
    bodies = [CHAT, RESPONSES, ANTHROPIC, GEMINI]
    for body in bodies:
        for path in paths(body):
            readers.read(Request(wire, "", changed(body, path, odd)))


def paths(value, path=()):
    yield path
    for key, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(inner, (*path, key))


def changed(body, path, odd):
    if not path:
        return odd if isinstance(odd, dict) else {}
    body = json.loads(json.dumps(body))
    place = body
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = odd
    return body


@pytest.mark.parametrize("text", ["aGk", "aGk=", "aG k=\n", "_-8", "/+8="])
def test_base64_of_either_alphabet_decodes(text):
    assert decoded(text) is not None


def test_what_is_no_base64_is_not_taken_for_empty():
    media = linked("data:image/png;base64,!!")
    assert (media.data, media.url) == (b"", "!!")


@pytest.mark.parametrize(
    ("text", "value"),
    [("", {}), (None, {}), ('{"x": 1}', {"x": 1}), ('{"x": ', '{"x": '), ({"x": 1}, {"x": 1})],
)
def test_arguments_are_parsed_where_they_are_json(text, value):
    assert parsed(text) == value
