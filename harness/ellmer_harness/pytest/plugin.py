"""The pytest plugin: a test marked `@pytest.mark.cassette` replays its cassette.

```python
@pytest.mark.cassette                       # tests/cassettes/<module>/<test>.json
def test_chat(cassette): ...                # the fixture is the cassette; using it is enough, marked or not

@pytest.mark.cassette("shared", faults=[Status(429)])
```

`--cassette-mode=record|rewrite|update|append|live` changes the mode for one run. Every option is a fixture that a
conftest can override.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import relpath
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ..cassette.cassette import Cassette
from ..cassette.cassette_state import (
    MODES,
    Judge,
    Mode,
    Policy,
    Recording,
    check_options,
    chosen_mode,
    set_default_mode,
    set_default_run,
)
from ..cassette.miss_explanation import rerecord_command
from ..cassette.request_key import Match
from ..cassette.run_verdict import LEVELS
from ..errors import CassetteError, HarnessError, Miss
from ..format.blobs import file_name
from ..interception.open_cassettes import Clock
from ..secrets.redaction import Scrub, clean_url
from ..store import Store
from . import fixture_cassettes, hooks
from .terminal_summary import Summary

__all__ = [
    "cassette",
    "cassette_blobs",
    "cassette_clock",
    "cassette_folder",
    "cassette_judge",
    "cassette_match",
    "cassette_max_age",
    "cassette_mode",
    "cassette_name",
    "cassette_options",
    "cassette_policies",
    "cassette_routes",
    "cassette_scrub",
    "cassette_store",
    "file_name",
]


# --- Options, hooks and the fixture ----------------------------------------------------------------------


_FOREIGN = (".yaml", ".yml", ".har")  # of recordings of other tools
_LIBRARIES = {"site-packages", "dist-packages", "ellmer_harness"}
_FRAMES = 4  # of the suite, which lead to a request that is not recorded
_FAILURE = pytest.StashKey[BaseException | None]()
_REPORT = pytest.StashKey[pytest.TestReport | None]()
_CASSETTE = pytest.StashKey[Cassette]()
_BEFORE = pytest.StashKey[str | None]()
_RUN = pytest.StashKey[str]()
_RUN_BEFORE = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--cassette-mode`, `--cassette-store`, `--cassette-stale`, and the keys of the configuration file."""
    group = parser.getgroup("cassettes", "recorded HTTP traffic")
    group.addoption(
        "--cassette-mode",
        type=_mode,
        metavar=f"{{{','.join(MODES)}}}",
        help="what to do with cassettes (default: $CASSETTE_MODE, or replay)",
    )
    group.addoption(
        "--cassette-store",
        metavar="URL",
        help="share cassettes: a folder, redis://…, s3://… (default: $CASSETTE_STORE, or none)",
    )
    group.addoption(
        "--cassette-stale",
        choices=LEVELS,
        help="what to do if a recording is too old (default: $CASSETTE_STALE, or warn)",
    )
    group.addoption(
        "--cassette-replay",
        metavar="PART",
        help="the part of a cassette that is replayed; `model` replays the model and runs its tools (default: $CASSETTE_REPLAY, or all)",
    )
    group.addoption(
        "--cassette-diverged",
        choices=LEVELS,
        help="what to do if a tool returns something else than in the recording (default: $CASSETTE_DIVERGED, or warn)",
    )
    group.addoption(
        "--cassette-report",
        metavar="FILE",
        help="write the recordings that this run did not use to this file, for `ellmer-harness prune --report FILE`",
    )
    parser.addini("cassette_store", "where cassettes are shared, as --cassette-store", default="")
    parser.addini("cassette_stale", "what to do if a recording is too old, as --cassette-stale", default="")
    parser.addini(
        "cassette_fixtures",
        "whether fixtures of a class, a module or the session have cassettes of their own (default: true)",
        type="bool",
        default=True,
    )
    parser.addini("cassette_max_age", "days until a recording is stale", default="")


