"""Sets the garbage collector of the suite's own processes. Processes of the suite's users keep their settings."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = 50_000, 20, 100  # Python's own: 700 or 2,000, 10, 10


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Within the context, objects that exist already are not examined, and new objects are examined rarely."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
