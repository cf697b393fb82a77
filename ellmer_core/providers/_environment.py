"""Reads the settings of a provider from the environment: keys, addresses, names of accounts."""

from __future__ import annotations

import os

from ..errors import UsageError

__all__ = ["setting", "variable"]


def setting(name: str, value: str | None, *variables: str) -> str:
    """Returns what the caller gave as `name`, or else the first of the environment variables that is set."""
    if found := value or next(filter(None, map(variable, variables)), ""):
        return found
    raise UsageError(f"Give {name}=, or set the environment variable {' or '.join(variables)}.")


def variable(name: str) -> str:
    """Returns the value of an environment variable without surrounding space; `""` if it is not set."""
    return os.environ.get(name, "").strip()
