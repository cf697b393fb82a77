"""What a request of each wire format is made of: fields, types, values and bounds, as the providers' own documents have it.

One file a wire format, or a provider whose reader is another one. `conformance/shapes/build_shapes.py` writes them: what all official
sources refuse, less what really accepted requests contradict. A node says what each JSON type may be at a place; `others` is
what fields may be that have no name there (without it, there are none), `tag` the field that tells variants apart.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from .checker import Checker
from .fault import Fault, FaultKind

__all__ = ["Fault", "FaultKind", "checker", "shape"]


def shape(name: str) -> dict[str, Any]:
    """Returns the shape of a wire format or of a provider, as it is stored. Raises LookupError where there is
    none.
    """
    found = files(__name__).joinpath(f"{name}.json")
    if not found.is_file():
        raise LookupError(f"there is no shape {name!r}")
    value: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return value


@cache
def checker(name: str) -> Checker:
    """Returns what finds the faults of a request by a shape."""
    return Checker(shape(name))
