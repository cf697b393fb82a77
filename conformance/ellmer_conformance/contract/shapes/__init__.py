"""The shapes of requests for each wire format: fields, types, values and bounds, from the providers' own documents.

There is one file for each wire format, and one for each provider with a different parser.
`conformance/shapes/build_shapes.py` writes them: the faults that all official sources exclude, without those in
accepted requests. A node lists the possible JSON types of a place. `others` is the node of unnamed fields (without
it, they are faults), and `tag` is the field that distinguishes variants.
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
    """Returns the stored shape of a wire format or of a provider. Raises LookupError if there is none."""
    found = files(__name__).joinpath(f"{name}.json")
    if not found.is_file():
        raise LookupError(f"there is no shape {name!r}")
    value: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return value


@cache
def checker(name: str) -> Checker:
    """Returns the checker for a shape."""
    return Checker(shape(name))
