"""Blocks connections and name lookups while a cassette replays.

An audit hook sees every socket of the process and cannot be removed. Without a replaying tape, it only
compares a string. Local (AF_UNIX) sockets and the tape's `allow_hosts` pass. The hook does not see an event
loop that bypasses Python's sockets (uvloop).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from ..errors import Blocked
from . import open_tapes

__all__ = ["aside", "let_through", "set_aside", "watch"]

_HOST_AT = {
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), 1),
    **dict.fromkeys(
        ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"), 0
    ),
}
_LOCAL = ("127.0.0.1", "::1")
_OURS: set[int] = set()  # ports that servers of ours listen on
_ASIDE: list[object] = []  # process-wide, because clients of stores have their own threads


@cache
def watch() -> None:
    """Installs the hook, once in each process."""
    sys.addaudithook(_hook)


@contextmanager
def aside() -> Iterator[None]:
    """Lets the harness's own traffic through, for example while it fetches a cassette from a store."""
    token = object()
    _ASIDE.append(token)
    try:
        yield
    finally:
        _ASIDE.remove(token)


def set_aside() -> bool:
    """Tells whether the harness's own traffic is let through."""
    return bool(_ASIDE)


def let_through(port: int) -> None:
    """Allows connections to a server of ours on a port of this machine."""
    _OURS.add(port)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event in _HOST_AT and not _ASIDE and (tape := open_tapes.offline()) is not None:
        address = args[_HOST_AT[event]]
        host = address[0] if isinstance(address, tuple) else address
        if event.startswith("socket.get") and not host:
            return  # a wildcard address, to listen on
        if _OURS and host in _LOCAL and (address if isinstance(address, tuple) else args)[1] in _OURS:
            return
        if isinstance(address, tuple) or event.startswith("socket.get"):
            _check(tape, host.decode() if isinstance(host, bytes) else str(host), event)


def _check(tape: Any, host: str, event: str) -> None:
    if tape.allows(host) or (host in _LOCAL and tape.allows("localhost")):
        return
    raise tape.missed(
        f"{event} to {host} while cassette {tape.path} replays: this client does not go through httpx, httpx2, "
        "urllib3, aiohttp or grpcio. Open the cassette with patchers=['httplib'] (or what fits the client), or let the host "
        f"through with allow_hosts=[{host!r}].",
        Blocked,
    )
