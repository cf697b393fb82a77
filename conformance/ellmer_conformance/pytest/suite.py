"""The suite for pytest: one test for each wire format, provider, case and mode.

`conformance run` uses it and loads `ellmer_conformance.pytest.plugin`, which provides the parameters and the report.
In your own test folder:

```python
from ellmer_conformance.pytest.suite import ConformanceSuite

class TestMine(ConformanceSuite):
    adapter = "my_package.conformance:adapter"  # or the adapter itself
```

with `pytest_plugins = ["ellmer_conformance.pytest.plugin"]` in the conftest.py of the root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion

from ..adapters import Adapter
from ..contract.observed.run import Run, all_media_of
from ..contract.observed.transcripts import normalised
from ..contract.rule import Verdict
from ..report import FAILING, Report, Row
from ..report.causes import Cause, causes
from ..runner.judgement import judge
from ..runner.selection import Play
from ..runner.sessions import our_trouble
from ..runner.smallest_part import reduced
from .plugin import PlayContext

__all__ = ["ConformanceSuite"]

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def test_conformance(play: Play, play_context: PlayContext, transcript: SnapshotAssertion | None) -> None:
    """The adapter keeps every rule that the case checks."""
    run, verdicts = _judged(play_context.play(play), transcript)
    rows = play_context.report(run, verdicts)
    if broken := _broken(rows):
        rules = {cause.rows[0].rule for cause in causes(Report(rows=broken))}
        smallest = reduced(play_context.play, play, run, rules, partial(_rules_broken, play_context))
        rows = play_context.report(*((run, verdicts) if smallest is run else _judged(smallest, None)))
        broken = _broken(rows)
    if broken:
        pytest.fail("\n\n".join(map(_cause_in_full, causes(Report(rows=broken)))), pytrace=False)
    expected = [f"{row.rule}: {row.reason} ({row.issue})" for row in rows if row.verdict == "expected-fail"]
    if expected:
        pytest.xfail("; ".join(expected))


def _broken(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows that fail the test: what is declared or expected does not."""
    return [row for row in rows if row.verdict in FAILING or row.verdict == "harness-error"]


def _rules_broken(play_context: PlayContext, run: Run) -> set[str]:
    """Returns the rules that a run breaks, those of the baseline, too: what a part is known to break explains the whole."""
    rows = play_context.report(*_judged(run, None))
    return {row.rule for row in rows if row.verdict in FAILING or row.verdict == "expected-fail"}


class ConformanceSuite:
    """All cases against one adapter, as a test class. `-k`, `-n` and the plugin's options select tests and write the report.

    `adapter` is an adapter, a class or function that makes one, or its name. `against` is where the adapter is run unless
    `--against` says otherwise: `"server"` (default) is the strict server, and `"cassettes"` needs recordings.

    Examples:
        >>> class TestMine(ConformanceSuite):
        ...     adapter = "my_package.conformance:adapter"
        >>> TestMine.against
        'server'
    """

    adapter: ClassVar[Adapter | Callable[[], Adapter] | str]
    against: ClassVar[str] = "server"

    def test_conformance(
        self, play: Play, play_context: PlayContext, transcript: SnapshotAssertion | None
    ) -> None:
        """The adapter keeps every rule that the case checks."""
        test_conformance(play, play_context, transcript)


def _judged(run: Run, transcript: SnapshotAssertion | None) -> tuple[Run, list[Verdict]]:
    """Returns the run and the verdicts. A rule that raises is an error of the suite, not of the adapter."""
    try:
        run = replace(run, snapshot_diff=_difference(run, transcript))
        return run, judge(run)
    except Exception as error:  # noqa: BLE001 - see above
        run = replace(run, trouble=our_trouble(error))
        return run, judge(run)


_OF_TOOLS = frozenset({"image_in_tool_result", "pdf_in_tool_result"})


def _difference(run: Run, frozen: SnapshotAssertion | None) -> str | None:
    """Returns the difference between the transcript and the frozen one, or `None` if none is frozen (another
    library's, live).
    """
    if frozen is None or not run.case.printed_alike or not run.transcript or run.recorded_from == "live":
        return None
    name = run.case.recorded_as + (".refused" if run.refused else "")
    name += ".tools" if "tools" in run.refused else ""
    name += ".some" if len(_OF_TOOLS & {*run.refused}) == 1 and run.case.needs >= _OF_TOOLS else ""
    name += ".unfetched" if _lacks_urls(run) else ""
    name += ".stream" if run.case.streamed_apart and "stream" in run.mode else ""
    assertion = frozen(name=name)
    if normalised(run.transcript) + "\n" == assertion:
        return ""
    return _COLOUR.sub("", "\n".join(assertion.get_assert_diff()))


def _lacks_urls(run: Run) -> bool:
    """Tells whether images by URL, from tools, were described, because the API does not download them."""
    urls = {media.url for each in run.tool_runs for media in all_media_of(each.value) if media.url}
    sent = {item.media.url for items in run.sent_items for item in items if item.media}
    return bool(urls) and not urls & sent and not run.refused


def _cause_in_full(cause: Cause) -> str:
    """Returns a cause of one run in full, with the rules that are broken because of it in one line."""
    follows = ", ".join(dict.fromkeys(row.rule for row in cause.follows))
    return "\n".join([*map(_sentence, cause.rows), *([f"  it causes: {follows}"] if follows else [])])


def _sentence(row: Row) -> str:
    answer = f"\n  the provider answers ({row.status}): {row.provider_error}" if row.provider_error else ""
    return (
        f"{row.rule} ({row.level}, {row.verdict}) at {row.pointer}: {row.message}{answer}"
        f"\n  more: {row.page}\n  or: {row.explain_command}"
    )
