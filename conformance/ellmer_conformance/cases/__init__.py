"""The scripted cases: what the model says, and what the client must do. One function a case.

Modules are found by themselves; a new case is a new function with `@case` in the module of its area.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from ..case import CASES, Case
from ..script import Script

__all__ = ["all_cases", "scripts"]


def all_cases() -> dict[str, Case]:
    """Every case by name."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(CASES)


def scripts() -> dict[str, Script]:
    """The model's side of every case, for the strict server."""
    return {name: case.model for name, case in all_cases().items()}
