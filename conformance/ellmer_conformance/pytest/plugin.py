"""The pytest plugin for `conformance run`: options, parameters from adapters and cases, and the report.

It works with pytest-xdist: the results of a run are sent to the controller in the test's report.
"""

from __future__ import annotations

import os
import pickle
from argparse import SUPPRESS
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from _pytest.junitxml import xml_key
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from ..adapters.endpoints import PROVIDER_ADDRESSES
from ..contract import rules
from ..contract.live_key_redaction import redacted
from ..contract.rules import behaviour
from ..report import Report, Row, finished, judged
from ..report.baseline import FILE, Baseline, BaselineError, load
from ..report.causes import headline
from ..report.formats.terminal import abilities, console, print_report
from ..report.requirements import LATEST, requirements
from ..report.results import ids_of, is_play, without_verdict
from ..runner.from_cassettes import attempt
from ..runner.judgement import judge
from ..runner.selection import (
    FILTERS,
    Play,
    UnknownChoice,
    did_you_mean,
    find_adapter,
    inexpressible,
    left_out,
    plays_of,
    select,
)
from ..runner.watchdog import BUDGET, STACKS, last_stack, limited, unended
from ..scenarios.cases import all_cases, scripts
from ..scenarios.combinations import AREA as COMBINED

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation

    from ..contract.observed.run import Run
    from ..contract.rule import Verdict
    from ..server import StrictServer

# --- Frozen transcripts as syrupy snapshots --------------------------------------------------------------


_PACKAGE = Path(__file__).parent.parent

#: The frozen transcripts that came with this package; in a checkout they are beside it.
SHIPPED = next(p for p in (_PACKAGE / "transcripts", _PACKAGE.parent / "snapshots") if p.is_dir())

#: The part of a run's time that a command has, so that its end says what the command wrote, and not where the suite waited.
_OF_A_COMMAND = 0.9


class Transcript(SingleFileSnapshotExtension):
    """A snapshot in `<folder>/<case>.txt`."""

    file_extension = "txt"
    folder: ClassVar[Path] = SHIPPED
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        """Returns the text unchanged."""
        return str(data)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:  # noqa: ARG003 - one folder for all tests
        """Returns the folder of the transcripts."""
        return str(cls.folder)

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: Any) -> str:  # noqa: ARG003 - see above
        """Returns the case's name."""
        return str(index)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """Returns a name that syrupy accepts as the test's."""
        return f"{test_location.methodname}[{index}]"

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:  # noqa: ARG003 - see above
        """Returns True, because any test of the suite may use any transcript."""
        return Path(snapshot_location).parent == cls.folder

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """Returns the only snapshot of a file."""
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=f"test_conformance[{Path(snapshot_location).stem}]"))
        return collection


# --- Options ---------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of `conformance run`."""
    group = parser.getgroup("conformance")
    group.addoption(
        "--adapter", action="append", default=[], help="the adapter: an installed one, or package.module:name"
    )
    for name in FILTERS:
        group.addoption(
            f"--{name}",
            action="append",
            default=[],
            dest=name,
            help=f"run only this {name} (a glob; repeatable)",
        )
    group.addoption("--vendor", action="append", dest="provider", help=SUPPRESS)  # the older name
    group.addoption(
        "--rule",
        action="append",
        default=[],
        help="keep only verdicts of this rule (`ORD-*`: of a group; repeatable)",
    )
    group.addoption(
        "--spec-version", default=LATEST, help=f"the requirement set that the score counts against [{LATEST}]"
    )
    group.addoption("--cassettes", default="cassettes", help="folder of the recordings [cassettes]")
    group.addoption("--snapshots", default=SHIPPED, help="folder of the frozen transcripts [those shipped]")
    group.addoption("--details", action="store_true", help="print in full what was declared and left out")
    group.addoption("--report", default="", help="folder for report.json, junit.xml and the other forms")
    group.addoption("--baseline", default="", help=f"file of expected failures [{FILE}, if it exists]")
    group.addoption(
        "--against",
        choices=["cassettes", "server"],
        help="replay recordings, or connect to the strict server (default: cassettes; in a ConformanceSuite: server)",
    )
    group.addoption(
        "--combinations",
        choices=["none", "usual", "all"],
        default="usual",
        help="generated cases: none; `usual` adds six for each wire format; `all` covers each pair of values [usual]",
    )
    group.addoption(
        "--every-mode",
        action="store_true",
        help="run every mode also at the further providers of a wire format",
    )
    group.addoption(
        "--case-timeout",
        "--play-timeout",
        dest="case_timeout",
        type=float,
        default=BUDGET,
        help=f"a run of a case fails after this many seconds [{BUDGET:g}]",
    )
    group.addoption("--record", action="store_true", help="record again instead of replaying")
    group.addoption(
        "--live-base-url",
        default="",
        help="with --live: send requests to this base URL instead of the provider's",
    )
    group.addoption("--live", action="store_true", help="with --record: record only from the real API")


