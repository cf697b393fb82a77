"""A known defect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """A defect: what it does, the invariant that it breaks, a module, its change, and tests that must notice it."""

    does: str
    invariant: int
    module: str
    now: str
    defect: str
    tests: tuple[str, ...]
