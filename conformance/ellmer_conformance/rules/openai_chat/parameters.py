"""Options: their ranges, and those that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...rule import Finding, broken, met
from .._openai import EFFORTS, OUT_OF_RANGE, listed, ranges, refused, undated
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


@book.rule(
    "REQ-031",
    MUST,
    REJECT,
    source=[
        "https://github.com/immersive-translate/immersive-translate/issues/3529",
        "https://github.com/Kilo-Org/cloud/pull/3807",
        "the Responses API refuses the same, recorded",
    ],
    refusal=refused(
        "Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
        "Supported values are: {known}.",
        code="unsupported_value",
        param="reasoning_effort",
    ),
    examples=[body(ASK, model="gpt-5-mini", reasoning_effort="minimal")],
    counterexamples=[
        body(ASK, model="gpt-5", reasoning_effort="none"),
        body(ASK, model="gpt-5.1", reasoning_effort="minimal"),
    ],
)
def the_effort_is_the_models(request: Request) -> Iterator[Finding]:
    """An effort is one of those the model has."""
    effort, known = request.body.get("reasoning_effort"), EFFORTS.get(undated(request.model))
    if known and isinstance(effort, str):
        facts = {"effort": effort, "known": listed(known.split())}
        fine, place = effort in known.split(), "/reasoning_effort"
        yield met(place) if fine else broken(place, f"this model has no {effort!r}", **facts)


@book.rule(
    "REQ-032",
    MUST,
    REJECT,
    source=[
        "https://github.com/lfnovo/open-notebook/issues/107 (gpt-5, top_p)",
        "https://github.com/sigoden/aichat/issues/1144 (o1, temperature)",
        "https://github.com/npiv/chatblade/issues/100 (o3-mini, temperature)",
    ],
    refusal=refused(
        "Unsupported parameter: '{key}' is not supported with this model.",
        code="unsupported_parameter",
        param="{key}",
    ),
    models=["gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*", "o1", "o1-2024*", "o3-mini*"],
    examples=[body(ASK, model="gpt-5-mini", top_p=1, temperature=1)],
    counterexamples=[body(ASK, model="gpt-5", top_p=0.5), body(ASK, model="o3-mini", temperature=0)],
)
def some_models_are_not_sampled(request: Request) -> Iterator[Finding]:
    """GPT-5 takes no `top_p`; o1 and o3-mini take no temperature either."""
    for key in ("top_p",) if request.model.startswith("gpt") else ("top_p", "temperature"):
        set_to = request.body.get(key) not in (None, 1)
        yield broken(f"/{key}", f"this model has no {key}", key=key) if set_to else met("/model")
