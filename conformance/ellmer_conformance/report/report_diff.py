"""The differences between two reports, row by row: broken, fixed, new or gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .results import FAILING, Report, Row

#: The sorts of differences, the worst first.
SORTS = ("broken", "differs", "unjudged", "gone", "new", "fixed", "changed")


@dataclass(frozen=True)
class Difference:
    """The difference of one row. `sort` is one of SORTS; `old` or `new` is `None` if there is no such row."""

    sort: str
    old: Row | None
    new: Row | None

    @property
    def id(self) -> str:
        """The id of the row."""
        row = self.new or self.old
        assert row is not None, "a difference has a side"
        return row.id

    def __str__(self) -> str:
        was, now = (row.verdict if row else "absent" for row in (self.old, self.new))
        told = f": {self.new.message.splitlines()[0]}" if self.new and self.new.message else ""
        return f"{self.sort:9} {self.id}  {was} → {now}{told}"


def differences(old: Report, new: Report) -> list[Difference]:
    """Returns every row whose verdict or failure differs, the worst first. Not-applicable counts as absent."""
    before, after = _by_id(old), _by_id(new)
    found = [
        Difference(sort, before.get(id), after.get(id))
        for id in {**before, **after}
        if (sort := _sort(before.get(id), after.get(id)))
    ]
    return sorted(found, key=lambda each: (SORTS.index(each.sort), each.id))


def _sort(old: Row | None, new: Row | None) -> str:
    """Returns the sort of a difference, or `""` for none."""
    was, now = (row.verdict if row else "" for row in (old, new))
    if now in FAILING and was in FAILING:
        return "" if old and new and old.fingerprint == new.fingerprint else "differs"
    if was == now:
        return ""
    for sort, so in (
        ("gone", not now),
        ("unjudged", now == "harness-error"),
        ("broken", now in FAILING),
        ("new", not was),
        ("fixed", was in FAILING),
    ):
        if so:
            return sort
    return "changed"


def _by_id(report: Report) -> Mapping[str, Row]:
    return {row.id: row for row in report.rows if row.verdict != "not-applicable"}


def counted(found: list[Difference]) -> Iterator[str]:
    """Yields `3 broken`, `1 fixed`, …"""
    counts: dict[str, int] = defaultdict(int)
    for each in found:
        counts[each.sort] += 1
    yield from (f"{counts[sort]} {sort}" for sort in SORTS if counts[sort])
