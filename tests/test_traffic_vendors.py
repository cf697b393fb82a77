"""Every recorded real answer of the other wire formats, and of vendors whose wire overrides something.

As `test_traffic.py`: what a turn holds is compared with an independent, naive reading of the same bytes; and
where a recording goes on, the turn is sent back and compared with what the provider accepted next.
"""

import json
from base64 import b64decode
from struct import unpack_from

import pytest
from recorded_traffic import absent, by_family, errors, interactions, judge

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.errors import (
    AuthenticationError,
    BadRequestError,
    ProviderError,
    RateLimitError,
    ServerError,
)
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
from ellmer_core.providers.perplexity import Perplexity
from ellmer_core.providers.qwen import Qwen
from ellmer_core.providers.together import Together
from ellmer_core.providers.vllm import VLLM
from ellmer_core.providers.xai import XAI
from ellmer_core.providers.zai import ZAI
from ellmer_core.wire.framing.decoders import decoder

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
    "perplexity": Perplexity,
    "localhost": VLLM,
}
#: Recordings whose next request is not the answer sent back, and why.
NOT_SENT_BACK = {
    "ollama/parallel-tool-calls-roundtrip--rig.json": "the client takes a thought out of the text",
}
FRAMING = {"bedrock-converse": "aws", "ollama": "ndjson"}


def wire_of(interaction):
    """The wire of whoever answered; `None` where another test has it."""
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
    """The bytes of a streamed answer; `None` for another."""
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
    """The turn, and what was shown while it came."""
    wire = wire_of(interaction)
    if stream_of(interaction) is None:
        return wire.turn(interaction["response"]["body"]), None
    merger, shown = wire.merger(), []
    for event in decoded(interaction, 10_000_000):
        shown += merger.add(event)
    assert merger.complete
    return wire.turn(merger.response()), shown


# A naive reading of answers ---------------------------------------------------------------------------------


def naive_frames(body):
    """The payloads of the frames, by nothing but their lengths."""
    at = 0
    while at < len(body):
        total, headers = unpack_from(">II", body, at)
        yield json.loads(body[at + 12 + headers : at + total - 4])
        at += total


def naive_bedrock(interaction):
    text, thought, calls = "", "", []
    if body := interaction["response"].get("body"):
        for block in body["output"]["message"]["content"]:
            text += block.get("text", "")
            text += "".join(part["text"] for part in block.get("citationsContent", {}).get("content", []))
            thought += block.get("reasoningContent", {}).get("reasoningText", {}).get("text", "")
            call = block.get("toolUse")
            if call and call.get("type") != "server_tool_use":
                calls.append((call["toolUseId"], call["name"], call["input"]))
        return text, thought, calls, body["stopReason"], usage_of(body["usage"])
    stop, usage, inputs = None, {}, {}
    for event in naive_frames(stream_of(interaction)):
        delta, start = event.get("delta", {}), event.get("start", {}).get("toolUse", {})
        text += delta.get("text", "")
        thought += delta.get("reasoningContent", {}).get("text", "")
        stop, usage = event.get("stopReason", stop), event.get("usage", usage)
        if start:
            inputs[event["contentBlockIndex"]] = [start, ""]
        if call := delta.get("toolUse"):
            inputs[event["contentBlockIndex"]][1] += call["input"]
    for start, given in inputs.values():
        if start.get("type") != "server_tool_use":
            calls.append((start["toolUseId"], start["name"], json.loads(given or "{}")))
    return text, thought, calls, stop, usage_of(usage)


def usage_of(usage):
    names = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    return sum(usage.get(name, 0) for name in names), usage["outputTokens"]


def naive_ollama(interaction):
    body = stream_of(interaction)
    lines = map(json.loads, body.splitlines()) if body else [interaction["response"]["body"]]
    text, thought, calls = "", "", []
    for line in lines:
        text += line["message"].get("content", "")
        thought += line["message"].get("thinking", "")
        calls += [(c.get("id"), c["function"]) for c in line["message"].get("tool_calls", [])]
    calls = [(id, function["name"], function["arguments"]) for id, function in calls]
    return text, thought, calls, line["done_reason"], (line["prompt_eval_count"], line["eval_count"])


def naive_cohere(interaction):
    body = stream_of(interaction)
    if not body:
        answer = interaction["response"]["body"]
        said = answer["message"]
        parts = said.get("content") or []
        text = "".join(part.get("text", "") for part in parts)
        thought = said.get("tool_plan", "") + "".join(part.get("thinking", "") for part in parts)
        calls = said.get("tool_calls") or []
        finish, usage = answer["finish_reason"], answer["usage"]["tokens"]
    else:
        text, thought, calls = "", "", []
        for event in naive_sse(body):
            said = event.get("delta", {}).get("message", {})
            if event["type"].startswith("content-"):
                text += said.get("content", {}).get("text", "")
                thought += said.get("content", {}).get("thinking", "")
            elif event["type"] == "tool-plan-delta":
                thought += said["tool_plan"]
            elif event["type"] == "tool-call-start":
                calls.append(said["tool_calls"])
            elif event["type"] == "tool-call-delta":
                calls[event["index"]]["function"]["arguments"] += said["tool_calls"]["function"]["arguments"]
        finish, usage = event["delta"]["finish_reason"], event["delta"]["usage"]["tokens"]
    asked = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]
    return text, thought, asked, finish, (usage["input_tokens"], usage["output_tokens"])


