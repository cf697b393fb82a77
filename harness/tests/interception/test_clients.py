"""requests, urllib3 and aiohttp get the same from a cassette as from the server, including failures."""

import asyncio
import gzip

import aiohttp
import httpx
import pytest
import requests
import urllib3

from ellmer_harness import Miss, use_cassette

URL = "https://api.example.com/x"
ANY = (requests.RequestException, urllib3.exceptions.HTTPError, aiohttp.ClientError, TimeoutError)


def with_requests(method, url, **options):
    with requests.Session() as session:
        response = session.request(method, url, stream=True, timeout=(5, 0.5), **options)
        history = [(one.status_code, one.request.method) for one in response.history]
        return response.status_code, dict(response.headers), [*response.iter_content(None)], history


def with_urllib3(method, url, **options):
    with urllib3.PoolManager(retries=urllib3.Retry(5, connect=0, read=0, other=0)) as pool:
        response = pool.request(
            method, url, preload_content=False, timeout=urllib3.Timeout(connect=5, read=0.5), **options
        )
        history = [one.status for one in response.retries.history]
        return response.status, dict(response.headers), [*response.stream(1000)], history


def with_aiohttp(method, url, **options):
    async def ask():
        timeout = aiohttp.ClientTimeout(total=5, sock_read=0.5)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, url, **options) as response,
        ):
            chunks = b"".join([chunk async for chunk in response.content.iter_any()])
            history = [(one.status, one.method) for one in response.history]
            return response.status, dict(response.headers), chunks, history

    return asyncio.run(ask())


CLIENTS = {"requests": with_requests, "urllib3": with_urllib3, "aiohttp": with_aiohttp}


def outcome(client, method, url, **options):
    try:
        return client(method, url, **options)
    except ANY as error:
        return type(error), [type(inner) for inner in error.args]


@pytest.fixture(params=CLIENTS)
def client(request):
    return CLIENTS[request.param]


