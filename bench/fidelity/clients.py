"""What the clients make of an exchange: status, headers that say something, the body and how it ended."""

# ruff: noqa: PLC0415  # only the client that is measured is imported; its timeouts are set where it is made

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, NamedTuple

from exchanges import Exchange

__all__ = ["CLIENTS", "Outcome"]

WAIT = 2.0  # seconds; a busy machine answers within it, and only three exchanges wait that long
_DIFFERS = re.compile(r"at 0x[0-9a-f]+|after \d+ milliseconds")
TOLD = (
    "content-type",
    "content-encoding",
    "location",
    "retry-after",
    "retry-after-ms",
    "etag",
    "link",
    "content-range",
)


class Outcome(NamedTuple):
    """What the client saw. Of cookies only the names count: a recorder may replace their values."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[str, ...] = ()
    body: bytes = b""
    error: str = ""


Client = Callable[[Exchange, str], list[Outcome]]


def _outcome(status: int, headers: Iterable[tuple[str, str]], body: bytes, error: str = "") -> Outcome:
    pairs = [(name.lower(), value) for name, value in headers]
    cookies = tuple(sorted(value.partition("=")[0] for name, value in pairs if name == "set-cookie"))
    told = tuple(sorted(pair for pair in pairs if pair[0] in TOLD))
    return Outcome(status, told, cookies, body, error)


def _name(error: BaseException) -> str:
    """The class and the text of an error, without what differs in each run: the address of an object, and how long it took."""
    return f"{type(error).__name__}: {_DIFFERS.sub('…', str(error))}"


def _sent(exchange: Exchange) -> Any:
    """The body, or the generator that yields it."""
    return _pieces(exchange) if exchange.pieces else exchange.body


def _pieces(exchange: Exchange) -> Iterator[bytes]:
    body = exchange.body or b""
    yield from (body[at : at + exchange.pieces] for at in range(0, len(body), exchange.pieces))


def _sent_async(exchange: Exchange) -> Any:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in _pieces(exchange):
            yield piece

    return pieces() if exchange.pieces else exchange.body


def _enough(exchange: Exchange, body: bytes | bytearray) -> bool:
    """Whether the client stops reading here."""
    return 0 < exchange.reads <= len(body)


def httpx(exchange: Exchange, url: str, module: str = "httpx") -> list[Outcome]:
    """Asks with httpx."""
    client_module = __import__(module)
    with client_module.Client(timeout=WAIT, follow_redirects=True, verify=False) as client:
        return [_with_httpx(client, exchange, url) for _ in range(exchange.requests)]


def _with_httpx(client: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        with client.stream(exchange.method, url, headers=exchange.headers, content=_sent(exchange)) as answer:
            for chunk in answer.iter_bytes():
                body += chunk
                if _enough(exchange, body):
                    body = body[: exchange.reads]
                    break
    except Exception as error:  # noqa: BLE001  # whatever the client raises is what is compared
        if answer is None:
            return Outcome(error=_name(error))
        return _outcome(answer.status_code, answer.headers.multi_items(), body, _name(error))
    return _outcome(answer.status_code, answer.headers.multi_items(), body)


def httpx2(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with httpx2."""
    return httpx(exchange, url, "httpx2")


