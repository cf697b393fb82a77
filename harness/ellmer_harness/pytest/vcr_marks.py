"""The marks, fixtures and options of pytest-recording, for a suite of vcrpy's where no plugin for vcrpy is loaded.

`@pytest.mark.vcr` replays `cassettes/<module>/<test>.yaml`, or pytest-vcr's `cassettes/<test>.yaml` if there is one. The path of
a mark is replayed, too. The fixtures `vcr_config`, `vcr_cassette_dir` and `default_cassette_name` can be overridden, and
pytest-vcr's `vcr_cassette_name`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

__all__ = [
    "block_network",
    "default_cassette_name",
    "record_mode",
    "vcr",
    "vcr_cassette_dir",
    "vcr_cassette_name",
    "vcr_config",
]

_MODES = ("once", "new_episodes", "none", "all", "rewrite")
_PLUGINS = {"recording": "pytest_recording", "vcr": "pytest_vcr"}
_REFUSED = re.compile(r"[<>?%*:|\"'/\\]")


class Hooks:
    """The hook of pytest-recording."""

    @pytest.hookspec
    def pytest_recording_configure(self, config: pytest.Config, vcr: Any) -> None:
        """Configures vcrpy before each cassette."""


def taken(config: pytest.Config) -> bool:
    """Tells whether a plugin for vcrpy is loaded.

    Args:
        config: pytest's configuration.
    """
    loaded = {getattr(each, "__name__", "").partition(".")[0] for each in config.pluginmanager.get_plugins()}
    return bool(loaded & set(_PLUGINS.values()))


def installed() -> bool:
    """Tells whether a plugin for vcrpy is installed."""
    return any(find_spec(module) for module in _PLUGINS.values())


def add_options(parser: pytest.Parser) -> None:
    """Adds the options of pytest-recording and pytest-vcr, unless one of them is installed and adds them itself.

    Args:
        parser: pytest's parser.
    """
    if installed():
        return
    group = parser.getgroup("recording")
    for name in ("--record-mode", "--vcr-record"):
        group.addoption(name, dest="record_mode", choices=_MODES, help="vcrpy's record mode (default: none)")
    group.addoption("--block-network", action="store_true", help="block the network, except to record")
    group.addoption("--allowed-hosts", help="patterns of hosts that may be reached, with commas between them")
    for name in ("--disable-recording", "--disable-vcr"):
        group.addoption(name, dest="disable_recording", action="store_true", help="replay and record nothing")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marks."""
    for mark in ("vcr(*paths, **options)", "block_network(allowed_hosts)", "default_cassette(name)"):
        config.addinivalue_line("markers", f"{mark}: as pytest-recording has it")


@pytest.fixture(scope="session")
def record_mode(pytestconfig: pytest.Config) -> str:
    """Returns the mode of `--record-mode`, or `none`."""
    return pytestconfig.getoption("record_mode", None) or "none"


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    """Returns the options of `vcr.use_cassette`."""
    return {}


@pytest.fixture(scope="module")
def vcr_cassette_dir(request: pytest.FixtureRequest) -> str:
    """Returns the folder of a module's cassettes."""
    return str(request.path.parent / "cassettes" / request.path.stem)


@pytest.fixture
def vcr_cassette_name(request: pytest.FixtureRequest) -> str:
    """Returns the name of the test's cassette."""
    return f"{request.cls.__name__}.{request.node.name}" if request.cls else str(request.node.name)


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest, vcr_cassette_name: str) -> str:
    """Returns the file's name without its suffix."""
    mark = request.node.get_closest_marker("default_cassette")
    return str(mark.args[0]) if mark else _REFUSED.sub("-", vcr_cassette_name)


@pytest.fixture(autouse=True)
def vcr(request: pytest.FixtureRequest, record_mode: str) -> Iterator[Any]:
    """Replays or records the cassette of a marked test."""
    marks = [*request.node.iter_markers("vcr")]
    if not marks or request.config.getoption("disable_recording", False):
        yield None
        return
    options = dict(request.getfixturevalue("vcr_config"))
    for mark in reversed(marks):
        options.update(mark.kwargs)
    option = request.config.getoption("record_mode", None)
    mode = option or options.pop("record_mode", record_mode)
    with _opened(request, marks, {**options, "record_mode": mode}) as cassette:
        yield cassette


