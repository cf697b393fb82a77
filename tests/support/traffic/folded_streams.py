"""Events of streams in four wire formats, and the turn that they are merged into."""

from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.openai_responses.to_wire import OpenAIResponses

CHAT, RESPONSES, ANTHROPIC, GEMINI = OpenAIChat(), OpenAIResponses(), AnthropicMessages(), Gemini()
ALL = [CHAT, RESPONSES, ANTHROPIC, GEMINI]


def folded(wire, *events):
    """Returns the turn, whether the stream was complete, and the shown contents."""
    merger, shown = wire.merger(), []
    for event in events:
        shown += merger.add(event)
    return wire.turn(merger.response()), merger.complete, shown


def delta(finish=None, /, index=0, **delta):
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def calls(*calls):
    return delta(tool_calls=list(calls))


def call(index=None, id=None, name=None, arguments=None):
    """Returns one delta of a tool call. `None` values are left out."""
    function = {"name": name, "arguments": arguments}
    whole = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return {k: v for k, v in whole.items() if v is not None}


def requests(turn):
    return [(r.id, r.name, r.arguments) for r in turn.tool_requests]


def block(index, start, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for kind, field, value in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: value}}
    yield {"type": "content_block_stop", "index": index}


ANTHROPIC_TEXT = [
    {
        "type": "message_start",
        "message": {"id": "m", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
