"""Messages without content. This check comes after all checks of single fields."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.openai_chat import messages
from ...rule import Finding, broken, met
from .._openai.refusals import refused
from ._rulebook import ASK, MUST, REJECT, body, book, call, result


@book.rule(
    "REQ-006",
    MUST,
    REJECT,
    source=[
        "https://github.com/run-llama/llama_index/issues/17555",
        "https://github.com/langchain-ai/langchainjs/issues/4153",
    ],
    refusal=refused(
        "Invalid value for 'content': expected a string, got null.", param="messages.[{index}].content"
    ),
    examples=[body(ASK, call("call_1"), result("call_1", "")), body({"role": "user", "content": ""})],
    counterexamples=[
        body({"role": "user"}),
        body({"role": "user", "content": None}),
        body(ASK, {"role": "assistant", "content": None}),
        body(ASK, call("call_1"), result("call_1", None)),
    ],
)
def content_is_there(request: Request) -> Iterator[Finding]:
    """A message has content, unless it is an assistant message with tool calls, a refusal or audio.

    Why: null is not an empty text. Fix: send `""`, which is accepted, or leave the message out.
    """
    for i, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") not in {"user", "system", "assistant", "tool"}:
            continue
        instead = ("tool_calls", "function_call", "refusal", "audio")
        if message.get("role") == "assistant" and any(message.get(key) is not None for key in instead):
            continue
        missing = message.get("content") is None
        yield broken(pointer, "the message has no content", index=i) if missing else met(pointer)
