"""A provider's answers to a chat over Chat Completions, and inputs for such chats: a tool, a shape, an image."""

import json
from dataclasses import dataclass

from ellmer_core.contents.content import ContentImageInline
from ellmer_core.tools.definition import tool

SSE = {"content-type": "text/event-stream"}
KEY = "canary-key-0000"


def answer(text="Hello.", finish="stop", usage=None, **message):
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def calls(*ids):
    made = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return answer(None, "tool_calls", tool_calls=made)


def streamed(*deltas, finish="stop"):
    events = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [b"data: " + json.dumps(e).encode() + b"\n\n" for e in events] + [b"data: [DONE]\n\n"]


def f():
    """Does it."""
    return "done"


def named_tool(function, name):
    return tool(function, "Does it.", name=name)


@dataclass
class Book:
    title: str
    pages: int


IMAGE = ContentImageInline("image/png", "iVBORw0KGgo=")
