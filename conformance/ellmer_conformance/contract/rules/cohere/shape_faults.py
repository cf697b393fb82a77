"""All other shape errors: unknown fields and wrong types, in Cohere's words."""

from __future__ import annotations

from collections.abc import Mapping

from ...observed.exchange import Json, Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import UNRECORDED, FaultKind, Wording, enter, kind_of, problem, types_of
from ._refusals_and_examples import ASK, SCHEMA, TOOL, body, book, call, result

_SEE = "For proper usage, please refer to https://docs.cohere.com/reference/chat"
_GO = {"integer": "int32", "number": "float64", "boolean": "bool", "string": "string", "object": "Object"}


#: The provider's words for one place: on its page of errors, and in a recorded refusal for the name of a tool.
_SAID = {
    (FaultKind.MISSING_FIELD, "model"): "a model parameter is required for this endpoint.",
    (FaultKind.MISSING_FIELD, "messages.content"): "message must not be empty in a turn",
    (FaultKind.MISSING_FIELD, "messages.tool_call_id"): "tool call id must be provided with tool message",
    (
        FaultKind.MISSING_FIELD,
        "tools.function.name",
    ): "invalid request: all elements in tools must have a name.",
    (FaultKind.UNKNOWN_VALUE, "messages.tool_calls.type"): "tool call must be of type function",
    (
        FaultKind.OUT_OF_RANGE,
        "temperature",
    ): "invalid request: temperature must be between 0 and 1.0 inclusive.",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the field, its value's type, and the expected type. Without a recording, the words are ours."""
    field = ".".join(str(step) for step in fault.path if isinstance(step, str))
    if fault.kind is FaultKind.WRONG_TYPE:
        return {"key": field, "got": kind_of(fault.value), "type": _type(fault.expected)}
    place = f"{field}.{fault.key}".strip(".")
    ours = f"invalid request: {f'{field}: {problem(fault)}'.removeprefix(': ')}{UNRECORDED}"
    return {"key": fault.key, "text": _SAID.get((fault.kind, place), ours)}


def _type(node: Mapping[str, Mapping[str, object]]) -> str:
    name = types_of(node)[0]
    if name == "array":
        items = node["array"]["items"]
        inner = types_of(items)[0] if isinstance(items, dict) else "object"
        return f"[]{_GO.get(inner, 'Object')}"
    return _GO.get(name, name)


_FORMAT = {"type": "json_object", "json_schema": SCHEMA}


def _call_of(kind: str) -> Json:
    message = call("a")
    return {**message, "tool_calls": [{**message["tool_calls"][0], "type": kind}]}


enter(
    book,
    Wording(
        "cohere",
        say,
        {
            **dict.fromkeys(FaultKind, Refusal("{text}")),
            FaultKind.UNKNOWN_FIELD: Refusal(
                f"unknown field: parameter '{{key}}' is not a valid field. {_SEE}", 422
            ),
            FaultKind.WRONG_TYPE: Refusal(
                f"invalid type: parameter '{{key}}' is of type {{got}} but should be of type {{type}}. {_SEE}"
            ),
        },
        body(ASK, tools=[TOOL], response_format=_FORMAT, k=5),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, bogus=1),
                body(ASK, tools=[{**TOOL, "function": {**TOOL["function"], "strict": True}}]),
            ],
            FaultKind.MISSING_FIELD: [
                {"messages": [ASK]},
                {"model": "command-a-03-2025"},
                body({"content": "Hi"}),
                body({"role": "user"}),
            ],
            FaultKind.WRONG_TYPE: [
                {"model": "command-a-03-2025", "messages": "x"},
                body(ASK, max_tokens="many"),
            ],
            FaultKind.WRONG_VARIANT: [body({"role": "bogus", "content": "Hi"})],
            FaultKind.UNKNOWN_VALUE: [
                body(ASK, tool_choice="bogus", tools=[TOOL]),
                body(ASK, _call_of("custom"), result("a")),
            ],
            FaultKind.OUT_OF_RANGE: [body(ASK, k=-1), body(ASK, temperature=1.5)],
        },
    ),
)
