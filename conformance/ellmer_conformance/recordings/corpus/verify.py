"""Checks that the cache agrees with the pins."""

from __future__ import annotations

from .cache import changed, folder_of
from .pins import Pin
from .survey import survey

__all__ = ["problems"]


def problems(pin: Pin) -> list[str]:
    """Returns a sentence for each problem with the recordings of a pin in the cache."""
    found = survey([folder_of(pin)])
    counts = {"files": len(found.files), "interactions": found.interactions}
    told = {"files": pin.files, "interactions": pin.interactions}
    return changed(pin) + [
        f"The pin says {told[name]} {name}; {count} can be read."
        for name, count in counts.items()
        if count < told[name]
    ]
