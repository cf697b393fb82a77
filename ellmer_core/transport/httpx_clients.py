"""httpx's clients for chats: without cookies, and with a pool of connections for each request while it lasts.

It is loaded when it is first needed, because httpx takes longer to import than this package.

A pool of httpcore checks all its connections for each request. A hundred concurrent requests in one pool would cost a
hundred times as much as one. Free pools are kept in a stack for each origin, and the last one is used first.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

import httpx

# --- Clients ---------------------------------------------------------------------------------------------


class _NoCookies(httpx.Cookies):
    """Stores no cookies, because chats must not share hidden state."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Leaves the cookies in the response."""


_NO_COOKIES = _NoCookies()
#: The headers that httpx itself would send, in its order. The request has its own values of all but one.
_USUAL = {
    "accept": "*/*",
    "accept-encoding": "identity",
    "connection": "keep-alive",
    "user-agent": "ellmer-core",
}
_URL = lru_cache(256)(httpx.URL)  # the same URL is not parsed again for each request


class _Plain:
    cookies = property(lambda _: _NO_COOKIES)
    #: The headers of the last request, as given and as read.
    _sent: tuple[dict[str, str], httpx.Headers] = {}, httpx.Headers()

    def build_request(self, method: str, url: httpx.URL | str, **what: Any) -> httpx.Request:
        """Returns a request to a whole URL."""
        url = _URL(url)
        headers, content = _USUAL | what.pop("headers"), what.pop("content", None)
        if not content or "host" in headers:
            return httpx.Request(method, url, headers=headers, content=content, **what)
        headers = {"Host": url.netloc.decode("ascii"), **headers}
        given, read = self._sent
        if given != headers:
            read = httpx.Headers(headers)
            self._sent = headers, read
        request = httpx.Request(method, url, headers=read, stream=httpx.ByteStream(content), **what)
        request.headers["Content-Length"] = str(len(content))
        request.read()
        return request  # the same, without reading the headers twice, or those of the last request again


class Client(_Plain, httpx.Client):
    """The client for blocking calls."""


class AsyncClient(_Plain, httpx.AsyncClient):
    """The client for async calls."""


# --- Pools -----------------------------------------------------------------------------------------------


IDLE = 30.0  # seconds that a connection is kept
KEPT = 100  # connections that are kept at all


#: The context of the pools for HTTP trusts nobody: it is made without reading certificates.
_NO_TLS = SSLContext(PROTOCOL_TLS_CLIENT)
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=IDLE)


def proxy_of(url: httpx.URL, proxies: Mapping[str, str]) -> str | None:
    """Returns the proxy for a URL, of those that `urllib.request.getproxies()` found."""
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or any(_names(name.strip(), url) for name in proxies.get("no", "").split(",")):
        return None
    return found if "://" in found else f"http://{found}"


def _names(name: str, url: httpx.URL) -> bool:
    """Tells whether a name of NO_PROXY is the host of a URL or a domain that it is in, as curl reads it."""
    bare = name.rpartition("://")[2].lower().lstrip("*.")
    if not bare:
        return name == "*"
    return any(
        place == bare or place.endswith(f".{bare}") for place in (url.host, url.netloc.decode("ascii"))
    )


#: Reads from a connection as its own `read` does, but no longer than an answer may take.
Read = Callable[..., bytes]


def _pool(read: Read, trace: Mapping[str, Any], **options: Any) -> httpx.HTTPTransport:
    """Returns a pool whose connections are read with `read`. httpx has no public way to that but a `trace`, which takes 6 % of a turn."""
    pool = httpx.HTTPTransport(**options)
    network: Any = getattr(pool._pool, "_network_backend", None)  # noqa: SLF001 - see above
    pool.extensions = {} if network else trace  # type: ignore[attr-defined]  # an attribute of our own
    if network:
        network.connect_tcp = partial(_timed, network.connect_tcp, read)
    return pool


def _timed(connect: Callable[..., Any], read: Read, *where: Any, **how: Any) -> Any:
    """Returns a new connection, or its TLS, which is read with `read`."""
    stream = connect(*where, **how)
    stream.read, stream.start_tls = partial(read, stream.read), partial(_timed, stream.start_tls, read)
    return stream


