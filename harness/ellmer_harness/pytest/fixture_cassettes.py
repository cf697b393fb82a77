"""Cassettes of fixtures that are set up once for a class, a module, a package or the session.

Such a fixture runs before the cassette of the first test that needs it is open. What it sends while it is set up and torn down has a
cassette of its own, if any test with a cassette uses the fixture. A fixture that sends nothing has no file. Servers of this machine
are reached, because such fixtures start them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..cassette.cassette import Cassette
from ..cassette.miss_explanation import rerecord_command
from ..cassette.run_verdict import Verdict
from ..errors import HarnessError, Miss
from ..format.blobs import file_name
from ..interception.network_guard import own_names

VERDICTS = pytest.StashKey[list[dict[str, Any]]]()
"""The verdicts on the cassettes of fixtures that were set up or torn down for a test."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104  # a client may ask for it
_XUNIT = re.compile("_(?:xunit|unittest)_(setup_module|setup_class|setUpClass)_fixture_")
_POLICIES = (
    "cassette_match",
    "cassette_scrub",
    "cassette_routes",
    "cassette_judge",
    "cassette_mode",
    "cassette_options",
)


class FixtureCassettes:
    """Opens a cassette around the setup, and around the teardown, of each such fixture."""

    def __init__(self, config: pytest.Config, run: str) -> None:
        self._config, self._run = config, run
        self._wanted: set[int] = set()
        self._item: pytest.Item | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Notes the fixtures that tests with a cassette use, before any test is deselected."""
        if not self._config.getini("cassette_fixtures"):
            return
        for item in items:
            if isinstance(item, pytest.Function) and (
                item.get_closest_marker("cassette") or "cassette" in item.fixturenames
            ):
                definitions = item._fixtureinfo.name2fixturedefs.values()  # noqa: SLF001  # nothing public lists them
                self._wanted |= {
                    id(definition)
                    for each in definitions
                    for definition in each
                    if definition.scope != "function"
                }

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Notes the test that runs, for the report."""
        self._item = item

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
        """Opens the cassettes of a fixture."""
        if id(fixturedef) not in self._wanted or _is_own(fixturedef):
            return (yield)
        path = _path(fixturedef, request)
        options = self._options(request)
        leaving: list[Any] = []
        fixturedef.addfinalizer(lambda: leaving.pop().__exit__(None, None, None) if leaving else None)
        try:
            with self._open(path, options):
                value = yield
        except pytest.fail.Exception as failed:  # pytest notes what is an `Exception`, and a `Miss` is none
            fixturedef.cached_result = (None, fixturedef.cache_key(request), (failed, failed.__traceback__))  # type: ignore[arg-type]  # pytest passes a `SubRequest`
            raise

        def enter() -> None:
            leaving.append(self._open(path.with_suffix(".teardown.json"), options))
            leaving[-1].__enter__()

        fixturedef.addfinalizer(enter)
        return value

    @contextmanager
    def _open(self, path: Path, options: dict[str, Any]) -> Iterator[None]:
        error: BaseException | None = None
        cassette = Cassette(path, **options)
        try:
            cassette.__enter__()
            try:
                yield
            except BaseException as raised:
                error = raised
                raise
            finally:
                cassette.close_quietly() if not cassette.sent and not cassette.misses else cassette.close(
                    error
                )
        except (HarnessError, Miss) as raised:  # without a cause: pytest would print the message again
            raise pytest.fail.Exception(f"{type(raised).__name__}: {raised}", pytrace=False) from None
        finally:
            if cassette.sent or cassette.misses:
                self._tell(cassette.verdict)

    def _tell(self, verdict: Verdict) -> None:
        if self._item is not None:
            self._item.stash.setdefault(VERDICTS, []).append(verdict.as_dict())

    def _options(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        """Returns the options: of the command line, and of the policies that need no other fixture."""
        found = {name: self._policy(name, request) for name in _POLICIES}
        options = found.pop("cassette_options") or {}
        mode = self._config.getoption("--cassette-mode") or found.pop("cassette_mode")
        policies = {
            name.removeprefix("cassette_"): value for name, value in found.items() if value is not None
        }
        policies.pop("mode", None)
        test = self._item.nodeid if self._item is not None else ""
        return {
            **policies,
            "mode": mode,
            "root": self._config.rootpath,
            "run": self._run,
            "rerecord": rerecord_command(test),
            **options,
            "allow_idle": True,
            "allow_hosts": [*options.get("allow_hosts", ()), *_THIS_MACHINE, *own_names()],
        }

    def _policy(self, name: str, request: pytest.FixtureRequest) -> Any:
        """Returns what a fixture of a policy returns, if it is a plain function without arguments. It cannot be asked for, because
        its scope is that of a test.
        """
        definitions = request._fixturemanager.getfixturedefs(name, request.node)  # noqa: SLF001  # nothing public finds it
        if not definitions or definitions[-1].argnames:
            return None
        return definitions[-1].func()


def _is_own(fixturedef: pytest.FixtureDef[Any]) -> bool:
    """Tells whether a fixture is pytest's or ours. `setup_module`, `setup_class` and `setUpClass` are the suite's."""
    if _XUNIT.match(fixturedef.argname):
        return False
    return fixturedef.argname.startswith(("cassette", "_cassette")) or fixturedef.func.__module__.startswith(
        ("_pytest", "ellmer_harness", "xdist")
    )


def _path(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Path:
    """Returns the file: in the folder of the module's cassettes, or beside the conftest of a fixture of wider scope."""
    xunit = _XUNIT.match(fixturedef.argname)
    name = xunit[1] if xunit else f"fixture {fixturedef.argname}"
    if hasattr(request, "param"):
        name += f"[{getattr(request, 'param_index', 0)}]"
    if fixturedef.scope in ("class", "module"):
        owner = f"{request.cls.__qualname__}." if fixturedef.scope == "class" and request.cls else ""
        return request.path.parent / "cassettes" / request.path.stem / f"{file_name(owner + name)}.json"
    base = request.config.rootpath / fixturedef.baseid.partition("::")[0]
    folder = base.parent if base.suffix == ".py" else base
    return folder / "cassettes" / "fixtures" / f"{file_name(name)}.json"
