"""What five clients make of an exchange: status, headers that say something, the body and how it ended."""

# ruff: noqa: PLC0415  # only the client that is measured is imported; its timeouts are set where it is made

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from exchanges import Exchange

__all__ = ["CLIENTS", "Outcome"]

WAIT = 0.4
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
    return type(error).__name__


def httpx(exchange: Exchange, url: str, module: str = "httpx") -> list[Outcome]:
    """Asks with httpx."""
    client_module = __import__(module)
    with client_module.Client(timeout=WAIT, follow_redirects=True, verify=False) as client:
        return [_with_httpx(client, exchange, url) for _ in range(exchange.requests)]


def _with_httpx(client: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        with client.stream(exchange.method, url, headers=exchange.headers, content=exchange.body) as answer:
            for chunk in answer.iter_bytes():
                body += chunk
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
        options = {"headers": exchange.headers, "data": exchange.body, "timeout": WAIT}
        answer = session.request(exchange.method, url, **options)
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))
    return _outcome(answer.status_code, answer.raw.headers.items(), answer.content)


def urllib3(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with urllib3."""
    import urllib3 as module

    with module.PoolManager(timeout=WAIT, retries=module.Retry(total=0, redirect=2)) as pool:
        return [_with_urllib3(pool, exchange, url) for _ in range(exchange.requests)]


def _with_urllib3(pool: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        options = {"headers": exchange.headers, "body": exchange.body, "preload_content": False}
        answer = pool.request(exchange.method, url, **options)
        for chunk in answer.stream():
            body += chunk
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
    async with module.ClientSession(timeout=module.ClientTimeout(sock_read=WAIT)) as session:
        for _ in range(exchange.requests):
            body, answer = b"", None
            try:
                asked = session.request(exchange.method, url, headers=exchange.headers, data=exchange.body)
                async with asked as answer:
                    body = await answer.read()
                found.append(_outcome(answer.status, answer.headers.items(), body))
            except Exception as error:  # noqa: BLE001  # likewise
                if answer is None:
                    found.append(Outcome(error=_name(error)))
                else:
                    seen = answer.headers.items()
                    found.append(_outcome(answer.status, seen, body, _name(error)))
    return found


CLIENTS: dict[str, Client] = {each.__name__: each for each in (httpx, httpx2, requests, urllib3, aiohttp)}
