"""Output formats and citations, which some models do not support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....exchange import Json, Request
from ....rule import Finding, broken, met
from .._rulebook import ASK, MUST, REJECT, body, book, refused, user
from .._turns import all_blocks
from ..tools._grammar import strict_problem
from ._answer_formats import answer_formats

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
    """Structured output requires a model of the 4.5 generation or newer."""
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
    """Citations require a model newer than Claude 3 Haiku."""
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
    """Thinking requires Claude 3.7 Sonnet or a newer model."""
    thinking = request.body.get("thinking")
    asked = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    problem = "this model does not support thinking"
    yield broken("/thinking", problem, model=request.model) if asked else met("/model")
