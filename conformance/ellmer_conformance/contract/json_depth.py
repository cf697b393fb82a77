"""Limits how deeply foreign JSON may nest, because code that reads, copies or writes a value needs several frames for
each level.
"""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 200


def bounded(value: Any) -> Any:
    """Returns the value. Raises `ValueError` if it nests deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        holders = [each for each in level if isinstance(each, dict | list)]
        if not holders:
            return value
        level = [item for each in holders for item in (each.values() if isinstance(each, dict) else each)]
    raise ValueError(f"it nests deeper than {MAX_DEPTH} levels")