@dataclass(eq=False, repr=False)
class _Stacks:
    """The free pools by origin, each with the time since when it is free. `kind` is the class of new ones."""

    kind: Callable[..., Any]
    tls: Callable[[], SSLContext]
    proxies: Mapping[str, str]
    free: dict[tuple[str, ...], deque[tuple[float, Any]]] = field(default_factory=lambda: defaultdict(deque))

    def taken(self, url: httpx.URL) -> tuple[tuple[str, ...], Any]:
        """Returns a pool for a request, and the stack that it returns to."""
        place = (url.scheme, url.host, str(url.port))
        try:
            return place, self.free[place].pop()[1]
        except IndexError:  # another thread may have been faster
            verify = self.tls() if url.scheme == "https" else _NO_TLS
            proxy = proxy_of(url, self.proxies) if self.proxies else None
            return place, self.kind(verify=verify, limits=_LIMITS, proxy=proxy)

    def returned(self, place: tuple[str, ...], pool: Any) -> list[Any]:
        """Takes a pool back. Returns the pools that must be closed."""
        now, stack = time.monotonic(), self.free[place]
        stack.append((now, pool))
        old = []
        while stack and (len(stack) > KEPT or now - stack[0][0] > IDLE):
            old.append(stack.popleft()[1])
        return old

    def emptied(self) -> list[Any]:
        """Removes and returns all pools."""
        free = [pool for stack in self.free.values() for _, pool in stack]
        self.free.clear()
        return free


class Pools(httpx.BaseTransport):
    """Pools for blocking clients. Threads may share them. `tls` returns the TLS context, and is called for HTTPS only. `proxies` are by
    scheme, as `urllib.request.getproxies()` returns them. Connections are read with `read`, or where httpx does not allow that, each
    request has the extension `trace`.
    """

    def __init__(
        self, tls: Callable[[], SSLContext], proxies: Mapping[str, str], read: Read, trace: Mapping[str, Any]
    ) -> None:
        self._stacks = _Stacks(partial(_pool, read, trace), tls, proxies)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request with a free pool, which is free again when the response is closed."""
        place, pool = self._stacks.taken(request.url)
        request.extensions |= pool.extensions
        try:
            response: httpx.Response = pool.handle_request(request)
        except BaseException:
            for old in self._stacks.returned(place, pool):
                old.close()
            raise
        response.stream = _Lent(response.stream, partial(self._stacks.returned, place, pool))
        return response

    def close(self) -> None:
        for pool in self._stacks.emptied():
            pool.close()


class AsyncPools(httpx.AsyncBaseTransport):
    """Pools for async clients, as `Pools`."""

    def __init__(self, tls: Callable[[], SSLContext], proxies: Mapping[str, str]) -> None:
        self._stacks = _Stacks(httpx.AsyncHTTPTransport, tls, proxies)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends the request with a free pool, which is free again when the response is closed."""
        place, pool = self._stacks.taken(request.url)
        try:
            response: httpx.Response = await pool.handle_async_request(request)
        except BaseException:
            await self._back(place, pool)
            raise
        response.stream = _AsyncLent(response.stream, lambda: self._back(place, pool))
        return response

    async def aclose(self) -> None:
        """Closes all clients at the same time, because an event loop that ends leaves little time for it."""
        from asyncio import gather  # noqa: PLC0415 - blocking chats do without it

        await gather(*(pool.aclose() for pool in self._stacks.emptied()))

    async def _back(self, place: tuple[str, ...], pool: Any) -> None:
        for old in self._stacks.returned(place, pool):
            await old.aclose()


@dataclass(eq=False, repr=False)
class _Lent(httpx.SyncByteStream):
    """The body of a response. Its pool is returned once."""

    _stream: Any
    _back: Callable[[], list[Any]]  # returns the pools that must be closed

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            back, self._back = self._back, list
            for old in back():
                old.close()


@dataclass(eq=False, repr=False)
class _AsyncLent(httpx.AsyncByteStream):
    """The async version of `_Lent`."""

    _stream: Any
    _back: Callable[[], Any]

    def __aiter__(self) -> AsyncIterator[bytes]:
        found: AsyncIterator[bytes] = self._stream.__aiter__()
        return found

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            back, self._back = self._back, _nothing
            await back()


async def _nothing() -> None:
    return None
