"""Frozen, dated requirement sets, against which a score is counted.

`2026-11.json` is `{"id", "date", "wires": {wire: {rule: level}}}`. `*` holds the rules for every wire format, and
`wire/provider` the further rules of a provider. A published set is never edited: newer rules count as previews until
the next set.

    python -m ellmer_conformance.report.requirements 2026-11     prints today's rules as a set
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ...adapters.endpoints import PROVIDER_ADDRESSES
from ...contract import rules
from ...contract.rulebook import RuleBook
from ...contract.rules import behaviour

__all__ = ["LATEST", "Requirements", "as_of_now", "providers", "requirements"]

LATEST = "2026-11"


@dataclass(frozen=True)
class Requirements:
    """A frozen requirement set."""

    id: str
    date: str
    wires: Mapping[str, Mapping[str, str]]

    def level(self, wire: str, provider: str, rule: str) -> str | None:
        """Returns the level of a rule in the set, or `None` if it is not in the set."""
        for key in (f"{wire}/{provider}", wire, "*"):
            if rule in self.wires.get(key, {}):
                return self.wires[key][rule]
        return None


@cache
def requirements(id: str = LATEST) -> Requirements:
    """Returns a published set. Raises LookupError for an unknown id."""
    found = files(__name__).joinpath(f"{id}.json")
    if not found.is_file():
        raise LookupError(f"there is no requirement set {id!r}; the latest is {LATEST}")
    value = json.loads(found.read_text(encoding="utf-8"))
    return Requirements(value["id"], value["date"], value["wires"])


def providers() -> dict[str, list[str]]:
    """Returns the own providers of each wire format."""
    found: dict[str, list[str]] = {}
    for wire, provider in sorted(PROVIDER_ADDRESSES):
        found.setdefault(wire, []).append(provider)
    return found


def as_of_now(id: str, date: str, providers: Mapping[str, list[str]]) -> dict[str, Any]:
    """Returns today's rules as a set. Previews are not required. `providers` of each wire format may add rules."""
    wires = {"*": _levels(behaviour.book)}
    for wire in rules.WIRES:
        wires[wire] = _levels(rules.book(wire))
        for provider in providers.get(wire, []):
            more = {
                rule: level
                for rule, level in _levels(rules.book(wire, provider)).items()
                if wires[wire].get(rule) != level
            }
            wires |= {f"{wire}/{provider}": more} if more else {}
    return {"id": id, "date": date, "wires": wires}


def _levels(book: RuleBook) -> dict[str, str]:
    return {
        rule.id: rule.level.value
        for rule in sorted(book.rules.values(), key=lambda r: r.id)
        if not rule.preview
    }
