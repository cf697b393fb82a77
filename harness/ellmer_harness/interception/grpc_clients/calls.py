"""A gRPC call and its tape: the tape that it belongs to, its lookup, and the server that plays it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlsplit

from .. import network_guard, open_tapes
from ..http1 import Outgoing, Wire
from ..request_in_flight import RequestInFlight
from .messages import as_written, compact, form, pairs
from .playing import Player

__all__ = ["begin", "patient", "player", "serialized", "tape_of", "url_of"]

_WIRE = Wire()
_RESOLVER = re.compile(r"^(?:dns|ipv4|ipv6|passthrough|xds):(?://[^/]*/)?")
_LOCAL = ("127.0.0.1", "::1", "localhost")
_AT_LEAST = 60  # seconds: a slow machine must not cause a timeout
_PLAYERS: dict[int, Player] = {}


def url_of(target: str, method: Any) -> str:
    """Returns the URL of a method: `grpc://api.example.com:443/package.Service/Method`."""
    path = method.decode() if isinstance(method, bytes) else str(method)
    place = quote(target, safe="") if target.startswith("unix") else _RESOLVER.sub("", target)
    return f"grpc://{place}{path}"


def tape_of(url: str) -> Any:
    """Returns the tape that a call belongs to, if it is to be recorded or played."""
    tape = None if network_guard.set_aside() else open_tapes.current()
    if tape is None:
        return None
    host = urlsplit(url).hostname or ""
    return None if tape.allows(host) or (host in _LOCAL and tape.allows("localhost")) else tape


def serialized(request: Any, serializer: Callable[[Any], bytes] | None) -> bytes | None:
    """Returns the body for the lookup of a call. It is `None` if the message cannot be serialized; the client
    then raises its own error.
    """
    try:
        return compact(form(as_written(request, serializer)))
    except Exception:  # noqa: BLE001  # a serializer may be anybody's
        return None


def begin(tape: Any, url: str, given: Any, timeout: float | None, body: bytes) -> RequestInFlight:
    """Returns the call in flight. Raises `Miss` if it is not recorded. `given` is its metadata."""
    headers = {"content-type": "application/grpc"}
    for name, value in pairs(given):
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    take: RequestInFlight = tape.begin(_WIRE, Outgoing.of("POST", url, headers, read=timeout), body)
    return take


def player(tape: Any) -> Player:
    """Returns the server that plays the calls of a tape. It is closed with the tape."""
    key = id(tape)
    if key not in _PLAYERS:
        _PLAYERS[key] = Player(tape)
        open_tapes.when_closed(tape, lambda: _PLAYERS.pop(key).close())
    return _PLAYERS[key]


def patient(deadline: float | None, now: Callable[[], float] = time.time) -> float | None:
    """Returns a longer deadline for a replay. Recorded deadline errors are played anyway."""
    return None if deadline is None else max(deadline, now() + _AT_LEAST)
