"""All other shape errors. Constraints have the service's words. Its words for a value of another type are on record only
for documents (PAIR-009, SCH-001). What clients such as botocore say before they send a request is no answer of the API.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...observed.exchange import Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import UNRECORDED, FaultKind, Wording, enter, problem
from ._refusals_and_examples import (
    ASK,
    CONSTRAINT,
    IMAGE,
    TOOLS,
    assistant,
    body,
    book,
    loop,
    refused,
    result,
    spec,
    unfit,
    use,
    user,
)

_MUST = {
    "minimum": "have value greater than or equal to {}",
    "maximum": "have value less than or equal to {}",
    "minLength": "have length greater than or equal to {}",
    "maxLength": "have length less than or equal to {}",
    "minItems": "have length greater than or equal to {}",
    "maxItems": "have length less than or equal to {}",
    "pattern": "satisfy regular expression pattern: {}",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the facts of a constraint, or the whole sentence."""
    match fault.kind:
        case FaultKind.MISSING_FIELD:
            return _unfit(f"{fault.pointer}/{fault.key}", "not be null", None)
        case FaultKind.UNKNOWN_VALUE | FaultKind.WRONG_VARIANT:
            return _unfit(
                fault.pointer, f"satisfy enum value set: [{', '.join(fault.expected)}]", fault.value
            )
        case FaultKind.OUT_OF_RANGE:
            return _unfit(fault.pointer, _MUST[fault.bound].format(fault.expected), fault.value)
    return {"text": f"{fault.pointer}: {problem(fault)}{UNRECORDED}"}


def _unfit(pointer: str, must: str, value: object) -> Mapping[str, str]:
    return unfit(pointer, "", must, value).facts


REFUSALS: Mapping[FaultKind, Refusal] = {
    **dict.fromkeys(FaultKind, CONSTRAINT),
    FaultKind.WRONG_TYPE: refused("{text}"),
}

enter(
    book,
    Wording(
        "bedrock",
        say,
        REFUSALS,
        loop(result("a"), IMAGE, inferenceConfig={"maxTokens": 5, "temperature": 0.5}),
        {
            FaultKind.MISSING_FIELD: [body(ASK, toolConfig={})],
            FaultKind.WRONG_TYPE: [
                {"messages": "x"},
                body(ASK, system="Be brief."),
                body(ASK, inferenceConfig={"maxTokens": "many"}),
                body(ASK, assistant(use("a", name=5)), user(result("a")), toolConfig=TOOLS),
            ],
            FaultKind.UNKNOWN_VALUE: [
                body(ASK, assistant(use("a")), user(result("a", status="bogus")), toolConfig=TOOLS)
            ],
            FaultKind.OUT_OF_RANGE: [body(ASK, toolConfig=spec(description=""))],
        },
        ignored=frozenset({"model"}),
        undecided=[body(ASK, inferenceConfig={"bogus": 1}), body(user({"bogus": {}}))],
    ),
)