def requests(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with requests."""
    import requests as module

    with module.Session() as session:
        return [_with_requests(session, exchange, url) for _ in range(exchange.requests)]


def _with_requests(session: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        options = {"headers": exchange.headers, "data": _sent(exchange), "timeout": WAIT}
        answer = session.request(exchange.method, url, stream=bool(exchange.reads), **options)
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))
    with answer:
        body = next(answer.iter_content(exchange.reads)) if exchange.reads else answer.content
        return _outcome(answer.status_code, answer.raw.headers.items(), body)


def urllib3(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with urllib3."""
    import urllib3 as module

    with module.PoolManager(timeout=WAIT, retries=module.Retry(total=0, redirect=2)) as pool:
        return [_with_urllib3(pool, exchange, url) for _ in range(exchange.requests)]


def _with_urllib3(pool: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        options = {"headers": exchange.headers, "body": _sent(exchange), "preload_content": False}
        answer = pool.request(exchange.method, url, **options)
        for chunk in answer.stream(exchange.reads or 65536):
            body += chunk
            if _enough(exchange, body):
                body = body[: exchange.reads]
                answer.close()
                break
    except Exception as error:  # noqa: BLE001  # likewise
        if answer is None:
            return Outcome(error=_name(error))
        return _outcome(answer.status, answer.headers.items(), body, _name(error))
    return _outcome(answer.status, answer.headers.items(), body)


def aiohttp(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with aiohttp."""
    return asyncio.run(_with_aiohttp(exchange, url))


async def _with_aiohttp(exchange: Exchange, url: str) -> list[Outcome]:
    import aiohttp as module

    found = []
    async with module.ClientSession(timeout=module.ClientTimeout(total=WAIT * 2, sock_read=WAIT)) as session:
        for _ in range(exchange.requests):
            body, answer = b"", None
            try:
                sent = _sent_async(exchange)
                asked = session.request(exchange.method, url, headers=exchange.headers, data=sent)
                async with asked as answer:
                    content = answer.content
                    body = await (content.readexactly(exchange.reads) if exchange.reads else answer.read())
                found.append(_outcome(answer.status, answer.headers.items(), body))
            except Exception as error:  # noqa: BLE001  # likewise
                if answer is None:
                    found.append(Outcome(error=_name(error)))
                else:
                    seen = answer.headers.items()
                    found.append(_outcome(answer.status, seen, body, _name(error)))
    return found


def http_client(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with Python's own http.client."""
    return [_with_http_client(exchange, url) for _ in range(exchange.requests)]


def _with_http_client(exchange: Exchange, url: str) -> Outcome:
    import http.client as module
    from urllib.parse import urlsplit

    parts, answer, body = urlsplit(url), None, bytearray()
    connection = module.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(exchange.method, target, _sent(exchange), exchange.headers)
        answer = connection.getresponse()
        while not _enough(exchange, body) and (chunk := answer.read(1000)):
            body += chunk
    except Exception as error:  # noqa: BLE001  # likewise
        if answer is None:
            return Outcome(error=_name(error))
        return _outcome(answer.status, answer.getheaders(), bytes(body), _name(error))
    finally:
        connection.close()
    return _outcome(answer.status, answer.getheaders(), bytes(body))


def urllib(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with urllib.request."""
    return [_with_urllib(exchange, url) for _ in range(exchange.requests)]


def _with_urllib(exchange: Exchange, url: str) -> Outcome:
    from urllib import error as errors
    from urllib import request as module

    asked = module.Request(url, _sent(exchange), exchange.headers, method=exchange.method)  # noqa: S310  # of our server
    body = b""
    try:
        answer = module.urlopen(asked, timeout=WAIT)  # noqa: S310  # likewise
    except errors.HTTPError as refusal:
        answer = refusal
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=f"{_name(error)}: {_name(getattr(error, 'reason', error))}")
    with answer:
        try:
            body = answer.read(exchange.reads or None)
        except Exception as error:  # noqa: BLE001  # likewise
            return _outcome(answer.status, answer.headers.items(), body, _name(error))
        return _outcome(answer.status, answer.headers.items(), body)


def tornado(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with tornado's AsyncHTTPClient."""
    return asyncio.run(_with_tornado(exchange, url))


async def _with_tornado(exchange: Exchange, url: str) -> list[Outcome]:
    from tornado.httpclient import AsyncHTTPClient, HTTPRequest

    async def producer(write: Callable[[bytes], Any]) -> None:
        for piece in _pieces(exchange):
            await write(piece)

    found, client = [], AsyncHTTPClient(force_instance=True)
    for _ in range(exchange.requests):
        chunks: list[bytes] = []
        asked = HTTPRequest(
            url,
            exchange.method,
            exchange.headers,
            None if exchange.pieces else exchange.body,
            body_producer=producer if exchange.pieces else None,
            request_timeout=WAIT,
            streaming_callback=chunks.append,
            allow_nonstandard_methods=True,
        )
        try:
            answer = await client.fetch(asked, raise_error=False)
        except Exception as error:  # noqa: BLE001  # likewise
            found.append(Outcome(error=_name(error), body=b"".join(chunks)))
            continue
        error = _name(answer.error) if answer.error else ""
        found.append(_outcome(answer.code, answer.headers.get_all(), b"".join(chunks), error))
    client.close()
    return found


def niquests(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with niquests."""
    import niquests as module

    with module.Session() as session:
        return [_with_niquests(session, exchange, url) for _ in range(exchange.requests)]


def _with_niquests(session: Any, exchange: Exchange, url: str) -> Outcome:
    options = {"headers": exchange.headers, "data": _sent(exchange), "timeout": WAIT}
    try:
        answer = session.request(exchange.method, url, stream=bool(exchange.reads), **options)
        with answer:
            body = next(answer.iter_content(exchange.reads)) if exchange.reads else answer.content
            return _outcome(answer.status_code, answer.raw.headers.items(), body or b"")
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))


def niquests_async(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with niquests' asynchronous session."""
    return asyncio.run(_with_niquests_async(exchange, url))


async def _with_niquests_async(exchange: Exchange, url: str) -> list[Outcome]:
    import niquests as module

    found = []
    streams = bool(exchange.reads)
    async with module.AsyncSession() as session:
        for _ in range(exchange.requests):
            options = {"headers": exchange.headers, "data": _sent_async(exchange), "timeout": WAIT}
            try:
                answer = await session.request(exchange.method, url, stream=streams, **options)
                body = await anext(await answer.iter_content(exchange.reads)) if streams else answer.content
                found.append(_outcome(answer.status_code, answer.raw.headers.items(), body or b""))
                if streams:
                    await answer.close()
            except Exception as error:  # noqa: BLE001  # likewise
                found.append(Outcome(error=_name(error)))
    return found


def curl_cffi(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with curl_cffi."""
    from curl_cffi import requests as module

    with module.Session() as session:
        return [_with_curl_cffi(session, exchange, url) for _ in range(exchange.requests)]


def _with_curl_cffi(session: Any, exchange: Exchange, url: str) -> Outcome:
    options = {"headers": exchange.headers, "content": _sent(exchange), "timeout": WAIT}
    try:
        answer = session.request(exchange.method, url, stream=bool(exchange.reads), **options)
        body = b"" if exchange.reads else answer.content
        for chunk in answer.iter_content() if exchange.reads else ():
            body += chunk
            if _enough(exchange, body):
                break
        answer.close()
        return _outcome(answer.status_code, answer.headers.multi_items(), body[: exchange.reads or None])
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=f"{_name(error)} {getattr(error, 'code', '')}")


def pyreqwest(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with pyreqwest's blocking client."""
    from datetime import timedelta

    from pyreqwest.client import SyncClientBuilder

    with SyncClientBuilder().timeout(timedelta(seconds=WAIT)).build() as client:
        return [_with_pyreqwest(client, exchange, url) for _ in range(exchange.requests)]


def _with_pyreqwest(client: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        asked = client.request(exchange.method, url).headers(exchange.headers)
        if exchange.pieces:
            asked = asked.body_stream(_pieces(exchange))
        elif exchange.body is not None:
            asked = asked.body_bytes(exchange.body)
        if exchange.reads:
            with asked.build_streamed() as answer:
                return _of_pyreqwest(answer, bytes(answer.body_reader.read(exchange.reads) or b""))
        answer = asked.build().send()
        return _of_pyreqwest(answer, bytes(answer.bytes()))
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))


def _of_pyreqwest(answer: Any, body: bytes) -> Outcome:
    headers = [(name, value) for name in {*answer.headers} for value in answer.get_header_all(name)]
    return _outcome(answer.status, headers, body)


_ALL = (
    *(httpx, httpx2, requests, urllib3, aiohttp, http_client, urllib, tornado),
    *(niquests, niquests_async, curl_cffi, pyreqwest),
)
CLIENTS: dict[str, Client] = {each.__name__: each for each in _ALL}
