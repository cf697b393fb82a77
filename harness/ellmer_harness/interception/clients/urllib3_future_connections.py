"""Interception of urllib3-future, which niquests installs in the place of urllib3; blocking and asynchronous.

In a replay, the pool returns an answer whose bytes come from the cassette. In a recording, the bytes are recorded as urllib3-future
reads them, whatever the version of HTTP. urllib3-future itself handles retries, redirects and encodings.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from http.client import responses
from importlib import import_module
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from ...exchange.messages import Failure
from .. import network_guard, open_cassettes
from ..http1 import BrokenError, Outgoing, Wire, framing, os_error
from ..open_cassettes import RequestInFlight

# --- Recording -------------------------------------------------------------------------------------------


_WIRE = Wire("urllib3_future")
_SENDING: ContextVar[RequestInFlight | None] = ContextVar("_SENDING", default=None)
#: Connections to the place that a request was routed to. No pool has them, so they are closed after their answer.
_ROUTED: WeakSet[Any] = WeakSet()


def wrappers(library: ModuleType) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper. `library` is urllib3 or urllib3_future, which may both be there."""
    parts = {
        name: import_module(f"{library.__name__}.{name}")
        for name in ("connectionpool", "_async.connectionpool", "backend.hface", "backend._async.hface")
    }
    yield parts["connectionpool"].HTTPConnectionPool, "_make_request", functools.partial(_blocking, library)
    yield (
        parts["_async.connectionpool"].AsyncHTTPConnectionPool,
        "_make_request",
        functools.partial(_async, library),
    )
    yield parts["backend.hface"].HfaceBackend, "getresponse", _answering
    yield parts["backend._async.hface"].AsyncHfaceBackend, "getresponse", _answering_async


def _blocking(library: Any, real: Any) -> Any:
    def make_request(pool: Any, connection: Any, method: str, url: str, **options: Any) -> Any:
        cassette = _cassette(pool)
        if cassette is None:
            return real(pool, connection, method, url, **options)
        options["body"] = body = _bytes(options.get("body"))
        request = _outgoing(pool, method, url, options)
        take = cassette.begin(_WIRE, request, body or b"")
        if take.reply is not None:
            return _Played(library, pool, take, method, url, options).answer()
        options["multiplexed"] = False
        pool, connection, url = _routed(library, cassette, pool, connection, url, request, options)
        before = _SENDING.set(take)
        try:
            return real(pool, connection, method, url, **options)
        except Exception as error:
            take.broke(_failure(error))
            raise
        finally:
            _SENDING.reset(before)

    return make_request


def _async(library: Any, real: Any) -> Any:
    async def make_request(pool: Any, connection: Any, method: str, url: str, **options: Any) -> Any:
        cassette = _cassette(pool)
        if cassette is None:
            return await real(pool, connection, method, url, **options)
        body: Any = options.get("body")
        if hasattr(body, "__aiter__"):
            body = b"".join([_bytes(part) or b"" async for part in body])
        options["body"] = body = _bytes(body)
        request = _outgoing(pool, method, url, options)
        take = cassette.begin(_WIRE, request, body or b"")
        if take.reply is not None:
            return await _Played(library, pool, take, method, url, options).answer_async()
        options["multiplexed"] = False
        if cassette.target(request.url) != request.url:
            pool, connection, url = await _routed_async(library, cassette, request)
        _ask_for(cassette, options)
        before = _SENDING.set(take)
        try:
            return await real(pool, connection, method, url, **options)
        except Exception as error:
            take.broke(_failure(error))
            raise
        finally:
            _SENDING.reset(before)

    return make_request


def _cassette(pool: Any) -> Any:
    cassette = None if network_guard.set_aside() else open_cassettes.current()
    return None if cassette is None or cassette.allows(pool.host) else cassette


