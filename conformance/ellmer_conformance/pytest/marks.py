"""Marks of runs, for pytest's `-m`, and rules that are selected by name."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest

from ..adapters.endpoints import WHERE
from ..contract import rules
from ..contract.rules import behaviour
from ..runner.selection import Play
from ..scenarios.cases import all_cases

__all__ = ["ALWAYS", "MARKS", "check_rules", "is_chosen", "marks_of", "names_of"]

#: The rule that there was something to judge: it is always asked for.
ALWAYS = "RUN-001"

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
    """Returns the marks of a run."""
    return [getattr(pytest.mark, name) for name in names_of(play)]


def names_of(play: Play) -> list[str]:
    """Returns the names of the marks: its mode, whether it can fail, and the area of its case."""
    names = ["streaming" if "stream" in play.mode else "blocking", f"area_{play.case.area}"]
    names += ["asynchronous"] if "async" in play.mode else []
    return [*names, "advisory" if play.case.advisory else "must"]


def is_chosen(rule: str, globs: Sequence[str]) -> bool:
    """Tells whether a rule is selected by its id, its group, or a pattern."""
    return not globs or rule == ALWAYS or any(_matches(rule, glob) for glob in globs)


def check_rules(globs: Sequence[str]) -> None:
    """Raises LookupError for a name or pattern that matches no rule."""
    books = [rules.book(*place) for place in sorted(WHERE)] if globs else []
    known = {id for book in [*books, behaviour.book] for id in book.rules}
    for glob in globs:
        if not any(_matches(rule, glob) for rule in known):
            raise LookupError(f"there is no rule {glob!r}; `conformance list` lists all rules")


def _matches(rule: str, glob: str) -> bool:
    return any(fnmatchcase(each, glob.upper()) for each in (rule, rule.partition("-")[0]))
