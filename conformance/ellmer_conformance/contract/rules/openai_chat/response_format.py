"""The format of the answer: JSON, and strict schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.json_access import object_of
from ...rule import Finding, broken, met
from .._openai.refusals import refused
from .._openai.schemas import CLOSED, OPEN, ROOTS, STRICT, one_property, strict_findings
from ._rulebook import ASK, MUST, REJECT, body, book

GUIDE = (
    " Learn more about supported models at the Structured Outputs guide: "
    "https://platform.openai.com/docs/guides/structured-outputs"
)


def _format(schema: Json, *, strict: bool = True) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "sum", "schema": schema, "strict": strict}}


@book.rule(
    "STO-008",
    MUST,
    REJECT,
    source=["recorded refusal (gpt-4o-mini)", ROOTS, *STRICT],
    refusal=refused("Invalid schema for response_format '{name}': {reason}", param="response_format"),
    examples=[
        body(ASK, response_format=_format(CLOSED)),
        body(ASK, response_format=_format(OPEN, strict=False)),
    ],
    counterexamples=[
        body(ASK, response_format=_format(OPEN)),
        body(ASK, response_format=_format({"type": "array", "items": {"type": "string"}})),
        body(ASK, response_format=_format(one_property({"type": "string", "format": "uri"}))),
        body(ASK, response_format=_format(one_property({"$ref": "#", "description": "A sum."}))),
    ],
)
def strict_answers_are_closed(request: Request) -> Iterator[Finding]:
    """In a strict response format, the root is an object, and every object sets `additionalProperties: false` and
    requires all its properties.

    A `$ref` has no description, default or title beside it, and no string has the format `uri`.
    """
    format = request.body.get("response_format")
    schema = format.get("json_schema") if isinstance(format, dict) else None
    if isinstance(schema, dict) and schema.get("strict") is True:
        place = "/response_format/json_schema/schema"
        yield from strict_findings(schema.get("name"), schema.get("schema"), place)


@book.rule(
    "STO-001",
    MUST,
    REJECT,
    source="recorded refusals",
    refusal=refused(
        "Invalid parameter: 'response_format' of type '{type}' is not supported with this model.{more}",
        param="{param}",
    ),
    models=["gpt-audio*", "gpt-3.5*", "gpt-4", "gpt-4-*"],
    examples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"]),
        body(
            {"role": "user", "content": "JSON"}, model="gpt-4-turbo", response_format={"type": "json_object"}
        ),
    ],
    counterexamples=[
        body(ASK, model="gpt-audio", modalities=["text", "audio"], response_format={"type": "json_object"}),
        body(ASK, model="gpt-4-turbo", response_format=_format(CLOSED)),
    ],
)
def some_models_have_no_format(request: Request) -> Iterator[Finding]:
    """Audio models have no structured output, models before GPT-4o no `json_schema`, and the first GPT-4 no
    `json_object`."""
    kind = object_of(request.body.get("response_format")).get("type")
    model, schema = request.model, kind == "json_schema"
    unknown = schema or (
        kind == "json_object"
        and (model.startswith("gpt-audio") or model in {"gpt-4", "gpt-4-0613", "gpt-4-0314"})
    )
    if not unknown:
        yield met("/response_format")
        return
    facts = {"type": kind, "more": GUIDE if schema else "", "param": None if schema else "response_format"}
    yield broken("/response_format", f"this model does not do {kind}", **facts)


@book.rule(
    "STO-007",
    MUST,
    REJECT,
    source=[
        "https://github.com/ultimatejimmy/xray.koplugin/issues/33 (gpt-4o)",
        "https://github.com/StefanBratanov/jvm-openai/issues/15",
        "the Responses API refuses the same, recorded",
    ],
    refusal=refused(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        param="messages",
    ),
    examples=[body({"role": "user", "content": "Answer in JSON."}, response_format={"type": "json_object"})],
    counterexamples=[body(ASK, response_format={"type": "json_object"})],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the messages contain the word "json"."""
    if object_of(request.body.get("response_format")).get("type") == "json_object":
        said = "json" in json.dumps(request.body.get("messages")).lower()
        yield met("/response_format") if said else broken("/messages", 'no message has the word "json"')
