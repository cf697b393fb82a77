"""Every recorded answer of the first four wire formats, sent back as in its recording.

The turn is compared with the assistant message that the provider accepted next.
"""

import json

import pytest
from traffic.of_formats import RECORDED, WIRES, answered, parsed
from traffic.recorded import absent, by_family, judge
from traffic.sent_back import sent_back

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
    """Returns the value without nulls, because an SDK writes fields that are not set."""
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


READERS = {
    "openai-chat": read_chat,
    "openai-responses": read_responses,
    "anthropic-messages": read_anthropic,
    "gemini": read_gemini,
}


@absent
@pytest.mark.parametrize("turns", by_family(sent_back(RECORDED, NOT_SENT_BACK)))
def test_a_turn_goes_back_as_what_was_accepted(turns):
    judge(turns, goes_back)


def goes_back(interaction, accepted):
    read = READERS[interaction["protocol"]]
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
