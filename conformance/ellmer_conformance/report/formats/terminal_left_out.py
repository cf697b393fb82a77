"""Lists the parts that a run did not test: the way of the run, the cases that were left out, and the rules without a
verdict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..results import Report

__all__ = ["unseen"]

#: The names of the ways to run a case, except the usual one.
_WAYS = {
    "server": "run against the strict server",
    "command": "run by a command",
    "observe": "observed by the strict server",
    "proxy": "observed by a proxy",
    "probe": "a server, tested by the suite",
    "recordings": "answered with recorded answers of real APIs",
}


def unseen(report: Report) -> Iterator[str]:
    """Yields the way of the run, and the rules that it cannot judge, by reason. Recordings can show all rules."""
    for way in dict.fromkeys(play.way for play in report.plays if play.way in _WAYS):
        if any(play.way == "cassette" for play in report.plays):  # and show these rules
            cases = dict.fromkeys(play.case for play in report.plays if play.way == way)
            yield f"{_WAYS[way]}: {', '.join(cases)}"
            continue
        yield _WAYS[way]
        yield from _found_out(report) if way == "probe" else ()
        yield from _not_played(report) if way == "command" else ()
        yield from _not_judged(report)


def _found_out(report: Report) -> Iterator[str]:
    """Yields the features that were found in a server."""
    able = [f"{skip['capability']}: {skip['reason']}" for skip in report.skipped if "capability" in skip]
    yield from [f"  capabilities: {'; '.join(able)}"] if able else []


def _not_played(report: Report) -> Iterator[str]:
    """Yields the cases that a command does not support, by reason."""
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" not in skip:
            left[skip["reason"]][skip["case"]] = None
    yield from (f"  not run: {', '.join(names)}: {reason}" for reason, names in left.items())


def _not_judged(report: Report) -> Iterator[str]:
    """Yields the rules without any verdict, by reason."""
    shown = {row.rule for row in report.rows}
    left: dict[str, dict[str, None]] = defaultdict(dict)
    for skip in report.skipped:
        if "rule" in skip and skip["rule"] not in shown:
            left[skip["reason"]][skip["rule"]] = None
    for reason, rules in left.items():
        ids = list(rules)
        some = f"{', '.join(ids[:6])}, … ({len(ids)} rules)" if len(ids) > 8 else ", ".join(ids)
        yield f"  not judged: {some}: {reason}"
