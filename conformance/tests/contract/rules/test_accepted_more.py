"""Unusual requests that Bedrock, Ollama, Mistral and Cohere accept: no rule may refuse them."""

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules._media import PNG
from ellmer_conformance.contract.rules.bedrock import _refusals_and_examples as be
from ellmer_conformance.contract.rules.cohere import _refusals_and_examples as co
from ellmer_conformance.contract.rules.mistral import _refusals_and_examples as mi
from ellmer_conformance.contract.rules.ollama import _refusals_and_examples as ol

SYSTEM = {"role": "system", "content": "Be brief."}
CACHE = {"cachePoint": {"type": "default"}}
TXT = {"document": {"format": "txt", "name": "Document 1", "source": {"bytes": "eA=="}}}
STORED = {
    "document": {"format": "pdf", "name": "report", "source": {"s3Location": {"uri": "s3://bucket/a.pdf"}}}
}
OSS = "openai.gpt-oss-20b-1:0"
UNSIGNED = {"reasoningContent": {"reasoningText": {"text": "I need the tool."}}}
SERVED = (
    {"toolUse": {"toolUseId": "s", "name": "nova_code_interpreter", "input": {}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "s", "content": [{"json": {"stdOut": "5"}}], "status": "success"}},
)

BEDROCK = {
    "users in a row": be.body(be.ASK, be.ASK, model=be.NOVA_LITE),
    "users in a row, before tools were": be.body(be.ASK, be.ASK, model="amazon.titan-text-express-v1"),
    "the assistant first": be.body(be.assistant("Hello!"), be.ASK),
    "the assistant first, in Qwen": be.body(be.assistant("Hello!"), be.ASK, model="qwen.qwen3-32b-v1:0"),
    "the assistant last": be.body(be.ASK, be.assistant("The sum is"), model=be.NOVA_LITE),
    "results in another order": be.loop(be.result("b"), be.result("a"), calls=("a", "b")),
    "text before results": be.loop("Here you are:", be.result("a"), model=be.NOVA_LITE),
    "a document beside a result": be.loop(be.result("a"), "What is in it?", TXT, model=be.NOVA_LITE),
    "a document in a result, alone": be.loop(be.result("a", be.PDF)),
    "a stored document in a result": be.loop(be.result("a", STORED)),
    "an image in a result": be.loop(be.result("a", be.IMAGE), model=be.MAVERICK),
    "JSON in a result": be.loop(be.result("a", {"json": {"sum": 5}}), model=be.NOVA_LITE),
    "a result without status": be.loop(be.result("a")),
    "an error": be.loop(be.result("a", {"text": "It failed."}, status="error")),
    "a system message in the middle": be.body(
        be.ASK, {"role": "system", "content": [{"text": "Be brief."}]}, be.ASK
    ),
    "no system prompt": be.body(be.ASK, system=[], inferenceConfig={}),
    "a cache": be.body(be.user("Hi", CACHE), toolConfig={"tools": [be.TOOL, CACHE]}),
    "a cache between results": be.loop(be.result("a"), CACHE, be.result("b"), calls=("a", "b")),
    "thoughts that nobody signs": be.body(
        be.ASK, be.assistant(UNSIGNED, be.use("a")), be.user(be.result("a")), toolConfig=be.TOOLS, model=OSS
    ),
    "hidden thoughts": be.body(
        be.ASK, be.assistant({"reasoningContent": {"redactedContent": "eA=="}}, "5"), be.ASK
    ),
    "a tool of the service": be.body(
        be.ASK,
        be.assistant(*SERVED, "5"),
        be.ASK,
        toolConfig={"tools": [{"systemTool": {"name": "nova_code_interpreter"}}]},
        model=be.NOVA_LITE,
    ),
    "a forced tool": be.body(be.ASK, toolConfig={**be.TOOLS, "toolChoice": {"any": {}}}, model=be.NOVA_LITE),
    "a tool without properties": be.body(
        be.ASK, toolConfig=be.spec(inputSchema={"json": {"type": "object"}})
    ),
    "bounds in a tool that is not strict": be.body(
        be.ASK,
        toolConfig=be.spec(
            inputSchema={
                "json": {"type": "object", "properties": {"x": {"type": "integer", "multipleOf": 5}}}
            }
        ),
    ),
    "a blank before a call": be.body(
        be.ASK, be.assistant("\n\n", be.use("a")), be.user(be.result("a")), toolConfig=be.TOOLS
    ),
    "a cache point behind the answer to a thought": be.body(
        be.ASK, be.assistant(be.THOUGHT, "5", CACHE), be.ASK
    ),
    "a stop sequence and a system prompt": be.body(
        be.ASK, system=[{"text": "Be brief."}], inferenceConfig={"stopSequences": ["END"]}, model=be.NOVA_LITE
    ),
    "a model behind a profile": be.body(
        be.assistant("Hello!"),
        be.ASK,
        model="arn:aws:bedrock:us-east-1:1:application-inference-profile/x1",
    ),
}
OLLAMA = {
    "a result without a call": ol.body(ol.ASK, ol.result("zzz"), ol.ASK),
    "a result of another call": ol.body(ol.ASK, ol.call("a"), ol.result("b")),
    "two results of one call": ol.body(ol.ASK, ol.call("a"), ol.result("a"), ol.result("a")),
    "a call without a result": ol.body(ol.ASK, ol.call("a"), ol.ASK),
    "no ids": ol.body(
        ol.ASK,
        {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": {}}}]},
        {"role": "tool", "content": "5", "tool_name": "add"},
    ),
    "the user behind a result": ol.body(ol.ASK, ol.call("a"), ol.result("a"), ol.ASK),
    "an image of a tool": ol.body(ol.ASK, ol.call("a"), ol.result("a", images=[PNG])),
    "an empty list of calls": ol.body(
        ol.ASK, {"role": "assistant", "content": "5", "tool_calls": []}, ol.ASK
    ),
    "an image alone": ol.body({"role": "user", "images": [PNG]}),
    "nothing": ol.body(),
    "no tools": ol.body(ol.ASK, tools=[], model="gemma3:1b"),
    "fields of others": ol.body(ol.ASK, temperature=0.0),
}
MISTRAL = {
    "the user behind a result": mi.body(mi.ASK, mi.call(mi.A), mi.result(mi.A), mi.ASK),
    "text beside calls": mi.body(mi.ASK, mi.call(mi.A, content="I add."), mi.result(mi.A)),
    "an empty list beside calls": mi.body(mi.ASK, mi.call(mi.A, content=[], prefix=False), mi.result(mi.A)),
    "null beside calls": mi.body(mi.ASK, mi.call(mi.A, content=None), mi.result(mi.A)),
    "results in another order": mi.body(mi.ASK, mi.call(mi.A, mi.B), mi.result(mi.B), mi.result(mi.A)),
    "users in a row": mi.body(mi.ASK, mi.ASK),
    "the assistant first": mi.body(mi.says("Hello!"), mi.ASK),
    "a system message behind the user's": mi.body(mi.ASK, SYSTEM),
    "an id of another provider": mi.body(mi.ASK, mi.call("call_1"), mi.result("call_1")),
    "a PDF": mi.body(mi.user({"type": "document_url", "document_url": "https://example.com/a.pdf"})),
    "an image as an object": mi.body(
        mi.user({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}})
    ),
    "a thought": mi.body(mi.ASK, mi.says([mi.THOUGHT, {"type": "text", "text": "5"}]), mi.ASK),
    "a tool without a schema": mi.body(
        mi.ASK, tools=[{"type": "function", "function": {"name": "now", "parameters": {}}}], tool_choice="any"
    ),
    "its own parameters": mi.body(mi.ASK, n=1, top_p=1.0, safe_prompt=False, random_seed=1),
}
COHERE = {
    "null beside calls": co.body(co.ASK, {**co.call("a"), "content": None}, co.result("a")),
    "an empty list beside calls": co.body(
        co.ASK, {**co.call("a"), "content": [], "tool_plan": None, "citations": []}, co.result("a")
    ),
    "documents as a result": co.body(
        co.ASK, co.call("a"), co.result("a", [{"type": "document", "document": {"data": {"sum": "5"}}}])
    ),
    "a text as the data of a document": co.body(
        co.ASK, co.call("a"), co.result("a", [{"type": "document", "document": {"data": "5"}}])
    ),
    "calls without tools": co.body(co.ASK, co.call("a"), co.result("a")),
    "no documents": co.body(co.ASK, documents=[]),
    "a document to answer from": co.body(co.ASK, documents=[{"id": "doc-0", "data": {"text": "5"}}]),
    "an image for a model that sees": co.body(co.user(co.IMAGE), model="command-a-vision-07-2025"),
    "a format without a schema": co.body(co.ASK, response_format={"type": "json_object"}),
}
CASES = [
    (wire, name, body)
    for wire, bodies in (("bedrock", BEDROCK), ("ollama", OLLAMA), ("mistral", MISTRAL), ("cohere", COHERE))
    for name, body in bodies.items()
]


@pytest.mark.parametrize(
    ("wire", "body"), [(w, b) for w, _, b in CASES], ids=[f"{w}: {n}" for w, n, _ in CASES]
)
def test_it_is_accepted(wire, body):
    book = rules.book(wire)
    assert objection(book.judge(book.request(body))) is None
