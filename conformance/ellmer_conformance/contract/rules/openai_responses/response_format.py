"""The format of the answer: JSON, and strict schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...exchange import Json, Request
from ...readers import openai_responses as wire
from ...rule import Finding, broken, met
from .._openai.refusals import refused
from .._openai.schemas import CLOSED, OPEN, ROOTS, STRICT, one_property, strict_findings
from ._rulebook import ASK, MUST, REJECT, body, book

OLD = ["gpt-3.5*", "gpt-4", "gpt-4-*"]


def _text(schema: Json, **more: Any) -> Json:
    return {"format": {"type": "json_schema", "name": "sum", "schema": schema, **more}}


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4o-mini)", ROOTS, *STRICT],
    refusal=refused(
        "Invalid schema for response_format '{name}': {reason}",
        code="invalid_json_schema",
        param="text.format.schema",
    ),
    examples=[body(ASK, text=_text(CLOSED, strict=True)), body(ASK, text=_text(OPEN, strict=False))],
    counterexamples=[
        body(ASK, text=_text(OPEN, strict=True)),
        body(ASK, text=_text({"type": "array", "items": {"type": "string"}}, strict=True)),
        body(ASK, text=_text(one_property({"$ref": "#", "description": "A sum."}), strict=True)),
    ],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, the root is an object, and every object sets `additionalProperties: false` and
    requires all its properties.

    A `$ref` has no description, default or title beside it, and no string has the format `uri`.
    """
    format = wire.format_of(request.body)
    if format.get("type") == "json_schema" and format.get("strict") is True:
        yield from strict_findings(format.get("name"), format.get("schema"), "/text/format/schema")


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4-turbo)",
    refusal=refused(
        "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `{model}`.",
        param="text.format",
    ),
    models=OLD,
    examples=[body(ASK, model="gpt-4-turbo")],
    counterexamples=[body(ASK, model="gpt-4-turbo", text=_text(CLOSED, strict=True))],
)
def old_models_have_no_schema(request: Request) -> Iterator[Finding]:
    """Models before gpt-4o do not support `json_schema`."""
    asked = wire.format_of(request.body).get("type") == "json_schema"
    problem = "this model does not support `json_schema`"
    yield broken("/text/format", problem, model=request.model) if asked else met("/model")


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o)",
    refusal=refused(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
        param="input",
    ),
    examples=[
        body({"role": "user", "content": "Answer in JSON."}, text={"format": {"type": "json_object"}}),
        body(ASK, previous_response_id="resp_1", text={"format": {"type": "json_object"}}),
    ],
    counterexamples=[body(ASK, instructions="Answer in JSON.", text={"format": {"type": "json_object"}})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the input contains the word "json"; the instructions do not count."""
    if wire.format_of(request.body).get("type") == "json_object":
        more = any(request.body.get(key) for key in ("previous_response_id", "conversation", "prompt"))
        said = any("json" in item.text.lower() for item in wire.read(request) if item.turn >= 0)
        yield met("/text/format") if said or more else broken("/input", 'the input has no word "json"')
