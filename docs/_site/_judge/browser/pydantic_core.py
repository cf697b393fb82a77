"""What the readers use of pydantic_core, for the browser, where the package is not installed.

`tests/documentation/test_judge.py` compares them with the real ones.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from ellmer_conformance.contract.readers.json_access import bounded

__all__ = ["SchemaValidator", "core_schema", "from_json", "to_json"]

core_schema = SimpleNamespace(str_schema=dict)


class SchemaValidator:
    """Stands for the validator, with which a recorder finds events that are alike. Without it, each event is parsed."""

    def __init__(self, schema: Any) -> None:
        raise ValueError(f"there is no validator in the browser: {schema}")


def from_json(data: str | bytes | bytearray, *, allow_inf_nan: bool = True, **_: Any) -> Any:
    """Returns the value of a JSON text. Raises `ValueError` for anything else, for lone surrogates, and below 200
    levels.
    """
    text = data if isinstance(data, str) else bytes(data).decode()
    value = json.loads(text, parse_constant=None if allow_inf_nan else _refuse)
    json.dumps(value, ensure_ascii=False).encode()
    return bounded(value)


def to_json(value: Any, **_: Any) -> bytes:
    """Returns the compact JSON of a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
