"""A plugin of pytest that notes for each test its seconds, the lines it reaches and the files it reads.

`devtools.test_selection.reach` starts it in every worker, together with coverage. Coverage writes the lines. This plugin tells it
the running test, and writes the rest to `$REACH_FOLDER`. Processes that a test starts get its name in `$REACH_TEST`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from coverage import Coverage

ROOT = f"{Path(__file__).parents[2]}{os.sep}"
#: What is read from here is not a part of the repository.
OUTSIDE = tuple(f"{ROOT}{name}{os.sep}" for name in (".git", ".venv", ".nox", "build"))
#: Files that coverage notes itself, or that are made from others.
NOTED = (".py", ".pyc", ".pyi")


class Recorder:
    """Tells coverage the running test, and collects the seconds and the files of each test."""

    def __init__(self) -> None:
        self.test = ""
        self.seconds: dict[str, float] = {}
        self.files: dict[str, set[str]] = defaultdict(set)
        sys.addaudithook(self.audit)

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Notes a file of the repository that is opened."""
        if event == "open" and self.test and isinstance(arguments[0], str):
            path = os.path.abspath(arguments[0])  # noqa: PTH100 - `Path` would open nothing, but is slow
            if path.startswith(ROOT) and not path.endswith(NOTED) and not path.startswith(OUTSIDE):
                self.files[self.test].add(path.removeprefix(ROOT))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        measured = Coverage.current()
        self.test = os.environ["REACH_TEST"] = item.nodeid
        if measured:
            measured.switch_context(item.nodeid)
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.perf_counter() - began
            self.test = ""

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Saves at once, because a worker of xdist ends without the functions that wait for its end."""
        if measured := Coverage.current():
            measured.stop()
            measured.save()
        notes = {
            "seconds": self.seconds,
            "files": {test: sorted(files) for test, files in self.files.items()},
        }
        Path(os.environ["REACH_FOLDER"], f"notes-{os.getpid()}.json").write_text(json.dumps(notes), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "reach recorder")
