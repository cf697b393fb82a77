"""`temperature`, `top_p` and `top_k`: newer models accept only one of them, and the newest none."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Request
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, body, book, refused

ONE = ["claude-opus-4-1*", "claude-opus-4-5*", "claude-sonnet-4-5*", "claude-haiku-4-5*"]
NONE = ["claude>=4.7"]


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source=[
        "https://github.com/BerriAI/litellm/issues/15097",
        "https://github.com/cloud-apim/otoroshi-llm-extension/issues/140",
        "https://github.com/SalesforceAIResearch/MCP-Universe/issues/49",
    ],
    refusal=refused(
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    ),
    models=ONE,
    examples=[body(ASK, temperature=0.5), body(ASK, top_p=0.5)],
    counterexamples=[body(ASK, temperature=0.5, top_p=0.9)],
)
def one_way_of_sampling(request: Request) -> Iterator[Finding]:
    """From Opus 4.1 on, a request sets `temperature` or `top_p`, not both.

    Fix: send the one that the caller set, and no default for the other.
    """
    keys = [key for key in ("temperature", "top_p") if request.body.get(key) is not None]
    if keys:
        yield (
            broken("/top_p", "it is set together with `temperature`") if len(keys) > 1 else met(f"/{keys[0]}")
        )


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source=[
        "https://github.com/earendil-works/pi/pull/5251",
        "https://github.com/github/app/issues/2574",
        "https://platform.claude.com/docs/en/about-claude/models/migration-guide",
        "https://platform.claude.com/docs/en/models/haiku-5-5/whats-new-haiku-5-5 (Haiku 5.5)",
    ],
    refusal=refused("`{key}` is deprecated for this model."),
    models=NONE,
    examples=[body(ASK, model="claude-opus-5", temperature=1)],
    counterexamples=[
        body(ASK, model="claude-opus-4-7", temperature=0),
        body(ASK, model="claude-sonnet-5", top_k=5),
    ],
)
def sampling_is_the_models(request: Request) -> Iterator[Finding]:
    """From Opus 4.7 on, `temperature` and `top_p` are 1 or not set, and `top_k` is not set.

    Fix: leave these options out.
    """
    for key in ("temperature", "top_p", "top_k"):
        value = request.body.get(key)
        default = value is None or (value == 1 and key != "top_k")
        yield met(f"/{key}") if default else broken(f"/{key}", f"`{key}` is {value}", key=key)
