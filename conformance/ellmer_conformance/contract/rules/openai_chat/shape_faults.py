"""All shape errors that no other rule reports with its own text."""

from __future__ import annotations

from .._openai.refusals import REFUSALS, say
from .._shape_faults import FaultKind, Wording, enter
from ._refusals_and_examples import ASK, AZURE_KEYS, IMAGE, TOOL, body, book, call, result

_PART = {"type": "text", "text": "Hi"}

enter(
    book,
    Wording(
        "openai-chat",
        say,
        REFUSALS,
        body(
            ASK, call("a"), result("a"), {"role": "user", "content": [_PART, IMAGE]}, tools=[TOOL], stop=["."]
        ),
        {
            FaultKind.UNKNOWN_FIELD: [
                body({"role": "user", "content": [{**_PART, "id": "a"}]}),
                body(ASK, response_format={"type": "text", "bogus": 1}),
            ],
            FaultKind.MISSING_FIELD: [
                body({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}),
                body(ASK, response_format={"type": "json_schema", "json_schema": {}}),
            ],
            FaultKind.WRONG_TYPE: [
                body(ASK, tools=["x"]),
                body(ASK, model=4),
                body(ASK, stop=5),
                body(ASK, tools=[{"type": "function", "function": {**TOOL["function"], "description": 5}}]),
            ],
            FaultKind.WRONG_VARIANT: [body({"role": "user", "content": [{"type": "bogus"}]})],
            FaultKind.UNKNOWN_VALUE: [
                body(ASK, verbosity="loud", model="gpt-5-mini"),
                body(ASK, service_tier="bogus"),
            ],
            FaultKind.OUT_OF_RANGE: [body(ASK, tools=[TOOL], frequency_penalty=5)],
        },
        differing=frozenset(("azure", key) for key in AZURE_KEYS),
        undecided=[body({"role": "user", "content": [{**_PART, "bogus": 1}]})],
    ),
)
