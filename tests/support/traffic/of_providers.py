"""Every recorded real answer of the other wire formats and of providers with their own wire.

Each has its wire, its bytes, its turn, and whether it is an error.
"""

import json
from base64 import b64decode

from traffic.recorded import interactions

from ellmer_core.providers.aws_bedrock import AWSBedrock
from ellmer_core.providers.azure_openai import AzureOpenAI
from ellmer_core.providers.cloudflare import Cloudflare
from ellmer_core.providers.cohere import Cohere
from ellmer_core.providers.deepseek import DeepSeek
from ellmer_core.providers.google_vertex import GoogleVertex
from ellmer_core.providers.groq import Groq
from ellmer_core.providers.huggingface import HuggingFace
from ellmer_core.providers.mistral import Mistral
from ellmer_core.providers.ollama import Ollama
from ellmer_core.providers.openai_compatible import OpenAICompatible
from ellmer_core.providers.openrouter import OpenRouter
from ellmer_core.providers.qwen import Qwen
from ellmer_core.providers.together import Together
from ellmer_core.providers.vllm import VLLM
from ellmer_core.providers.xai import XAI
from ellmer_core.providers.zai import ZAI
from ellmer_core.wire.framing import decoder

NATIVE = {"bedrock-converse": AWSBedrock, "ollama": Ollama, "cohere-v2": Cohere}
CHAT = {
    "mistral": Mistral,
    "groq": Groq,
    "azure": AzureOpenAI,
    "openrouter": OpenRouter,
    "xai": XAI,
    "huggingface": HuggingFace,
    "deepseek": DeepSeek,
    "cloudflare": Cloudflare,
    "dashscope-us.aliyuncs.com": Qwen,
    "api.z.ai": ZAI,
    "together": Together,
    "perplexity": OpenAICompatible,  # recordings of its former Chat Completions
    "localhost": VLLM,
}
FRAMING = {"bedrock-converse": "aws_event_stream", "ollama": "ndjson"}


def wire_of(interaction):
    """Returns the wire of the answering provider, or `None` if another test has it."""
    protocol, provider = interaction["protocol"], interaction["provider"]
    if protocol == "openai-chat":
        kind = CHAT.get(provider)
    else:
        kind = GoogleVertex if (protocol, provider) == ("gemini", "vertex") else NATIVE.get(protocol)
    model = (interaction["request"].get("body") or {}).get("model") or interaction["request"]["url"]
    return kind and kind(model=model)


RECORDED = [case for case in interactions() if wire_of(case[1])]
ANSWERS = [(name, this) for name, this, _ in RECORDED if this["response"]["status"] < 300]
REFUSALS = [(name, this) for name, this, _ in RECORDED if this["response"]["status"] >= 300]


def stream_of(interaction):
    """Returns the bytes of a streamed answer, or `None` for another."""
    response = interaction["response"]
    if "body_base64" in response:
        return b64decode(response["body_base64"])
    if isinstance(response.get("body"), list):  # Gemini's stream without `alt=sse`
        return json.dumps(response["body"]).encode()
    return response["text"].encode() if "text" in response else None


def decoded(interaction, size):
    body, cutter = stream_of(interaction), decoder(FRAMING.get(interaction["protocol"], "sse"))
    events = [event for at in range(0, len(body), size) for event in cutter.feed(body[at : at + size])]
    return [*events, *cutter.flush()]


def answered(interaction):
    """Returns the turn, and the contents that were shown."""
    wire = wire_of(interaction)
    if stream_of(interaction) is None:
        return wire.turn(interaction["response"]["body"]), None
    merger, shown = wire.merger(), []
    for event in decoded(interaction, 10_000_000):
        shown += merger.add(event)
    assert merger.complete
    return wire.turn(merger.response()), shown


def naive_sse(body):
    lines = [line[5:].strip() for line in body.decode().split("\n") if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def is_error(interaction):
    body = interaction["response"].get("body")
    events = body if isinstance(body, list) else [body] if body else []
    if "text" in interaction["response"]:
        events = naive_sse(stream_of(interaction))
    choices = [choice for event in events for choice in event.get("choices", [])]
    ends = [event["delta"] for event in events if event.get("type") == "message-end"]
    return any("error" in place and place["error"] for place in [*events, *choices, *ends])
