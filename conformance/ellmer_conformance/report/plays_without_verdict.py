"""Selected runs without a verdict. A report without one of them proves nothing and is never green."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

__all__ = ["is_play", "sentences", "without_verdict"]

_TEST = "::test_conformance["
_SHOWN = 20  # by name; the report has all


def is_play(test: str) -> bool:
    """Tells whether a test's id is that of a run of a case."""
    return _TEST in test


def without_verdict(selected: Iterable[str], judged: Collection[str]) -> list[str]:
    """Returns the selected runs, by id, that no test judged."""
    return [_play_of(test) for test in selected if is_play(test) and test not in judged]


def sentences(plays: Sequence[str]) -> list[str]:
    """Returns the printed sentences about them."""
    told = [f"{play}: it was selected but has no verdict" for play in plays[:_SHOWN]]
    more = len(plays) - _SHOWN
    return [*told, *([f"and {more} more runs without a verdict are in the report"] if more > 0 else [])]


def _play_of(test: str) -> str:
    return test.partition(_TEST)[2].removesuffix("]")
