"""All other shape errors, in pydantic's words. A path contains the types of its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...observed.exchange import Request
from ...shapes import Fault
from .._shape_faults import FaultKind, Wording, enter, types_of
from ._refusals_and_examples import ASK, IMAGE, TOOL, assistant, body, book, refused, result, use, user

_INPUT = {
    "string": "a valid string",
    "boolean": "a valid boolean",
    "integer": "a valid integer",
    "number": "a valid number",
    "array": "a valid array",
    "object": "an object",
    "null": "None",
}
_BOUNDS = {
    "minimum": "Input should be greater than or equal to {bound}",
    "maximum": "Input should be less than or equal to {bound}",
    "exclusiveMinimum": "Input should be greater than {bound}",
    "exclusiveMaximum": "Input should be less than {bound}",
    "minLength": "String should have at least {bound} character{s}",
    "maxLength": "String should have at most {bound} character{s}",
    "minItems": "List should have at least {bound} item{s} after validation, not {size}",
    "maxItems": "List should have at most {bound} item{s} after validation, not {size}",
    "pattern": "String should match pattern '{bound}'",
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the whole sentence."""
    steps = _place(fault)
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            text = "Extra inputs are not permitted"
        case FaultKind.MISSING_FIELD:
            steps, text = [*steps, fault.key], "Field required"
        case FaultKind.WRONG_TYPE:
            text = _mistyped(fault)
        case FaultKind.WRONG_VARIANT if fault.key == "type":
            tags = ", ".join(f"'{tag}'" for tag in fault.expected)
            found = fault.value[fault.key]
            text = f"Input tag '{found}' found using 'type' does not match any of the expected tags: {tags}"
            steps = steps[:-1]
        case FaultKind.OUT_OF_RANGE:
            text = _out_of_range(fault)
        case _:
            text = f"Input should be {_choice(fault.expected)}"
    return {"text": f"{'.'.join(map(str, steps))}: {text}"}


def _place(fault: Fault) -> list[str | int]:
    """Returns the place. A role is not part of a path, a client tool is `custom`, and a breakpoint is `ephemeral`."""
    steps = fault.located(unnamed={"user", "assistant", "system"})
    for index, step in enumerate(steps):
        if step == "cache_control" and len(steps) > index + 1:
            return [*steps[: index + 1], "ephemeral", *steps[index + 1 :]]
        if step == "tools" and len(steps) > index + 2 and not fault.tags:
            return [*steps[: index + 2], "custom", *steps[index + 2 :]]
    return steps


def _mistyped(fault: Fault) -> str:
    types = types_of(fault.expected)
    if "values" in fault.expected.get("string", {}) and types == ["string"]:
        return f"Input should be {_choice(fault.expected['string']['values'])}"
    if isinstance(fault.value, float) and types == ["integer"]:
        return "Input should be a valid integer, got a number with a fractional part"
    if types == ["object"] and isinstance(fault.path[-1] if fault.path else "", int):
        return "Input does not match the expected shape."
    return f"Input should be {_INPUT['array' if 'array' in types else types[0]]}"


def _out_of_range(fault: Fault) -> str:
    size = len(fault.value) if isinstance(fault.value, str | list) else 0
    plural = "" if fault.expected == 1 else "s"
    return _BOUNDS[fault.bound].format(bound=fault.expected, s=plural, size=size)


def _choice(values: list[Any]) -> str:
    """Returns `'a', 'b' or 'c'`."""
    quoted = [f"'{value}'" for value in values]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


_TEXT = {"type": "text", "text": "Hi"}

enter(
    book,
    Wording(
        "anthropic",
        say,
        dict.fromkeys(FaultKind, refused("{text}")),
        body(ASK, assistant(use("a")), user(result("a"), IMAGE), tools=[TOOL], system="Be brief.", top_k=5),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, metadata={"bogus": 1}),
                body(user({**_TEXT, "cache_control": {"type": "ephemeral", "bogus": 1}})),
            ],
            FaultKind.MISSING_FIELD: [
                body(ASK, tool_choice={"type": "tool"}, tools=[TOOL]),
                body(user({"type": "image", "source": {"type": "base64", "media_type": "image/png"}})),
            ],
            FaultKind.WRONG_TYPE: [
                {"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": "hi"},
                {"model": "claude-sonnet-4-5", "max_tokens": "many", "messages": [ASK]},
                body(ASK, stop_sequences="."),
            ],
            FaultKind.WRONG_VARIANT: [body(user({"type": "bogus"})), body(ASK, thinking={"type": "bogus"})],
            FaultKind.UNKNOWN_VALUE: [body(ASK, service_tier="bogus")],
            FaultKind.OUT_OF_RANGE: [body(ASK, metadata={"user_id": "x" * 600})],
        },
        ignored=frozenset(
            {"anthropic_beta", "anthropic_version"}
        ),  # Vertex AI and Bedrock have them in the body
        differing=frozenset({("bedrock", "model"), ("vertex", "model")}),
        header="anthropic-version",
        undecided=[body(ASK, stop_sequences=None)],
    ),
)
