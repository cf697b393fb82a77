"""The strict server between a client and a real API: it judges the requests and changes nothing.

Bytes are passed on in both directions as they arrive, compressed or not. The report's copy has no credentials: the
upstream gets the client's headers and query, but the journal does not, and a key that the upstream quotes is replaced there. The upstream refuses requests that a client
signs for this host (AWS SigV4); use a bearer token there.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx

from ellmer_core.base.budget import SERVER
from ellmer_harness.secrets.quoted_keys import forms_of_keys, without_keys

from ..contract.observed.exchange import Request, Response
from ..contract.rule import Verdict
from .chat_apis.base import compact, utf8
from .engine import BesideTheLoop, Engine
from .http.messages import Broken, HttpRequest, Relayed, Reply, is_long, plain
from .http.routes import SHOWN, Route, parse_route
from .journal import Entry, without_secrets
from .judging.request_check import examined, notes

_T = TypeVar("_T")
#: Between two neighbours only (RFC 9110, 7.6.1); `host` is the upstream's.
_HOPS = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "expect"}
_HOPS |= {"proxy-connection", "proxy-authorization", "proxy-authenticate"}
_INFLATED = {"gzip": (31,), "deflate": (15, -15)}  # some servers leave out the header of zlib
_PIECE = 16  # bytes that are unpacked at once: of brotli, they can become 16 MB
_QUICK = 100_000  # bytes of an answer whose report is made at once
_CONNECT = 30.0  # seconds; how long an answer takes is between the client and the API


class Proxy:
    """Forwards chat requests to the upstream and judges them. The engine answers requests for its pages."""

    def __init__(self, engine: Engine, upstream: str) -> None:
        self._engine, self._pages = engine, BesideTheLoop(engine)
        self._upstream = urlsplit(upstream.rstrip("/"))
        self._client: httpx.AsyncClient | None = None
        self._working: set[asyncio.Task[Any]] = set()

    def answer(self, request: HttpRequest) -> Reply | Awaitable[Reply]:
        """Returns the upstream's reply while it arrives."""
        route = parse_route(request.target, self._upstream.netloc)  # a key in the query is not remembered
        return self._pages.answer(request) if route.page != "chat" else self._relay(request, route)

    def too_large(self, request: HttpRequest) -> Reply:
        """Returns the engine's reply; nothing is passed on."""
        return self._engine.too_large(request)

    async def aclose(self) -> None:
        """Closes the connections to the upstream. Call it after those to the clients are closed."""
        if self._working:
            await asyncio.wait(self._working)  # a connection that is just made is not in the pool yet
        if self._client:
            await self._client.aclose()

    # one request ------------------------------------------------------------------------------------------

    async def _relay(self, http: HttpRequest, route: Route) -> Reply:
        request, verdicts = (
            await asyncio.to_thread(judged, http, route) if is_long(http) else judged(http, route)
        )
        entry = Entry(route.case, route.nonce or "", request, None, verdicts)
        try:
            response = await self._forward(http, route)
        except httpx.HTTPError as error:
            reply = self._unreachable(without_keys(repr(error).encode(), keys_of(http)).decode())
            self._note(entry, http.body, reply)
            return reply
        except BaseException:  # the client left before anything came
            entry.left = 0
            self._note(entry, http.body, None)
            raise
        length = response.headers.get("content-length", "")
        noted = notes(entry.violations, None)
        reply = Relayed(
            response.status_code,
            end_to_end_headers(response.headers.multi_items(), response.headers),
            length=int(length) if length.isdecimal() else None,
            chunks=self._chunks(response, entry, http),
        )
        return reply.noting(noted) if noted else reply

    async def _forward(self, http: HttpRequest, route: Route) -> httpx.Response:
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=50)
            self._client = httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(None, connect=_CONNECT))
        headers = end_to_end_headers(http.headers.items(), http.headers)
        request = httpx.Request(http.method, self._url(http, route), headers=headers, content=http.body)
        return await self._awaited(self._client.send(request, stream=True, follow_redirects=False))

    async def _awaited(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Awaits what httpx does, in a task of its own. If the client leaves, a scope ends it: httpx leaves connections open if the task that
        closes them is cancelled.
        """
        scope = anyio.CancelScope()
        task = asyncio.create_task(_within(scope, work))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        try:
            return cast("_T", await asyncio.shield(task))
        except asyncio.CancelledError:
            scope.cancel()
            await asyncio.wait([task])
            with suppress(httpx.HTTPError, asyncio.CancelledError):
                if isinstance(unread := task.result(), httpx.Response):
                    await unread.aclose()
            raise

    def _url(self, http: HttpRequest, route: Route) -> str:
        base, query = self._upstream, http.target.partition("?")[2]
        path = route.path.removeprefix(base.path) if route.path.startswith(f"{base.path}/") else route.path
        return f"{base.geturl()}{path}" + (f"?{query}" if query else "")

    async def _chunks(
        self, response: httpx.Response, entry: Entry, http: HttpRequest
    ) -> AsyncGenerator[bytes, None]:
        """Yields the body as it arrives, and notes its received part at the end."""
        received, body, entry.left = bytearray(), _Body(response), 0
        try:
            while (data := await self._awaited(body.piece())) is not None:
                received += data[: SERVER.received - len(received)]
                yield data
        except httpx.HTTPError as error:
            body.broken = True
            raise Broken(str(error)) from error
        finally:
            entry.left = None if body.ended or body.broken else len(received)
            report = partial(_report, response, bytes(received), keys_of(http), ended=body.ended)
            answer = await asyncio.to_thread(report) if len(received) > _QUICK else report()
            self._note(entry, http.body, answer)
            await self._awaited(response.aclose())

    def _note(self, entry: Entry, body: bytes, answer: Reply | Response | None) -> None:
        entry.answer = answer
        self._engine.enter(entry, body)

    def _unreachable(self, error: str) -> Reply:
        sentence = f"The upstream {self._upstream.scheme}://{self._upstream.hostname} did not answer: {error}"
        body = utf8(compact({"error": {"message": sentence, "type": "upstream_error", "code": None}}))
        return plain(502, [("content-type", "application/json")], body)


async def _within(scope: anyio.CancelScope, work: Coroutine[Any, Any, _T]) -> _T | None:
    with scope:
        return await work
    return None


class _Body:
    """The body of a response, piece by piece. Whether it has ended is known also if nobody waits any more: clients leave with the last byte."""

    def __init__(self, response: httpx.Response) -> None:
        self._pieces = response.aiter_raw()
        self.ended = self.broken = False

    async def piece(self) -> bytes | None:
        """Returns the next piece, or `None` at the end."""
        piece = await anext(self._pieces, None)
        self.ended = piece is None
        return piece


def judged(http: HttpRequest, route: Route) -> tuple[Request, Sequence[Verdict]]:
    """Returns the request and its verdicts, or nothing if it is not a chat request or not JSON."""
    headers = without_secrets(http.headers)
    if route.wire and http.method == "POST":
        try:
            return examined(route, http.method, headers, http.body)
        except (ValueError, RecursionError):
            pass  # what the upstream says of it is what counts
    return Request(route.wire, route.provider, {}, route.url, http.method, headers), ()


def end_to_end_headers(headers: Iterable[tuple[str, str]], named: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the headers for the other side. `connection` names further headers to drop."""
    near = _HOPS | {name.strip().lower() for name in named.get("connection", "").split(",")}
    return [(name, value) for name, value in headers if name.lower() not in near | {"content-length"}]


def keys_of(http: HttpRequest) -> list[bytes]:
    """Returns the forms of the keys of a request: of its headers and parameters that are not known to have none."""
    hidden = without_secrets(http.headers)
    sent = [(name, value) for name, value in http.headers.items() if hidden[name] != value]
    query = parse_qsl(http.target.partition("?")[2], keep_blank_values=True)
    return forms_of_keys([*sent, *((name, value) for name, value in query if name not in SHOWN)])


def _report(response: httpx.Response, received: bytes, keys: list[bytes], *, ended: bool) -> Response:
    """Returns the answer as the report has it. Unpacking one and replacing keys in it takes up to seconds."""
    answer = recorded(response, received, ended=ended)
    headers = {
        _text_without_keys(name, keys): _text_without_keys(value, keys)
        for name, value in answer.headers.items()
    }
    return replace(answer, headers=headers, body=without_keys(answer.body, keys))


def _text_without_keys(text: str, keys: list[bytes]) -> str:
    return without_keys(text.encode("utf-8", "surrogateescape"), keys).decode("utf-8", "surrogateescape")


def recorded(response: httpx.Response, body: bytes, *, ended: bool) -> Response:
    """Returns the answer as a value, with its received part decoded."""
    headers = without_secrets(response.headers)
    return Response(response.status_code, headers, _unpacked(response.headers, body), ended=ended)


def _unpacked(headers: httpx.Headers, body: bytes) -> bytes:
    """Returns the first bytes of a body without its encoding, because a bomb is passed on, but not unpacked. A damaged body stays as it
    is.
    """
    coding = headers.get("content-encoding", "").strip().lower()
    for bits in _INFLATED.get(coding, ()):
        with suppress(zlib.error):
            return zlib.decompressobj(bits).decompress(body, SERVER.unpacked)
    return body if coding in _INFLATED else _decoded(headers, body)


def _decoded(headers: httpx.Headers, body: bytes) -> bytes:
    """Returns the first bytes of a body without any other encoding that httpx knows."""
    pieces = (body[at : at + _PIECE] for at in range(0, len(body), _PIECE))
    plain = bytearray()
    try:
        for piece in httpx.Response(200, headers=headers, content=pieces).iter_bytes():
            plain += piece
            if len(plain) > SERVER.unpacked:
                break
    except httpx.DecodingError:
        return body
    return bytes(plain[: SERVER.unpacked])