@contextmanager
def _opened(
    request: pytest.FixtureRequest, marks: list[pytest.Mark], options: dict[str, Any]
) -> Iterator[Any]:
    from vcr import VCR  # noqa: PLC0415  # it imports every client that it knows

    folder = Path(request.getfixturevalue("vcr_cassette_dir"))
    path = _path(request, folder, options.get("serializer", "yaml"))
    if options["record_mode"] == "rewrite":
        path.unlink(missing_ok=True)
        options["record_mode"] = "new_episodes"
    options.pop("allowed_hosts", None)
    recorder = VCR()
    if (configure := getattr(request.config.hook, "pytest_recording_configure", None)) is not None:
        configure(config=request.config, vcr=recorder)
    recorder.register_persister(_also([folder / name for mark in marks for name in mark.args]))
    with recorder.use_cassette(str(path), **options) as cassette:
        yield cassette


def _path(request: pytest.FixtureRequest, folder: Path, suffix: str) -> Path:
    name = request.getfixturevalue("default_cassette_name")
    path = folder / (name if name.endswith(f".{suffix}") else f"{name}.{suffix}")
    of_pytest_vcr = folder.parent / f"{request.getfixturevalue('vcr_cassette_name')}.{suffix}"
    return of_pytest_vcr if of_pytest_vcr.exists() and not path.exists() else path


def _also(paths: list[Path]) -> Any:
    """Returns vcrpy's persister of files, which reads these files as well."""
    from vcr.persisters.filesystem import CassetteNotFoundError, FilesystemPersister  # noqa: PLC0415  # likewise

    class Files(FilesystemPersister):  # type: ignore[misc]  # vcrpy has no types
        @classmethod
        def load_cassette(cls, cassette_path: Any, serializer: Any) -> Any:
            requests, responses = list[Any](), list[Any]()
            for path in dict.fromkeys([Path(cassette_path), *paths]):
                try:
                    loaded = FilesystemPersister.load_cassette(path, serializer)
                except CassetteNotFoundError:
                    continue
                requests += loaded[0]
                responses += loaded[1]
            if not requests:
                raise CassetteNotFoundError("no cassette was found")
            return requests, responses

    return Files


@pytest.fixture(autouse=True)
def block_network(request: pytest.FixtureRequest, record_mode: str) -> Iterator[None]:
    """Blocks sockets for tests with the mark or with `--block-network`, except while a marked test records."""
    mark = request.node.get_closest_marker("block_network")
    options = dict(request.getfixturevalue("vcr_config"))
    marked = [*request.node.iter_markers("vcr")]
    for each in reversed(marked):
        options.update(each.kwargs)
    mode = request.config.getoption("record_mode", None) or options.get("record_mode", record_mode)
    if not (mark or request.config.getoption("block_network", False)) or (marked and mode != "none"):
        yield
        return
    allowed_hosts = (mark.kwargs if mark else {}).get("allowed_hosts") or request.config.getoption(
        "allowed_hosts", None
    )
    hosts = allowed_hosts or options.get("allowed_hosts") or []
    with _blocked(hosts.split(",") if isinstance(hosts, str) else hosts):
        yield


@contextmanager
def _blocked(allowed: list[str]) -> Iterator[None]:
    """Blocks connections of Python's sockets to all hosts but those that match a pattern."""
    import socket  # noqa: PLC0415  # most suites block nothing

    def guarded(real: Any) -> Any:
        def connect(self: Any, address: Any) -> Any:
            host = os.fsdecode(address[0] if isinstance(address, tuple) else address)
            if not any(re.match(pattern, host) for pattern in allowed):
                raise RuntimeError(f"Network is disabled for host {host!r}")
            return real(self, address)

        return connect

    with (
        mock.patch.object(socket.socket, "connect", guarded(socket.socket.connect)),
        mock.patch.object(socket.socket, "connect_ex", guarded(socket.socket.connect_ex)),
    ):
        yield
