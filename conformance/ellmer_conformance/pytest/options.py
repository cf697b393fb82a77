"""The options of the pytest plugin: the selected runs (each option may be repeated, globs allowed), the server or
cassettes to use, and the folder of the report.
"""

from __future__ import annotations

import pytest

from ..baseline import FILE
from ..report.requirements import LATEST
from ..runner.selection import FILTERS
from .snapshots import SHIPPED

__all__ = ["pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of `conformance run`."""
    group = parser.getgroup("conformance")
    group.addoption(
        "--adapter", action="append", default=[], help="installed adapter, or package.module:name"
    )
    for name in FILTERS:
        old = ("--vendor",) if name == "provider" else ()
        group.addoption(
            f"--{name}",
            *old,
            action="append",
            default=[],
            dest=name,
            help=f"only this {name} (glob, repeatable)",
        )
    group.addoption(
        "--rule",
        action="append",
        default=[],
        help="only verdicts of this rule (`ORD-*`: of a group; repeatable)",
    )
    group.addoption(
        "--spec-version", default=LATEST, help=f"the requirement set that the score counts against [{LATEST}]"
    )
    group.addoption("--cassettes", default="cassettes", help="folder of the recordings [cassettes]")
    group.addoption("--snapshots", default=SHIPPED, help="folder of the frozen transcripts [those shipped]")
    group.addoption("--report", default="", help="folder for report.json, junit.xml and the other forms")
    group.addoption("--baseline", default="", help=f"file of expected failures [{FILE}, if it exists]")
    group.addoption(
        "--against",
        choices=["cassettes", "server"],
        help="replay recordings, or connect to the strict server [cassettes; a ConformanceSuite: server]",
    )
    group.addoption("--record", action="store_true", help="record again instead of replaying")
    group.addoption(
        "--live-base-url", default="", help="with --live: a base URL in place of the provider's own"
    )
    group.addoption("--live", action="store_true", help="with --record: record only from the real API")
