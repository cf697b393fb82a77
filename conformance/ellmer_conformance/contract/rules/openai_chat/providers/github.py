"""GitHub Models: OpenAI's models, with error texts that suggest the intended field."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....rule import Finding, broken, met
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, MUST, REJECT, body
from ._elsewhere import elsewhere

github = elsewhere("github")


@github.rule(
    "STO-011",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4.1-mini)",
    refusal=refused(
        "Missing required parameter: 'response_format.json_schema.schema'. "
        "You provided '$schema', did you mean to provide 'schema'?",
        code="missing_required_parameter",
        param="response_format.json_schema.schema",
    ),
    examples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {"name": "sum", "schema": {}}})
    ],
    counterexamples=[
        body(ASK, response_format={"type": "json_schema", "json_schema": {"name": "sum", "$schema": "…"}})
    ],
)
def the_schema_is_inside(request: Request) -> Iterator[Finding]:
    """The schema of a response format is in `json_schema.schema`, not in `json_schema` itself.

    Fix: write `"json_schema": {"name": …, "schema": …}`.
    """
    schema = object_of(object_of(request.body.get("response_format")).get("json_schema"))
    if schema:
        wrong = "$schema" in schema and "schema" not in schema
        yield (
            broken("/response_format/json_schema", "the schema is directly in `json_schema`")
            if wrong
            else met("/response_format")
        )
