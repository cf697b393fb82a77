"""Marks of plays, for pytest's `-m`, and rules that are asked for by name."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest

from ..runner.selection import Play
from ..scenarios.cases import all_cases

__all__ = ["MARKS", "is_chosen", "marks_of", "names_of"]

_OF_MODES = {
    "streaming": "cases in which the caller streams",
    "blocking": "cases in which the caller waits for the whole answer",
    "asynchronous": "cases with async calls",
    "must": "cases that can break a MUST rule",
    "advisory": "cases whose findings are never failures",
}

#: Every mark, and what it means.
MARKS = _OF_MODES | {
    f"area_{area}": f"cases about {area}" for area in sorted({case.area for case in all_cases().values()})
}


def marks_of(play: Play) -> list[pytest.MarkDecorator]:
    """The marks of a play."""
    return [getattr(pytest.mark, name) for name in names_of(play)]


def names_of(play: Play) -> list[str]:
    """Their names: its mode, whether it can fail, and the area of its case."""
    names = ["streaming" if "stream" in play.mode else "blocking", f"area_{play.case.area}"]
    names += ["asynchronous"] if "async" in play.mode else []
    return [*names, "advisory" if play.case.advisory else "must"]


def is_chosen(rule: str, globs: Sequence[str]) -> bool:
    """Whether a rule is asked for: by its id, its group, or a pattern. That there was something to judge always is."""
    group = rule.partition("-")[0]
    return (
        not globs
        or rule == "RUN-001"
        or any(fnmatchcase(each, g.upper()) for g in globs for each in (rule, group))
    )
