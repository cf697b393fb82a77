"""Bedrock's families of models, and the calls, results and answers that its tests send them."""

from ellmer_core.contents.content import ContentImageInline, ContentPDF, ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantTurn
from ellmer_core.wire.bedrock.to_wire import Bedrock

CLAUDE = Bedrock(model="us.anthropic.claude-sonnet-4-5-20250929-v1:0")
NOVA = Bedrock(model="us.amazon.nova-2-lite-v1:0")
LLAMA = Bedrock(model="us.meta.llama4-maverick-17b-instruct-v1:0")
MISTRAL = Bedrock(model="mistral.mistral-large-2407-v1:0")
QWEN = Bedrock(model="qwen.qwen3-vl-235b-a22b-instruct-v1:0")
WRITER = Bedrock(model="writer.palmyra-x5-v1:0")

PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
PDF = ContentPDF("application/pdf", "JVBERi0=", "Q3 report (final).pdf")
ONE, TWO = ContentToolRequest("call_1", "draw", {"n": 1}), ContentToolRequest("call_2", "look", {})
CALLED = AssistantTurn([ONE, TWO])


def result(value=None, request=ONE, error=None):
    return ContentToolResult(value, error=error, request=request)


def answer(*blocks, stop="end_turn", **rest):
    message = {"role": "assistant", "content": list(blocks)}
    return {"output": {"message": message}, "stopReason": stop, **rest}
