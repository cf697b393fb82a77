"""The verdicts of a whole run of pytest, from all its workers, as a section of the terminal summary."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ..cassette.run_verdict import Verdict, nobody_asked, table
from ..format.blobs import replace_file

# --- The summary -----------------------------------------------------------------------------------------


_NOT_RUN = "cassettes_not_run"


class Summary:
    """Collects the verdicts of the tests, and the modules of which only some tests ran."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.verdicts: list[tuple[str, Verdict]] = []
        self.modules: set[str] = set()
        self.failed: set[str] = set()  # tests that stopped midway
        self.partial: set[str] = set()  # modules of which not every test ran; "" stands for all of them

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module = _module(report.nodeid)
        self.modules.add(module)
        if report.skipped or (report.when == "setup" and report.failed):
            self.partial.add(module)
        if report.failed and report.when != "teardown":
            self.failed.add(report.nodeid)
        if found := getattr(report, "cassette", None):
            self.verdicts.append((report.nodeid, Verdict(**found)))
        self.verdicts += [
            (report.nodeid, Verdict(**fields)) for fields in getattr(report, "fixture_cassettes", ())
        ]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Any:
        """Notes the tests that a plugin takes out without a word."""
        before = [*items]
        result = yield
        self.partial |= {_module(item.nodeid) for item in {*before} - {*items}}
        return result

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        # pytest-testmon reports items without a name, for tests of files that it has not collected.
        self.partial |= {_module(getattr(item, "nodeid", "")) for item in items}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Sends the results of a worker of xdist to the controller."""
        if session.shouldstop or session.shouldfail or exitstatus > pytest.ExitCode.TESTS_FAILED:
            self.partial.add("")
        if (output := getattr(self.config, "workeroutput", None)) is not None:
            output[_NOT_RUN] = sorted(self.partial)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Collects the results of a worker that has ended."""
        self.partial |= set(getattr(node, "workeroutput", {}).get(_NOT_RUN, [""] if error else []))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.verdicts:
            terminalreporter.section("cassettes")
            for line in table(self.verdicts):
                terminalreporter.write_line(line)
            for line in self._about_the_whole():
                terminalreporter.write_line(line)
            self._report()

    def _report(self) -> None:
        """Writes the report for `ellmer-harness prune`."""
        if path := self.config.getoption("--cassette-report"):
            whole = self._whole()
            sure = [
                (name, verdict)
                for name, verdict in self.verdicts
                if _module(name) in whole and not verdict.store
            ]
            write_report(Path(path), left_over(sure, self.failed), self._orphans(whole))

    def _about_the_whole(self) -> Iterator[str]:
        """Lists unused cassettes and interactions of modules of which every test ran."""
        whole = self._whole()
        for path, requests in nobody_asked(
            [verdict for name, verdict in self.verdicts if _module(name) in whole]
        ):
            yield f"{'UNUSED':9}{path}: no test of this run asked for {', '.join(requests)}"
        yield from (f"{'ORPHAN':9}{path}: no test of this run used it" for path in self._orphans(whole))

    def _orphans(self, whole: set[str]) -> list[Path]:
        used = {Path(verdict.path) for _, verdict in self.verdicts}
        found = (path for folder in sorted(self._folders(whole)) for path in sorted(folder.rglob("*.json")))
        return [path for path in found if path not in used]

    def _whole(self) -> set[str]:
        option = self.config.option
        narrowed = option.keyword or option.markexpr or self.config.getoption("lf", default=False)
        if narrowed or "" in self.partial or any("::" in argument for argument in self.config.args):
            return set()
        return self.modules - self.partial

    def _folders(self, whole: set[str]) -> set[Path]:
        """Returns the local folders of cassettes whose tests all ran: those of whole modules, or all after a
        full run.
        """
        here = {
            Path(verdict.path).parent
            for name, verdict in self.verdicts
            if not verdict.store and _module(name) in whole
        }
        if not self.partial and self.config.args_source is not pytest.Config.ArgsSource.ARGS:
            return here
        modules = (self.config.rootpath / module for module in whole)
        own = {module.parent / "cassettes" / module.stem for module in modules}
        return {folder for folder in own if any(path.is_relative_to(folder) for path in here)}


def _module(nodeid: str) -> str:
    return nodeid.partition("::")[0]


# --- The report for ellmer-harness prune -----------------------------------------------------------------


def left_over(verdicts: Iterable[tuple[str, Verdict]], failed: Collection[str]) -> dict[str, list[str]]:
    """Returns the cassettes with the interactions that none of their tests requested. `failed` names the
    tests that stopped early.
    """
    together: dict[str, list[tuple[str, Verdict]]] = {}
    for name, verdict in verdicts:
        together.setdefault(verdict.path, []).append((name, verdict))
    sure = {
        path: set[str].intersection(*(set(verdict.left) for _, verdict in shared))
        for path, shared in together.items()
        if all(verdict.state in ("replayed", "unused") and name not in failed for name, verdict in shared)
    }
    return {path: sorted(left) for path, left in sure.items() if left}


def write_report(path: Path, unused: dict[str, list[str]], orphans: Iterable[Path]) -> None:
    """Writes the report."""
    found = {"unused": unused, "orphans": sorted(map(str, orphans))}
    replace_file(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
