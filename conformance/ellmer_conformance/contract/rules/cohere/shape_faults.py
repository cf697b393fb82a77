"""All other shape errors: unknown fields and wrong types, in Cohere's words."""

from __future__ import annotations

from collections.abc import Mapping

from ...exchange import Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import UNRECORDED, FaultKind, Wording, enter, kind_of, problem, types_of
from ._rulebook import ASK, SCHEMA, TOOL, body, book, refused

_SEE = "For proper usage, please refer to https://docs.cohere.com/reference/chat"
_GO = {"integer": "int32", "number": "float64", "boolean": "bool", "string": "string", "object": "Object"}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the field, its value's type, and the expected type. Without a recording, the words are ours."""
    field = ".".join(str(step) for step in fault.path if isinstance(step, str))
    if fault.kind is FaultKind.WRONG_TYPE:
        return {"key": field, "got": kind_of(fault.value), "type": _type(fault.expected)}
    return {"key": fault.key, "text": f"{field}: {problem(fault)}".removeprefix(": ")}


def _type(node: Mapping[str, Mapping[str, object]]) -> str:
    name = types_of(node)[0]
    if name == "array":
        items = node["array"]["items"]
        inner = types_of(items)[0] if isinstance(items, dict) else "object"
        return f"[]{_GO.get(inner, 'Object')}"
    return _GO.get(name, name)


OURS = refused(f"{{text}}{UNRECORDED}")
_FORMAT = {"type": "json_object", "json_schema": SCHEMA}

enter(
    book,
    Wording(
        "cohere",
        say,
        {
            **dict.fromkeys(FaultKind, OURS),
            FaultKind.UNKNOWN_FIELD: Refusal(
                f"unknown field: parameter '{{key}}' is not a valid field. {_SEE}", 422
            ),
            FaultKind.WRONG_TYPE: Refusal(
                f"invalid type: parameter '{{key}}' is of type {{got}} but should be of type {{type}}. {_SEE}"
            ),
        },
        "https://github.com/BerriAI/litellm/pull/14691",
        body(ASK, tools=[TOOL], response_format=_FORMAT, k=5),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, bogus=1),
                body(ASK, tools=[{**TOOL, "function": {**TOOL["function"], "strict": True}}]),
            ],
            FaultKind.MISSING_FIELD: [{"model": "command-a-03-2025"}, body({"content": "Hi"})],
            FaultKind.WRONG_TYPE: [
                {"model": "command-a-03-2025", "messages": "x"},
                body(ASK, max_tokens="many"),
            ],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, tool_choice="bogus", tools=[TOOL])],
            FaultKind.OUT_OF_RANGE: [body(ASK, k=-1)],
        },
    ),
)
