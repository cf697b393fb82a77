"""Makes pydantic's error messages, for providers that parse requests with pydantic."""

from __future__ import annotations

from typing import Any

from ..shapes import Fault
from ._shape_faults import types_of

_TYPES = {
    "string": ("string_type", "Input should be a valid string"),
    "boolean": ("bool_type", "Input should be a valid boolean"),
    "integer": ("int_type", "Input should be a valid integer"),
    "number": ("float_type", "Input should be a valid number"),
    "array": ("list_type", "Input should be a valid list"),
    "object": (
        "model_attributes_type",
        "Input should be a valid dictionary or object to extract fields from",
    ),
    "null": ("none_required", "Input should be None"),
}
_PARSED = {
    "boolean": ("bool_parsing", "Input should be a valid boolean, unable to interpret input"),
    "integer": ("int_parsing", "Input should be a valid integer, unable to parse string as an integer"),
    "number": ("float_parsing", "Input should be a valid number, unable to parse string as a number"),
}


def mistyped(fault: Fault) -> tuple[str, str]:
    """Returns the type of the error and its sentence."""
    name = types_of(fault.expected)[0]
    return (_PARSED if isinstance(fault.value, str) and name in _PARSED else _TYPES)[name]


def untagged(fault: Fault) -> str:
    """Returns the sentence about an unknown variant."""
    tag, tags = fault.value[fault.key], ", ".join(f"'{each}'" for each in fault.expected)
    return f"Input tag '{tag}' found using '{fault.key}' does not match any of the expected tags: {tags}"


def choice(values: list[Any]) -> str:
    """Returns `'a', 'b' or 'c'`."""
    quoted = [f"'{value}'" for value in values]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
