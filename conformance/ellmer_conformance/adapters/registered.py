"""The adapters that a name finds: those of installed packages, and the bridges to other libraries of a clone."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path

#: The folder of the bridges to other libraries in a clone.
PEERS = Path(__file__).parents[2] / "peers"
_GROUP = "ellmer_conformance.adapters"


def installed() -> Mapping[str, str]:
    """Returns the `package.module:name` of the adapters of installed packages, by name."""
    return {point.name: point.value for point in entry_points(group=_GROUP)}


def bridges() -> Mapping[str, str]:
    """Returns the bridges to other libraries, if this is a clone of the repository: they are no part of the package."""
    project = PEERS / "pyproject.toml"
    if not project.is_file():
        return {}
    found: Mapping[str, str] = tomllib.loads(project.read_text("utf-8"))["project"]["entry-points"][_GROUP]
    return found


def is_bridge(name: str) -> bool:
    """Tells whether an adapter's name is one of this project's bridges to other libraries.

    Args:
        name: The name, as an adapter is asked for.
    """
    return name in bridges() or installed().get(name, "").startswith("ellmer_peers.")
