"""All other shape errors: constraints in the service's words, and invalid JSON in the words of its clients."""

from __future__ import annotations

from collections.abc import Mapping

from ...exchange import Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import FaultKind, Wording, enter, types_of
from ._rulebook import (
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

_PYTHON = {
    "string": "<class 'str'>",
    "boolean": "<class 'bool'>",
    "integer": "<class 'int'>",
    "number": "<class 'float'>, <class 'decimal.Decimal'>, <class 'int'>",
    "array": "<class 'list'>, <class 'tuple'>",
    "object": "<class 'dict'>",
}
_CLASSES = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "list",
    dict: "dict",
    type(None): "NoneType",
}
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
        case FaultKind.UNKNOWN_FIELD:
            place = _place(fault.pointer.rpartition("/")[0])
            return {"text": f'Unknown parameter in {place or "input"}: "{fault.key}"'}
    found = _CLASSES[type(fault.value)]
    valid = ", ".join(_PYTHON[name] for name in types_of(fault.expected) if name in _PYTHON)
    name = _place(fault.pointer)
    text = f"Invalid type for parameter {name}, value: {fault.value}, type: <class '{found}'>, valid types: {valid}"
    return {"text": text}


def _unfit(pointer: str, must: str, value: object) -> Mapping[str, str]:
    return unfit(pointer, "", must, value).facts


def _place(pointer: str) -> str:
    """Returns `messages[0].content` for `/messages/0/content`, in botocore's notation."""
    steps = pointer.strip("/").split("/")
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps).strip(".")


CLIENT = refused("Parameter validation failed:\n{text}")
REFUSALS: Mapping[FaultKind, Refusal] = {
    **dict.fromkeys(FaultKind, CONSTRAINT),
    FaultKind.UNKNOWN_FIELD: CLIENT,
    FaultKind.WRONG_TYPE: CLIENT,
}

enter(
    book,
    Wording(
        "bedrock",
        say,
        REFUSALS,
        "https://github.com/boto/botocore (service model, validate.py)",
        loop(result("a"), IMAGE, inferenceConfig={"maxTokens": 5, "temperature": 0.5}),
        {
            FaultKind.UNKNOWN_FIELD: [body(ASK, inferenceConfig={"bogus": 1}), body(user({"bogus": {}}))],
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
    ),
)
