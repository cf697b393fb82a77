"""xAI: an error is a string, and a message has content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, Refusal, broken, met
from .._pairing import calls_of
from .._rulebook import MUST, REJECT, body, call, result
from . import compact, elsewhere


def _flat(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """xAI's: the error is a string."""
    code = refusal.code or "Client specified an invalid argument"
    return compact({"code": code, "error": refusal.message})


xai = elsewhere("xai", envelope=_flat)


@xai.rule(
    "EMP-001",
    MUST,
    REJECT,
    source="https://github.com/langchain-ai/langchain/issues/34140",
    refusal=Refusal("Invalid request content: Each message must have at least one content element."),
    examples=[body({"role": "user", "content": ""}, call("a"), result("a"))],
    counterexamples=[body({"role": "user", "content": None}), body({"role": "user", "content": []})],
)
def every_message_has_content(request: Request) -> Iterator[Finding]:
    """A message without tool calls has content, which may be an empty text."""
    for pointer, message in messages(request.body):
        if message.get("role") in {"user", "system", "assistant"} and not calls_of(message):
            none = message.get("content") in (None, [])
            yield broken(pointer, "the message has no content") if none else met(pointer)
