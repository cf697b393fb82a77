"""OpenAI's error texts for shape faults, which are the same at both of its endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...exchange import Request
from ...rule import Refusal
from ...shapes import Fault
from .._shape_faults import FaultKind, types_of
from .refusals import WORDED, listed, path, type_name

__all__ = ["REFUSALS", "say"]

REFUSALS: Mapping[FaultKind, Refusal] = dict.fromkeys(FaultKind, WORDED)
_ONE = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a decimal",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the sentence, the code and the path of a fault."""
    place = path(fault.pointer)
    inner = path(f"{fault.pointer}/{fault.key}")
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            return _facts(f"Unknown parameter: '{place}'.", "unknown_parameter", place)
        case FaultKind.MISSING_FIELD:
            return _facts(f"Missing required parameter: '{inner}'.", "missing_required_parameter", inner)
        case FaultKind.WRONG_TYPE:
            text = f"expected {expected(fault.expected)}, but got {type_name(fault.value)} instead."
            return _facts(f"Invalid type for '{place}': {text}", "invalid_type", place)
        case FaultKind.OUT_OF_RANGE:
            return _out_of_range(fault, place)
    value = fault.value[fault.key] if fault.key else fault.value
    text = f"Invalid value: '{value}'. Supported values are: {listed(fault.expected)}."
    return _facts(text, "invalid_value", place)


def expected(node: Mapping[str, Any]) -> str:
    """Returns `one of a string or array of objects` for a node."""
    names = [_with_elements(name, node) for name in sorted(types_of(node), key=[*_ONE].index)]
    if len(names) == 1:
        return names[0]
    rest = [name.partition(" ")[2] for name in names[1:]]
    return f"one of {', '.join([names[0], *rest[:-1]])} or {rest[-1]}"


def _with_elements(name: str, node: Mapping[str, Any]) -> str:
    items = node["array"]["items"] if name == "array" else {}
    inner = [each for each in items if each in _ONE]
    plural = (
        f" of {'integers' if 'integer' in items.get('number', ()) else inner[0] + 's'}"
        if len(inner) == 1
        else ""
    )
    return (
        ("an array of objects" if "ref" in items else f"{_ONE[name]}{plural}")
        if name == "array"
        else _ONE[name]
    )


def _facts(text: str, code: str, place: str) -> Mapping[str, str]:
    return {"text": text, "code": code, "path": place}


def _out_of_range(fault: Fault, place: str) -> Mapping[str, str]:
    bound, value = fault.expected, fault.value
    if fault.bound == "pattern":
        text = f"string does not match pattern. Expected a string that matches the pattern '{bound}'."
        return _facts(f"Invalid '{place}': {text}", "invalid_value", place)
    least, words = "in" in fault.bound[:3].lower() or fault.bound == "exclusiveMinimum", ("minimum", "below")
    extreme, side = words if least else ("maximum", "above")
    if isinstance(value, str | list):
        return _lengths(value, bound, extreme, place)
    kind, sign = "integer" if isinstance(value, int) else "decimal", ">=" if least else "<="
    text = f"{kind} {side} {extreme} value. Expected a value {sign} {bound}, but got {value} instead."
    return _facts(f"Invalid '{place}': {text}", f"{kind}_{side}_{extreme[:3]}_value", place)


def _lengths(value: str | list[Any], bound: int, extreme: str, place: str) -> Mapping[str, str]:
    name, article = ("string", "a string") if isinstance(value, str) else ("array", "an array")
    if not value:
        text = (
            f"empty {name}. Expected {article} with minimum length {bound}, but got an empty {name} instead."
        )
        return _facts(f"Invalid '{place}': {text}", f"empty_{name}", place)
    side, where = ("long", "above_max") if extreme == "maximum" else ("short", "below_min")
    text = (
        f"{name} too {side}. Expected {article} with {extreme} length {bound}, but got {article} with length"
    )
    return _facts(f"Invalid '{place}': {text} {len(value)} instead.", f"{name}_{where}_length", place)
