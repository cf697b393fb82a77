"""Output formats and citations, which some models do not support; options: thinking, limits and sampling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....observed.exchange import Json, Request
from ....readers.anthropic import answer_formats, tools
from ....readers.json_access import items_of, object_of
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, book, refused, user
from .._turns import all_blocks
from ..tools._grammar import strict_problem

SUM: Json = {"type": "object", "properties": {"sum": {"type": "number"}}, "additionalProperties": False}


def _format(**schema: Any) -> Json:
    return {"format": {"type": "json_schema", "schema": schema}}


def _document(*, cites: bool) -> Json:
    source = {"type": "text", "media_type": "text/plain", "data": "2 + 3 = 5"}
    return {"type": "document", "source": source, "citations": {"enabled": cites}}


@book.rule(
    "STO-009",
    MUST,
    REJECT,
    source="recorded refusals (claude-opus-4-8, claude-3-5-haiku)",
    refusal=refused("{place}: {reason}"),
    examples=[body(ASK, output_config=_format(**SUM))],
    counterexamples=[
        body(ASK, output_config=_format(type="object", properties={"sum": {"type": "number"}})),
        body(
            ASK,
            output_format={
                "type": "json_schema",
                "schema": {**SUM, "properties": {"sum": {"type": "integer", "minimum": 0}}},
            },
        ),
    ],
)
def answers_are_closed(request: Request) -> Iterator[Finding]:
    """In an output schema, every object sets `additionalProperties: false` and no number has bounds.

    Fix: set `additionalProperties: false`, and write the bounds into the description.
    """
    for place, format in answer_formats(request.body):
        if isinstance(format.get("schema"), dict):
            pointer = f"/{place.replace('.', '/')}/schema"
            reason = strict_problem(format["schema"])
            facts = {"place": f"{place}.schema", "reason": reason}
            yield broken(pointer, reason, **facts) if reason else met(pointer)


@book.rule(
    "REQ-020",
    MUST,
    REJECT,
    source="recorded refusals (claude-3-5-haiku, claude-sonnet-4)",
    refusal=refused("'{model}' does not support output format."),
    models=[
        "claude-3*",
        "claude-sonnet-4-2025*",
        "claude-sonnet-4-0",
        "claude-opus-4-2025*",
        "claude-opus-4-0",
    ],
    examples=[body(ASK, model="claude-3-5-haiku-20241022")],
    counterexamples=[body(ASK, model="claude-3-5-haiku-20241022", output_config=_format(**SUM))],
)
def old_models_have_no_format(request: Request) -> Iterator[Finding]:
    """Structured output requires a model of the 4.5 generation or newer.

    Fix: offer the schema as a tool, and force it by `tool_choice`.
    """
    asked = any(True for _ in answer_formats(request.body))
    yield (
        broken("/model", "this model does not support structured output", model=request.model)
        if asked
        else met("/model")
    )


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusal (claude-3-haiku)",
    refusal=refused("'{model}' does not support citations."),
    models=["claude-3-haiku*"],
    examples=[body(user(_document(cites=False)), model="claude-3-haiku-20240307")],
    counterexamples=[body(user(_document(cites=True)), model="claude-3-haiku-20240307")],
)
def old_models_do_not_cite(request: Request) -> Iterator[Finding]:
    """Citations require a model newer than Claude 3 Haiku.

    Fix: leave `citations` out for these models.
    """
    for pointer, _, block in all_blocks(request.body):
        citations = block.get("citations")
        if block.get("type") == "document" and isinstance(citations, dict):
            asked, place = citations.get("enabled") is True, f"{pointer}/citations"
            yield (
                broken(place, "this model does not support citations", model=request.model)
                if asked
                else met(place)
            )


@book.rule(
    "THK-026",
    MUST,
    REJECT,
    source=["https://github.com/anthropics/claude-code/issues/12914 (claude-3-5-haiku)"],
    refusal=refused("'{model}' does not support thinking."),
    models=["claude-3-haiku*", "claude-3-sonnet*", "claude-3-opus*", "claude-3-5-*"],
    examples=[body(ASK, model="claude-3-5-haiku-20241022", thinking={"type": "disabled"})],
    counterexamples=[
        body(
            ASK,
            model="claude-3-5-haiku-20241022",
            max_tokens=4096,
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
    ],
)
def old_models_do_not_think(request: Request) -> Iterator[Finding]:
    """Thinking requires Claude 3.7 Sonnet or a newer model.

    Fix: leave `thinking` out for these models.
    """
    thinking = request.body.get("thinking")
    asked = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    problem = "this model does not support thinking"
    yield broken("/thinking", problem, model=request.model) if asked else met("/model")


GUIDE = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
THINKING: Json = {"type": "enabled", "budget_tokens": 1024}
SEARCH: Json = {"type": "web_search_20250305", "name": "web_search"}


@book.rule(
    "THK-013",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-python (ThinkingConfigEnabledParam)",
    refusal=refused("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    examples=[body(ASK, max_tokens=2048, thinking=THINKING)],
    counterexamples=[body(ASK, max_tokens=2048, thinking={"type": "enabled", "budget_tokens": 100})],
)
def the_budget_is_enough(request: Request) -> Iterator[Finding]:
    """`budget_tokens` of thinking is at least 1024.

    Fix: raise smaller budgets to 1024, or disable thinking.
    """
    budget = _budget(request)
    if budget is not None:
        place = "/thinking/budget_tokens"
        yield met(place) if budget >= 1024 else broken(place, f"the budget is {budget}")


@book.rule(
    "REQ-014",
    MUST,
    REJECT,
    source=[
        "recorded validation errors",
        "https://github.com/anthropics/anthropic-sdk-python (MessageCreateParams)",
    ],
    refusal=refused("max_tokens: Field required"),
    examples=[body(ASK)],
    counterexamples=[{"model": "claude-sonnet-4-5", "messages": [ASK]}],
)
def a_token_limit_is_set(request: Request) -> Iterator[Finding]:
    """The request sets `max_tokens`.

    Fix: send a default, such as the model's own limit.
    """
    fine = request.body.get("max_tokens") is not None
    yield met("/max_tokens") if fine else broken("", "`max_tokens` is missing")


#: The most tokens that a model answers with.
MOST = {
    "claude-3-haiku": 4096,
    "claude-3-sonnet": 4096,
    "claude-3-opus": 4096,
    "claude-3-5": 8192,
    "claude-opus-4-0": 32000,
    "claude-opus-4-1": 32000,
    "claude-opus-4-2025": 32000,
    "claude-opus-4-5": 64000,
    "claude-sonnet-4-0": 64000,
    "claude-sonnet-4-2025": 64000,
    "claude-sonnet-4-5": 64000,
    "claude-haiku-4-5": 64000,
}


@book.rule(
    "REQ-065",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/24451 (claude-opus-4-5)",
        "https://docs.claude.com/en/docs/about-claude/models/overview",
    ],
    refusal=refused(
        "max_tokens: {given} > {most}, which is the maximum allowed number of output tokens for {model}"
    ),
    models=[f"{name}*" for name in MOST],
    examples=[body(ASK, model="claude-opus-4-5-20251101", max_tokens=64000)],
    counterexamples=[body(ASK, model="claude-opus-4-5-20251101", max_tokens=128001)],
)
def the_token_limit_is_one_the_model_has(request: Request) -> Iterator[Finding]:
    """`max_tokens` is at most the output limit of the model.

    Fix: keep the limits in a table, and lower the number to that of the model.
    """
    limit, model = request.body.get("max_tokens"), request.model
    most = next((most for name, most in MOST.items() if model.startswith(name)), None)
    if isinstance(limit, int) and most and "output-" not in str(request.headers):
        facts = {"given": limit, "most": most, "model": model}
        fine, place = limit <= most, "/max_tokens"
        yield (
            met(place)
            if fine
            else broken(place, f"{limit} tokens are requested, and the limit is {most}", **facts)
        )


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source="recorded refusal (claude-sonnet-4-6)",
    refusal=refused("temperature: range: 0..1"),
    examples=[body(ASK, temperature=1)],
    counterexamples=[body(ASK, temperature=1.5)],
)
def the_temperature_is_in_range(request: Request) -> Iterator[Finding]:
    """`temperature` is between 0 and 1.

    Why: other providers allow up to 2. Fix: check the caller's value before the request, and say that 1 is the highest
    here.
    """
    value = request.body.get("temperature")
    if isinstance(value, int | float):
        place = "/temperature"
        yield met(place) if 0 <= value <= 1 else broken(place, f"the temperature is {value}")


@book.rule(
    "REQ-082",
    MUST,
    REJECT,
    source="https://github.com/anthropics/anthropic-sdk-typescript/issues/484",
    refusal=refused("top_p: range: -1 or 0..1"),
    examples=[body(ASK, top_p=1), body(ASK, top_p=-1)],
    counterexamples=[body(ASK, top_p=1.5)],
)
def the_share_is_in_range(request: Request) -> Iterator[Finding]:
    """`top_p` is between 0 and 1, or -1 for none.

    Fix: check the caller's value before the request.
    """
    value = request.body.get("top_p")
    if isinstance(value, int | float):
        fits = value == -1 or 0 <= value <= 1
        yield met("/top_p") if fits else broken("/top_p", f"`top_p` is {value}")


@book.rule(
    "THK-014",
    MUST,
    REJECT,
    source="recorded refusal (claude-sonnet-4-5)",
    refusal=refused(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
        f"{GUIDE}#max-tokens-and-context-window-size"
    ),
    examples=[body(ASK, max_tokens=2048, thinking=THINKING)],
    counterexamples=[
        body(ASK, max_tokens=1024, thinking=THINKING),
        body(ASK, max_tokens=1024, thinking=THINKING, tools=[SEARCH]),
    ],
)
def the_budget_is_below_the_limit(request: Request) -> Iterator[Finding]:
    """The thinking budget is smaller than `max_tokens`, unless thinking may interleave with client tool calls.

    Requests with client tools are exempt: a header enables interleaving, and recordings seldom keep it. Fix: add the
    budget to the caller's `max_tokens`.
    """
    budget, limit = _budget(request), request.body.get("max_tokens")
    called = any(tool.get("type") in {None, "custom"} for _, tool in tools(request.body))
    if budget is not None and isinstance(limit, int) and not called and not _interleaves(request):
        place, problem = (
            "/max_tokens",
            f"the limit of {limit} tokens leaves nothing beside {budget} of thinking",
        )
        yield met(place) if limit > budget else broken(place, problem)


@book.rule(
    "THK-011",
    MUST,
    REJECT,
    source=[
        "recorded refusal (claude-opus-4-8)",
        "https://github.com/mastra-ai/mastra/issues/7507",
        "adaptive: recorded as accepted (claude-opus-4-6)",
    ],
    refusal=refused("Thinking may not be enabled when tool_choice forces tool use."),
    examples=[body(ASK, max_tokens=2048, thinking=THINKING, tools=[TOOL], tool_choice={"type": "auto"})],
    counterexamples=[
        body(ASK, max_tokens=2048, thinking=THINKING, tools=[TOOL], tool_choice={"type": "any"}),
        body(
            ASK,
            model="claude-opus-4-8",
            thinking={"type": "adaptive"},
            tools=[TOOL],
            tool_choice={"type": "tool", "name": "add"},
        ),
    ],
)
def thinking_is_not_forced_to_call(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `tool_choice` does not force a tool; the 4.6 models allow it with adaptive thinking.

    Fix: send `auto`, or disable thinking for this request.
    """
    thinking, choice = request.body.get("thinking"), request.body.get("tool_choice")
    kinds = (
        {"enabled"} if re.match(r"claude-(opus|sonnet|haiku)-4-6", request.model) else {"enabled", "adaptive"}
    )
    if isinstance(thinking, dict) and thinking.get("type") in kinds:
        forced = isinstance(choice, dict) and choice.get("type") in {"any", "tool"}
        yield (
            broken("/tool_choice", "a call is forced while thinking is enabled")
            if forced
            else met("/thinking")
        )