ANSWERS = {
    "a stream": lambda it: it.chunked(it.events(1, {"a": "é"}, [2])),
    "lines": lambda it: it.chunked([b'{"a":1}\n', b'{"a":', b"2}\n"], "application/x-ndjson"),
    "a length": lambda it: it.whole({"a": 1}, "application/json", "x-ratelimit-left: 1"),
    "nothing": lambda it: it.raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "early hints": lambda it: it.raw(
        b"HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    ),
    "an error": lambda it: it.whole({"error": 1}, "application/json", status="429 Slow down"),
    "gzipped": lambda it: it.whole(gzip.compress(b"x" * 9, mtime=0), "text/plain", "content-encoding: gzip"),
    "a latin-1 header": lambda it: it.whole({}, "application/json", "retry-after: \xfc"),
    "no length": lambda it: it.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it"),
    "a short body": lambda it: it.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"),
    "a stream cut short": lambda it: it.raw(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"
    ),
    "no answer": lambda it: it.raw(),
    "a reset": lambda it: it.replies.append([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", it.RESET]),
    "a timeout": lambda it: it.replies.append([it.over]),
    "a timeout in the body": lambda it: it.chunked([b"abc", it.over]),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_exchange_comes_back_as_it_was(answer, client, server, record, tmp_path):
    url = f"{server.url}/x"
    for _ in range(2):  # aiohttp asks again where a connection was closed
        ANSWERS[answer](server)
    with use_cassette(tmp_path / "c.json", **record) as recorded:
        expected = outcome(client, "GET", url)
    server.listener.close()
    with use_cassette(tmp_path / "c.json") as played:
        assert outcome(client, "GET", url) == expected
    assert len(played.sent) == len(recorded.sent) > 0
    seen = [
        [(one.status, one.ended, one.body) for one in cassette.exchanges] for cassette in (recorded, played)
    ]
    assert seen[0] == seen[1]


def test_a_request_is_known_whole(client, server, record, tmp_path):
    options = {"data": "a=ü".encode(), "headers": {"Content-Type": "text/plain", "X-Key": "4f9a1c7e"}}
    if client is with_urllib3:
        options["body"] = options.pop("data")
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        client("POST", f"{server.url}/x?q=1", **options)
        [sent] = cassette.sent
    assert (sent.method, sent.url, sent.body) == ("POST", f"{server.url}/x?q=1", "a=ü".encode())
    assert sent.headers["x-key"] == "REDACTED"
    with pytest.raises(Miss, match="ü"), use_cassette(tmp_path / "c.json"):
        client(
            "POST",
            f"{server.url}/x?q=1",
            **{key: b"other" if value == "a=ü".encode() else value for key, value in options.items()},
        )


def test_a_post_that_is_sent_elsewhere_is_a_post_there(client, server, record, tmp_path):
    server.whole({}, "application/json", "location: /y", status="307 Temporary Redirect")
    options = {"json": {"a": 1}}
    with use_cassette(tmp_path / "c.json", **record):
        expected = client("POST", f"{server.url}/x", **options)
    with use_cassette(tmp_path / "c.json") as cassette:
        assert client("POST", f"{server.url}/x", **options) == expected
    assert [(sent.method, sent.url[-1], sent.json) for sent in cassette.sent] == [
        ("POST", "x", {"a": 1}),
        ("POST", "y", {"a": 1}),
    ]


def generator():
    yield b"abc"
    yield b"def"


async def async_generator():
    for piece in generator():
        yield piece


def sent_on_by_httpx(url):
    with pytest.raises(httpx.StreamConsumed) as refused, httpx.Client(follow_redirects=True) as client:
        client.post(url, content=generator())
    return str(refused.value)


def sent_on_by_httpx_async(url):
    async def ask():
        async with httpx.AsyncClient(follow_redirects=True) as client:
            with pytest.raises(httpx.StreamConsumed) as refused:
                await client.post(url, content=async_generator())
        return str(refused.value)

    return asyncio.run(ask())


def sent_on_by_aiohttp(url):
    async def ask():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientPayloadError) as refused:
                await session.post(url, data=async_generator())
        return str(refused.value)

    return asyncio.run(ask())


@pytest.mark.parametrize("ask", [sent_on_by_httpx, sent_on_by_httpx_async, sent_on_by_aiohttp])
def test_a_generator_is_not_sent_again_after_a_redirect(ask, server, record, tmp_path):
    for _ in range(2):
        server.whole({}, "application/json", "location: /y", status="308 Permanent Redirect")
    expected = ask(f"{server.url}/x")
    with use_cassette(tmp_path / "c.json", **record):
        assert ask(f"{server.url}/x") == expected
    with use_cassette(tmp_path / "c.json"):
        assert ask(f"{server.url}/x") == expected


def test_chunks_are_kept(server, record, tmp_path):
    events = server.events(1, 2, 3)
    for client in (with_requests, with_urllib3):
        server.chunked(events)
        with use_cassette(tmp_path / "c.json", **record) as cassette:
            assert client("GET", f"{server.url}/x")[2] == events
        with use_cassette(tmp_path / "c.json") as cassette:
            assert client("GET", f"{server.url}/x")[2] == events
        assert cassette.exchanges[0].chunks == events


def test_a_timeout_of_all_of_it_is_no_success(server, record, tmp_path):
    async def ask(seconds):
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=seconds)) as session:
            response = await session.get(f"{server.url}/x")
            return await response.text()

    def played(seconds, **options):
        with use_cassette(tmp_path / f"{seconds}.json", **options) as cassette, pytest.raises(TimeoutError):
            asyncio.run(ask(seconds))
        return [exchange.failure and exchange.failure.error for exchange in cassette.exchanges]

    server.chunked([b"abc", server.over])
    # On a busy machine the time may be over before the answer begins.
    long_enough = next(seconds for seconds in (0.3, 3, 30) if played(seconds, **record) == ["ReadTimeout"])
    assert played(long_enough) == ["ReadTimeout"]


def test_they_are_routed_like_httpx(client, server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        assert client("GET", "https://api.example.com/v1?a=1")[0] == 200
    assert cassette.sent[0].url == "https://api.example.com/v1?a=1"
    [((method, target), headers, _)] = server.requests
    assert (method, target, headers["accept-encoding"]) == ("GET", "/v1?a=1", "identity")
    with use_cassette(tmp_path / "c.json"):
        assert client("GET", "https://api.example.com/v1?a=1")[0] == 200


def test_the_version_of_http_is_kept(http, record, tmp_path, monkeypatch):
    core = __import__("httpcore2" if http.__name__ == "httpx2" else "httpcore")
    answer = core.Response(
        200,
        headers=[(b"content-length", b"2")],
        content=b"ok",
        extensions={"http_version": b"HTTP/2"},
    )
    monkeypatch.setattr(core.ConnectionPool, "handle_request", lambda *_: answer)
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        assert http.get("https://api.example.com").http_version == "HTTP/2"
    assert cassette.exchanges[0].http_version == "HTTP/2"
    with use_cassette(tmp_path / "c.json"):
        played = http.get("https://api.example.com")
        assert (played.http_version, played.reason_phrase) == ("HTTP/2", "OK")  # the version has no phrases


def test_a_middleware_of_aiohttp_asks_again_with_what_the_client_chose(server, record, tmp_path):
    async def twice(request, handler):
        await handler(request)
        return await handler(request)

    async def ask():
        async with aiohttp.ClientSession(middlewares=(twice,)) as session, session.get(URL) as answer:
            return await answer.text()

    server.whole(b"1", "text/plain")
    server.whole(b"2", "text/plain")
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        assert asyncio.run(ask()) == "2"
    assert cassette.sent[0].url == cassette.sent[1].url == URL
    assert (
        cassette.sent[0].headers["accept-encoding"]
        == cassette.sent[1].headers["accept-encoding"]
        != "identity"
    )
    with use_cassette(tmp_path / "c.json"):
        assert asyncio.run(ask()) == "2"
