"""Every recorded real answer of the first four wire formats, over a folder of recordings.

What a turn holds is compared with an independent, naive reading of the same JSON; and where a recording goes
on, the turn is sent back and compared with the assistant message that the provider accepted next.
"""

import json

import pytest
from recorded_traffic import absent, by_family, interactions, judge

from ellmer_core.contents.content import ContentText, ContentThinking
from ellmer_core.errors import ProviderError
from ellmer_core.wire.anthropic.request import AnthropicMessages
from ellmer_core.wire.framing.decoders import SseDecoder
from ellmer_core.wire.gemini.request import Gemini
from ellmer_core.wire.openai_chat.request import OpenAIChat
from ellmer_core.wire.openai_responses.request import OpenAIResponses

WIRES = {
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic-messages": AnthropicMessages(),
    "gemini": Gemini(),
}

#: Recordings whose next request is not the answer sent back, and why.
NOT_SENT_BACK = {
    "anthropic-messages/image-in-tool-result-server-tools-roundtrip--fantasy-3.json": "the client left the text out",
    "anthropic-messages/stream-text-multiturn--chatlas.json": "the client replaced a blank answer by a placeholder",
    "openai-chat/simple-text-multiturn--dd-trace-py.json": "the client added the outcome to the model's text",
    "anthropic-messages/tool-call-roundtrip--crewAI-2.json": "the client left the text out",
    "openai-chat/filler-assistant-after-tool-parallel-tool-calls-roundtrip--crewAI.json": "the client left a call out",
    "openai-responses/stream-thinking-tools-roundtrip--rig.json": "the recorder numbered the opaque texts anew",
    "other/stream-thinking-tools-roundtrip--fantasy-2.json": "the client trimmed the text",
    "other/stream-thinking-tools-stream-parallel-tool-calls-roundtrip--fantasy.json": "the client trimmed the text",
}


def is_stream(interaction):
    return "text" in interaction["response"] or isinstance(interaction["response"]["body"], list)


RECORDED = [
    (name, this, after)
    for name, this, after in interactions()
    if this["protocol"] in WIRES and this["response"]["status"] < 300
]
ANSWERS = [(name, this) for name, this, _ in RECORDED]
STREAMED = [(name, this) for name, this in ANSWERS if is_stream(this)]


def body_of(interaction):
    response = interaction["response"]
    if "text" in response:
        return response["text"].encode()
    return json.dumps(response["body"], ensure_ascii=False, indent=1).encode()


def decoded(body, size):
    decoder = SseDecoder()
    events = [event for at in range(0, len(body), size) for event in decoder.feed(body[at : at + size])]
    return [*events, *decoder.flush()]


def answered(interaction):
    """The turn, and what was shown while it came."""
    wire = WIRES[interaction["protocol"]]
    if not is_stream(interaction):
        return wire.turn(interaction["response"]["body"]), None
    merger, shown = wire.merger(), []
    for event in decoded(body_of(interaction), 10_000_000):
        shown += merger.add(event)
    assert merger.complete
    return wire.turn(merger.response()), shown


# A naive reading of answers ---------------------------------------------------------------------------------


def naive_events(interaction):
    """The JSON of each `data:` line; the items of an array; the one body."""
    response = interaction["response"]
    if "text" in response:
        lines = [line[5:].strip() for line in response["text"].split("\n") if line.startswith("data:")]
        return [json.loads(line) for line in lines if line != "[DONE]"]
    return response["body"] if isinstance(response["body"], list) else [response["body"]]


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
    None: {None, "", "queued"},
}


def parsed(arguments):
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def is_error(interaction):
    if any(event.get("error") for event in naive_events(interaction)):
        return True
    return any(
        "error" in choice for event in naive_events(interaction) for choice in event.get("choices", [])
    )


@absent
@pytest.mark.parametrize("answers", by_family(ANSWERS))
def test_an_answer_becomes_a_turn(answers):
    judge(answers, becomes_a_turn)


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
    assert finish in FINISH[turn.finish_reason]
    if shown is not None:
        assert "".join(c.text for c in shown if isinstance(c, ContentText)) == text
        assert "".join(c.thinking for c in shown if isinstance(c, ContentThinking)) == thought


@absent
@pytest.mark.parametrize("streams", by_family(STREAMED))
def test_a_stream_may_be_cut_into_chunks_anywhere(streams):
    judge(streams, may_be_cut)


def may_be_cut(interaction):
    body = body_of(interaction)
    whole = decoded(body, len(body))
    assert whole
    assert decoded(body, 1) == decoded(body, 7) == whole
    crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert decoded(crlf, 3) == whole


END = (
    '"finish_reason": "',
    '"[DONE]"',
    '"message_stop"',
    '"response.completed"',
    '"response.incomplete"',
    '"finishReason": ',
)


@absent
@pytest.mark.parametrize("streams", by_family([case for case in STREAMED if not is_error(case[1])]))
def test_a_stream_cut_anywhere_is_not_an_answer(streams):
    judge(streams, is_no_answer_before_its_end)


