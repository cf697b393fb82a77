"""Sets the garbage collector of a process that is the suite's own. It is never called in the process of somebody else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collected_rarely"]

_THRESHOLDS = 50_000, 20, 100  # of Python: 700 or 2,000, 10, 10


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Within it, what is there already is not looked at again, and what is new is looked at rarely."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
