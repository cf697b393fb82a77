"""All shape errors that no other rule reports with its own text."""

from __future__ import annotations

from .._openai.refusals import REFUSALS, say
from .._shape_faults import FaultKind, Wording, enter
from ._refusals_and_examples import ASK, IMAGE, TOOL, body, book, call, output

_PART = {"type": "input_text", "text": "Hi"}

enter(
    book,
    Wording(
        "openai-responses",
        say,
        REFUSALS,
        body(
            ASK,
            call("a"),
            output("a"),
            {"role": "user", "content": [_PART, IMAGE]},
            tools=[TOOL],
            store=False,
        ),
        {
            FaultKind.UNKNOWN_FIELD: [
                body({"role": "user", "content": [{**_PART, "bogus": 1}]}),
                body(ASK, reasoning={"bogus": 1}),
            ],
            FaultKind.MISSING_FIELD: [
                body(ASK, text={"format": {"type": "json_schema", "name": "x"}}),
                body({"role": "user", "content": [{"type": "input_text"}]}),
            ],
            FaultKind.WRONG_TYPE: [
                {"model": "gpt-4.1-mini", "input": 3},
                body(ASK, instructions=5),
                body(ASK, tools=["x"]),
            ],
            FaultKind.WRONG_VARIANT: [body(ASK, tools=[{"type": "bogus"}]), body(ASK, {"type": "bogus"})],
            FaultKind.UNKNOWN_VALUE: [
                body(ASK, reasoning={"effort": "bogus"}),
                body(ASK, truncation="bogus"),
            ],
            FaultKind.OUT_OF_RANGE: [body(ASK, output("x" * 65))],
        },
        undecided=[body(ASK, tools=[{**TOOL, "bogus": 1}])],
    ),
)
