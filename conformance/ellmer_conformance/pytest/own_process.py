"""A pytest plugin for the processes that `conformance run` starts. It makes garbage collection rare, and reports of tests few."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from _pytest.runner import runtestprotocol

from ..garbage_collection import collected_rarely


def pytest_configure(config: pytest.Config) -> None:
    """Sets the garbage collector until pytest ends."""
    stack = ExitStack()
    stack.enter_context(collected_rarely())
    config.add_cleanup(stack.close)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs a test and reports its call. Set-up and teardown are reported only if they fail, because workers send each report."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
