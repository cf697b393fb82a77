"""The smallest part of a failing combination: the fewest values of its factors that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..contract.observed.run import Run
from ..scenarios.combinations import combined, row_of, simpler
from .selection import Play


def reduced(
    play_it: Callable[[Play], Run],
    play: Play,
    run: Run,
    broken: AbstractSet[str],
    broken_by: Callable[[Run], AbstractSet[str]],
) -> Run:
    """Returns the run of the smallest part of a combination that breaks the same rules, or the run itself.

    Args:
        play_it: Runs a case.
        play: The run of the combination.
        run: Its run.
        broken: The rules that it breaks. A part that breaks only some of them would hide the others.
        broken_by: Returns the rules that the run of a part breaks.
    """
    row = row_of(play.case)
    if row is None or not broken or (run.trouble and run.trouble.ours):
        return run
    for part in simpler(row):
        found = play_it(replace(play, case=combined(part)))
        if broken <= broken_by(found):
            return found
    return run
