"""Limits how deeply foreign JSON may nest, because code that reads, copies or writes a value needs several frames for
each level.
"""

from __future__ import annotations

from typing import Any

from ellmer_core.budget import SERVER


def bounded(value: Any) -> Any:
    """Returns the value. Raises `ValueError` if it nests deeper than a request may."""
    level = [value]
    for _ in range(SERVER.depth + 1):
        holders = [each for each in level if isinstance(each, dict | list)]
        if not holders:
            return value
        level = [item for each in holders for item in (each.values() if isinstance(each, dict) else each)]
    raise ValueError(f"it nests deeper than {SERVER.depth} levels")