def naive_sse(body):
    lines = [line[5:].strip() for line in body.decode().split("\n") if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


NAIVE = {"bedrock-converse": naive_bedrock, "ollama": naive_ollama, "cohere-v2": naive_cohere}
FINISH = {
    "success": {"end_turn", "stop", "COMPLETE"},
    "tool_use": {"tool_use", "stop", "TOOL_CALL"},
    "max_tokens": {"max_tokens", "length", "MAX_TOKENS"},
    "stop_sequence": {"stop_sequence", "STOP_SEQUENCE"},
    "content_filter": {"guardrail_intervened", "content_filtered"},
}


def is_error(interaction):
    body = interaction["response"].get("body")
    events = body if isinstance(body, list) else [body] if body else []
    if "text" in interaction["response"]:
        events = naive_sse(stream_of(interaction))
    choices = [choice for event in events for choice in event.get("choices", [])]
    ends = [event["delta"] for event in events if event.get("type") == "message-end"]
    return any("error" in place and place["error"] for place in [*events, *choices, *ends])


@absent
@pytest.mark.parametrize("answers", by_family([a for a in ANSWERS if a[1]["protocol"] in NATIVE]))
def test_an_answer_becomes_a_turn(answers):
    judge(answers, becomes_a_turn)


def becomes_a_turn(interaction):
    if is_error(interaction):
        with pytest.raises(ProviderError, match=r"\w"):
            answered(interaction)
        return
    turn, shown = answered(interaction)
    text, thought, calls, finish, usage = NAIVE[interaction["protocol"]](interaction)
    assert turn.text == text
    assert "".join(c.thinking for c in turn.contents if isinstance(c, ContentThinking)) == thought
    assert [(r.name, r.arguments) for r in turn.tool_requests] == [(n, a) for _, n, a in calls]
    assert all(id in {None, r.id} for (id, _, _), r in zip(calls, turn.tool_requests, strict=True))
    assert not any(r.problem for r in turn.tool_requests)
    assert (turn.tokens.input, turn.tokens.output) == usage
    assert finish in FINISH[turn.finish_reason]
    if shown is not None:
        assert "".join(c.text for c in shown if isinstance(c, ContentText)) == text
        assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == thought


@absent
@pytest.mark.parametrize("answers", by_family([a for a in ANSWERS if a[1]["protocol"] not in NATIVE]))
def test_a_vendor_reads_answers_as_its_format_does(answers):
    judge(answers, is_read_as_its_format)


def is_read_as_its_format(interaction):
    """The format's own reading is compared with a naive one in `test_traffic.py`."""
    wire = wire_of(interaction)
    plain = next(kind for kind in type(wire).__mro__ if kind.__module__ in FORMATS)
    if is_error(interaction):
        with pytest.raises(ProviderError, match=r"\w"):
            answered(interaction)
        return
    turn, _ = answered(interaction)
    expected = plain().turn(turn.json)
    assert [bare(c) for c in turn.contents] == [bare(c) for c in expected.contents]
    assert (turn.tokens, turn.finish_reason) == (expected.tokens, expected.finish_reason)


FORMATS = {"ellmer_core.wire.openai_chat.request", "ellmer_core.wire.gemini.request"}


def bare(content):
    """A content without what names its issuer."""
    return type(content), {k: v for k, v in vars(content).items() if k not in {"extra", "wire"}}


STREAMED = [(name, this) for name, this in ANSWERS if stream_of(this)]


@absent
@pytest.mark.parametrize("streams", by_family(STREAMED))
def test_a_stream_may_be_cut_into_chunks_anywhere(streams):
    judge(streams, may_be_cut)


def may_be_cut(interaction):
    whole = decoded(interaction, 10_000_000)
    assert whole
    assert decoded(interaction, 1) == decoded(interaction, 7) == whole


@absent
@pytest.mark.parametrize("streams", by_family([case for case in STREAMED if not is_error(case[1])]))
def test_a_stream_cut_before_its_end_is_not_complete(streams):
    judge(streams, is_not_complete_before_its_end)


def is_not_complete_before_its_end(interaction):
    """At every event: what came is what the whole answer begins with, and no reason for its end is made up."""
    turn, _ = answered(interaction)
    merger = wire_of(interaction).merger()
    for event in decoded(interaction, 10_000_000):
        if merger.complete:
            break
        cut = wire_of(interaction).turn(merger.response()) if interaction["protocol"] in NATIVE else None
        assert cut is None or (cut.finish_reason is None and turn.text.startswith(cut.text))
        merger.add(event)
    assert merger.complete


@absent
@pytest.mark.parametrize("refusals", by_family(REFUSALS))
def test_a_refusal_becomes_a_typed_error(refusals):
    judge(refusals, becomes_a_typed_error)


def becomes_a_typed_error(interaction):
    response = interaction["response"]
    body = response["text"] if "text" in response else json.dumps(response.get("body"))
    error = wire_of(interaction).error(response["status"], response["headers"], body.encode())
    assert type(error) is class_of(response["status"])
    assert error.status == response["status"]
    assert error.message


def class_of(status):
    if status in {401, 403}:
        return AuthenticationError
    if status == 429:
        return RateLimitError
    return ServerError if status >= 500 or status in {408, 409, 424} else BadRequestError


@absent
def test_every_error_inside_a_200_is_raised():
    checked = 0
    for record in errors():
        if record["where"] == "http-status" or record["protocol"] not in {"openai-chat", "ollama"}:
            continue
        wire = NATIVE.get(record["protocol"], CHAT.get(record["provider"], OpenAICompatible))(model="m")
        read = wire.turn if record["where"] == "http-200-body" else wire.merger().add
        said = record["body"] if "body" in record else record["error_events"][0]["data"]
        with pytest.raises(ProviderError) as raised:
            read(said)
        assert raised.value.message.startswith(record["message"])
        checked += 1
    assert checked > 15


@absent
def test_every_error_of_these_formats_says_what_the_provider_said():
    checked = 0
    for record in errors():
        kind = NATIVE.get(record["protocol"]) or (Mistral if record["provider"] == "mistral" else None)
        if kind is None or record["where"] != "http-status":
            continue
        body = record["body"]
        error = kind().error(record["status"], record["headers"], json.dumps(body).encode())
        assert type(error) is class_of(record["status"])
        said = body.get("message") or body.get("error") or body["detail"]
        if isinstance(said, str):
            assert error.message == said
        assert error.message.strip()
        if "x-amzn-errortype" in record["headers"]:
            assert error.code == record["headers"]["x-amzn-errortype"].split(":")[0]
        assert error.code == (body.get("code") or error.code)
        checked += 1
    assert checked > 50


# Sent back --------------------------------------------------------------------------------------------------


def read_bedrock(messages):
    calls, texts, blobs = [], [], []
    for block in (block for message in messages for block in message["content"]):
        match block:
            case {"toolUse": call}:
                calls.append((call["toolUseId"], call["name"], call["input"]))
            case {"text": text}:
                texts.append(text)
            case {"reasoningContent": thought}:
                blobs.append(thought.get("redactedContent") or thought["reasoningText"].get("signature"))
            case _:
                blobs.append(json.dumps(block, sort_keys=True))
    return calls, "".join(texts), blobs


def read_messages(messages):
    """Chat Completions and what looks like it: Ollama, Mistral, Cohere."""
    calls, texts, blobs = [], [], []
    for message in messages:
        content = message.get("content") or ""
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            texts += [part["text"]] if part["type"] == "text" else []
            blobs += [json.dumps(part["thinking"])] if part["type"] == "thinking" else []
        names = ("tool_plan", "thinking", "reasoning", "reasoning_content")
        blobs += [message[name] for name in names if message.get(name)]
        details = message.get("reasoning_details") or []
        blobs += [
            part[n] for part in details for n in ("text", "summary", "data", "signature") if part.get(n)
        ]
        for call in message.get("tool_calls") or []:
            arguments = call["function"]["arguments"]
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
            calls.append((call.get("id"), call["function"]["name"], given))
    return calls, "".join(texts), blobs


def accepted_next(this, after):
    """The model's messages that the next request added first, if the provider accepted it."""
    same = after and after["protocol"] == this["protocol"] and after["response"]["status"] < 300
    if not same or this["response"]["status"] >= 300 or this["protocol"] == "gemini":
        return []
    before, now = (i["request"]["body"].get("messages", []) for i in (this, after))
    theirs = []
    for message in now[len(before) :]:
        if message["role"] != "assistant":
            break
        theirs.append(message)
    return theirs


SENT_BACK = [
    (name, this, accepted)
    for name, this, after in RECORDED
    if (accepted := accepted_next(this, after)) and name.split("#")[0] not in NOT_SENT_BACK
]


@absent
@pytest.mark.parametrize("turns", by_family(SENT_BACK))
def test_a_turn_goes_back_as_what_was_accepted(turns):
    judge(turns, goes_back)


def goes_back(interaction, accepted):
    read = read_bedrock if interaction["protocol"] == "bedrock-converse" else read_messages
    turn, _ = answered(interaction)
    calls, text, blobs = read(wire_of(interaction).message(turn))
    wanted_calls, wanted_text, wanted_blobs = read(accepted)
    assert [call[1:] for call in calls] == [call[1:] for call in wanted_calls]
    pairs = {(ours, theirs) for (ours, *_), (theirs, *_) in zip(calls, wanted_calls, strict=True) if theirs}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert text == wanted_text or json.loads(text) == json.loads(wanted_text)  # a client may write data anew
    assert set(wanted_blobs) <= set(blobs)
