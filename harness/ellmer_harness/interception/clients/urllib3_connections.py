"""Interception of urllib3's connections, which requests and botocore use, too.

In a replay, the connection gets a socket that holds the recorded answer. In a recording, the answer's bytes
are recorded as the client reads them. urllib3 itself handles retries, redirects, proxies and exceptions.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from urllib3 import exceptions
from urllib3.connectionpool import connection_from_url

from ...exchange.messages import Failure
from .. import network_guard, open_cassettes
from ..http1 import BrokenError, Outgoing, Wire, os_error
from ..open_cassettes import RequestInFlight
from .http_client_connections import SENDING, PlayedSocket

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("urllib3")


def exchanging(real: Any) -> Any:
    """Wraps `HTTPConnectionPool._make_request` of urllib3."""

    def make_request(pool: Any, connection: Any, method: str, url: str, **options: Any) -> Any:
        cassette = None if network_guard.set_aside() else open_cassettes.current()
        if cassette is None or cassette.allows(pool.host):
            return real(pool, connection, method, url, **options)
        options["body"] = body = _bytes(options.get("body"))
        request = _outgoing(pool, method, url, options)
        take = cassette.begin(_WIRE, request, body or b"")
        if take.reply is not None:
            return played(real, pool, connection, method, url, options, take)
        return _recorded(
            real, _routed(cassette, pool, connection, url, request, options), method, options, take
        )

    return make_request


def _recorded(
    real: Any, route: tuple[Any, Any, str, Any], method: str, options: Any, take: RequestInFlight
) -> Any:
    pool, connection, url, done = route
    before = SENDING.set((take, done))
    try:
        return real(pool, connection, method, url, **options)
    except BaseException as error:
        take.broke(_failure(error)) if isinstance(error, Exception) else take.closed()
        done()
        raise
    finally:
        SENDING.reset(before)


def _failure(error: Exception) -> Failure:
    """Returns httpx's name for the failure. Cassettes use this name."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for name, ours in (
        ("NewConnectionError", "ConnectError"),  # which is a ConnectTimeoutError, too
        ("ConnectTimeoutError", "ConnectTimeout"),
        ("ReadTimeoutError", "ReadTimeout"),
        ("TimeoutError", "ReadTimeout"),
        ("SSLError", "ConnectError"),
        ("HTTPException", "RemoteProtocolError"),
    ):
        if name in kinds:
            return Failure(ours, _plain(error))
    return Failure("ReadError", _plain(error))


def _plain(error: Exception) -> str:
    """Returns the error's text without memory addresses."""
    return str(error).rpartition(">: ")[2] or type(error).__name__


def _outgoing(pool: Any, method: str, url: str, options: dict[str, Any]) -> Outgoing:
    timeout = pool._get_timeout(options.get("timeout"))  # noqa: SLF001  # urllib3's own way to read one
    connect, read = timeout.clone().connect_timeout, timeout.clone()
    read.start_connect()
    headers = options.get("headers") or {}
    seconds = {"connect": _seconds(connect), "read": _seconds(read.read_timeout)}
    return Outgoing.of(method, _address(pool, url), headers, **seconds)


def _seconds(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None


def _address(pool: Any, url: str) -> str:
    """Returns the whole URL. urllib3 has only its path, except with a proxy."""
    if "://" in url.partition("?")[0]:
        return url
    host = f"[{pool.host}]" if ":" in pool.host and not pool.host.startswith("[") else pool.host
    usual = {"http": 80, "https": 443}.get(pool.scheme)
    return f"{pool.scheme}://{host}" + (f":{pool.port}" if pool.port not in (None, usual) else "") + url


def _routed(  # noqa: PLR0917  # as urllib3 has them
    cassette: Any, pool: Any, connection: Any, url: str, request: Outgoing, options: dict[str, Any]
) -> tuple[Any, Any, str, Callable[[], None]]:
    """Returns the pool, connection and path to use, with our accept-encoding, and a function to call at the
    end.
    """
    target, headers = cassette.target(request.url), dict(options.get("headers") or {})
    if cassette.accept_encoding is not None:
        headers = {name: value for name, value in headers.items() if name.lower() != "accept-encoding"}
        headers["Accept-Encoding"] = cassette.accept_encoding
    options["headers"] = headers
    if target == request.url:
        return pool, connection, url, lambda: None
    other, parts = connection_from_url(target), urlsplit(target)
    there = other._get_conn()  # noqa: SLF001  # as urlopen does
    return other, there, parts.path + (f"?{parts.query}" if parts.query else ""), there.close


def _bytes(body: Any) -> bytes | None:
    """Returns the body as it is sent. Files and iterators are read."""
    match body:
        case None | bytes():
            return body
        case str():
            return body.encode()
        case bytearray() | memoryview():
            return bytes(body)
        case _ if hasattr(body, "read"):
            return _bytes(body.read())
        case Iterable():
            return b"".join(_bytes(part) or b"" for part in body)
    return str(body).encode()


# --- Replay: a connection whose socket holds a recorded answer -------------------------------------------


def played(  # noqa: PLR0917  # as urllib3 has them
    real: Any, pool: Any, connection: Any, method: str, url: str, options: Any, take: RequestInFlight
) -> Any:
    """Returns the recorded answer as urllib3's response."""
    connection.sock = PlayedSocket(take)
    connection.is_verified = True
    try:
        return real(pool, connection, method, url, **options)
    except BrokenError as broken:
        raise _as_urllib3(broken, connection, take) from None
    finally:
        connection.sock = None  # the answer has a hold on what it needs of it; the next one begins anew


def _as_urllib3(broken: BrokenError, connection: Any, take: RequestInFlight) -> Exception:
    match broken.error:
        case "ConnectTimeout":
            seconds = take.request.extensions["timeout"]["connect"]
            text = f"Connection to {connection.host} timed out. (connect timeout={seconds})"
            return exceptions.ConnectTimeoutError(connection, text)
        case "ConnectError":
            return _unconnected(os_error(str(broken)), connection)
        case _:
            return exceptions.ProtocolError("Connection aborted.", ConnectionResetError(104, str(broken)))


def _unconnected(error: OSError, connection: Any) -> Exception:
    if isinstance(error, socket.gaierror):
        return exceptions.NameResolutionError(connection.host, connection, error)
    if isinstance(error, ssl.SSLError):
        return exceptions.SSLError(error)
    return exceptions.NewConnectionError(connection, f"Failed to establish a new connection: {error}")
