"""Together: somebody says something."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, broken, met
from ..._openai import refused
from .._book import ASK, MUST, REJECT, body
from . import elsewhere

together = elsewhere("together")


@together.rule(
    "EMP-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-oss-120b)",
    refusal=refused("Prompt cannot be empty"),
    examples=[body(ASK)],
    counterexamples=[body({"role": "user", "content": ""})],
)
def somebody_says_something(request: Request) -> Iterator[Finding]:
    """Not all messages are empty."""
    said = any(message.get("content") != "" for _, message in messages(request.body))
    yield met("/messages") if said else broken("/messages", "all messages are empty")
