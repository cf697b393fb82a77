"""What the clients make of an exchange: status, headers that say something, redirects, the body and how it ended."""

# ruff: noqa: PLC0415  # only the client that is measured is imported; its timeouts are set where it is made

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from exchanges import Exchange

__all__ = ["CLIENTS", "Outcome"]

WAIT = 2.0  # seconds; a busy machine answers within it, and only few exchanges wait that long
USER = ("ada", "countess")
_DIFFERS = re.compile(r"at 0x[0-9a-f]+|after \d+ milliseconds|\b\d+ ms\b")
TOLD = (
    "content-type",
    "content-encoding",
    "content-length",
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
    reason: str = ""
    place: str = ""
    """The statuses of the redirects, and the path of the last address."""


Client = Callable[[Exchange, str], list[Outcome]]


def _outcome(  # noqa: PLR0917  # the fields, in their order
    status: int,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    error: str = "",
    reason: str = "",
    place: str = "",
) -> Outcome:
    pairs = [(name.lower(), value) for name, value in headers]
    cookies = tuple(sorted(value.partition("=")[0] for name, value in pairs if name == "set-cookie"))
    told = tuple(sorted(pair for pair in pairs if pair[0] in TOLD))
    return Outcome(status, told, cookies, body, error, reason, place)


def _place(url: Any, *statuses: int) -> str:
    parts = urlsplit(str(url))
    return " ".join([*map(str, statuses), f"{parts.path}?{parts.query}#{parts.fragment}"])


def _name(error: BaseException) -> str:
    """The class and the text of an error, without what differs in each run: the address of an object, and how long it took."""
    return f"{type(error).__name__}: {_DIFFERS.sub('…', str(error))}"


def _sent(exchange: Exchange) -> Any:
    """The body, the file that has it, or the generator that yields it."""
    if exchange.upload == "file":
        return io.BytesIO(exchange.body or b"")
    return _pieces(exchange) if exchange.pieces else exchange.body


def _pieces(exchange: Exchange) -> Iterator[bytes]:
    body = exchange.body or b""
    for at in range(0, len(body), exchange.pieces):
        yield body[at : at + exchange.pieces]
        if exchange.upload == "breaks":
            raise RuntimeError("the body cannot be made")


def _sent_async(exchange: Exchange) -> Any:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in _pieces(exchange):
            yield piece

    return pieces() if exchange.pieces else exchange.body


def _file() -> tuple[str, io.BytesIO, str]:
    return "a.txt", io.BytesIO(b"some words\r\n" * 20), "text/plain"


_FIELDS = {"said": "h\xe9llo", "other": "2"}


def _enough(exchange: Exchange, body: bytes | bytearray) -> bool:
    """Whether the client stops reading here."""
    return 0 < exchange.reads <= len(body)


def httpx(exchange: Exchange, url: str, module: str = "httpx", **options: Any) -> list[Outcome]:
    """Asks with httpx."""
    http = __import__(module)
    options = {"timeout": WAIT, "follow_redirects": True, "verify": exchange.scheme == "https"} | options
    if exchange.digest:
        options["auth"] = http.DigestAuth(*USER)
    with http.Client(**options) as client:
        return [_with_httpx(client, asked, url) for asked in exchange.each()]


def _with_httpx(client: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        with client.stream(exchange.method, url + exchange.path, **_for_httpx(exchange)) as answer:
            for chunk in answer.iter_bytes():
                body += chunk
                if _enough(exchange, body):
                    body = body[: exchange.reads]
                    break
    except Exception as error:  # noqa: BLE001  # whatever the client raises is what is compared
        return Outcome(error=_name(error)) if answer is None else _of_httpx(answer, body, _name(error))
    return _of_httpx(answer, body)


def _for_httpx(exchange: Exchange, sent: Callable[[Exchange], Any] = _sent) -> dict[str, Any]:
    if exchange.upload == "parts":
        return {"headers": exchange.headers, "files": {"file": _file()}, "data": _FIELDS}
    return {"headers": exchange.headers, "content": sent(exchange)}


def _of_httpx(answer: Any, body: bytes, error: str = "") -> Outcome:
    place = _place(answer.url, *(each.status_code for each in answer.history))
    headers = answer.headers.multi_items()
    return _outcome(answer.status_code, headers, body, error, answer.reason_phrase, place)


def httpx2(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with httpx2."""
    return httpx(exchange, url, "httpx2")


def httpx_async(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with httpx's asynchronous client."""
    return asyncio.run(_with_httpx_async(exchange, url))


async def _with_httpx_async(exchange: Exchange, url: str) -> list[Outcome]:
    import httpx as module

    found = []
    auth = module.DigestAuth(*USER) if exchange.digest else None
    verify = exchange.scheme == "https"
    async with module.AsyncClient(timeout=WAIT, follow_redirects=True, verify=verify, auth=auth) as client:
        for asked in exchange.each():
            body, answer = b"", None
            try:
                options = _for_httpx(asked, _sent_async)
                async with client.stream(asked.method, url + asked.path, **options) as answer:
                    async for chunk in answer.aiter_bytes():
                        body += chunk
                        if _enough(exchange, body):
                            body = body[: exchange.reads]
                            break
                found.append(_of_httpx(answer, body))
            except Exception as error:  # noqa: BLE001  # likewise
                text = _name(error)
                found.append(Outcome(error=text) if answer is None else _of_httpx(answer, body, text))
    return found


def requests(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with requests."""
    import requests as module

    with module.Session() as session:
        if exchange.digest:
            session.auth = module.auth.HTTPDigestAuth(*USER)
        return [_with_requests(session, asked, url) for asked in exchange.each()]


def _for_requests(exchange: Exchange, sent: Callable[[Exchange], Any] = _sent) -> dict[str, Any]:
    options = {"headers": exchange.headers, "timeout": WAIT, "stream": bool(exchange.reads)}
    if exchange.upload == "parts":
        return {**options, "files": {"file": _file()}, "data": _FIELDS}
    return {**options, "data": sent(exchange)}


def _with_requests(session: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        answer = session.request(exchange.method, url + exchange.path, **_for_requests(exchange))
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))
    with answer:
        body = next(answer.iter_content(exchange.reads)) if exchange.reads else answer.content
        return _of_requests(answer, body)


def _of_requests(answer: Any, body: bytes | None) -> Outcome:
    place = _place(answer.url, *(each.status_code for each in answer.history))
    return _outcome(
        answer.status_code, answer.raw.headers.items(), body or b"", "", answer.reason or "", place
    )


def urllib3(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with urllib3."""
    import urllib3 as module

    retries = module.Retry(total=0, redirect=2)
    with module.PoolManager(timeout=WAIT, retries=retries) as pool:
        return [_with_urllib3(pool, asked, url) for asked in exchange.each()]


def _with_urllib3(pool: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer = b"", None
    try:
        options: dict[str, Any] = {"headers": exchange.headers, "preload_content": False}
        if exchange.upload == "parts":
            name, file, kind = _file()
            options["fields"] = {**_FIELDS, "file": (name, file.read(), kind)}
        else:
            options["body"] = _sent(exchange)
        answer = pool.request(exchange.method, url + exchange.path, **options)
        for chunk in answer.stream(exchange.reads or 65536):
            body += chunk
            if _enough(exchange, body):
                body = body[: exchange.reads]
                answer.close()
                break
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error)) if answer is None else _of_urllib3(answer, body, _name(error))
    return _of_urllib3(answer, body)


def _of_urllib3(answer: Any, body: bytes, error: str = "") -> Outcome:
    seen = getattr(answer.retries, "history", ()) or ()
    place = _place(answer.url or "", *(each.status or 0 for each in seen))
    return _outcome(answer.status, answer.headers.items(), body, error, answer.reason or "", place)


def botocore(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with the session of botocore, which boto3 uses."""
    from botocore.httpsession import URLLib3Session

    session = URLLib3Session(timeout=WAIT, verify=True, proxies=_proxies(exchange))
    found = [_with_botocore(session, asked, url) for asked in exchange.each()]
    session.close()
    return found


def _proxies(exchange: Exchange) -> Any:
    import os

    return {"http": os.environ["http_proxy"]} if exchange.proxy else None


def _with_botocore(session: Any, exchange: Exchange, url: str) -> Outcome:
    from botocore.awsrequest import AWSRequest

    body = b"".join(_pieces(exchange)) if exchange.pieces and exchange.upload != "breaks" else exchange.body
    options = {"headers": exchange.headers, "data": body, "stream_output": bool(exchange.reads)}
    try:
        asked = AWSRequest(exchange.method, url + exchange.path, **options).prepare()
        answer = session.send(asked)
        seen = answer.raw.read(exchange.reads, decode_content=True) if exchange.reads else answer.content
        answer.raw.close()
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))
    return _outcome(answer.status_code, answer.headers.items(), seen, "", answer.raw.reason or "")


def aiohttp(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with aiohttp."""
    return asyncio.run(_with_aiohttp(exchange, url))


async def _with_aiohttp(exchange: Exchange, url: str) -> list[Outcome]:
    import aiohttp as module

    options: dict[str, Any] = {"timeout": module.ClientTimeout(total=WAIT * 2, sock_read=WAIT, connect=WAIT)}
    if exchange.digest:
        options["middlewares"] = (module.DigestAuthMiddleware(*USER),)
    async with module.ClientSession(trust_env=bool(exchange.proxy), **options) as session:
        return [await _one_with_aiohttp(module, session, asked, url) for asked in exchange.each()]


async def _one_with_aiohttp(module: Any, session: Any, exchange: Exchange, url: str) -> Outcome:
    body, answer, sent = b"", None, _sent(exchange) if exchange.upload == "file" else _sent_async(exchange)
    if exchange.upload == "parts":
        sent = module.FormData(_FIELDS)
        name, file, kind = _file()
        sent.add_field("file", file, filename=name, content_type=kind)
    try:
        asked = session.request(exchange.method, url + exchange.path, headers=exchange.headers, data=sent)
        async with asked as answer:
            content = answer.content
            body = await (content.readexactly(exchange.reads) if exchange.reads else answer.read())
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error)) if answer is None else _of_aiohttp(answer, body, _name(error))
    return _of_aiohttp(answer, body)


def _of_aiohttp(answer: Any, body: bytes, error: str = "") -> Outcome:
    place = _place(answer.url, *(each.status for each in answer.history))
    return _outcome(answer.status, answer.headers.items(), body, error, answer.reason or "", place)


def http_client(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with Python's own http.client."""
    import http.client as module

    parts = urlsplit(url)
    kind = module.HTTPSConnection if exchange.scheme == "https" else module.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=WAIT)
    try:
        return [_with_http_client(connection, asked, url) for asked in exchange.each()]
    finally:
        connection.close()


def _with_http_client(connection: Any, exchange: Exchange, url: str) -> Outcome:
    answer, body = None, bytearray()
    parts = urlsplit(url + exchange.path)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(exchange.method, target, _sent(exchange), exchange.headers)
        answer = connection.getresponse()
        while not _enough(exchange, body) and (chunk := answer.read(1000)):
            body += chunk
    except Exception as error:  # noqa: BLE001  # likewise
        connection.close()
        if answer is None:
            return Outcome(error=_name(error))
        return _outcome(answer.status, answer.getheaders(), bytes(body), _name(error), answer.reason)
    if exchange.reads:
        answer.close()
        connection.close()
    return _outcome(answer.status, answer.getheaders(), bytes(body), "", answer.reason)


def urllib(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with urllib.request."""
    from urllib import request as module

    handlers: list[Any] = [module.HTTPCookieProcessor()]
    if exchange.digest:
        passwords = module.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, url, *USER)
        handlers.append(module.HTTPDigestAuthHandler(passwords))
    opener = module.build_opener(*handlers)
    return [_with_urllib(opener, asked, url) for asked in exchange.each()]


def _with_urllib(opener: Any, exchange: Exchange, url: str) -> Outcome:
    from urllib import error as errors
    from urllib import request as module

    body = b""
    try:
        asked = module.Request(url + exchange.path, _sent(exchange), exchange.headers, method=exchange.method)  # noqa: S310  # of our server
        answer = opener.open(asked, timeout=WAIT)
    except errors.HTTPError as refusal:
        answer = refusal
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=f"{_name(error)}: {_name(getattr(error, 'reason', error))}")
    with answer:
        error_text = ""
        try:
            body = answer.read(exchange.reads or None)
        except Exception as error:  # noqa: BLE001  # likewise
            error_text = _name(error)
        headers, place = answer.headers.items(), _place(answer.geturl())
        return _outcome(answer.status, headers, body, error_text, str(answer.reason), place)


def tornado(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with tornado's AsyncHTTPClient."""
    return asyncio.run(_with_tornado(exchange, url))


async def _with_tornado(exchange: Exchange, url: str) -> list[Outcome]:
    from tornado.httpclient import AsyncHTTPClient

    client = AsyncHTTPClient(force_instance=True)
    found = [await _one_with_tornado(client, asked, url) for asked in exchange.each()]
    client.close()
    return found


async def _one_with_tornado(client: Any, exchange: Exchange, url: str) -> Outcome:
    from tornado.httpclient import HTTPRequest

    async def producer(write: Callable[[bytes], Any]) -> None:
        for piece in _pieces(exchange):
            await write(piece)

    chunks: list[bytes] = []
    asked = HTTPRequest(
        url + exchange.path,
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
        return Outcome(error=_name(error), body=b"".join(chunks))
    error = _name(answer.error) if answer.error else ""
    headers, place = answer.headers.get_all(), _place(answer.effective_url)
    return _outcome(answer.code, headers, b"".join(chunks), error, answer.reason or "", place)


def niquests(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with niquests."""
    import niquests as module

    with module.Session() as session:
        if exchange.digest:
            session.auth = module.auth.HTTPDigestAuth(*USER)
        return [_with_niquests(session, asked, url) for asked in exchange.each()]


def _with_niquests(session: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        answer = session.request(exchange.method, url + exchange.path, **_for_requests(exchange))
        with answer:
            body = next(answer.iter_content(exchange.reads)) if exchange.reads else answer.content
            return _of_requests(answer, body)
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=_name(error))


def niquests_async(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with niquests' asynchronous session."""
    return asyncio.run(_with_niquests_async(exchange, url))


async def _with_niquests_async(exchange: Exchange, url: str) -> list[Outcome]:
    import niquests as module

    found = []
    async with module.AsyncSession() as session:
        if exchange.digest:
            session.auth = module.auth.AsyncHTTPDigestAuth(*USER)
        for asked in exchange.each():
            try:
                options = _for_requests(asked, _sent if asked.upload == "file" else _sent_async)
                answer = await session.request(asked.method, url + asked.path, **options)
                if asked.reads:
                    found.append(_of_requests(answer, await anext(await answer.iter_content(asked.reads))))
                    await answer.close()
                else:
                    found.append(_of_requests(answer, answer.content))
            except Exception as error:  # noqa: BLE001  # likewise
                found.append(Outcome(error=_name(error)))
    return found


def curl_cffi(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with curl_cffi."""
    from curl_cffi import requests as module

    with module.Session() as session:
        return [_with_curl_cffi(session, asked, url) for asked in exchange.each()]


def _for_curl_cffi(exchange: Exchange) -> dict[str, Any]:
    options = {"headers": exchange.headers, "timeout": WAIT, "stream": bool(exchange.reads)}
    if exchange.upload == "parts":
        from curl_cffi import CurlMime

        form, (name, file, kind) = CurlMime(), _file()
        form.addpart("file", content_type=kind, filename=name, data=file.read())
        return {**options, "multipart": form}
    return {**options, "content": _sent(exchange)}


def _with_curl_cffi(session: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        answer = session.request(exchange.method, url + exchange.path, **_for_curl_cffi(exchange))
        body = b"" if exchange.reads else answer.content
        for chunk in answer.iter_content() if exchange.reads else ():
            body += chunk
            if _enough(exchange, body):
                break
        answer.close()
        return _of_curl_cffi(answer, body[: exchange.reads or None])
    except Exception as error:  # noqa: BLE001  # likewise
        return Outcome(error=f"{_name(error)} {getattr(error, 'code', '')}")


def _of_curl_cffi(answer: Any, body: bytes) -> Outcome:
    headers, place = answer.headers.multi_items(), _place(answer.url, answer.redirect_count)
    return _outcome(answer.status_code, headers, body, "", answer.reason, place)


def curl_cffi_async(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with curl_cffi's asynchronous session."""
    return asyncio.run(_with_curl_cffi_async(exchange, url))


async def _with_curl_cffi_async(exchange: Exchange, url: str) -> list[Outcome]:
    from curl_cffi import requests as module

    found = []
    async with module.AsyncSession() as session:
        for asked in exchange.each():
            try:
                answer = await session.request(asked.method, url + asked.path, **_for_curl_cffi(asked))
                body = b"" if asked.reads else answer.content
                if asked.reads:
                    async for chunk in answer.aiter_content():
                        body += chunk
                        if _enough(asked, body):
                            break
                    await answer.aclose()
                found.append(_of_curl_cffi(answer, body[: asked.reads or None]))
            except Exception as error:  # noqa: BLE001  # likewise
                found.append(Outcome(error=f"{_name(error)} {getattr(error, 'code', '')}"))
    return found


def pyreqwest(exchange: Exchange, url: str) -> list[Outcome]:
    """Asks with pyreqwest's blocking client."""
    from datetime import timedelta

    from pyreqwest.client import SyncClientBuilder

    builder = (
        SyncClientBuilder().timeout(timedelta(seconds=WAIT)).default_cookie_store(True)
    )  # it takes no name
    with builder.build() as client:
        return [_with_pyreqwest(client, asked, url) for asked in exchange.each()]


def _with_pyreqwest(client: Any, exchange: Exchange, url: str) -> Outcome:
    try:
        asked = client.request(exchange.method, url + exchange.path).headers(exchange.headers)
        if exchange.upload == "parts":
            asked = asked.multipart(_form_of_pyreqwest())
        elif exchange.pieces:
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


def _form_of_pyreqwest() -> Any:
    from pyreqwest.multipart import FormBuilder, PartBuilder

    name, file, kind = _file()
    part = PartBuilder.from_bytes(file.read()).file_name(name).mime(kind)
    return FormBuilder().text("said", _FIELDS["said"]).part("file", part)


def _of_pyreqwest(answer: Any, body: bytes) -> Outcome:
    headers = [(name, value) for name in {*answer.headers} for value in answer.get_header_all(name)]
    place = ""
    with suppress(AttributeError):
        place = _place(answer.url)
    return _outcome(answer.status, headers, body, "", "", place)


_ALL = (
    *(httpx, httpx_async, httpx2, requests, urllib3, botocore, aiohttp, http_client, urllib, tornado),
    *(niquests, niquests_async, curl_cffi, curl_cffi_async, pyreqwest),
)
CLIENTS: dict[str, Client] = {each.__name__: each for each in _ALL}
