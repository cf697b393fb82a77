"""Frozen, dated sets of requirements: what a score counts against.

`2026-11.json` is `{"id", "date", "wires": {wire: {rule: level}}}`; `*` holds what is true of any wire format, and
`wire/vendor` what a provider adds. A set is never edited: rules that are newer count as previews until the next one.

    python -m ellmer_conformance.report.requirements 2026-11     prints today's rules as a set
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ...adapters.shared.endpoints import WHERE
from ...contract import rules
from ...contract.rulebook import RuleBook
from ...contract.rules import behaviour

__all__ = ["LATEST", "Requirements", "as_of_now", "requirements", "vendors"]

LATEST = "2026-11"


@dataclass(frozen=True)
class Requirements:
    """One frozen set."""

    id: str
    date: str
    wires: Mapping[str, Mapping[str, str]]

    def level(self, wire: str, vendor: str, rule: str) -> str | None:
        """Returns the level that the set gives a rule there; None for one it does not have."""
        for key in (f"{wire}/{vendor}", wire, "*"):
            if rule in self.wires.get(key, {}):
                return self.wires[key][rule]
        return None


@cache
def requirements(id: str = LATEST) -> Requirements:
    """Returns a published set. Raises LookupError for one that is not."""
    found = files(__name__).joinpath(f"{id}.json")
    if not found.is_file():
        raise LookupError(f"there is no requirement set {id!r}; the latest is {LATEST}")
    value = json.loads(found.read_text(encoding="utf-8"))
    return Requirements(value["id"], value["date"], value["wires"])


def vendors() -> dict[str, list[str]]:
    """Returns the providers with whom each wire format is at home."""
    found: dict[str, list[str]] = {}
    for wire, vendor in sorted(WHERE):
        found.setdefault(wire, []).append(vendor)
    return found


def as_of_now(id: str, date: str, vendors: Mapping[str, list[str]]) -> dict[str, Any]:
    """Today's rules as a set; previews are not required. `vendors` of each wire format may add rules."""
    wires = {"*": _levels(behaviour.book)}
    for wire in rules.WIRES:
        wires[wire] = _levels(rules.book(wire))
        for vendor in vendors.get(wire, []):
            more = {
                rule: level
                for rule, level in _levels(rules.book(wire, vendor)).items()
                if wires[wire].get(rule) != level
            }
            wires |= {f"{wire}/{vendor}": more} if more else {}
    return {"id": id, "date": date, "wires": wires}


def _levels(book: RuleBook) -> dict[str, str]:
    return {
        rule.id: rule.level.value
        for rule in sorted(book.rules.values(), key=lambda r: r.id)
        if not rule.preview
    }
