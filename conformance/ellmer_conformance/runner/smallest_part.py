"""The smallest part of a failing combination: the fewest values of its factors that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..contract.observed.run import Run
from ..contract.rule import Verdict
from ..scenarios.combinations import combined, row_of, simpler
from .judgement import judge
from .selection import Play


def reduced(play_it: Callable[[Play], Run], play: Play, run: Run, verdicts: Sequence[Verdict]) -> Run:
    """Returns the run of the smallest part of a combination that breaks one of the same rules, or the run itself.

    Args:
        play_it: Runs a case.
        play: The run of the combination.
        run: Its run.
        verdicts: The verdicts on the run.
    """
    row, broken = row_of(play.case), _broken(verdicts)
    if row is None or not broken or (run.trouble and run.trouble.ours):
        return run
    for part in simpler(row):
        case = combined(part)
        found = play_it(replace(play, case=case))
        if _broken(judge(found)) & broken:
            return found
    return run


def _broken(verdicts: Sequence[Verdict]) -> set[str]:
    return {verdict.rule.id for verdict in verdicts if verdict.outcome == "fail"}
