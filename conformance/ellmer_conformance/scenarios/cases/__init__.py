"""The scripted cases: the model's answers, and the client's duties. Each case is one function.

Modules are found by their files. A new case is a new function with `@case` in the module of its area.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module

from ..case import CASES, Case
from ..script import Delivery, Script, Step
from ..variations import Variation, possible

__all__ = ["all_cases", "scripts", "varied"]


def all_cases() -> dict[str, Case]:
    """Returns every case by name."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(CASES)


def scripts() -> dict[str, Script]:
    """Returns the model's side of every case, for the strict server. Variations are `case~variation`."""
    found = {name: case.model for name, case in all_cases().items()}
    for name, case in all_cases().items():
        found |= {
            f"{name}~{variation.name}": varied(case.script, variation)
            for variation in possible(case.variations)
        }
    return found


def varied(script: Sequence[Step], variation: Variation) -> Script:
    """Returns the script with all answers, or only the first, under a variation."""
    return Script(
        [
            Delivery(step, variation=variation.name)
            if not isinstance(step, Delivery) and not (variation.first and place)
            else step
            for place, step in enumerate(script)
        ]
    )
