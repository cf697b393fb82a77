"""The pytest plugin: a test marked `@pytest.mark.cassette` replays its cassette.

```python
@pytest.mark.cassette                       # tests/cassettes/<module>/<test>.json
def test_chat(cassette): ...                # the fixture is the tape; using it is enough, marked or not

@pytest.mark.cassette("shared", faults=[Status(429)])
```

`--cassette-mode=record|rewrite|append|live` does otherwise for one run. Folder, name and options are fixtures:
override `cassette_folder`, `cassette_name`, `cassette_options` in a conftest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from .errors import HarnessError, Miss
from .options import MODES, set_default_mode
from .tape import Tape
from .verdict import Verdict, table

_FAILURE = pytest.StashKey[BaseException]()
_TAPE = pytest.StashKey[Tape]()
_BEFORE = pytest.StashKey[str | None]()
_LONGEST = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--cassette-mode`."""
    group = parser.getgroup("cassettes", "recorded HTTP traffic")
    group.addoption(
        "--cassette-mode",
        choices=MODES,
        help="what to do with cassettes (default: $CASSETTE_MODE, or replay)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker, and the mode of this run."""
    config.addinivalue_line(
        "markers", "cassette(path=None, **options): replay recorded HTTP; options as for use_cassette"
    )
    config.stash[_BEFORE] = set_default_mode(config.getoption("--cassette-mode"))
    config.pluginmanager.register(_Summary(config), "ellmer_harness_summary")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves the mode as it was (pytest may run inside pytest)."""
    set_default_mode(config.stash.get(_BEFORE, None))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A marked test uses the fixture, named among its arguments or not."""
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("cassette"):
            names = [name for name in item.fixturenames if name != "cassette"]
            # Inside pytest-recording's fixture, which patches the same transports for every test.
            names.insert(names.index("vcr") + 1 if "vcr" in names else 0, "cassette")
            item.fixturenames[:] = names


@pytest.fixture
def cassette_folder(request: pytest.FixtureRequest) -> Path:
    """Where the cassettes of a test are: `cassettes/<module>` beside its file."""
    return request.path.parent / "cassettes" / request.path.stem


@pytest.fixture
def cassette_name(request: pytest.FixtureRequest) -> str:
    """The cassette's file name without its suffix: class, test and parameters."""
    owner = f"{request.cls.__name__}." if request.cls else ""
    return file_name(owner + request.node.name)


@pytest.fixture
def cassette_options() -> dict[str, Any]:
    """Options of `use_cassette` for every test; those of the marker come on top."""
    return {}


@pytest.fixture
def cassette(
    request: pytest.FixtureRequest,
    cassette_folder: Path,
    cassette_name: str,
    cassette_options: dict[str, Any],
) -> Iterator[Tape]:
    """The tape of this test; at the end it is held to what was recorded."""
    path, options = _marked(request.node, cassette_name)
    shared = {"blobs": request.path.parent / "cassettes" / "blobs", **cassette_options, **options}
    tape = Tape(cassette_folder / path, **shared)
    request.node.stash[_TAPE] = tape
    try:
        tape.__enter__()
    except HarnessError as error:
        pytest.fail(str(error), pytrace=False)
    yield tape
    try:
        tape.close(request.node.stash.get(_FAILURE, None))
    except (HarnessError, Miss) as error:
        pytest.fail(f"{type(error).__name__}: {error}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Notes how the test ended, for the tape; and what the tape has to say, for the summary."""
    report = yield
    if call.excinfo is not None and call.when != "teardown":
        item.stash[_FAILURE] = call.excinfo.value
    if call.when == "teardown" and _TAPE in item.stash:
        report.cassette = item.stash[_TAPE].verdict.as_dict()
    return report


def file_name(test: str) -> str:
    """A name fit for any file system; different tests never share one."""
    slug = re.sub(r"[^\w.-]+", "-", test, flags=re.ASCII).strip("-")
    if slug == test and len(slug) <= _LONGEST:
        return slug
    return f"{slug[:_LONGEST]}-{sha256(test.encode()).hexdigest()[:8]}"


def _marked(node: pytest.Item, name: str) -> tuple[Path, dict[str, Any]]:
    """Path and options from the markers; the one nearest to the test wins."""
    options: dict[str, Any] = {}
    for mark in reversed([*node.iter_markers("cassette")]):
        options |= mark.kwargs
        if mark.args:
            options["path"] = mark.args[0]
    path = Path(options.pop("path", None) or name)
    return (path if path.suffix == ".json" else path.with_name(path.name + ".json")), options


class _Summary:
    """Collects the verdicts of all workers and prints them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.verdicts: list[tuple[str, Verdict]] = []
        self.unsure: set[str] = set()  # modules of which not every test ran

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.unsure.add(Path(report.nodeid.partition("::")[0]).stem)
        if found := getattr(report, "cassette", None):
            self.verdicts.append((report.nodeid, Verdict(**found)))

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.unsure |= {item.path.stem for item in items}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.verdicts:
            terminalreporter.section("cassettes")
            for line in table(self.verdicts, self._orphans()):
                terminalreporter.write_line(line)

    def _orphans(self) -> list[str]:
        """Cassettes beside those that were used; only where every test of the module ran."""
        chosen = self.config.option
        if (
            chosen.maxfail
            or chosen.keyword
            or chosen.markexpr
            or any("::" in one for one in self.config.args)
        ):
            return []
        used = {Path(verdict.path) for _, verdict in self.verdicts}
        folders = {path.parent for path in used if path.parent.name not in self.unsure}
        return [
            str(path)
            for folder in sorted(folders)
            for path in sorted(folder.glob("*.json"))
            if path not in used
        ]
