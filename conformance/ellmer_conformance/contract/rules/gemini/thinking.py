"""Thinking: a budget before Gemini 3, and a level from Gemini 3 on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...observed.exchange import Json, Request
from ...readers.gemini import get, key_of
from ...readers.json_access import object_of, text_of
from ...rule import Finding, broken, met
from ._refusals_and_examples import ASK, MUST, REJECT, body, book, refused

GUIDE = "https://ai.google.dev/gemini-api/docs/thinking"
#: Limits of the thinking budget. Also valid: 0 (off) and -1 (the model decides).
BUDGETS = {
    "gemini-2.5-pro": (128, 32768),
    "gemini-2.5-flash-lite": (512, 24576),
    "gemini-2.5-flash": (0, 24576),
}
PREVIEWS = ("!*preview*", "!*-exp*", "!*live*", "!*audio*", "!*-image*", "!*-tts*")


def _thinks(**config: Any) -> Json:
    return {"generationConfig": {"thinkingConfig": config}}


@book.rule(
    "THK-015",
    MUST,
    REJECT,
    source=[
        "https://ai.google.dev/gemini-api/docs/gemini-3",
        "https://github.com/Tom-Ryder/AgentRunKit/pull/7",
        "https://github.com/Chevey339/kelivo/issues/411",
    ],
    refusal=refused("You can only set only one of thinking budget and thinking level."),
    formerly=[
        refused(
            "Unable to submit request because thinking_budget and thinking_level are not supported together.. Learn more: "
            "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
        )
    ],
    examples=[body(ASK, named="gemini-3-flash-preview", **_thinks(thinkingLevel="LOW"))],
    counterexamples=[
        body(ASK, named="gemini-3-flash-preview", **_thinks(thinkingLevel="LOW", thinkingBudget=0))
    ],
)
def a_budget_or_a_level(request: Request) -> Iterator[Finding]:
    """The thinking config has a budget or a level, not both.

    Fix: send the level to Gemini 3, and the budget to older models.
    """
    pointer, config = _config(request.body)
    if config:
        both = get(config, "thinkingBudget") is not None and get(config, "thinkingLevel") is not None
        yield broken(pointer, "both a budget and a level are set") if both else met(pointer)


@book.rule(
    "THK-016",
    MUST,
    REJECT,
    source=[GUIDE, "https://github.com/su-kaka/gcli2api/issues/108 (the words of Vertex AI)"],
    refusal=refused("{text}"),
    formerly=[
        refused("The thinking budget {budget} is invalid. Please choose a value between {low} and {high}."),
        refused(
            "Unable to submit request because thinking_budget is out of range; supported values are integers from {low} to {high}. "
            "Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini"
        ),
    ],
    models=["gemini-2.5-pro*", "gemini-2.5-flash*", *PREVIEWS],
    examples=[
        body(ASK, **_thinks(thinkingBudget=0)),
        body(ASK, named="gemini-2.5-pro", **_thinks(thinkingBudget=-1)),
    ],
    counterexamples=[
        body(ASK, **_thinks(thinkingBudget=32000)),
        body(ASK, named="gemini-2.5-pro", **_thinks(thinkingBudget=0)),
        body(ASK, named="gemini-2.5-flash-lite", **_thinks(thinkingBudget=256)),
    ],
)
def the_budget_is_one_the_model_has(request: Request) -> Iterator[Finding]:
    """The thinking budget is within the model's range, and Pro models do not accept 0.

    Fix: keep the ranges in a table; -1 lets the model choose.
    """
    pointer, config = _config(request.body)
    budget = get(config, "thinkingBudget")
    family = next((name for name in BUDGETS if request.model.startswith(name)), "")
    if isinstance(budget, int) and family:
        low, high = BUDGETS[family]
        right = low <= budget <= high or budget == -1 or (budget == 0 and family != "gemini-2.5-pro")
        told = f"The thinking budget {budget} is invalid. Please choose a value between {low} and {high}."
        text = told if budget else "Budget 0 is invalid. This model only works in thinking mode."
        facts = {"text": text, "budget": budget, "low": low, "high": high}
        yield met(pointer) if right else broken(pointer, f"the budget is {budget}", **facts)


@book.rule(
    "THK-017",
    MUST,
    REJECT,
    source=GUIDE,
    refusal=refused("Thinking level is not supported for this model."),
    models=["gemini-2*"],
    examples=[body(ASK, **_thinks(includeThoughts=True))],
    counterexamples=[body(ASK, **_thinks(thinkingLevel="LOW"))],
)
def levels_came_with_gemini_3(request: Request) -> Iterator[Finding]:
    """Before Gemini 3, thinking is set by a budget, not by a level.

    Fix: translate the level to a budget for these models.
    """
    pointer, config = _config(request.body)
    if config:
        told = get(config, "thinkingLevel") is not None
        yield broken(pointer, "a thinking level is set") if told else met(pointer)


@book.rule(
    "THK-018",
    MUST,
    REJECT,
    source=[
        GUIDE,
        "https://ai.google.dev/gemini-api/docs/generate-content/latest-model",
        "https://github.com/dograh-hq/dograh/issues/689 (gemini-3.7-flash)",
        "https://github.com/BerriAI/litellm-docs/pull/1505 (gemini-3.8-flash)",
        "https://github.com/fishjar/kiss-translator/issues/1048 (the words of the Interactions API)",
    ],
    refusal=refused(
        "Thinking level {level} is not supported for this model. Please retry with other thinking level."
    ),
    formerly=[refused("'{level}' is not a supported thinking level for this model.")],
    models=[
        *("gemini-3-pro-preview*", "gemini-3.1-pro*", "gemini-3.7-flash*", "gemini-3.8-flash*"),
        *("gemini-4-argon*", "gemini-4-carbon*", "gemini-4-hydrogen*", "!*-lite*"),
    ],
    examples=[
        body(ASK, named="gemini-3-pro-preview", **_thinks(thinkingLevel="LOW")),
        body(ASK, named="gemini-3.8-flash", **_thinks(thinkingLevel="LOW")),
    ],
    counterexamples=[
        body(ASK, named="gemini-3-pro-preview", **_thinks(thinkingLevel="minimal")),
        body(ASK, named="gemini-3.8-flash", **_thinks(thinkingLevel="MINIMAL")),
    ],
)
def some_think_more_than_a_minimum(request: Request) -> Iterator[Finding]:
    """Pro models, Flash from 3.7 on and Gemini 4 do not have the thinking level `minimal`.

    Fix: send `low`.
    """
    pointer, config = _config(request.body)
    if level := text_of(get(config, "thinkingLevel")).upper():
        wrong = level == "MINIMAL"
        yield broken(pointer, f"the level is {level}", level=level) if wrong else met(pointer)


def _config(request: Json) -> tuple[str, Json]:
    """Returns the thinking configuration with its pointer."""
    outer = get(request, "generationConfig")
    pointer = f"/{key_of(request, 'generationConfig')}/{key_of(outer, 'thinkingConfig')}"
    return pointer, object_of(get(outer, "thinkingConfig"))
