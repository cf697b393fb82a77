"""Interception of WebSockets: the clients of the package `websockets` connect to a `Bridge`, and so does aiohttp."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ...errors import HarnessError
from .. import network_guard, open_cassettes

_OPENING = ("open_tcp_connection", "create_connection")  # in newer versions of websockets, and in older ones
_OPTIONS = ("create_connection_kwargs", "connection_kwargs")  # likewise
_NEEDED = 'WebSockets are recorded through the package websockets: pip install "ellmer-core[websockets]"'


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    connect = importlib.import_module("websockets.asyncio.client").connect
    yield connect, next(name for name in _OPENING if hasattr(connect, name)), _async
    yield importlib.import_module("websockets.sync.client"), "connect", _blocking


def bridged(cassette: Any, url: str, headers: Any) -> Any:
    """Returns the bridge of one connection. Raises `Miss` if it is not recorded."""
    if not find_spec("websockets"):
        raise HarnessError(_NEEDED)
    from .websocket_bridge import bridge  # noqa: PLC0415  # it needs the package

    pairs = headers.items() if hasattr(headers, "items") else headers or ()
    return bridge(cassette, url, {str(name): str(value) for name, value in pairs})


def wrapper_of(url: str) -> Any:
    """Returns the cassette that a connection belongs to, if it is to be recorded or replayed."""
    cassette = None if network_guard.set_aside() else open_cassettes.current()
    if cassette is None or not cassette.takes("websockets"):
        return None
    return None if cassette.allows(urlsplit(url).hostname or "") else cassette


def _async(real: Any) -> Any:
    async def open_connection(connecting: Any) -> Any:
        if (cassette := wrapper_of(connecting.uri)) is None:
            return await real(connecting)
        bridge = bridged(cassette, connecting.uri, connecting.additional_headers)
        option = next(name for name in _OPTIONS if hasattr(connecting, name))
        led = {"uri": bridge.url, "proxy": None, option: _without_tls(getattr(connecting, option))}
        if hasattr(connecting, "ws_uri"):
            led["ws_uri"] = importlib.import_module("websockets.uri").parse_uri(bridge.url)
        attributes = {name: getattr(connecting, name, None) for name in led}
        vars(connecting).update(led)
        try:
            return await real(connecting)
        finally:
            vars(connecting).update(attributes)

    return open_connection


def _without_tls(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments without TLS and address, because the local server has neither TLS nor another address."""
    gone = {"ssl", "server_hostname", "sock", "host", "port", "unix", "path"}
    return {name: value for name, value in options.items() if name not in gone}


def _blocking(real: Any) -> Any:
    def connect(uri: str, **options: Any) -> Any:
        if (cassette := wrapper_of(uri)) is None:
            return real(uri, **options)
        bridge = bridged(cassette, uri, options.get("additional_headers"))
        return real(bridge.url, **{**_without_tls(options), "proxy": None})

    return connect
