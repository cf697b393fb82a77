"""Wraps the clients while a cassette is open: the transports of httpx and httpx2, the connections of urllib3 and aiohttp,
and the calls of grpcio and websockets.

Nothing else is patched. Without an open cassette, the wrappers only call the original. A request belongs to the
cassette of its own context (a task, or a thread with a context). A thread without a context belongs to the cassette
of the process if there is only one.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from operator import attrgetter
from types import ModuleType
from typing import Any

from ellmer_core.base.forks import lock_for_forks

from . import open_cassettes
from .clients import httpx_transports
from .open_cassettes import OpenCassette

_MODULES = ("httpx", "httpx2")
#: Clients whose module here is imported with the first call: vcrpy imports them all, and a program uses one or two. Each
#: has the methods to wrap, and the functions that wrap them.
_METHODS = {
    "http.client": (
        ".clients.http_client_connections",
        {
            "HTTPConnection.connect": "connecting",
            "HTTPSConnection.connect": "connecting",
            "HTTPConnection.send": "sending",
            "HTTPConnection.getresponse": "answering",
            "HTTPResponse.begin": "begun",
        },
    ),
    "urllib3": (
        ".clients.urllib3_connections",
        {"connectionpool.HTTPConnectionPool._make_request": "exchanging"},
    ),
    "aiohttp": (
        ".clients.aiohttp_connections",
        {
            "connector.BaseConnector.connect": "connecting",
            "client_proto.ResponseHandler.data_received": "receiving",
            "client_proto.ResponseHandler.connection_lost": "losing",
            "client_proto.ResponseHandler.set_exception": "failing",
            "client_proto.ResponseHandler.close": "closing",
            "client.ClientSession._ws_connect": "opening_websocket",
        },
    ),
    "tornado.simple_httpclient": (".clients.tornado_clients", {"_HTTPConnection.run": "running"}),
}
_MODULES_WITH_WRAPPERS = {
    "urllib3_future": ".clients.urllib3_future_connections",
    "curl_cffi": ".clients.curl_cffi_handles",
    "pyreqwest.request": ".clients.pyreqwest_clients",
    "grpc": ".clients.grpc_clients",
    "websockets": ".clients.websocket_clients",
    "mcp.client.stdio": ".clients.mcp_servers",
}
#: Clients that are not recorded, and whose libraries connect by themselves.
_NATIVE = ("pycurl", "primp", "rnet", "uvloop")
_MARK = "_ellmer_harness_original"
_LOCK = lock_for_forks()
_ORIGINALS: dict[tuple[Any, str], Any] = {}
_MADE: dict[
    tuple[Any, str], Any
] = {}  # what was wrapped, by what, and the result: every cassette needs the same
_LOADED: dict[str, ModuleType] = {}
_UNDO: list[Callable[[], None]] = []
_installed = functools.cache(find_spec)  # every cassette asks


def open_(cassette: OpenCassette) -> OpenCassette | None:
    """Makes the cassette the current one of this context, and returns the previous one."""
    with _LOCK:
        if not open_cassettes.any_open():
            _install()
        return open_cassettes.push(cassette)


def close(cassette: OpenCassette, before: OpenCassette | None) -> None:
    """Reverts `open_`. After the last cassette, the transports are unpatched."""
    with _LOCK:
        open_cassettes.remove(cassette, before)
        if not open_cassettes.any_open():
            _uninstall()


def _install() -> None:
    for name in _MODULES:
        if name in sys.modules or _installed(name):
            for owner, method, wrapper in httpx_transports.wrappers(importlib.import_module(name)):
                _wrap(owner, method, wrapper)
    for name in (*_METHODS, *_MODULES_WITH_WRAPPERS):
        if name in sys.modules:  # vcrpy has imported most of them
            _wrap_client(name)
        elif _installed(name.partition(".")[0]):
            _LATE.when(name, functools.partial(_wrap_client, name))
    for name in _NATIVE:
        if name in sys.modules:
            _redirect()
        elif _installed(name):
            _LATE.when(name, _redirect)


def _redirect() -> None:
    """Directs the connections of libraries to the guard, until the last cassette is closed."""
    native = _imported(".native_connections")
    native.redirect(_NATIVE)
    _UNDO.append(native.restore)


def _wrap_client(name: str) -> None:
    with _LOCK:
        for owner, method, wrapper in _wrappers(name):
            _wrap(owner, method, wrapper)


def _wrappers(name: str) -> Iterator[tuple[Any, str, Any]]:
    """Yields the methods of a client to wrap. Where niquests is installed, urllib3 is urllib3-future."""
    library = sys.modules[name]
    if hasattr(library, "ResponsePromise"):
        yield from importlib.import_module(_MODULES_WITH_WRAPPERS["urllib3_future"], __package__).wrappers(
            library
        )
    elif name in _MODULES_WITH_WRAPPERS:
        yield from importlib.import_module(_MODULES_WITH_WRAPPERS[name], __package__).wrappers()
    else:
        module, methods = _METHODS[name]
        for place, function in methods.items():
            owner, _, method = place.rpartition(".")
            yield attrgetter(owner)(library), method, _later(module, function)


@functools.cache
def _imported(module: str) -> ModuleType:
    """Returns a module, the same one for all methods of a client, also if it is imported again: it holds their state.

    pytest's `pytester` forgets the modules that an inner run has imported. What the module imports must be the same, too.
    """
    for name, loaded in _LOADED.items():
        sys.modules.setdefault(name, loaded)
    found = importlib.import_module(module, __package__)
    _LOADED.update({name: each for name, each in sys.modules.items() if name.startswith(f"{__package__}.")})
    return found


@functools.cache
def _later(module: str, function: str) -> Callable[[Any], Any]:
    """Returns the function of a module, which is imported at the first call of what the function wraps."""

    def wrapper(real: Any) -> Any:
        @functools.cache
        def wrapped() -> Any:
            return getattr(_imported(module), function)(real)

        def call(*args: Any, **options: Any) -> Any:
            return wrapped()(*args, **options)

        return call

    return wrapper


def _wrap(owner: Any, method: str, wrapper: Any) -> None:
    original = getattr(owner, method)
    # Another patch may have been removed, which restored ours. Ours must not be wrapped again.
    original = getattr(original, _MARK, original)
    entry = _MADE.get((owner, method))
    # A wrapper's module may be imported again.
    if entry is None or entry[0] is not original or entry[1] is not wrapper:
        wrapped = functools.wraps(original)(wrapper(original))
        setattr(wrapped, _MARK, original)
        entry = _MADE[owner, method] = original, wrapper, wrapped
    _ORIGINALS[owner, method] = original, entry[2]
    setattr(owner, method, entry[2])


def _uninstall() -> None:
    _LATE.stop()
    while _UNDO:
        _UNDO.pop()()
    for (owner, method), (original, wrapped) in _ORIGINALS.items():
        if getattr(owner, method) is wrapped:  # else somebody patched over it, and puts back what they found
            setattr(owner, method, original)
    _ORIGINALS.clear()


# --- Clients that are imported while a cassette is open --------------------------------------------------


class LateImports(MetaPathFinder):
    """Waits for imports of packages. While it waits for any, Python asks it first for every module."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def when(self, name: str, then: Callable[[], None]) -> None:
        """Waits for a package."""
        self._waiting[name] = then
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Stops waiting for packages."""
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec that Python finds, with a function to run after the import."""
        if fullname not in self._waiting:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            real = spec.loader.exec_module

            def run(module: ModuleType) -> None:
                real(module)
                if then := self._waiting.pop(fullname, None):
                    then()

            spec.loader.exec_module = run  # type: ignore[method-assign]  # of this one package
        return spec


_LATE = LateImports()