def _mode(name: str) -> str:
    """Returns a mode of the command line. Raises an error that names vcrpy's modes, too."""
    try:
        return chosen_mode(name)
    except CassetteError as unknown:
        raise argparse.ArgumentTypeError(str(unknown)) from None


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Adds the plugin's own hooks."""
    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker, and sets the mode of this run."""
    config.addinivalue_line(
        "markers", "cassette(path=None, **options): replay recorded HTTP; options as for use_cassette"
    )
    config.stash[_RUN] = uuid4().hex
    config.stash[_RUN_BEFORE] = set_default_run(_run(config))
    config.stash[_BEFORE] = set_default_mode(config.getoption("--cassette-mode"))
    if _level(config) not in LEVELS:
        raise pytest.UsageError(
            f"cassette_stale is {_level(config)!r}; it must be one of {', '.join(LEVELS)}"
        )
    config.pluginmanager.register(Summary(config), "ellmer_harness_summary")
    config.pluginmanager.register(
        fixture_cassettes.FixtureCassettes(config, _run(config)), "ellmer_harness_fixtures"
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restores the previous mode, because pytest may run inside pytest."""
    set_default_mode(config.stash.get(_BEFORE, None))
    set_default_run(config.stash.get(_RUN_BEFORE, ""))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Adds the fixture to each marked test."""
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("cassette"):
            names = [name for name in item.fixturenames if name != "cassette"]
            # Inside pytest-recording's fixture, which patches the same transports for every test.
            names.insert(names.index("vcr") + 1 if "vcr" in names else 0, "cassette")
            item.fixturenames[:] = names
        elif item.get_closest_marker("vcr") and not any("vcr" in name for name in _fixtures(item)):
            raise pytest.UsageError(_NOBODY.format(item.nodeid))


_NOBODY = (
    "{} is marked `vcr`, but no plugin handles this mark, and the test would reach the network. Replay vcrpy's cassettes with "
    "`-p ellmer_harness.pytest.vcr_engine`, or install pytest-recording or cassetter."
)


def _fixtures(item: pytest.Item) -> list[str]:
    return getattr(item, "fixturenames", ["vcr"])  # what is no function has none, and is not ours to judge


@pytest.fixture
def cassette(
    request: pytest.FixtureRequest,
    cassette_folder: Path,
    cassette_name: str,
    _cassette_policy: dict[str, Any],
    cassette_options: dict[str, Any],
) -> Iterator[Cassette]:
    """Yields the cassette of this test. At the end, the run is checked against the recording."""
    path, options = _marked(request.node, cassette_folder, cassette_name)
    with _failing():
        check_options(options, "the marker `cassette`")
        check_options(cassette_options, "the fixture `cassette_options`")
        cassette = Cassette(path, **{**_cassette_policy, **cassette_options, **options})
        cassette.warns = False
        cassette.named = path.stem != file_name(_own_name(request.node))
        request.node.stash[_CASSETTE] = cassette
        cassette.__enter__()
    yield cassette
    with _failing():
        cassette.close(_failure(request.node))


@contextmanager
def _failing() -> Iterator[None]:
    """Fails the test with the harness's errors, without the harness's traceback."""
    try:
        yield
    except (HarnessError, Miss) as error:  # without a cause: pytest would print the message again for each
        raise pytest.fail.Exception(f"{type(error).__name__}: {error}", pytrace=False) from None


@pytest.fixture
def _cassette_policy(  # noqa: PLR0917  # asked for by name: an override may have parameters
    request: pytest.FixtureRequest,
    cassette_blobs: Path,
    cassette_mode: Mode | None,
    cassette_match: Match,
    cassette_scrub: Scrub | None,
    cassette_routes: Mapping[str, str] | None,
    cassette_judge: Judge | None,
    cassette_clock: Clock,
    cassette_store: Store | str | None,
    cassette_max_age: float | None,
    cassette_policies: Sequence[Policy],
) -> dict[str, Any]:
    """Returns the options of `use_cassette` that the fixtures and the command line make."""
    level = _level(request.config)
    return {
        "blobs": cassette_blobs,
        "mode": request.config.getoption("--cassette-mode") or cassette_mode,
        "match": cassette_match,
        "scrub": cassette_scrub,
        "routes": cassette_routes,
        "judge": cassette_judge,
        "clock": cassette_clock,
        "store": cassette_store,
        "root": request.config.rootpath,
        "rerecord": _command(request),
        "run": _run(request.config),
        "max_age": None if level == "ignore" else cassette_max_age,
        "policies": () if level == "ignore" else (*cassette_policies, _hook(request)),
        "stale": "error" if level == "error" else "ignore",  # a warning is a line of the summary
        "replay": request.config.getoption("--cassette-replay"),
        "diverged": request.config.getoption("--cassette-diverged"),
    }


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    """Forgets the failure of an earlier attempt, because plugins run a test again."""
    item.stash[_FAILURE], item.stash[_REPORT] = None, None
    return (yield from _noted(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Notes a failure at once: a plugin may tear the test down before it asks for the report."""
    return (yield from _noted(item))


