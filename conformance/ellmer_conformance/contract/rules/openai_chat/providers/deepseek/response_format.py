"""The format of the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .....exchange import Json, Request
from .....readers.json_access import object_of
from .....rule import Finding, broken, met
from ..._rulebook import ASK, MUST, REJECT, body
from ._refusals import refused
from ._rulebook import deepseek

JSON: Json = {"role": "user", "content": "Answer in JSON."}


@deepseek.rule(
    "STO-001",
    MUST,
    REJECT,
    source=[
        "https://github.com/ItzCrazyKns/Vane/issues/969",
        "https://github.com/llm-exe/llm-exe/issues/662",
    ],
    refusal=refused("This response_format type is unavailable now"),
    examples=[body(JSON, response_format={"type": "json_object"}, model="deepseek-chat")],
    counterexamples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {}}, model="deepseek-chat")
    ],
)
def answers_have_no_schema(request: Request) -> Iterator[Finding]:
    """The response format is `text` or `json_object`.

    Fix: put the schema into the prompt, or into a tool.
    """
    kind, place = object_of(request.body.get("response_format")).get("type"), "/response_format"
    if kind is not None:
        yield broken(place, "there is no json_schema here") if kind == "json_schema" else met(place)


@deepseek.rule(
    "STO-007",
    MUST,
    REJECT,
    source="https://github.com/browserbase/stagehand/issues/1204",
    refusal=refused(
        "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
    ),
    examples=[body(JSON, response_format={"type": "json_object"}, model="deepseek-chat")],
    counterexamples=[body(ASK, response_format={"type": "json_object"}, model="deepseek-chat")],
)
def json_mode_is_asked_for(request: Request) -> Iterator[Finding]:
    """If the response format is `json_object`, the messages contain the word "json"."""
    if object_of(request.body.get("response_format")).get("type") == "json_object":
        said = "json" in json.dumps(request.body.get("messages")).lower()
        yield met("/response_format") if said else broken("/messages", 'no message has the word "json"')
