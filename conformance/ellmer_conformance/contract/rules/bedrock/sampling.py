"""`temperature` and `topP`: newer Claude models accept only one of them, and the newest none."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.json_access import object_of
from ...rule import Finding, broken, met
from ._refusals_and_examples import ASK, MUST, PASSED_ON, REJECT, body, book, refused

OPUS_5 = "us.anthropic.claude-opus-5"


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source=[
        "recorded refusal of the same body without Converse (claude-haiku-4-5)",
        "https://github.com/skydiscover-ai/skydiscover/issues/15",
        "https://github.com/aws-samples/bedrock-chat/pull/979",
    ],
    refusal=refused(
        f"{PASSED_ON}`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    ),
    models=[f"*anthropic.claude-{name}*" for name in ("haiku-4-5", "sonnet-4-5", "sonnet-4-6", "opus-4-1")],
    examples=[body(ASK, inferenceConfig={"temperature": 0.5})],
    counterexamples=[body(ASK, inferenceConfig={"temperature": 0.5, "topP": 0.9})],
)
def one_way_of_sampling(request: Request) -> Iterator[Finding]:
    """From Opus 4.1 on, a request sets `temperature` or `topP`, not both.

    Fix: send the one that the caller set, and no default for the other.
    """
    config = object_of(request.body.get("inferenceConfig"))
    if config.keys() & {"temperature", "topP"}:
        both = config.get("temperature") is not None and config.get("topP") is not None
        yield (
            broken("/inferenceConfig/topP", "it is set together with `temperature`")
            if both
            else met("/inferenceConfig")
        )


@book.rule(
    "REQ-029",
    MUST,
    REJECT,
    source=[
        "https://github.com/cline/cline/issues/10572",
        "https://github.com/promptfoo/promptfoo/issues/10307",
    ],
    refusal=refused(f"{PASSED_ON}`{{key}}` is deprecated for this model."),
    models=["claude>=4.7"],
    examples=[body(ASK, inferenceConfig={"temperature": 1}, model=OPUS_5)],
    counterexamples=[
        body(ASK, inferenceConfig={"temperature": 0}, model=OPUS_5),
        body(ASK, inferenceConfig={"topP": 0.9}, model=OPUS_5),
    ],
)
def sampling_is_the_models(request: Request) -> Iterator[Finding]:
    """From Opus 4.7 on, `temperature` and `topP` are 1 or not set.

    Fix: leave these options out.
    """
    config = object_of(request.body.get("inferenceConfig"))
    for key, name in (("temperature", "temperature"), ("topP", "top_p")):
        value, place = config.get(key), f"/inferenceConfig/{key}"
        if value is not None:
            yield met(place) if value == 1 else broken(place, f"`{key}` is {value}", key=name)
