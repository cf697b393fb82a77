"""Hugging Face: what is no list is refused as plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....exchange import Request
from ....rule import Finding, Refusal, broken, met
from ..._openai import envelope
from .._book import ASK, MUST, REJECT, body
from . import elsewhere


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode()
    return envelope(None)(refusal)


huggingface = elsewhere("huggingface", without=["REQ-003"], envelope=_plain)


@huggingface.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="recorded refusal (Meta-Llama-3-70B-Instruct)",
    refusal=Refusal(
        "Failed to deserialize the JSON body into the target type: messages: invalid type: string {value}, expected a "
        "sequence at line 1 column 91",
        status=422,
    ),
    examples=[body(ASK)],
    counterexamples=[{"model": "meta-llama/Meta-Llama-3-70B-Instruct", "messages": "Hi"}],
)
def messages_are_a_list(request: Request) -> Iterator[Finding]:
    """`messages` is a list."""
    value = request.body.get("messages")
    text = isinstance(value, str)
    yield broken("/messages", "it is a string", value=json.dumps(value)) if text else met("/messages")
