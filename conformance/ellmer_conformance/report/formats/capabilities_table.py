"""Makes a table of declared capabilities: one row for the common ones of an adapter, and one for each provider that
differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ..results import Report

__all__ = ["abilities", "rows"]


def abilities(able: object) -> dict[str, str]:
    """Returns an adapter's `Capabilities` as texts."""
    found = {}
    for name, value in vars(able).items():
        found[name] = value if isinstance(value, str) else " ".join(value)
    return found


def rows(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yields an adapter, its providers, and their declared capabilities. Providers with equal ones share a row."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, able in report.capabilities.items():
        adapter, _, place = name.rpartition(" ")
        groups[adapter, _sentence(able)].append(place)
    for (adapter, sentence), places in groups.items():
        yield adapter, ", ".join(places), sentence


def _sentence(able: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in able.items())
