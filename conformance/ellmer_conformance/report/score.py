"""The score: the number of applicable MUST rules that are kept, against a frozen requirement set. It is never one
percentage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from .requirements import Requirements
from .results import FINE, Row

__all__ = ["fraction", "score", "sentence"]

_COUNTS = (
    "must_applicable",
    "must_passed",
    "should_applicable",
    "should_passed",
    "preview_applicable",
    "preview_passed",
)


def score(rows: Iterable[Row], required: Requirements) -> dict[str, dict[str, int]]:
    """Returns for each `adapter wire` the number of applicable rules, and of rules that every case and mode keeps.

    A rule counts as a preview if it is newer than the set, or if the provider is not known to enforce it. Harness
    errors do not count; an expected failure counts as a failure.
    """
    kept: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        if row.verdict not in {"not-applicable", "harness-error"}:
            level = None if row.preview else required.level(row.wire, row.provider, row.rule)
            rules = kept[f"{row.adapter} {row.wire}", level or "preview", row.wire]
            rules[row.rule] = rules.get(row.rule, True) and row.verdict in {*FINE, "unexpected-pass"}
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    for (name, level, _), rules in kept.items():
        counts[name][f"{level.lower()}_applicable"] += len(rules)
        counts[name][f"{level.lower()}_passed"] += sum(rules.values())
    return dict(counts)


def sentence(counts: Mapping[str, int]) -> str:
    """Returns `MUST 52/53 · SHOULD 9/9`, with previews if there are any."""
    words = [f"MUST {fraction(counts, 'must')}", f"SHOULD {fraction(counts, 'should')}"]
    return " · ".join(
        [*words, *([f"preview {fraction(counts, 'preview')}"] if counts["preview_applicable"] else [])]
    )


def fraction(counts: Mapping[str, int], level: str) -> str:
    """Returns `52/53`."""
    return f"{counts[f'{level}_passed']}/{counts[f'{level}_applicable']}"
