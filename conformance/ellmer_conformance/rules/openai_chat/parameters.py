"""Options: their ranges, and those that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...rule import Finding, broken, met
from .._openai import OUT_OF_RANGE, ranges, refused
from ._book import ASK, MUST, REJECT, body, book


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source="recorded refusal of temperature 99 (gpt-4o)",
    refusal=OUT_OF_RANGE,
    examples=[body(ASK, temperature=2, top_p=1.0, n=1)],
    counterexamples=[body(ASK, temperature=99.0), body(ASK, top_p=-0.1)],
)
def numbers_are_in_range(request: Request) -> Iterator[Finding]:
    """Temperature is 0 to 2, `top_p` 0 to 1, the penalties -2 to 2, `n` 1 to 128, `top_logprobs` 0 to 20."""
    bounds = {
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "presence_penalty": (-2.0, 2.0),
        "frequency_penalty": (-2.0, 2.0),
        "n": (1, 128),
        "top_logprobs": (0, 20),
    }
    yield from ranges(request.body, bounds)


@book.rule(
    "REQ-014",
    MUST,
    REJECT,
    source="recorded refusal (gpt-5-chat-latest)",
    refusal=refused(
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        code="invalid_parameter_combination",
        param="max_tokens",
    ),
    examples=[body(ASK, max_tokens=5)],
    counterexamples=[body(ASK, max_tokens=5, max_completion_tokens=5)],
)
def one_token_limit(request: Request) -> Iterator[Finding]:
    """`max_tokens` and `max_completion_tokens` exclude each other."""
    old, new = request.body.get("max_tokens"), request.body.get("max_completion_tokens")
    if old is not None or new is not None:
        both = old is not None and new is not None
        yield broken("/max_tokens", "there are two token limits") if both else met("/max_tokens")
