"""The cases on the page of a rule: those in which a client that breaks the rule would be seen.

The suite counts the cases by the rule's id, over all wire formats (`ellmer_conformance.coverage`). The same id can be
another rule at another wire format. Such a rule's page names no cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import Rule
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.coverage import reached

MOST = 8


def cases(rule: Rule) -> str:
    """Returns a line with the cases that reach a rule, the most significant first."""
    found, sentences = reached().get(rule.id, ()), _sentences()[rule.id]
    if not found and rule.until:
        return f"Cases: none, because the rule was in force until {rule.until}, and cases run as of today."
    if not found or len(set(sentences)) > 1:
        return ""
    where = "Cases" if len(sentences) == 1 else "Cases, at this wire format or another"
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"{where}: {', '.join(f'`{name}`' for name in found[:MOST])}{more}."


@cache
def _sentences() -> Mapping[str, list[str]]:
    """Returns the sentences of each id, one for each wire format that has it."""
    found: dict[str, list[str]] = defaultdict(list)
    for book in [*map(rules.book, rules.WIRES), behaviour.book]:
        for rule in book.rules.values():
            found[rule.id].append(rule.sentence)
    return found
