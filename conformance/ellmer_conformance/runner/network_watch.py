"""Watches for connections and name lookups of this process to other hosts than the test's server.

An audit hook sees every socket of the process and cannot be removed. Without a watcher, it does nothing. Other
connections are refused, so that a test never leaves the machine. (Libraries that bypass Python's sockets, such as
uvloop, are not seen.)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from ipaddress import ip_address
from typing import Any

__all__ = ["Elsewhere", "watching"]

_HOST_AT = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
_watchers: list[tuple[int, list[str]]] = []


class Elsewhere(ConnectionRefusedError):
    """A connection to another place than the session's server."""


@contextmanager
def watching(port: int) -> Iterator[list[str]]:
    """Refuses and lists every other place than this port of this machine, each once, inside the block."""
    _install()
    seen: list[str] = []
    _watchers.append((port, seen))
    try:
        yield seen
    finally:
        _watchers.remove((port, seen))


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _watchers or event not in _HOST_AT:
        return
    port, seen = _watchers[-1]
    where = _elsewhere(args[_HOST_AT[event]], port)
    if where:
        if where not in seen:
            seen.append(where)
        raise Elsewhere(f"{event} to {where}: the session may connect only to 127.0.0.1:{port}")


def _elsewhere(address: object, port: int) -> str:
    """Returns the place if it is another one; `""` for the server, a local socket, and a wildcard address."""
    if isinstance(address, tuple):
        ours = _is_local(str(address[0])) and address[1] == port
        return "" if ours else f"{address[0]}:{address[1]}"
    host = address.decode() if isinstance(address, bytes) else address
    is_name = isinstance(host, str) and host and not host.startswith("/") and not _is_local(host)
    return str(host) if is_name else ""


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
