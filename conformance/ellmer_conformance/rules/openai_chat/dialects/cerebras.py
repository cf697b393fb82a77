"""Cerebras: OpenAI's fields, and no object around them."""

from __future__ import annotations

from collections.abc import Mapping

from ....exchange import Request
from ....rule import Refusal
from ....shapes import Fault
from ..._shapes import UNRECORDED, FaultKind, Wording, enter, problem
from .._book import ASK, TOOL, body, call, result
from . import compact, elsewhere


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Cerebras has OpenAI's fields, and no object around them (recorded)."""
    fields = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    return compact(fields)


cerebras = elsewhere("cerebras", envelope=_bare)


def _place(fault: Fault) -> str:
    """`messages.2.assistant.reasoning_content`; what is at the top is of the `body`."""
    steps = [str(step) for step in fault.located(unnamed={"function", "text", "image_url"})]
    return ".".join([*(["body"] if len(steps) < 2 else []), *steps])


def _say(fault: Fault, _: Request) -> Mapping[str, str]:
    place = _place(fault)
    if fault.kind is FaultKind.UNKNOWN_FIELD:
        return {"text": f"{place}: property '{place}' is unsupported"}
    return {"text": f"{place}: {problem(fault)}{UNRECORDED}"}


enter(
    cerebras,
    Wording(
        "cerebras",
        _say,
        dict.fromkeys(
            FaultKind,
            Refusal(
                "{text}", type="invalid_request_error", param="validation_error", code="wrong_api_format"
            ),
        ),
        "https://github.com/Alishahryar1/free-claude-code/issues/1136, https://github.com/anomalyco/opencode/issues/6648",
        body(ASK, call("a"), result("a"), tools=[TOOL]),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, store=True),
                body(ASK, {"role": "assistant", "content": "5", "reasoning_content": "2 + 3 …"}, ASK),
            ],
            FaultKind.MISSING_FIELD: [{"model": "gpt-oss-120b"}],
            FaultKind.WRONG_TYPE: [{"model": "gpt-oss-120b", "messages": "x"}],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, reasoning_effort="bogus")],
        },
    ),
)