# --- Marks -----------------------------------------------------------------------------------------------


#: The rule that there was something to judge: it is always asked for.
ALWAYS = "RUN-001"

_OF_MODES = {
    "streaming": "cases in which the caller streams",
    "blocking": "cases in which the caller waits for the whole answer",
    "asynchronous": "cases with async calls",
    "must": "cases that can break a MUST rule",
    "advisory": "cases whose findings are never failures",
}

#: Every mark, and what it means.
MARKS = _OF_MODES | {
    f"area_{area}": f"cases about {area}"
    for area in sorted({COMBINED, *(case.area for case in all_cases().values())})
}


def marks_of(play: Play) -> list[pytest.MarkDecorator]:
    """Returns the marks of a run."""
    return [getattr(pytest.mark, name) for name in names_of(play)]


def names_of(play: Play) -> list[str]:
    """Returns the names of the marks: its mode, whether it can fail, and the area of its case."""
    names = ["streaming" if "stream" in play.mode else "blocking", f"area_{play.case.area}"]
    names += ["asynchronous"] if "async" in play.mode else []
    return [*names, "advisory" if play.case.advisory else "must"]


def is_chosen(row: Row, globs: Sequence[str]) -> bool:
    """Tells whether the rule of a verdict is selected by one of its ids, its group, or a pattern."""
    return not globs or row.rule == ALWAYS or any(_matches(row.rule_ids, glob) for glob in globs)


def check_rules(globs: Sequence[str]) -> None:
    """Raises LookupError for a name or pattern that matches no rule."""
    books = [rules.book(*place) for place in sorted(PROVIDER_ADDRESSES)] if globs else []
    all_ids = {ids_of(id, book.wire, book.provider) for book in books for id in book.rules}
    all_ids |= {ids_of(id, wire, "") for id in behaviour.book.rules for wire in rules.WIRES}
    for glob in globs:
        if not any(_matches(ids, glob) for ids in all_ids):
            near = did_you_mean(glob.upper(), (each for ids in all_ids for each in ids))
            raise LookupError(f"there is no rule {glob!r}{near}; `conformance list` lists all rules")


def _matches(ids: Sequence[str], glob: str) -> bool:
    return any(fnmatchcase(each.upper(), glob.upper()) for each in (*ids, ids[0].partition("-")[0]))


# --- The plugin ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayContext:
    """The context of a test: the cassettes, the strict server when recording, and the report."""

    play: Callable[[Play], Run]
    report: Callable[[Run, Sequence[Verdict]], list[Row]]