def _answering(real: Any) -> Any:
    def getresponse(connection: Any, **options: Any) -> Any:
        take = _SENDING.get()
        answer = real(connection, **options)
        if take is not None and not take.exchange.status:
            read = _noted(take, answer)
            if read is not None:

                def reading(amount: int | None, stream: int | None) -> Any:
                    try:
                        found = _read(take, read(amount, stream))
                    except Exception as error:
                        take.broke(_failure(error))
                        raise
                    if found[1]:
                        _leave(connection)
                    return found

                answer._LowLevelResponse__internal_read_st = reading  # noqa: SLF001  # nothing public reads the bytes
            else:
                _leave(connection)
            answer.close = functools.partial(_closed, take, answer.close, connection)
        return answer

    return getresponse


def _answering_async(real: Any) -> Any:
    async def getresponse(connection: Any, **options: Any) -> Any:
        take = _SENDING.get()
        answer = await real(connection, **options)
        if take is not None and not take.exchange.status:
            read = _noted(take, answer, "Async")
            if read is not None:

                async def reading(amount: int | None, stream: int | None) -> Any:
                    try:
                        found = _read(take, await read(amount, stream))
                    except Exception as error:
                        take.broke(_failure(error))
                        raise
                    if found[1] and connection in _ROUTED:
                        await connection.close()
                    return found

                answer._AsyncLowLevelResponse__internal_read_st = reading  # noqa: SLF001  # likewise
            elif connection in _ROUTED:
                await connection.close()
            answer.close = functools.partial(_closed, take, answer.close)
        return answer

    return getresponse


def _noted(take: RequestInFlight, answer: Any, kind: str = "") -> Any:
    """Notes status and headers, and returns the function that reads the body; `None` if there is no body."""
    pairs = [(name.lower(), value) for name, value in answer.msg.items()]
    version = {10: "HTTP/1.0", 11: "HTTP/1.1", 20: "HTTP/2", 30: "HTTP/3"}.get(answer.version, "HTTP/1.1")
    take.answered(answer.status, answer.reason, pairs, version)
    read = getattr(answer, f"_{kind}LowLevelResponse__internal_read_st")
    if read is None:
        take.eof()
    return read


def _read(take: RequestInFlight, found: Any) -> Any:
    chunks, over, _ = found
    for chunk in filter(None, chunks):
        take.chunk(bytes(chunk))
    if over:
        take.eof()
    return found


def _closed(take: RequestInFlight, close: Any, connection: Any = None) -> Any:
    take.closed()
    result = close()
    _leave(connection)
    return result


def _leave(connection: Any) -> None:
    """Closes a blocking connection that no pool has."""
    if connection is not None and connection in _ROUTED:
        connection.close()