def is_no_answer_before_its_end(interaction):
    wire, events = WIRES[interaction["protocol"]], decoded(body_of(interaction), 10_000_000)
    merger, said = wire.merger(), []
    for event in events:
        said += merger.add(event)
        turn = wire.turn(merger.response())
        assert turn.text == "".join(c.text for c in said if isinstance(c, ContentText))
        if merger.complete:
            assert any(mark in json.dumps(event) for mark in END)
            return
    pytest.fail("it never ended")


# Sent back --------------------------------------------------------------------------------------------------


def read_chat(messages):
    calls, texts, blobs = [], [], []
    for message in messages:
        content = message.get("content") or ""
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        texts += [part["text"] for part in parts if part["type"] == "text"] + [message.get("refusal") or ""]
        blobs += [json.dumps(part["thinking"]) for part in parts if part["type"] == "thinking"]
        blobs += [message[name] for name in ("reasoning", "reasoning_content") if message.get(name)]
        details = message.get("reasoning_details") or []
        blobs += [
            part[name]
            for part in details
            for name in ("text", "summary", "data", "signature")
            if part.get(name)
        ]
        for call in message.get("tool_calls") or []:
            body = call.get("function") or call["custom"]
            calls.append((call["id"], body["name"], parsed(body.get("arguments", body.get("input")))))
    return calls, "".join(texts), blobs


def read_responses(items):
    calls, texts, blobs = [], [], []
    for item in items:
        if item.get("type") == "function_call":
            calls.append((item["call_id"], item["name"], parsed(item["arguments"])))
        elif item.get("type") == "reasoning":
            blobs += filter(
                None, [item.get("encrypted_content"), *(p["text"] for p in item.get("content") or [])]
            )
        elif item.get("role") == "assistant":
            content = item["content"]
            texts += (
                [content] if isinstance(content, str) else [p.get("refusal", p.get("text")) for p in content]
            )
        elif "id" in item:  # what the client itself answers to a tool of the server has none
            blobs.append(item["id"])
    return calls, "".join(texts), blobs


def read_anthropic(messages):
    calls, texts, blobs = [], [], []
    for message in messages:
        for block in message["content"]:
            match block["type"]:
                case "tool_use":
                    calls.append((block["id"], block["name"], block["input"]))
                case "text":
                    texts.append(block["text"])
                case "thinking" | "redacted_thinking":
                    blobs += [block.get("signature") or block["data"]]
                case _:
                    blobs.append(json.dumps(without_nulls(block), sort_keys=True))
    return calls, "".join(texts), blobs


def without_nulls(value):
    """An SDK of theirs writes the fields that it does not set."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def read_gemini(contents):
    calls, texts, blobs = [], [], []
    for content in contents:
        for part in content["parts"] if isinstance(content["parts"], list) else [content["parts"]]:
            if call := part.get("functionCall") or part.get("function_call"):
                calls.append((None, call["name"], call.get("args", {})))
            texts += [] if part.get("thought") else [part.get("text", "")]
            signature = part.get("thoughtSignature") or part.get("thought_signature")
            blobs += [signature.replace("-", "+").replace("_", "/")] if signature else []
    return calls, "".join(texts), blobs


#: Where the turns are, the role of the model's, what reads them.
SENT = {
    "openai-chat": ("messages", {"assistant"}, read_chat),
    "openai-responses": ("input", {"assistant"}, read_responses),
    "anthropic-messages": ("messages", {"assistant"}, read_anthropic),
    "gemini": ("contents", {"model"}, read_gemini),
}
OURS = {"user", "system", "developer", "tool"}


def accepted_next(this, after):
    """The model's messages that the next request added first, if the provider accepted it."""
    if after is None or after["protocol"] != this["protocol"] or after["response"]["status"] >= 300:
        return []
    field, roles, _ = SENT[this["protocol"]]
    before, now = ((i["request"].get("body") or {}).get(field) for i in (this, after))
    added = now[len(before) :] if isinstance(before, list) and isinstance(now, list) else []
    theirs = []
    for message in added:
        if message.get("role") not in roles and (
            message.get("role") in OURS or message.get("type") == "function_call_output"
        ):
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
    _, _, read = SENT[interaction["protocol"]]
    turn, _ = answered(interaction)
    calls, text, blobs = read(WIRES[interaction["protocol"]].message(turn))
    wanted_calls, wanted_text, wanted_blobs = read(accepted)
    assert [call[1:] for call in calls] == [call[1:] for call in wanted_calls]
    ids = list(zip((c[0] for c in calls), (c[0] for c in wanted_calls), strict=True))
    assert len(set(ids)) == len({a for a, _ in ids}) == len({b for _, b in ids})
    assert text == wanted_text or parsed(text) == parsed(
        wanted_text
    )  # a client may write structured data anew
    assert set(wanted_blobs) <= set(blobs)
