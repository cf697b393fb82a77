"""The report on a server: its judged answers, and the score against the rules for servers."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from ...contract.observed_run import Run, Trouble
from ...contract.rule import Level
from ...contract.verdict import verdict
from ...report import Report, finished, judged
from ...report.report_json import rule_text
from ...runner.judgement import judge
from ...scenarios.case import Case
from .run import Probe, Target
from .sdk_types import package
from .server_answer import Heard
from .server_rules import book

__all__ = ["probed"]

_BROKEN = {"fail", "warn", "expected-fail"}


def probed(target: Target, *, with_rules: bool = True) -> Report:
    """Returns the report on a server: a run for each question, and for each request that must be refused or accepted."""
    with httpx.Client(timeout=target.timeout, trust_env=False) as client:
        probe = Probe(target, client)
        probe.questions()
        if any(each.status for each in probe.heard):
            probe.mistakes()
            if with_rules:
                probe.rule_bodies()
    report = Report.joined(_judged(target, each) for each in probe.heard)
    report.named = {target.called: f"probe:{target.base_url}"}
    report.skipped += list(_skipped(target, probe))
    return _scored(finished(report))


def _judged(target: Target, heard: Heard) -> Report:
    case = Case(script=(), steps=(), name=heard.question.name)
    run = Run(
        case,
        target.wire,
        target.provider or target.wire,
        "stream" if heard.question.stream else "sync",
        [heard.exchange],
        way="probe",
        trouble=None
        if heard.status
        else Trouble(f"no answer came from {heard.exchange.request.url}", ours=False),
    )
    if run.trouble:
        return judged(target.called, run, judge(run))
    return judged(target.called, run, [verdict(rule, heard) for rule in book.rules.values()])


def _skipped(target: Target, probe: Probe) -> Iterator[dict[str, str]]:
    """Yields the server's supported and unsupported features, and the parts that could not be judged."""
    row = {"adapter": target.called, "wire": target.wire}
    for name, able in probe.able.items():
        yield {
            **row,
            "case": "*",
            "capability": name,
            "reason": "found" if able else "not found: it is refused",
        }
    if not package(target.wire):
        yield {**row, "case": "*", "rule": "SRV-003", "reason": "the official SDK is not installed here"}


def _scored(report: Report) -> Report:
    """Returns the report with the texts of the server rules and their score. These rules are not in a requirement set
    yet.
    """
    wires = dict.fromkeys((row.wire, row.provider) for row in report.rows)
    report.rules += [
        {**rule_text(rule, wire, provider), "preview": False}
        for wire, provider in wires
        for rule in book.rules.values()
    ]
    for name, counts in report.score.items():
        mine = [row for row in report.rows if f"{row.adapter} {row.wire}" == name and row.rule in book.rules]
        for level in Level:
            ruled = {row.rule for row in mine if row.level == level}
            broken = {row.rule for row in mine if row.level == level and row.verdict in _BROKEN}
            counts[f"{level.lower()}_applicable"] = len(ruled)
            counts[f"{level.lower()}_passed"] = len(ruled - broken)
        counts["preview_applicable"] = counts["preview_passed"] = 0
    return report