@book.rule(
    "THK-012",
    MUST,
    REJECT,
    source="https://github.com/MartialBE/one-hub/issues/529",
    refusal=refused(
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our "
        f"documentation at {GUIDE}#important-considerations"
    ),
    formerly=[
        refused(
            "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at "
            f"{GUIDE}#important-considerations-when-using-extended-thinking"
        )
    ],
    examples=[body(ASK, max_tokens=2048, thinking=THINKING, temperature=1.0)],
    counterexamples=[
        body(ASK, max_tokens=2048, thinking=THINKING, temperature=0),
        body(ASK, model="claude-sonnet-4-6", thinking={"type": "adaptive"}, temperature=0),
    ],
)
def thinking_has_one_temperature(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `temperature` is 1 or not set.

    Fix: leave `temperature` out while thinking is enabled.
    """
    value = request.body.get("temperature")
    if _thinks(request) and isinstance(value, int | float):
        yield met("/temperature") if value == 1 else broken("/temperature", f"the temperature is {value}")


@book.rule(
    "THK-019",
    MUST,
    REJECT,
    source=GUIDE,
    refusal=refused("`{key}` must be {wanted} when thinking is enabled or in adaptive mode"),
    formerly=[refused("`{key}` must be {wanted} when thinking is enabled")],
    examples=[body(ASK, max_tokens=2048, thinking=THINKING, top_p=0.95)],
    counterexamples=[
        body(ASK, max_tokens=2048, thinking=THINKING, top_p=0.9),
        body(ASK, max_tokens=2048, thinking=THINKING, top_k=5),
    ],
)
def thinking_is_hardly_sampled(request: Request) -> Iterator[Finding]:
    """With thinking enabled, `top_p` is at least 0.95 and `top_k` is not set.

    Fix: leave `top_p` and `top_k` out while thinking is enabled.
    """
    limits = {"top_p": (0.95, "greater than or equal to 0.95 or unset"), "top_k": (float("inf"), "unset")}
    for key, (least, wanted) in limits.items() if _thinks(request) else ():
        value, place = request.body.get(key), f"/{key}"
        if isinstance(value, int | float):
            facts = {"key": key, "wanted": wanted}
            yield met(place) if value >= least else broken(place, f"`{key}` is {value}", **facts)


@book.rule(
    "REQ-029",
    MUST,
    REJECT,
    source="https://github.com/BerriAI/litellm/issues/3286",
    refusal=refused("stop_sequences: each stop sequence must contain non-whitespace"),
    examples=[body(ASK, stop_sequences=["END"])],
    counterexamples=[body(ASK, stop_sequences=["\n\n"]), body(ASK, stop_sequences=["END", ""])],
)
def stop_sequences_can_be_seen(request: Request) -> Iterator[Finding]:
    """A stop sequence has at least one character that is not white space.

    Fix: leave blank stop sequences out.
    """
    for index, sequence in enumerate(items_of(request.body.get("stop_sequences"))):
        if isinstance(sequence, str):
            place = f"/stop_sequences/{index}"
            yield met(place) if sequence.strip() else broken(place, f"{sequence!r} is blank")


def _thinks(request: Request) -> bool:
    return object_of(request.body.get("thinking")).get("type") in {"enabled", "adaptive"}


def _interleaves(request: Request) -> bool:
    return any("interleaved-thinking" in value for value in request.headers.values())


def _budget(request: Request) -> int | None:
    thinking = object_of(request.body.get("thinking"))
    budget = thinking.get("budget_tokens") if thinking.get("type") == "enabled" else None
    return budget if isinstance(budget, int) else None
