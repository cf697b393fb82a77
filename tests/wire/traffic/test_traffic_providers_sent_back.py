"""Every recorded answer of the other wire formats and of providers, sent back as in its recording.

As in `test_traffic_sent_back.py`, the turn is compared with the next accepted request.
"""

import json

import pytest
from traffic.of_providers import RECORDED, answered, wire_of
from traffic.recorded import absent, by_family, judge
from traffic.sent_back import sent_back

#: Recordings whose next request is not the answer sent back, and why.
NOT_SENT_BACK = {
    "ollama/parallel-tool-calls-roundtrip--rig.json": "the client takes a thought out of the text",
}


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
    """Reads Chat Completions and similar formats: Ollama, Mistral, Cohere."""
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


#: What Vertex AI accepts is in the form of Gemini's, which `test_traffic_sent_back.py` reads.
OTHERS = [case for case in RECORDED if case[1]["protocol"] != "gemini"]


@absent
@pytest.mark.parametrize("turns", by_family(sent_back(OTHERS, NOT_SENT_BACK)))
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
