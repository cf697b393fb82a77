"""The suite as pytest sees it: one test per wire format, vendor, case and mode.

Run by `conformance run`, which loads `ellmer_conformance.plugin`; that gives the parameters and the report.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from .plugin import Stage
from .rule import Verdict
from .run import Run
from .runner import judge, play
from .selection import Play
from .transcript import normalised

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def test_conformance(scene: Play, stage: Stage, transcript: SnapshotAssertion) -> None:
    """The adapter keeps every rule that the case touches."""
    run = play(
        scene.adapter,
        scene.wire,
        scene.vendor,
        scene.case,
        scene.mode,
        cassettes=stage.cassettes,
        record=stage.record,
        server=stage.server,
    )
    verdicts = judge(replace(run, snapshot_diff=_difference(run, scene, transcript)))
    stage.report(run, verdicts)
    failures = [_sentence(v) for v in verdicts if v.outcome == "fail"]
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)


def _difference(run: Run, scene: Play, frozen: SnapshotAssertion) -> str | None:
    """How the transcript differs from the frozen one; None where none is frozen (another library's, live)."""
    if not scene.frozen or not run.transcript or run.recorded_from == "live":
        return None
    name = run.case.name + (".refused" if run.refused else "")
    name += ".stream" if run.case.streamed_apart and "stream" in run.mode else ""
    assertion = frozen(name=name)
    if normalised(run.transcript) + "\n" == assertion:
        return ""
    return _COLOUR.sub("", "\n".join(assertion.get_assert_diff()))


def _sentence(verdict: Verdict) -> str:
    rule, violation = verdict.rule, verdict.violations[0]
    refusal = violation.refusal
    said = f"\n  the provider says ({refusal.status}): {refusal.message}" if refusal else ""
    return (
        f"{rule.id} ({rule.level}): {rule.sentence}\n  at {violation.pointer}: {violation.message}{said}"
        f"\n  more: conformance explain {rule.id}"
    )
