"""Groq's error texts for bodies of the wrong shape."""

from __future__ import annotations

from collections.abc import Mapping

from .....exchange import Request
from .....shapes import Fault
from ...._shape_faults import UNRECORDED, FaultKind, Wording, enter, problem, types_of
from ..._rulebook import ASK, TOOL, body, call, result
from ._rulebook import groq, refused


def _say(fault: Fault, request: Request) -> Mapping[str, str]:
    """Returns a sentence about a place. An error in a message names its role."""
    place = ".".join(str(step) for step in fault.path)
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            text = f"property '{fault.key}' is unsupported"
            place = place.rpartition(".")[0]
        case FaultKind.MISSING_FIELD:
            text, place = f"property '{fault.key}' is missing", f"{place}.{fault.key}".strip(".")
        case FaultKind.WRONG_TYPE:
            text = f"value must be {_kinds(fault)}"
        case _:
            text = f"{problem(fault)}{UNRECORDED}"
    said = f"'{place}' : {text}" if place else text
    if len(fault.path) > 2 and fault.path[0] == "messages" and isinstance(fault.path[1], int):
        index, role = fault.path[1], request.body["messages"][fault.path[1]].get("role")
        said = f"'messages.{index}' : for 'role:{role}' the following must be satisfied[({said})]"
    return {"text": said}


def _kinds(fault: Fault) -> str:
    return " or ".join(f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in types_of(fault.expected))


enter(
    groq,
    Wording(
        "groq",
        _say,
        dict.fromkeys(FaultKind, refused("{text}")),
        body(ASK, call("a"), result("a"), tools=[TOOL]),
        {
            FaultKind.UNKNOWN_FIELD: [body(ASK, store_all=True), body({**ASK, "timestamp": 5})],
            FaultKind.MISSING_FIELD: [body({"role": "user"})],
            FaultKind.WRONG_TYPE: [body(ASK, temperature="hot"), body({"role": "user", "content": 5})],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, reasoning_effort="bogus")],
        },
    ),
)
