"""Runs of our adapter, unchanged and with a replaced part, for reports with a known failure."""

from ellmer_conformance.report import judged
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.runner.selection import find_adapter
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
BROKEN = "ellmer-core/openai-chat/openai/dangling_call[sync]/ORD-003"


class Ours:
    """Our adapter with a replaced part."""

    def __init__(self, **changed):
        self.inner = find_adapter("ellmer-core")
        vars(self).update(changed)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def played(adapter, case, mode="sync", wire="openai-chat", provider="openai"):
    """Returns the result of one run against the strict server."""
    with StrictServer(scripts(), mode="observe") as server:
        run = play_direct(adapter, wire, provider, CASES[case], mode, server=server)
    return judged(adapter.name, run, judge(run))


def row(report, rule, case="dangling_call"):
    return next(r for r in report.rows if (r.rule, r.case) == (rule, case))