def _noted(item: pytest.Item) -> Generator[None, Any, Any]:
    try:
        return (yield)
    except BaseException as error:
        item.stash[_FAILURE] = error
        raise


def _failure(item: pytest.Item) -> BaseException | None:
    """Returns what the test failed with. Plugins may say in the report that a test failed which raised nothing."""
    report = item.stash.get(_REPORT, None)
    told = AssertionError("the test failed") if report is not None and report.failed else None
    return item.stash.get(_FAILURE, None) or told


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Gives the test's outcome to the cassette, and the cassette's verdict to the summary.

    A test that is expected to fail fails if its cassette is the reason: its own code did not run.
    """
    report = yield
    cassette = item.stash.get(_CASSETTE, None)
    reason = _reason(cassette, call)
    if reason is not None and hasattr(report, "wasxfail"):
        del report.wasxfail
        report.outcome, report.longrepr = "failed", f"{type(reason).__name__}: {reason}"
    elif report.failed and call.excinfo is not None and isinstance(call.excinfo.value, Miss):
        report.longrepr = _short(call.excinfo, item.config.rootpath)
    if call.when != "teardown":
        item.stash[_REPORT] = report
        if _is_recorded(cassette, report):
            item.stash[_FAILURE] = None
        elif call.excinfo is not None and not report.passed and item.stash.get(_FAILURE, None) is None:
            item.stash[_FAILURE] = call.excinfo.value  # of a test of unittest, which raises nothing itself
    if call.when == "teardown" and _CASSETTE in item.stash:
        report.cassette = item.stash[_CASSETTE].verdict.as_dict()
    if call.when == "teardown":
        report.fixture_cassettes = item.stash.get(fixture_cassettes.VERDICTS, [])
    return report


def _is_recorded(cassette: Cassette | None, report: pytest.TestReport) -> bool:
    """Tells whether the recording of a test is kept that ended with an exception: it was expected to fail, or it was
    skipped because of an answer, and there is no recording yet.
    """
    if cassette is None or not cassette.records:
        return False
    return hasattr(report, "wasxfail") or (report.skipped and cassette.absent and bool(cassette.sent))


def _short(excinfo: pytest.ExceptionInfo[BaseException], root: Path) -> str:
    """Returns the text of a miss, and the lines of the suite that led to it, without the frames of clients and of ours."""
    frames = [
        f"  {entry.path.relative_to(root)}:{entry.lineno + 1}: {str(entry.statement).strip()}"
        for entry in excinfo.traceback
        if isinstance(entry.path, Path)
        and entry.path.is_relative_to(root)
        and not _LIBRARIES & {*entry.path.parts}
    ]
    lines = "\n".join(frames[-_FRAMES:])
    return f"{type(excinfo.value).__name__}: {excinfo.value}\nThe request was sent here:\n{lines}"


def _reason(cassette: Cassette | None, call: pytest.CallInfo[None]) -> BaseException | None:
    """Returns the error of a cassette that ended a test, if one did."""
    if cassette is None or call.excinfo is None:
        return None
    if cassette.misses:
        return cassette.misses[0]
    return call.excinfo.value if call.when == "setup" else None


def _marked(node: pytest.Item, folder: Path, name: str) -> tuple[Path, dict[str, Any]]:
    """Returns path and options from the markers. The closest marker has priority."""
    options: dict[str, Any] = {}
    for mark in reversed([*node.iter_markers("cassette")]):
        options |= mark.kwargs
        if mark.args:
            options["path"] = mark.args[0]
    path = folder / (options.pop("path", None) or name)
    if path.suffix in _FOREIGN and not path.exists():
        path = path.with_suffix(".json")  # what `ellmer-harness migrate` made of it
    return (path if path.suffix in {".json", *_FOREIGN} else path.with_name(path.name + ".json")), options


def _level(config: pytest.Config) -> str:
    option = config.getoption("--cassette-stale") or config.getini("cassette_stale")
    return option or os.environ.get("CASSETTE_STALE") or "warn"


def _run(config: pytest.Config) -> str:
    """Returns the id of the run, which is the same in all workers of xdist."""
    worker = getattr(config, "workerinput", {})
    return str(worker.get("testrunuid") or config.stash[_RUN])


def _hook(request: pytest.FixtureRequest) -> Policy:
    def policy(recording: Recording) -> str | None:
        return "; ".join(filter(None, request.node.ihook.pytest_cassette_stale(recording=recording)))

    return policy


def _command(request: pytest.FixtureRequest) -> str:
    """Returns the command that records this test again, from the folder where pytest was started."""
    config, store = request.config, request.config.getoption("--cassette-store")
    module, colons, test = request.node.nodeid.partition("::")
    here = Path(relpath(config.rootpath / module, config.invocation_params.dir)).as_posix()
    again = rerecord_command(here + colons + test)
    return f"{again} --cassette-store='{clean_url(store)}'" if store else again


# --- Fixtures to override --------------------------------------------------------------------------------


@pytest.fixture
def cassette_folder(request: pytest.FixtureRequest) -> Path:
    """Returns the folder of a test's cassettes: `cassettes/<module>` beside its file."""
    return request.path.parent / "cassettes" / request.path.stem


