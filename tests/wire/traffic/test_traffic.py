"""Every recorded real answer of the first four wire formats, over a folder of recordings.

The content of a turn is compared with an independent, naive reading of the same JSON.
"""

import json

import pytest
from traffic.of_formats import ANSWERS, answered, is_error, naive_events, parsed
from traffic.recorded import absent, by_family, judge

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.errors import ProviderError

# A naive reading of answers ---------------------------------------------------------------------------------


def naive_chat(events):
    text, thought, calls, finish, usage = "", "", [], None, {}
    for event in events:
        usage = event.get("usage") or (event.get("x_groq") or {}).get("usage") or usage
        streamed = len(events) > 1
        for choice in (choice for choice in event.get("choices", ()) if choice["index"] == 0):
            finish = choice.get("finish_reason") or finish
            said = choice.get("delta" if streamed else "message") or {}  # Perplexity sends both
            content = said.get("content") or ""
            if isinstance(content, dict):
                content = json.dumps(content, separators=(",", ":"))
            for part in content if isinstance(content, list) else [{"text": content}]:
                text += part.get("text", "")
                thought += "".join(t["text"] for t in part.get("thinking", []))
            text += said.get("refusal") or (said.get("audio") or {}).get("transcript") or ""
            details = "".join(detail.get("text") or "" for detail in said.get("reasoning_details") or ())
            thought += said.get("reasoning_content") or said.get("reasoning") or details
            function = said.get("function_call") or {}
            for call in said.get("tool_calls") or ([{"function": function}] if function.get("name") else []):
                body = call.get("function") or call["custom"]
                if body.get("name"):
                    calls.append([call.get("id"), body["name"], ""])
                given = body.get("arguments") or body.get("input") or ""
                calls[-1][2] += given if isinstance(given, str) else json.dumps(given)
    output = usage.get("completion_tokens")
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    if usage and usage["total_tokens"] == usage["prompt_tokens"] + output + reasoning:
        output += reasoning
    return text, thought, calls, finish, (usage.get("prompt_tokens"), output)


def naive_responses(events):
    response = events[-1].get("response", events[-1])
    done = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    output, usage = response["output"] or done, response.get("usage") or {}
    parts = [part for item in output if item["type"] == "message" for part in item["content"]]
    thoughts = [
        item.get("summary") or item.get("content") or [] for item in output if item["type"] == "reasoning"
    ]
    calls = [[i["call_id"], i["name"], i["arguments"]] for i in output if i["type"] == "function_call"]
    finish = (response.get("incomplete_details") or {}).get("reason") or response["status"]
    return (
        "".join(part.get("text") or part.get("refusal", "") for part in parts),
        "".join("\n\n".join(part["text"] for part in thought) for thought in thoughts),
        calls,
        finish,
        (usage.get("input_tokens"), usage.get("output_tokens")),
    )


def naive_anthropic(events):
    if len(events) == 1:
        message, text, thought, calls = events[0], "", "", []
        for block in message["content"]:
            text += block["text"] if block["type"] == "text" else ""
            thought += block.get("thinking", "")
            if block["type"] == "tool_use":
                calls.append([block["id"], block["name"], json.dumps(block["input"])])
        finish, usage = message["stop_reason"], message["usage"]
    else:
        text, thought, calls, finish, usage, opened = "", "", [], None, {}, ""
        for event in events:
            delta = event.get("delta") or {}
            text += delta.get("text", "")
            thought += delta.get("thinking", "")
            usage |= event.get("message", {}).get("usage", {}) | event.get("usage", {})
            finish = delta.get("stop_reason") or finish
            block = event.get("content_block", {})
            if block:
                opened = block["type"]
            if opened == "tool_use" and block:
                calls.append([block["id"], block["name"], ""])
            if opened == "tool_use" and "partial_json" in delta:
                calls[-1][2] += delta["partial_json"]
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return text, thought, calls, finish, (sum(usage.get(n) or 0 for n in names), usage["output_tokens"])


def naive_gemini(events):
    text, thought, calls, finish, usage = "", "", [], None, {}
    for event in events:
        usage |= event.get("usageMetadata", {})
        for candidate in event.get("candidates", []):
            finish = candidate.get("finishReason") or finish
            for part in candidate.get("content", {}).get("parts", []):
                if part.get("thought"):
                    thought += part["text"]
                else:
                    text += part.get("text", "")
                if call := part.get("functionCall"):
                    calls.append([call.get("id"), call["name"], json.dumps(call["args"])])
    prompt = [usage[n] for n in ("promptTokenCount", "toolUsePromptTokenCount") if n in usage]
    output = [usage[n] for n in ("candidatesTokenCount", "thoughtsTokenCount") if n in usage]
    finish = finish or (events[0].get("promptFeedback") or {}).get("blockReason")
    return text, thought, calls, finish, (sum(prompt) if prompt else None, sum(output) if output else None)


NAIVE = {
    "openai-chat": naive_chat,
    "openai-responses": naive_responses,
    "anthropic-messages": naive_anthropic,
    "gemini": naive_gemini,
}
FINISH = {
    "success": {"stop", "completed", "end_turn", "eos", "eos_token", "STOP", 1},
    "tool_use": {
        *("tool_calls", "tool_call", "function_call", "stop", "eos_token"),
        *("completed", "tool_use", "STOP", 1),
    },
    "max_tokens": {"length", "max_output_tokens", "max_tokens", "MAX_TOKENS", 2},
    "stop_sequence": {"stop_sequence"},
    "content_filter": {"content_filter", "refusal", "stop", "completed", "MODEL_ARMOR"},
    "pause_turn": {"pause_turn"},
    None: {None, ""},
    "queued": {"queued"},
}


@absent
@pytest.mark.parametrize("answers", by_family(ANSWERS))
def test_an_answer_becomes_a_turn(answers):
    judge(answers, becomes_a_turn)


def spoken(turn):
    """Tells whether an answer is audio: its stream ends with `[DONE]` and no finish reason."""
    return any(choice["message"].get("audio") for choice in turn.json.get("choices", ()))


def becomes_a_turn(interaction):
    if is_error(interaction):
        with pytest.raises(ProviderError) as raised:
            answered(interaction)
        assert raised.value.message
        assert 400 <= (raised.value.status or 500) < 600  # an error in a stream may tell none
        return
    turn, shown = answered(interaction)
    text, thought, calls, finish, usage = NAIVE[interaction["protocol"]](naive_events(interaction))
    assert turn.text == text
    assert "".join(c.thinking for c in turn.contents if isinstance(c, ContentThinking)) == thought
    assert [(r.id, r.name) for r in turn.tool_requests] == [
        (id or r.id, n) for (id, n, _), r in zip(calls, turn.tool_requests, strict=True)
    ]
    for request, (_, _, arguments) in zip(turn.tool_requests, calls, strict=True):
        assert request.problem or request.arguments == parsed(arguments)
        assert request.raw in {None, arguments}
        assert (
            not request.problem
            or isinstance(parsed(arguments), str)
            or finish in {*FINISH["max_tokens"], None}
        )
    assert (turn.tokens.input, turn.tokens.output) == usage
    assert finish in FINISH[turn.finish_reason] or (finish is None and spoken(turn))
    if shown is not None:
        assert "".join(c.text for c in shown if isinstance(c, ContentText)) == text
        assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == thought
