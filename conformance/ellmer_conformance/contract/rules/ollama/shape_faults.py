"""All other shape errors, in the words of Go's JSON decoder. Unknown fields are ignored."""

from __future__ import annotations

from collections.abc import Mapping

from ...observed.exchange import Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import FaultKind, Wording, enter, types_of
from ._refusals_and_examples import ASK, TOOL, body, book, call, result

_GO = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_TYPES = {
    "string": "string",
    "boolean": "bool",
    "integer": "int",
    "number": "float64",
    "array": "[]string",
    "object": "map[string]interface {}",
}
_STRUCTS = {
    "messages": "[]api.Message",
    "tools": "api.Tools",
    "tool_calls": "[]api.ToolCall",
    "function": "api.ToolFunction",
    "images": "[]api.ImageData",
    "parameters": "api.ToolFunctionParameters",
    "properties": "map[string]api.ToolProperty",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the value's type, its place, and the type of the field."""
    names = [str(step) for step in fault.path if isinstance(step, str)]
    types = types_of(fault.expected)
    kind = _STRUCTS.get(names[-1]) if names and {"array", "object"} & {*types} else None
    if kind and isinstance(fault.path[-1], int):
        kind = kind.removeprefix("[]")
    got = _GO.get(type(fault.value), "null")
    return {"got": got, "field": ".".join(names), "type": kind or _TYPES.get(types[0], types[0])}


enter(
    book,
    Wording(
        "ollama",
        say,
        {
            FaultKind.WRONG_TYPE: Refusal(
                "json: cannot unmarshal {got} into Go struct field ChatRequest.{field} of type {type}"
            )
        },
        body(ASK, call("a"), result("a"), tools=[TOOL], options={"temperature": 0.5}, bogus=1),
        {
            FaultKind.WRONG_TYPE: [
                body(ASK, options="x"),
                body(ASK, stream="yes"),
                body({"role": "user", "content": "Hi", "images": "x"}),
            ]
        },
    ),
)