_KEPT = pytest.StashKey[Report]()
_BASELINE = pytest.StashKey[Baseline]()
_LEFT_OUT = "conformance_left_out"
_OWN_PROCESS = "ellmer_conformance.pytest.own_process"
_NUMBERS = count()  # each recorded conversation has its own number


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test for each adapter × wire × provider × case × mode that the options select."""
    if "play" in metafunc.fixturenames:
        try:
            plays = _plays(metafunc)
        except UnknownChoice as error:
            raise pytest.UsageError(str(error)) from None
        metafunc.parametrize("play", [pytest.param(p, id=p.id, marks=marks_of(p)) for p in plays])


def _plays(metafunc: pytest.Metafunc) -> list[Play]:
    """Returns the selected runs of the adapters in the options, or of the test class's adapter."""
    option = metafunc.config.option
    wanted, how = _selection(metafunc.config)
    seconds = option.case_timeout
    adapter = getattr(metafunc.cls, "adapter", None)
    if adapter is None:
        return select(option.adapter, wanted, **how, seconds=seconds)
    if isinstance(adapter, str):
        return select([adapter], wanted, **how, seconds=seconds)
    name = f"{metafunc.module.__name__}:{metafunc.cls.__qualname__}.adapter"  # pyright: ignore[reportOptionalMemberAccess]  # the adapter is one of the class
    return plays_of({name: find_adapter(adapter)}, wanted, **how)


