"""Every recorded real answer of the first four wire formats: its wire, its bytes, its turn, and its plain JSON."""

import json

from traffic.recorded import interactions

from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.framing import SseDecoder
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

WIRES = {
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic-messages": AnthropicMessages(),
    "gemini": Gemini(),
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
    """Returns the turn, and the contents that were shown."""
    wire = WIRES[interaction["protocol"]]
    if not is_stream(interaction):
        return wire.turn(interaction["response"]["body"]), None
    merger, shown = wire.merger(), []
    for event in decoded(body_of(interaction), 10_000_000):
        shown += merger.add(event)
    assert merger.complete
    return wire.turn(merger.response()), shown


def naive_events(interaction):
    """Returns the JSON of each `data:` line, the items of an array, or the body."""
    response = interaction["response"]
    if "text" in response:
        lines = [line[5:].strip() for line in response["text"].split("\n") if line.startswith("data:")]
        return [json.loads(line) for line in lines if line != "[DONE]"]
    return response["body"] if isinstance(response["body"], list) else [response["body"]]


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
