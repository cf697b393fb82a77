"""All other shape errors, listed by pydantic with status 422."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...observed.exchange import Json, Request
from ...shapes import Fault
from .._pydantic import choice, mistyped, untagged
from .._shape_faults import FaultKind, Wording, enter
from ._refusals_and_examples import ASK, IMAGE, INVALID, TOOL, A, body, book, call, result, user

_BOUNDS = {
    "minimum": ("greater_than_equal", "ge", "Input should be greater than or equal to {}"),
    "maximum": ("less_than_equal", "le", "Input should be less than or equal to {}"),
    "exclusiveMinimum": ("greater_than", "gt", "Input should be greater than {}"),
    "exclusiveMaximum": ("less_than", "lt", "Input should be less than {}"),
    "minLength": ("string_too_short", "min_length", "String should have at least {} character"),
    "maxLength": ("string_too_long", "max_length", "String should have at most {} characters"),
    "minItems": ("too_short", "min_length", "List should have at least {} item after validation"),
    "maxItems": ("too_long", "max_length", "List should have at most {} items after validation"),
    "pattern": ("string_pattern_mismatch", "pattern", "String should match pattern '{}'"),
}


def say(fault: Fault, _: Request) -> Mapping[str, str]:
    """Returns the list of pydantic's errors, as JSON."""
    at = ["body", *fault.located(unnamed={"function", "text", "image_url"})]
    error: Json = {"type": "", "loc": at, "msg": "", "input": fault.value}
    match fault.kind:
        case FaultKind.UNKNOWN_FIELD:
            error |= {"type": "extra_forbidden", "msg": "Extra inputs are not permitted"}
        case FaultKind.MISSING_FIELD:
            error |= {"type": "missing", "loc": [*at, fault.key], "msg": "Field required"}
        case FaultKind.WRONG_TYPE:
            error |= dict(zip(("type", "msg"), mistyped(fault), strict=True))
        case FaultKind.OUT_OF_RANGE:
            name, key, text = _BOUNDS[fault.bound]
            error |= {"type": name, "msg": text.format(fault.expected), "ctx": {key: fault.expected}}
        case FaultKind.WRONG_VARIANT:
            error |= _untagged(fault) | {"loc": at[:-1]}
        case _:
            choices = choice(fault.expected)
            error |= {"type": "enum", "msg": f"Input should be {choices}", "ctx": {"expected": choices}}
    return {"detail": json.dumps([error], separators=(",", ":"), ensure_ascii=False)}


def _untagged(fault: Fault) -> Json:
    tag, tags = fault.value[fault.key], ", ".join(f"'{each}'" for each in fault.expected)
    facts = {"discriminator": f"'{fault.key}'", "tag": tag, "expected_tags": tags}
    return {"type": "union_tag_invalid", "msg": untagged(fault), "ctx": facts}


_TEXT = {"type": "text", "text": "Hi"}

enter(
    book,
    Wording(
        "mistral",
        say,
        dict.fromkeys(FaultKind, INVALID),
        body(ASK, call(A), result(A), user(_TEXT, IMAGE), tools=[TOOL], temperature=0.5),
        {
            FaultKind.UNKNOWN_FIELD: [body(ASK, bogus=1), body(ASK, tools=[{**TOOL, "bogus": 1}])],
            FaultKind.MISSING_FIELD: [body(ASK, tools=[{"type": "function", "function": {"name": "add"}}])],
            FaultKind.WRONG_TYPE: [body(ASK, max_tokens="many"), body(ASK, tools="x")],
            FaultKind.WRONG_VARIANT: [body(ASK, {"role": "assistant", "content": [{"type": "bogus"}]}, ASK)],
            FaultKind.UNKNOWN_VALUE: [body(ASK, response_format={"type": "bogus"})],
            FaultKind.OUT_OF_RANGE: [body(ASK, temperature=9)],
        },
    ),
)