def _selection(config: pytest.Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the filters of the options, and the options that decide how much is run."""
    names = ("record", "live", "combinations", "every_mode")
    return {name: config.getoption(name) for name in FILTERS}, {
        name: config.getoption(name) for name in names
    }


@pytest.fixture(scope="session")
def _server() -> Iterator[StrictServer]:
    from ..server import StrictServer  # noqa: PLC0415 - replay needs no server

    with StrictServer(scripts()) as server:
        yield server


@pytest.fixture(scope="class")
def _play(request: pytest.FixtureRequest) -> Callable[[Play], Run]:
    """Returns the way of a run: from its cassette, or with the strict server."""
    option = request.config.option
    cassettes = Path(option.cassettes)
    if option.record:
        server = request.getfixturevalue("_server")
        return partial(
            _from_cassette,
            cassettes,
            record=True,
            server=lambda case: server.url(case, str(next(_NUMBERS))),
            live_url=option.live_base_url,
        )
    if (option.against or getattr(request.cls, "against", "cassettes")) == "cassettes":
        return partial(_from_cassette, cassettes)
    return _against(request.getfixturevalue("_server"), option.case_timeout)


def _from_cassette(cassettes: Path, play: Play, **how: Any) -> Run:
    return attempt(play.adapter, play.wire, play.provider, play.case, play.mode, cassettes=cassettes, **how)


def _against(server: StrictServer, seconds: float) -> Callable[[Play], Run]:
    """Returns the way of a run against the server. It is imported here, before the time of a run begins."""
    from ..runner.against_server import play_direct  # noqa: PLC0415 - replay needs no server
    from ..runner.command import Driver  # noqa: PLC0415 - likewise

    def run_of(play: Play) -> Run:
        place = (play.wire, play.provider, play.case, play.mode)
        if isinstance(play.adapter, Driver):
            play.adapter.timeout = min(
                seconds * _OF_A_COMMAND, play.adapter.timeout
            )  # so that it is the command that is ended
            return play.adapter.play(*place, server=server)
        return play_direct(play.adapter, *place, server=server)

    return run_of


@pytest.fixture
def play_context(request: pytest.FixtureRequest, _play: Callable[[Play], Run]) -> PlayContext:
    """Returns the context of the test."""
    play: Play = request.getfixturevalue("play")
    config = request.config

    def report(run: Run, verdicts: Sequence[Verdict]) -> list[Row]:
        found = judged(play.adapter.name, run, verdicts, getattr(play.adapter, "differences", ()))
        found.named = {play.adapter.name: play.asked}
        if run.case.name != play.case.name:
            found.plays = [replace(each, combination=play.case.name) for each in found.plays]
        place = f"{play.adapter.name} {play.wire}/{play.provider}"
        found.capabilities = {place: abilities(play.adapter.capabilities(play.wire, play.provider))}
        found.rows = [row for row in found.rows if is_chosen(row, config.option.rule)]
        found.rows = [config.stash[_BASELINE].expected(row) for row in found.rows]
        request.node.stash[_KEPT] = found
        return found.rows

    return PlayContext(partial(limited, _play, config.option.case_timeout), report)


@pytest.fixture
def transcript(request: pytest.FixtureRequest) -> SnapshotAssertion | None:
    """Returns the frozen transcripts, or `None` for an adapter without any."""
    if not request.getfixturevalue("play").frozen:
        return None
    snapshot: SnapshotAssertion = request.getfixturevalue("snapshot")
    return snapshot.use_extension(Transcript)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the results of a run to the test's report, as bytes, because workers cannot send objects."""
    report = yield
    if report.when == "call" and _KEPT in item.stash:
        vars(report)["conformance"] = pickle.dumps(item.stash[_KEPT])
        del item.stash[_KEPT]  # pytest keeps the items to the end of the run
    return report


class Collector:
    """Collects the results in the tests' reports of all processes. At the end, it completes, writes and prints the
    report.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.parts: dict[str, Report] = {}  # by test
        self.order: Sequence[str] = ()  # the tests that were selected; workers finish them in any order
        self.report = Report()
        self.crashes: list[str] = []  # tests that could not be set up, or a recording that was refused
        named = any("[" in argument for argument in config.args)  # single plays, by their ids
        narrowed = any(config.getoption(name) for name in (*FILTERS, "rule"))
        self.whole = not (named or narrowed)  # nothing was left out

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Collects the results of a finished test. In a process of `conformance run`, its call is its last report."""
        self._collect(report)
        last = "call" if self.config.pluginmanager.has_plugin(_OWN_PROCESS) else "teardown"
        if report.when == last and report.nodeid in self.parts:
            report.user_properties += _properties(self.parts[report.nodeid].rows)
        yield
        xml = self.config.stash.get(xml_key, None)
        if xml is not None and report.when == last == "call":
            xml.finalize(report)

    def _collect(self, report: pytest.TestReport) -> None:
        if report.when == "call" and hasattr(report, "conformance"):
            self.parts[report.nodeid] = pickle.loads(report.conformance)  # noqa: S301 - from a process of ours
        elif report.failed and not self._ended(report.nodeid):
            self.crashes.append(f"{report.nodeid}\n{report.longreprtext}")

    def _ended(self, test: str) -> bool:
        """Judges a run whose process ended within it, and tells whether it was one."""
        folder = os.environ.get(STACKS)
        stack = last_stack(Path(folder)) if folder and test not in self.parts else ""
        if not stack or not is_play(test):
            return False
        wanted, how = _selection(self.config)
        plays = select(self.config.option.adapter, wanted, **how)
        play = next(play for play in plays if test.endswith(f"[{play.id}]"))
        run = unended(
            play, f"its process ended, because nothing could interrupt it; the stack then was\n{stack}"
        )
        found = judged(play.adapter.name, run, judge(run), getattr(play.adapter, "differences", ()))
        found.named = {play.adapter.name: play.asked}
        found.rows = [self.config.stash[_BASELINE].expected(row) for row in found.rows]
        self.parts[test] = found
        return True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Collects the tests of the run in their order."""
        self.order = self.order or [item.nodeid for item in session.items]

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Collects the tests of a worker."""
        self.order = ids

    def pytest_deselected(self) -> None:
        """Notes that some runs are left out."""
        self.whole = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Notes that a worker left some runs out."""
        self.whole &= not getattr(node, "workeroutput", {}).get(_LEFT_OUT)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Completes the report with the results of the whole run: the baseline's entries, the score, the exit code."""
        ordered = [self.parts[id] for id in self.order if id in self.parts]
        self.report = Report.joined(ordered or self.parts.values())
        # `-x`, `--collect-only`: the caller asked for no more
        stopped = session.shouldstop or session.shouldfail or self.config.option.collectonly
        self.report.unjudged = [] if stopped else without_verdict(self.order, self._judged())
        played = dict.fromkeys((play.adapter, play.wire) for play in self.report.plays)
        left = left_out(played, self.report.named, seconds=self.config.option.case_timeout)
        asked = self.config.option.case or ["*"]
        self.report.skipped += [
            skip
            for skip in (*inexpressible(played), *left)
            if any(fnmatchcase(skip["case"], glob) for glob in asked)
        ]
        whole = self.whole and not stopped and not self.report.unjudged
        if self.parts or self.report.unjudged:  # otherwise only other tests of the project ran
            baseline = self.config.stash[_BASELINE]
            self.report.rows, self.report.problems = baseline.settled(self.report.rows, whole=whole)
        finished(self.report, self.config.option.spec_version)
        if self.report.exit_code and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            session.exitstatus = self.report.exit_code

        xml = self.config.stash.get(xml_key, None)
        if xml is not None:
            xml.add_global_property("causes", headline(self.report))
            xml.add_global_property("requirements", self.report.requirements)

    def _judged(self) -> Collection[str]:
        """Returns the tests with a verdict. There are none if no selected rule checked anything."""
        met = any(row.rule != ALWAYS for part in self.parts.values() for row in part.rows)
        return self.parts if met or not self.config.option.rule else ()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the matrix and writes all forms of the report."""
        for crash in self.crashes if self.config.option.tbstyle == "no" else ():
            terminalreporter.write_line(redacted(crash))
        if not self.report.rows and not self.report.unjudged:
            return
        terminalreporter.ensure_newline()
        _add_to_last_line(terminalreporter, headline(self.report))
        written = self.config.option.report
        folder = Path(written) if written else None
        to = console(terminalreporter._tw._file)  # pyright: ignore[reportArgumentType]  # it always has one  # noqa: SLF001 - no public way to its stream
        print_report(self.report, to, folder, details=self.config.option.details)
        if folder:
            self._write(folder, terminalreporter)

    def _write(self, folder: Path, terminalreporter: pytest.TerminalReporter) -> None:
        """Writes all forms of the report to the folder."""
        from ..report import report_folder  # noqa: PLC0415 - HTML, Markdown and SARIF, if they are wanted

        for path in report_folder.write(self.report, folder, cassettes=self.config.option.cassettes):
            terminalreporter.write_line(f"wrote {path}")


def _properties(rows: Sequence[Row]) -> list[tuple[str, object]]:
    """Returns the properties of a run in JUnit: how many rules are kept, and each other rule with its verdict."""
    others = [(row.rule, f"{row.level} {row.verdict}") for row in rows if row.verdict != "pass"]
    return [("kept", len(rows) - len(others)), *others]


def _add_to_last_line(terminalreporter: pytest.TerminalReporter, headline: str) -> None:
    """Puts the number of causes before the numbers in pytest's last line."""
    summary = terminalreporter.build_summary_stats_line

    def with_causes() -> tuple[list[tuple[str, dict[str, bool]]], str]:
        parts, colour = summary()
        return [(headline, {"red": True, "bold": True}), *parts], colour

    if headline:
        vars(terminalreporter)["build_summary_stats_line"] = with_causes


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Sends the deselected runs of a worker to the controller."""
    for item in items[:1]:
        getattr(item.config, "workeroutput", {})[_LEFT_OUT] = True


@pytest.hookimpl(tryfirst=True)  # before JUnit's own reads where to write
def pytest_configure(config: pytest.Config) -> None:
    """Registers the collector, except in workers, which only report."""
    if config.option.report and not config.getoption("xmlpath", None):
        config.option.xmlpath = str(Path(config.option.report, "junit.xml"))
    try:
        requirements(config.option.spec_version)
        check_rules(config.option.rule)
    except LookupError as error:
        raise pytest.UsageError(str(error)) from None
    for name, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    Transcript.folder = config.rootpath / config.option.snapshots
    config.stash[_BASELINE] = _baseline(config.option.baseline)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(config), "conformance-collector")


def _baseline(name: str) -> Baseline:
    path = Path(name or FILE)
    if not name and not path.exists():
        return Baseline()
    try:
        return load(path)
    except BaselineError as error:
        raise pytest.UsageError(str(error)) from None
