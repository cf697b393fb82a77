"""Every recorded real answer of the other wire formats, and of providers whose wire overrides something.

As in `test_traffic.py`, the content of a turn is compared with an independent, naive reading of the same bytes.
"""

import json
from struct import unpack_from

import pytest
from traffic.of_providers import ANSWERS, NATIVE, answered, is_error, naive_sse, stream_of, wire_of
from traffic.recorded import absent, by_family, judge

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.errors import ProviderError

# A naive reading of answers ---------------------------------------------------------------------------------


def naive_frames(body):
    """Yields the payloads of the frames, by their lengths alone."""
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


NAIVE = {"bedrock-converse": naive_bedrock, "ollama": naive_ollama, "cohere-v2": naive_cohere}
FINISH = {
    "success": {"end_turn", "stop", "COMPLETE"},
    "tool_use": {"tool_use", "stop", "TOOL_CALL"},
    "max_tokens": {"max_tokens", "length", "MAX_TOKENS"},
    "stop_sequence": {"stop_sequence", "STOP_SEQUENCE"},
    "content_filter": {"guardrail_intervened", "content_filtered"},
}


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
def test_a_provider_reads_answers_as_its_format_does(answers):
    judge(answers, is_read_as_its_format)


def is_read_as_its_format(interaction):
    """Checks the turn. `test_traffic.py` compares the format's own reading with a naive one."""
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


FORMATS = {"ellmer_core.wire.openai_chat.to_wire", "ellmer_core.wire.gemini.to_wire"}


def bare(content):
    """Returns a content without the name of its issuer."""
    return type(content), {k: v for k, v in vars(content).items() if k not in {"extra", "wire"}}
