"""The pytest plugin behind `conformance run`: parameters from adapters and cases, and the report.

Options: `--adapter`, `--wire`, `--vendor`, `--case`, `--mode` (each may be repeated, globs allowed),
`--cassettes`, `--snapshots`, `--report`, `--record`. Works under pytest-xdist: rows travel to the controller
in the tests' reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from .cases import scripts
from .report import Report, Row, rows
from .selection import FILTERS, Play, UnknownChoice, inexpressible, select
from .snapshots import Transcript

if TYPE_CHECKING:
    from .rule import Verdict
    from .run import Run


@dataclass(frozen=True)
class Stage:
    """Where a test plays: the cassettes, the strict server when recording, and the report."""

    cassettes: Path
    record: bool
    server: Callable[[str], str] | None
    report: Callable[[Run, Sequence[Verdict]], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `conformance run`."""
    group = parser.getgroup("conformance")
    group.addoption(
        "--adapter", action="append", default=[], help="installed adapter, or package.module:name"
    )
    for name in FILTERS:
        group.addoption(f"--{name}", action="append", default=[], help=f"only this {name} (glob, repeatable)")
    group.addoption("--cassettes", default="cassettes", help="folder of the recordings [cassettes]")
    group.addoption("--snapshots", default="conformance/snapshots", help="folder of the frozen transcripts")
    group.addoption("--report", default="", help="folder for report.json and junit.xml")
    group.addoption("--record", action="store_true", help="record again instead of replaying")
    group.addoption("--live", action="store_true", help="with --record: from the real API or not at all")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per adapter × wire × vendor × case × mode that the options let through."""
    if "scene" in metafunc.fixturenames:
        option = metafunc.config.getoption
        wanted = {name: option(name) for name in FILTERS}
        try:
            plays = select(option("adapter"), wanted, record=option("record"), live=option("live"))
        except UnknownChoice as error:
            raise pytest.UsageError(str(error)) from None
        metafunc.parametrize("scene", plays, ids=[play.id for play in plays])


@pytest.fixture(scope="session")
def _strict_server(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str] | None]:
    if not request.config.getoption("record"):
        yield None
        return
    from .server import StrictServer  # noqa: PLC0415 - replay needs no server

    with StrictServer(scripts()) as server:
        counter = iter(range(1_000_000))
        yield lambda case: server.url(case, str(next(counter)))


@pytest.fixture
def stage(request: pytest.FixtureRequest, _strict_server: Callable[[str], str] | None) -> Stage:
    """Where the test plays."""
    scene: Play = request.getfixturevalue("scene")
    config = request.config

    def report(run: Run, verdicts: Sequence[Verdict]) -> None:
        found = rows(scene.adapter.name, run, verdicts)
        kept = {"rows": [asdict(row) for row in found], "cassette": {run.cassette: run.recorded_from}}
        request.node.user_properties.append(("conformance", json.dumps(kept)))

    return Stage(Path(config.getoption("cassettes")), config.getoption("record"), _strict_server, report)


@pytest.fixture
def transcript(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The frozen transcripts."""
    return snapshot.use_extension(Transcript)


class Collector:
    """Gathers the rows from the tests' reports, wherever they ran, and writes and prints them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.report = Report()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the rows of a finished test."""
        if report.when == "call":
            for name, value in report.user_properties:
                if name == "conformance":
                    kept = json.loads(str(value))
                    self.report.rows += [Row(**row) for row in kept["rows"]]
                    self.report.cassettes |= kept["cassette"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the matrix; writes report.json."""
        self.report.skipped = list(inexpressible(self.config.getoption("adapter")))
        folder = self.config.getoption("report")
        if folder:
            self.report.write(Path(folder) / "report.json")
        if self.report.rows:
            terminalreporter.ensure_newline()
            self.report.print(Console(file=terminalreporter._tw._file, soft_wrap=True))  # noqa: SLF001 - no public way to its stream
        if folder:
            terminalreporter.write_line(f"wrote {Path(folder) / 'report.json'}")


def pytest_configure(config: pytest.Config) -> None:
    """The controller collects; workers only report."""
    Transcript.folder = config.rootpath / config.getoption("snapshots")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(config), "conformance-collector")
