"""Thinking and effort: the modes and levels of each generation of models."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Json, Request
from ....readers.json_access import object_of
from ....rule import Finding, broken, met
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body, book, refused

#: Before effort and adaptive thinking.
BUDGETED = [
    *("claude-3*", "claude-opus-4-0", "claude-opus-4-1*", "claude-opus-4-2025*"),
    *("claude-sonnet-4-0", "claude-sonnet-4-2025*", "claude-sonnet-4-5*", "claude-haiku-4-5*"),
]
#: After budgets.
ADAPTIVE = ["claude>=4.7"]
#: They think whatever is asked of them.
ALWAYS = ["claude-fable>=5", "claude-mythos>=5", "claude-opus>=5.5", "claude-sonnet>=5.5"]
UNFORCED = ["claude-fable>=5.1", "claude-mythos>=5.1", "claude-opus>=5.5", "claude-sonnet>=5.5"]
USE = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
BETWEEN: Json = {"type": "between_tools"}
BUDGET: Json = {"type": "enabled", "budget_tokens": 1024}


@book.rule(
    "THK-015",
    MUST,
    REJECT,
    source=[
        "https://github.com/handochan/aelix-ai/issues/258",
        "https://github.com/Sylinko/Everywhere/issues/410",
    ],
    refusal=refused(f'"thinking.type.enabled" is not supported for this model. {USE}'),
    models=ADAPTIVE,
    examples=[body(ASK, model="claude-opus-4-8", thinking={"type": "adaptive"})],
    counterexamples=[body(ASK, model="claude-opus-4-8", max_tokens=2048, thinking=BUDGET)],
)
def newer_models_have_no_budget(request: Request) -> Iterator[Finding]:
    """From Opus 4.7 on, thinking is `adaptive` without a budget; the effort controls it.

    Fix: send `thinking: {"type": "adaptive"}`, and the effort in `output_config`.
    """
    if kind := _thinking(request):
        wrong = kind == "enabled"
        yield broken("/thinking/type", "thinking has a budget") if wrong else met("/thinking")


@book.rule(
    "THK-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/docker/docker-agent/issues/3362",
        "https://github.com/pensarai/apex/pull/890",
    ],
    refusal=refused("adaptive thinking is not supported on this model"),
    models=[*BUDGETED, "claude-opus-4-5*"],
    examples=[body(ASK, max_tokens=2048, thinking=BUDGET)],
    counterexamples=[body(ASK, thinking={"type": "adaptive"})],
)
def older_models_do_not_adapt(request: Request) -> Iterator[Finding]:
    """Before the 4.6 models, thinking is `enabled` with a budget, not `adaptive`.

    Fix: send `thinking: {"type": "enabled", "budget_tokens": …}`.
    """
    if kind := _thinking(request):
        yield broken("/thinking/type", "thinking is adaptive") if kind == "adaptive" else met("/thinking")


@book.rule(
    "THK-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/stdapi-ai/stdapi.ai/issues/284",
        "https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5",
    ],
    refusal=refused(f'"thinking.type.disabled" is not supported for this model. {USE}'),
    models=ALWAYS,
    examples=[body(ASK, model="claude-fable-5", thinking={"type": "adaptive"})],
    counterexamples=[body(ASK, model="claude-fable-5", thinking={"type": "disabled"})],
)
def some_models_always_think(request: Request) -> Iterator[Finding]:
    """Thinking cannot be disabled on Fable, Mythos, and Opus and Sonnet from 5.5 on.

    Fix: leave `thinking` out, and set a low effort instead.
    """
    if kind := _thinking(request):
        yield broken("/thinking/type", "thinking is disabled") if kind == "disabled" else met("/thinking")


@book.rule(
    "THK-018",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/76689",
        "https://platform.claude.com/docs/en/models/opus-5/migration-guide",
        "https://github.com/vercel/ai/blob/main/packages/anthropic/CHANGELOG.md (claude-haiku-5-5)",
    ],
    refusal=refused(
        "output_config.effort '{effort}' is not supported when thinking is disabled on this model. "
        "Use effort 'high' or below, or enable thinking."
    ),
    models=["claude-opus-5*", "claude-haiku-5-5*"],
    examples=[
        body(ASK, model="claude-opus-5", output_config={"effort": "high"}, thinking={"type": "disabled"}),
        body(ASK, model="claude-opus-5", output_config={"effort": "max"}),
    ],
    counterexamples=[
        body(ASK, model="claude-opus-5", output_config={"effort": "max"}, thinking={"type": "disabled"})
    ],
)
def great_effort_takes_thought(request: Request) -> Iterator[Finding]:
    """With thinking disabled, the effort is at most `high`.

    Fix: lower the effort to `high`, or leave thinking on.
    """
    if effort := _effort(request):
        wrong = effort in {"xhigh", "max"} and _thinking(request) == "disabled"
        place = "/output_config/effort"
        yield broken(place, "thinking is disabled", effort=effort) if wrong else met(place)


@book.rule(
    "THK-032",
    MUST,
    REJECT,
    source="https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5",
    refusal=refused(
        "output_config.effort '{effort}' is not supported with thinking.type 'between_tools' on this model. "
        "Use effort 'high' or below, or thinking.type 'adaptive'."
    ),
    models=["claude-sonnet-5-5*"],
    examples=[
        body(ASK, model="claude-sonnet-5-5", output_config={"effort": "high"}, thinking=BETWEEN),
        body(ASK, model="claude-sonnet-5-5", output_config={"effort": "max"}),
    ],
    counterexamples=[
        body(ASK, model="claude-sonnet-5-5", output_config={"effort": "xhigh"}, thinking=BETWEEN)
    ],
)
def great_effort_thinks_first(request: Request) -> Iterator[Finding]:
    """With thinking only between tools, the effort is at most `high`.

    The documentation says that the API answers 400. It does not quote the error, so the server uses the text for
    `disabled`. Fix: lower the effort to `high`, or let the model think before its answer, too.
    """
    if effort := _effort(request):
        wrong = effort in {"xhigh", "max"} and _thinking(request) == "between_tools"
        place = "/output_config/effort"
        yield broken(place, "the model thinks between tools only", effort=effort) if wrong else met(place)


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="recorded refusal (claude-opus-4-6)",
    refusal=refused("This model does not support effort level '{effort}'. Supported levels: {levels}."),
    models=["claude-opus-4-5*", "claude-opus-4-6*", "claude-sonnet-4-6*"],
    examples=[body(ASK, model="claude-opus-4-6", output_config={"effort": "max"})],
    counterexamples=[
        body(ASK, model="claude-opus-4-6", output_config={"effort": "xhigh"}),
        body(ASK, model="claude-opus-4-5", output_config={"effort": "max"}),
    ],
)
def the_effort_is_known(request: Request) -> Iterator[Finding]:
    """The effort is one of the levels that the model supports.

    Fix: send a level that the error lists, and keep a table of them for each model.
    """
    if effort := _effort(request):
        first = request.model.startswith("claude-opus-4-5")
        place, levels = "/output_config/effort", ["high", "low", *([] if first else ["max"]), "medium"]
        facts = {"effort": effort, "levels": ", ".join(levels)}
        yield (
            met(place)
            if effort in levels
            else broken(place, f"this model does not support the effort {effort!r}", **facts)
        )


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source=[
        "https://github.com/Oaklight/llm-rosetta/pull/289",
        "https://platform.claude.com/docs/en/build-with-claude/effort",
    ],
    refusal=refused("This model does not support the effort parameter."),
    models=BUDGETED,
    examples=[body(ASK, output_config={})],
    counterexamples=[body(ASK, model="claude-haiku-4-5", output_config={"effort": "low"})],
)
def older_models_know_no_effort(request: Request) -> Iterator[Finding]:
    """An effort requires Opus 4.5, Sonnet 4.6 or a newer model.

    Fix: leave the effort out for these models, and set a thinking budget instead.
    """
    if isinstance(request.body.get("output_config"), dict):
        place = "/output_config"
        yield broken(place, "this model does not support an effort") if _effort(request) else met(place)


@book.rule(
    "REQ-028",
    MUST,
    REJECT,
    source=[
        "https://github.com/stdapi-ai/stdapi.ai/issues/284",
        "https://github.com/browserbase/stagehand/pull/2221 (June 2026, Fable 5)",
    ],
    refusal=refused('tool_choice: type "tool" and "any" are not supported for this model.'),
    formerly=[refused("tool_choice forces tool use is not compatible with this model")],
    models=UNFORCED,
    examples=[body(ASK, model="claude-opus-5-5", tools=[TOOL], tool_choice={"type": "auto"})],
    counterexamples=[body(ASK, model="claude-opus-5-5", tools=[TOOL], tool_choice={"type": "any"})],
)
def newest_models_are_not_forced(request: Request) -> Iterator[Finding]:
    """From Fable 5.1 and Opus 5.5 on, `tool_choice` does not force a tool.

    Fix: ask for the call in the prompt, or use structured output.
    """
    if choice := object_of(request.body.get("tool_choice")).get("type"):
        forced = choice in {"any", "tool"}
        yield broken("/tool_choice/type", "`tool_choice` forces a call") if forced else met("/tool_choice")


def _thinking(request: Request) -> object:
    return object_of(request.body.get("thinking")).get("type")


def _effort(request: Request) -> object:
    effort = object_of(request.body.get("output_config")).get("effort")
    return effort if isinstance(effort, str) else None
