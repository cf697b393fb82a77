"""xAI: an error is a string, and a message has content."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ....observed.exchange import Request
from ....readers.json_access import elements
from ....readers.openai_chat import calls_of, messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import UnsupportedFeature, add_feature_rules
from ..._openai.refusals import flat_error_body
from .._refusals_and_examples import ASK, MUST, REJECT, body, call, result
from ..features import option
from ._elsewhere import elsewhere

xai = elsewhere("xai", error_body=flat_error_body)


@xai.rule(
    "EMP-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/issues/34140",
        "https://github.com/langbot-app/LangBot/issues/1205 (its words in 2025)",
    ],
    refusal=Refusal("Invalid request content: Each message must have at least one content element."),
    formerly=[
        Refusal("An empty message was provided. Every message needs at least one non-empty content element.")
    ],
    examples=[body({"role": "user", "content": ""}, call("a"), result("a"))],
    counterexamples=[body({"role": "user", "content": None}), body({"role": "user", "content": []})],
)
def every_message_has_content(request: Request) -> Iterator[Finding]:
    """A message without tool calls has content, which may be an empty text.

    Fix: send an empty text, or leave the message out.
    """
    for pointer, message in messages(request.body):
        if message.get("role") in {"user", "system", "assistant"} and not calls_of(message):
            none = message.get("content") in (None, [])
            yield broken(pointer, "the message has no content") if none else met(pointer)


_GUIDELINE = {"type": "policy", "category": "violence", "behavior": "decline"}


@xai.rule(
    "REQ-137",
    MUST,
    REJECT,
    source=[
        "https://docs.x.ai/developers/advanced-api-usage/custom-moderation-controls",
        "https://pypi.org/project/xai-sdk/1.21.0/ (`guidelines` of `create`)",
    ],
    refusal=Refusal("Invalid request content: {wrong}."),
    preview=True,  # the SDK's reference says so; the words of the refusal are not on record
    since=date(2026, 10, 27),
    examples=[
        body(ASK, guidelines=[_GUIDELINE, {**_GUIDELINE, "category": "nsfw"}]),
        body(ASK, stop=["END"]),
    ],
    counterexamples=[
        body(ASK, guidelines=[_GUIDELINE, _GUIDELINE]),
        body(ASK, guidelines=[{**_GUIDELINE, "category": "politics"}]),
        body(ASK, guidelines=[_GUIDELINE], stop=["END"]),
        body(ASK, guidelines=[_GUIDELINE], deferred=True),
        body(ASK, model="grok-4.20-multi-agent", guidelines=[_GUIDELINE]),
    ],
)
def guidelines_are_of_three_categories(request: Request) -> Iterator[Finding]:
    """`guidelines` names each of `nsfw`, `violence` and `profanity` at most once. It is not combined with `stop`, `deferred` or several agents.

    Fix: name each category once, and drop the options that do not go with it.
    """
    seen: set[object] = set()
    for pointer, each in elements(request.body.get("guidelines"), "/guidelines"):
        category = each.get("category")
        known = category in ("nsfw", "violence", "profanity") and category not in seen
        wrong = f"{category!r} is unknown or repeated"
        yield met(pointer) if known else broken(f"{pointer}/category", wrong, wrong=wrong)
        seen.add(str(category))
    beside = [key for key in ("stop", "deferred") if request.body.get(key)]
    if seen and (beside or "multi-agent" in request.model):
        wrong = f"guidelines are not available with {beside[0] if beside else 'several agents'}"
        yield broken("/guidelines", wrong, wrong=wrong)


def _unsupported(parameter: str) -> Refusal:
    return Refusal(f"Model {{model}} does not support parameter {parameter}.")


def _in_2025(parameter: str) -> tuple[Refusal]:
    """Returns the words of 2025: https://github.com/charmbracelet/crush/issues/386, https://github.com/yym68686/uni-api/issues/105."""
    return (Refusal(f"Argument not supported on this model: {parameter}"),)


_GROK, _LATER = "grok-4-latest", "grok-4.20-0309-reasoning"

add_feature_rules(
    xai,
    [
        UnsupportedFeature(
            "REQ-063",
            "A reasoning effort is sent only to models that accept one.",
            ("grok-4.20-0309*",),
            _unsupported("reasoningEffort"),
            (
                "https://github.com/BerriAI/litellm/pull/16265 (grok-4-latest)",
                "https://github.com/NousResearch/hermes-agent/pull/23435 (all of these, tried one by one)",
                "https://github.com/chenyme/grok2api/issues/814 (grok-4.20-0309-reasoning)",
            ),
            option("reasoning_effort"),
            body(ASK, model=_LATER),
            body(ASK, model=_LATER, reasoning_effort="low"),
            fix="leave `reasoning_effort` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-065",
            "Until June 2026, a reasoning effort was sent only to models that accepted one.",
            (
                *("grok-3", "grok-3-latest", "grok-3-fast*", "grok-code-fast*"),
                *("grok-4", "grok-4-0709", "grok-4-latest", "grok-4-fast*", "grok-4-1-fast*"),
            ),
            _unsupported("reasoningEffort"),
            (
                "https://github.com/BerriAI/litellm/pull/16265 (grok-4-latest)",
                "https://github.com/NousResearch/hermes-agent/pull/23435 (all of these, tried one by one)",
            ),
            option("reasoning_effort"),
            body(ASK, model=_GROK),
            body(ASK, model=_GROK, reasoning_effort="low"),
            formerly=_in_2025("reasoningEffort"),
            until=date(2026, 5, 29),  # from then on, grok-4.3 answers in their place, and takes an effort
            fix="leave `reasoning_effort` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-064",
            "Grok 4 does not accept a penalty, not even of 0.",
            ("grok-4", "grok-4-0709", "grok-4-latest", "grok-4.[3-6]*"),
            _unsupported("presencePenalty"),
            (
                "https://github.com/miaoxworld/NativeTavern/issues/83 (grok-4.3 to grok-4.6)",
                "https://github.com/lobehub/lobehub/pull/8379 (grok-4-0709)",
            ),
            option("presence_penalty"),
            body(ASK, model=_GROK),
            body(ASK, model=_GROK, presence_penalty=0),
            formerly=_in_2025("presencePenalty"),
            fix="leave the penalties out for these models.",
        ),
    ],
)