@pytest.fixture
def cassette_name(request: pytest.FixtureRequest) -> str:
    """Returns the cassette's file name without its suffix: class, test and parameters."""
    return file_name(_own_name(request.node))


def _own_name(node: Any) -> str:
    owner = getattr(node, "cls", None)  # an example in a docstring has none
    return f"{owner.__qualname__}.{node.name}" if owner else str(node.name)


@pytest.fixture
def cassette_blobs(request: pytest.FixtureRequest) -> Path:
    """Returns the folder of binary bodies: `cassettes/blobs` beside the test's file."""
    return request.path.parent / "cassettes" / "blobs"


@pytest.fixture
def cassette_mode() -> Mode | None:
    """Returns the mode, if `--cassette-mode` is not given."""
    return None


@pytest.fixture
def cassette_match() -> Match:
    """Returns the `Match` that says when two requests are the same."""
    return Match()


@pytest.fixture
def cassette_scrub() -> Scrub | None:
    """Returns the `Scrub` that says what may be written: `Scrub.of({"NAME": "secret value"},
    keep=["x-header"])`.
    """
    return None


@pytest.fixture
def cassette_routes() -> Mapping[str, str] | None:
    """Returns the hosts that requests go to while recording."""
    return None


@pytest.fixture
def cassette_judge() -> Judge | None:
    """Returns the judge: a function that checks the requests of a recording."""
    return None


@pytest.fixture
def cassette_clock() -> Clock:
    """Returns the clock of the cassette. `Clock(today=…)` fixes the date for new recordings and for the age of
    existing ones.
    """
    return Clock()


@pytest.fixture(scope="session")
def cassette_store(pytestconfig: pytest.Config) -> Store | str | None:
    """Returns the store that shares cassettes: `--cassette-store`, else `cassette_store` in the configuration
    file.
    """
    option = pytestconfig.getoption("--cassette-store")
    return option if option is not None else pytestconfig.getini("cassette_store") or None


@pytest.fixture
def cassette_max_age(pytestconfig: pytest.Config) -> float | None:
    """Returns the days until a recording is stale: `cassette_max_age` of the configuration file."""
    days = pytestconfig.getini("cassette_max_age")
    return float(days) if days else None


@pytest.fixture
def cassette_policies() -> Sequence[Policy]:
    """Returns further reasons why a recording is stale, besides those of the hook `pytest_cassette_stale`."""
    return ()


@pytest.fixture
def cassette_options() -> dict[str, Any]:
    """Returns further options of `use_cassette`. They override the fixtures, and the marker overrides them."""
    return {}