def _failure(error: BaseException) -> Failure:
    """Returns httpx's name for the failure. Cassettes use this name."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "ProxyError" in kinds:
        return _failure(getattr(error, "original_error"))  # noqa: B009  # of either library
    text = str(error).rpartition(">: ")[2] or type(error).__name__
    for name, ours in (
        ("NewConnectionError", "ConnectError"),
        ("ConnectTimeoutError", "ConnectTimeout"),
        ("ReadTimeoutError", "ReadTimeout"),
        ("TimeoutError", "ReadTimeout"),
        ("SSLError", "ConnectError"),
        ("ProtocolError", "RemoteProtocolError"),
        ("HTTPException", "RemoteProtocolError"),
        ("InvalidHeader", "RemoteProtocolError"),
    ):
        if name in kinds:
            return Failure(ours, text)
    return Failure("ReadError", text)


def _outgoing(pool: Any, method: str, url: str, options: dict[str, Any]) -> Outgoing:
    timeout = pool._get_timeout(options.get("timeout"))  # noqa: SLF001  # its own way to read one
    connect, read = timeout.clone().connect_timeout, timeout.clone()
    read.start_connect()
    seconds = {"connect": connect, "read": read.read_timeout}
    limits = {name: value if isinstance(value, int | float) else None for name, value in seconds.items()}
    return Outgoing.of(method, _address(pool, url), options.get("headers") or {}, **limits)


def _address(pool: Any, url: str) -> str:
    """Returns the whole URL. urllib3 has only its path, except with a proxy."""
    if "://" in url.partition("?")[0]:
        return url
    host = f"[{pool.host}]" if ":" in pool.host and not pool.host.startswith("[") else pool.host
    usual = {"http": 80, "https": 443}.get(pool.scheme)
    return f"{pool.scheme}://{host}" + (f":{pool.port}" if pool.port not in (None, usual) else "") + url


def _ask_for(cassette: Any, options: dict[str, Any]) -> None:
    """Sends our accept-encoding."""
    if cassette.accept_encoding is not None:
        pairs = (options.get("headers") or {}).items()
        headers = {name: value for name, value in pairs if name.lower() != "accept-encoding"}
        options["headers"] = {**headers, "Accept-Encoding": cassette.accept_encoding}


def _routed(  # noqa: PLR0917  # as urllib3 has them
    library: Any,
    cassette: Any,
    pool: Any,
    connection: Any,
    url: str,
    request: Outgoing,
    options: dict[str, Any],
) -> tuple[Any, Any, str]:
    """Returns the pool, connection and path to use, with our accept-encoding."""
    target = cassette.target(request.url)
    _ask_for(cassette, options)
    if target == request.url:
        return pool, connection, url
    other, parts = library.connection_from_url(target), urlsplit(target)
    there = other._get_conn()  # noqa: SLF001  # as urlopen does
    _ROUTED.add(there)
    return other, there, parts.path + (f"?{parts.query}" if parts.query else "")


async def _routed_async(library: Any, cassette: Any, request: Outgoing) -> tuple[Any, Any, str]:
    target = cassette.target(request.url)
    other, parts = library._async.connectionpool.connection_from_url(target), urlsplit(target)  # noqa: SLF001  # it is named so
    there = await other._get_conn()  # noqa: SLF001  # as urlopen does
    _ROUTED.add(there)
    return other, there, parts.path + (f"?{parts.query}" if parts.query else "")


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
    return b"".join(_bytes(part) or b"" for part in body)


_UNRESOLVED = re.compile(r"Failed to resolve '[^']*' \((.*)\)", re.DOTALL)
_NO_PROXY = "Unable to connect to proxy"
_INCOMPLETE = re.compile(r"IncompleteRead\((\d+) bytes read, (\d+) more expected\)")


# --- Replay ----------------------------------------------------------------------------------------------


class _Played:
    """An answer whose bytes come from the cassette."""

    def __init__(  # noqa: PLR0917  # as urllib3 has them
        self, library: Any, pool: Any, take: RequestInFlight, method: str, url: str, options: dict[str, Any]
    ) -> None:
        self._library, self._pool, self._take = library, pool, take
        self._method, self._url, self._options = method, url, options
        self._errors = library.exceptions
        self._pieces: Iterator[Any] = iter(())

    def answer(self) -> Any:
        """Returns the answer for the blocking pool."""
        base = self._library.backend._base  # noqa: SLF001  # it is named so
        return self._made(base.LowLevelResponse, self._library.HTTPResponse, self._read)

    async def answer_async(self) -> Any:
        """Returns the answer for the asynchronous pool."""
        base = import_module(f"{self._library.__name__}.backend._async._base")
        kind = import_module(f"{self._library.__name__}._async.response").AsyncHTTPResponse
        preload, self._options["preload_content"] = self._options.get("preload_content", True), False
        found = self._made(base.AsyncLowLevelResponse, kind, self._read_async)
        if preload:
            found._body = await found.read(decode_content=self._options.get("decode_content", True))  # noqa: SLF001  # as its constructor does
        return found

    def _made(self, low: Any, kind: Any, read: Any) -> Any:
        try:
            reply = self._take.begin_reply()
        except BrokenError as broken:
            raise self._early(broken) from None
        headers = self._library._collections.HTTPHeaderDict()  # noqa: SLF001  # it is named so
        for name, value in reply.headers:
            headers.add(name, value)
        chunked, length = framing(self._method, reply.status, reply.headers)
        empty = length == 0 and not chunked
        if empty:
            self._take.eof()
        self._pieces = self._take.play()
        version = {"HTTP/1.0": 10, "HTTP/2": 20, "HTTP/3": 30}.get(reply.http_version, 11)
        reason = responses.get(reply.status, "Unknown")
        inner = low(
            self._method, reply.status, version, reason, headers, None if empty else read, stream_id=0
        )
        found = kind(
            body=inner,
            headers=headers,
            status=reply.status,
            version=version,
            reason=reason,
            preload_content=self._options.get("preload_content", True),
            decode_content=self._options.get("decode_content", True),
            original_response=inner,
            enforce_content_length=self._options.get("enforce_content_length", True),
            request_method=self._method,
            request_url=self._url,
        )
        found.retries, found._pool = self._options.get("retries"), self._pool  # noqa: SLF001  # as urlopen does
        return found

    def _early(self, broken: BrokenError) -> Exception:
        """Returns the exception of an answer that never came."""
        text, errors = str(broken).removeprefix(f"{self._pool}: "), self._errors
        match broken.error:
            case "ConnectTimeout":
                seconds = self._take.request.extensions["timeout"]["connect"]
                text = f"Connection to {self._pool.host} timed out. (connect timeout={seconds})"
                return errors.ConnectTimeoutError(self._connection(), text)  # type: ignore[no-any-return]  # of either library
            case "ConnectError":
                found = self._unconnected(text)
                return found if self._pool.proxy is None else errors.ProxyError(_NO_PROXY, found)
            case "ReadTimeout":
                return errors.ReadTimeoutError(self._pool, self._url, text)  # type: ignore[no-any-return]  # likewise
            case "RemoteProtocolError":
                kind = errors.InvalidHeader if "header" in text else errors.ProtocolError
                return kind(text)  # type: ignore[no-any-return]  # likewise
            case _:
                return ConnectionResetError(104, "Connection reset by peer")

    def _connection(self) -> Any:
        return self._pool.ConnectionCls(self._pool.host, self._pool.port)

    def _unconnected(self, text: str) -> Exception:
        """Returns the exception of a connection that could not be opened. It names the connection."""
        pool, found = self._pool, _UNRESOLVED.fullmatch(text)
        connection, error = self._connection(), os_error(text)
        if isinstance(error, ssl.SSLError):
            return self._errors.SSLError(error)  # type: ignore[no-any-return]  # likewise
        if found or isinstance(error, socket.gaierror):
            reason = socket.gaierror(found[1]) if found else error
            return self._errors.NameResolutionError(pool.host, connection, reason)  # type: ignore[no-any-return]  # likewise
        return self._errors.NewConnectionError(connection, text)  # type: ignore[no-any-return]  # likewise

    def _late(self, broken: BrokenError) -> Exception:
        """Returns the exception in the middle of a body, as the connection raises it."""
        match broken.error:
            case "ReadTimeout":
                return TimeoutError("timed out")
            case _ if found := _INCOMPLETE.match(str(broken)):
                return self._errors.IncompleteRead(partial=int(found[1]), expected=int(found[2]))  # type: ignore[no-any-return]  # likewise
            case "RemoteProtocolError" if str(broken).startswith("illegal "):
                return self._errors.InvalidHeader(str(broken))  # type: ignore[no-any-return]  # likewise
            case "RemoteProtocolError":
                return self._errors.ProtocolError(str(broken))  # type: ignore[no-any-return]  # likewise
            case _:
                return ConnectionResetError(104, "Connection reset by peer")

    def _read(self, amount: int | None, stream: int | None) -> tuple[list[bytes], bool, None]:  # noqa: ARG002  # as the connection's
        chunks: list[bytes] = []
        try:
            for piece in self._pieces:
                if piece.wait and self._take.clock.real:
                    time.sleep(piece.wait)
                chunks.append(piece.data)
                if amount is not None:
                    return chunks, self._take.exchange.ended == "eof", None
        except BrokenError as broken:
            raise self._late(broken) from None
        return chunks, True, None

    async def _read_async(self, amount: int | None, stream: int | None) -> tuple[list[bytes], bool, None]:
        await asyncio.sleep(0)
        return self._read(amount, stream)
