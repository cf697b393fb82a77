"""The calls of a recording that a client with the declared tools can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...contract.exchange import Json
from ...contract.provider_answers.answer import Told
from ...contract.readers.json_access import items_of, object_of
from ...scenarios.messages import Tool
from .adapter_input import CannotBeGiven

__all__ = ["check_calls"]

#: The Python types for the types of JSON Schema.
_KINDS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def check_calls(told: Sequence[Told], tools: Mapping[str, Tool], wire: str) -> None:
    """Checks that a client can run the calls: their tools were declared, the arguments fit, and each has its own id."""
    ids = [call.id for each in told for call in each.calls if call.id]
    if len(set(ids)) < len(ids):
        raise CannotBeGiven("calls share an id")
    for call in (call for each in told for call in each.calls):
        if call.name not in tools:
            raise CannotBeGiven(
                f"the model called a tool that was not declared, or that has only a name: {call.name!r}"
            )
        if call.arguments is None:
            raise CannotBeGiven("the arguments of a call are not a JSON object")
        if "REDACTED" in call.id and wire == "mistral":
            raise CannotBeGiven(
                "the recorder replaced the ids of the calls, and ids of Mistral have a fixed form"
            )
        if not _fits(call.arguments, tools[call.name].parameters):
            raise CannotBeGiven("the model's arguments do not fit the tool that was declared")


def _fits(arguments: Json, schema: Mapping[str, Any]) -> bool:
    """Tells whether a client that checks arguments would run the call."""
    known = object_of(schema["properties"])
    if not set(items_of(schema["required"])) <= set(arguments) <= set(known):
        return False
    kinds = {name: _KINDS.get(str(object_of(known[name]).get("type")), object) for name in arguments}
    return all(isinstance(value, kinds[name]) for name, value in arguments.items())
