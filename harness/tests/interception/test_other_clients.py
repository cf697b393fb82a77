"""Clients that need interception of their own: http.client, urllib.request, tornado, httpx with a transport of the program's, and
(if they are installed: `nox -s clients`) niquests, curl_cffi and pyreqwest. Each gets the same from a cassette as from the server,
and a server that is still there is not asked."""

import asyncio
import http.client
import re
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import xmlrpc.client
from contextlib import closing, suppress
from types import ModuleType
from urllib.parse import urlsplit

import aiohttp
import httpx
import pytest

from ellmer_harness import Miss, use_cassette
from ellmer_harness.cassette.run_verdict import table, verdict
from ellmer_harness.errors import NotIntercepted
from ellmer_harness.interception.http1 import os_error

API = "https://api.example.com"


def with_http_client(url, body=None):
    parts = urlsplit(url)
    connection = http.client.HTTPSConnection(parts.hostname, timeout=5)
    connection.request("POST" if body else "GET", parts.path, body)
    answer = connection.getresponse()
    found = answer.status, answer.getheader("x-ratelimit-left"), answer.read()
    connection.close()
    return found


def with_urllib(url, body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=5) as answer:
            return answer.status, answer.headers["x-ratelimit-left"], answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.headers["x-ratelimit-left"], refusal.read()


def with_tornado(url, body=None):
    from tornado.httpclient import AsyncHTTPClient

    async def ask():
        client = AsyncHTTPClient(force_instance=True)
        options = {"method": "POST", "body": body} if body else {}
        answer = await client.fetch(url, raise_error=False, request_timeout=5, **options)
        client.close()
        return answer.code, answer.headers.get("x-ratelimit-left"), answer.body

    return asyncio.run(ask())


def with_niquests(url, body=None):
    niquests = pytest.importorskip("niquests")
    answer = niquests.request("POST" if body else "GET", url, data=body, timeout=5)
    return answer.status_code, answer.headers.get("x-ratelimit-left"), answer.content


def with_niquests_async(url, body=None):
    niquests = pytest.importorskip("niquests")

    async def ask():
        async with niquests.AsyncSession() as session:
            answer = await session.request("POST" if body else "GET", url, data=body, timeout=5)
            return answer.status_code, answer.headers.get("x-ratelimit-left"), answer.content

    return asyncio.run(ask())


def with_curl_cffi(url, body=None):
    requests = pytest.importorskip("curl_cffi.requests")
    answer = requests.request("POST" if body else "GET", url, data=body, timeout=5)
    return answer.status_code, answer.headers.get("x-ratelimit-left"), answer.content


def with_curl_cffi_async(url, body=None):
    requests = pytest.importorskip("curl_cffi.requests")

    async def ask():
        async with requests.AsyncSession() as session:
            answer = await session.request("POST" if body else "GET", url, data=body, timeout=5)
            return answer.status_code, answer.headers.get("x-ratelimit-left"), answer.content

    return asyncio.run(ask())


def with_curl_cffi_stream(url, body=None):
    requests = pytest.importorskip("curl_cffi.requests")
    with (
        requests.Session() as session,
        session.stream("POST" if body else "GET", url, data=body, timeout=5) as answer,
    ):
        return answer.status_code, answer.headers.get("x-ratelimit-left"), b"".join(answer.iter_content())


def with_pyreqwest(url, body=None):
    client_module = pytest.importorskip("pyreqwest.client")
    with client_module.SyncClientBuilder().build() as client:
        asked = client.request("POST" if body else "GET", url)
        answer = (asked.body_bytes(body) if body else asked).build().send()
        return answer.status, answer.get_header("x-ratelimit-left"), bytes(answer.bytes())


def with_pyreqwest_async(url, body=None):
    client_module = pytest.importorskip("pyreqwest.client")

    async def ask():
        async with client_module.ClientBuilder().build() as client:
            asked = client.request("POST" if body else "GET", url)
            answer = await (asked.body_bytes(body) if body else asked).build().send()
            return answer.status, answer.get_header("x-ratelimit-left"), bytes(await answer.bytes())

    return asyncio.run(ask())


CLIENTS = {
    name.removeprefix("with_"): function
    for name, function in [*globals().items()]
    if name.startswith("with_")
}


@pytest.fixture(params=CLIENTS)
def client(request):
    return CLIENTS[request.param]


ANSWERS = {
    "a length": lambda it: it.whole({"a": 1}, "application/json", "x-ratelimit-left: 1"),
    "an error": lambda it: it.whole({"error": 1}, "application/json", status="429 Slow down"),
    "a stream": lambda it: it.chunked(it.events(1, {"a": "é"}, [2])),
    "nothing": lambda it: it.raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "no length": lambda it: it.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_exchange_comes_back_and_the_server_is_not_asked(answer, client, server, record, tmp_path):
    ANSWERS[answer](server)
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        expected = client(f"{API}/x")
    assert [(sent.method, sent.url) for sent in cassette.sent] == [("GET", f"{API}/x")]
    asked = len(server.requests)
    with use_cassette(tmp_path / "c.json") as cassette:
        assert client(f"{API}/x") == expected
    assert len(server.requests) == asked == 1
    assert cassette.verdict.played == 1


def test_bodies_tell_requests_apart_and_a_miss_is_raised(client, server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        first, second = (client(f"{API}/x", body) for body in (b"one", b"two"))
    with use_cassette(tmp_path / "c.json"):
        assert [client(f"{API}/x", body) for body in (b"two", b"one")] == [second, first]
    with (
        pytest.raises(Miss, match="is not in cassette"),
        use_cassette(tmp_path / "c.json", allow_unused=True),
    ):
        client(f"{API}/x", b"three")


def test_another_server_of_this_machine_is_reached_in_a_replay(client, server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        client(f"{API}/x")
    if client in {with_http_client, with_niquests, with_niquests_async}:
        return  # the first asks by https, the others are like requests: a request that is not recorded is a miss
    with use_cassette(tmp_path / "c.json", allow_unused=True, allow_idle=True, allow_hosts=["localhost"]):
        assert client(f"{server.url}/y")[0] == 200


def test_redirects_of_urllib_are_interactions(server, record, tmp_path):
    server.whole(b"", "text/plain", "location: /y", status="302 Found")
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        with_urllib(f"{API}/x")
    assert [sent.url for sent in cassette.sent] == [f"{API}/x", f"{API}/y"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://no-such-host.invalid/"])
def test_a_connection_that_fails_keeps_its_class(url, record, tmp_path):
    def ask():
        with pytest.raises(urllib.error.URLError) as failed:
            urllib.request.urlopen(url, timeout=5)
        return type(failed.value.reason), str(failed.value.reason)

    with use_cassette(tmp_path / "c.json", **record):
        expected = ask()
    with use_cassette(tmp_path / "c.json"):
        assert ask() == expected


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://no-such-host.invalid/"])
def test_each_client_gets_its_own_error_again(url, client, record, tmp_path):
    """The class and the text of it, of a refused connection and of a failed lookup."""
    with use_cassette(tmp_path / "c.json", **record):
        expected = seen(client, url)
    with use_cassette(tmp_path / "c.json"):
        assert seen(client, url) == expected


def test_a_server_without_tls_fails_as_one_in_the_replay(client, record, tmp_path):
    server = Raw(HEAD + b"content-length: 0\r\n\r\n")
    url = server.url.replace("http:", "https:")
    expected = seen(client, url)
    with use_cassette(tmp_path / "c.json", **record):
        assert seen(client, url) == expected
    server.listening.close()
    with use_cassette(tmp_path / "c.json"):
        assert seen(client, url) == expected


@pytest.mark.parametrize("text", ["[SSL: CERTIFICATE_VERIFY_FAILED] no", "[SSL: WRONG_VERSION_NUMBER] no"])
def test_errors_of_tls_keep_their_class(text):
    error = os_error(f"[Errno 1] {text}")
    assert (type(error) is ssl.SSLCertVerificationError) == ("CERT" in text)
    assert isinstance(error, ssl.SSLError)
    assert str(error) == text


def test_a_proxy_of_this_machine_is_not_asked_in_a_replay(server, tmp_path):
    server.whole({"a": 1}, "application/json", "x-ratelimit-left: 1")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": server.url}))

    def ask():
        with opener.open("http://api.example.com/x", timeout=5) as answer:
            return answer.status, answer.read()

    with use_cassette(tmp_path / "c.json", mode="rewrite"):
        expected = ask()
    with use_cassette(tmp_path / "c.json"):
        assert ask() == expected
    assert len(server.requests) == 1


def test_a_failure_that_another_client_recorded_is_one_of_pyreqwest(record, tmp_path):
    exceptions = pytest.importorskip("pyreqwest.exceptions")
    url = "http://127.0.0.1:9/"
    with use_cassette(tmp_path / "c.json", **record), pytest.raises(httpx.ConnectError):
        httpx.get(url)
    with use_cassette(tmp_path / "c.json"), pytest.raises(exceptions.ConnectError):
        with_pyreqwest(url)


def test_cookies_of_a_recording_are_those_of_a_session_of_curl_cffi(server, record, tmp_path):
    requests = pytest.importorskip("curl_cffi.requests")
    wide, own = "set-cookie: a=1; Path=/v1; Secure; Domain=.example.com", "set-cookie: b=2"
    server.whole({}, "application/json", wide, own)
    with use_cassette(tmp_path / "c.json", **record, mask=True):
        httpx.get(f"{API}/x")
    with use_cassette(tmp_path / "c.json"), requests.Session() as session:
        session.get(f"{API}/x")
        found = {(each.name, each.domain, each.path, each.secure) for each in session.cookies.jar}
    assert found == {("a", ".example.com", "/v1", True), ("b", "api.example.com", "/", False)}


def uploaded_by_curl_cffi(url, text):
    from curl_cffi import CurlMime, requests

    form = CurlMime()
    form.addpart("file", filename="a.txt", content_type="text/plain", data=text.encode())
    return requests.post(url, multipart=form).json()


def streamed_by_curl_cffi(url, text):
    from curl_cffi import requests

    return requests.post(url, content=(each.encode() for each in text)).json()


def streamed_by_curl_cffi_async(url, text):
    from curl_cffi import requests

    async def pieces():
        for each in text:
            await asyncio.sleep(0)
            yield each.encode()

    async def ask():
        async with requests.AsyncSession() as session:
            return (await session.post(url, content=pieces())).json()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "client", [uploaded_by_curl_cffi, streamed_by_curl_cffi, streamed_by_curl_cffi_async]
)
def test_bodies_that_libcurl_reads_itself_are_compared(client, server, record, tmp_path):
    pytest.importorskip("curl_cffi", minversion="0.17")
    for n in range(2):
        server.whole({"n": n})
    with use_cassette(tmp_path / "c.json", **record):
        assert [client(f"{API}/x", text)["n"] for text in ("one", "two")] == [0, 1]
    assert [word in str(sent) for word, sent in zip(("one", "two"), server.requests, strict=True)] == [
        True,
        True,
    ]
    with use_cassette(tmp_path / "c.json"):
        assert [client(f"{API}/x", text)["n"] for text in ("two", "one")] == [1, 0]
    with pytest.raises(Miss, match="three"), use_cassette(tmp_path / "c.json", allow_unused=True):
        client(f"{API}/x", "three")


class Raw:
    """A server on a port of its own that answers each request with the same bytes and hangs up."""

    def __init__(self, answer):
        self.answer, self.listening = answer, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}/x"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                connection.recv(65536)
                connection.sendall(self.answer)
                connection.close()


def seen(client, url):
    try:
        return client(url)
    except Exception as error:  # noqa: BLE001  # each client has its own
        return type(error).__name__, re.sub(
            "at 0x[0-9a-f]+|after [0-9]+ (?:ms|milliseconds)", "…", str(error)
        )


HEAD = b"HTTP/1.1 200 OK\r\n"


ODD = {
    "half a head": HEAD + b"content-",
    "a folded header": HEAD + b"x-ratelimit-left: 1\r\n\t2\r\ncontent-length: 0\r\n\r\n",
    "a fold before any header": HEAD + b" folded: x\r\ncontent-length: 0\r\n\r\n",
    "a header in latin-1": HEAD + b"x-ratelimit-left: \xe9\r\ncontent-length: 0\r\n\r\n",
    "a trailer": HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nx-sum: 1\r\n\r\n",
    "a chunk without a size": HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n",
    "no HTTP": b"hello\r\n\r\n",
    "garbage before the status line": b"hello\r\n" + HEAD + b"content-length: 0\r\n\r\n",
    "chunk sizes that end with LF": HEAD + b"transfer-encoding: chunked\r\n\r\n2\nab\n0\n\n",
    "a chunk longer than its size": HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    "no line after the last chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n",
    "two lengths that differ": HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\nabc",
    "empty lines before the status line": b"\r\n\r\n" + HEAD + b"content-length: 2\r\n\r\n{}",
    "lines that end with LF": b"HTTP/1.1 200 OK\ncontent-length: 2\n\n{}",
    "a redirect to another scheme": b"HTTP/1.1 302 Found\r\nlocation: ftp://127.0.0.1/x\r\ncontent-length: 0\r\n\r\n",
    "a space before a colon": HEAD + b"x-ratelimit-left : 1\r\ncontent-length: 2\r\n\r\n{}",
    "more than there should be": HEAD + b"connection: close\r\ncontent-length: 2\r\n\r\nabcdef",
    "gzip that is none": HEAD + b"content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc",
}


@pytest.mark.parametrize("answer", ODD)
def test_odd_answers_come_back_as_the_client_saw_them(answer, client, tmp_path):
    server = Raw(ODD[answer])
    expected = seen(client, server.url)
    with use_cassette(tmp_path / "odd.json", mode="rewrite"):
        assert seen(client, server.url) == expected
    server.listening.close()
    with use_cassette(tmp_path / "odd.json"):
        assert seen(client, server.url) == expected


@pytest.mark.parametrize("answer", ["chunk sizes that end with LF", "a chunk longer than its size"])
def test_tornado_streams_no_bytes_that_it_held_back(answer, tmp_path):
    """It gets small chunks together, and none before an error."""
    client_module = pytest.importorskip("tornado.httpclient")

    def streamed(url):
        async def ask():
            pieces = []
            client = client_module.AsyncHTTPClient(force_instance=True)
            with pytest.raises(Exception, match="Connection closed") as refused:
                await client.fetch(url, streaming_callback=pieces.append)
            return type(refused.value), pieces

        return asyncio.run(ask())

    server = Raw(ODD[answer])
    expected = streamed(server.url)
    with use_cassette(tmp_path / "odd.json", mode="rewrite"):
        assert streamed(server.url) == expected
    server.listening.close()
    with use_cassette(tmp_path / "odd.json"):
        assert streamed(server.url) == expected


def test_xmlrpc(server, record, tmp_path):
    server.whole(xmlrpc.client.dumps((7,), methodresponse=True).encode(), "text/xml")
    with use_cassette(tmp_path / "c.json", **record), xmlrpc.client.ServerProxy(f"{API}/rpc") as proxy:
        assert proxy.add(3, 4) == 7
    with use_cassette(tmp_path / "c.json"), xmlrpc.client.ServerProxy(f"{API}/rpc") as proxy:
        assert proxy.add(3, 4) == 7


class Own(httpx.BaseTransport):
    """A transport of the program's own."""

    asked = 0

    def handle_request(self, request):
        self.asked += 1
        return httpx.Response(200, json={"asked": self.asked})


class Wrapping(httpx.BaseTransport):
    """One that uses httpx's own."""

    def __init__(self):
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request):
        return self.inner.handle_request(request)

    def close(self):
        self.inner.close()


def test_a_transport_of_the_programs_own_is_recorded(record, tmp_path):
    own = Own()
    with use_cassette(tmp_path / "c.json", **record) as cassette, httpx.Client(transport=own) as client:
        assert (first := client.get(API)).json() == {"asked": 1}
    assert len(cassette.sent) == 1
    with use_cassette(tmp_path / "c.json"), httpx.Client(transport=own) as client:
        assert (again := client.get(API)).json() == {"asked": 1}
    assert first.reason_phrase == again.reason_phrase == "OK"
    assert own.asked == 1


def test_a_transport_around_httpx_is_recorded_once(server, record, tmp_path):
    with (
        use_cassette(tmp_path / "c.json", **record) as cassette,
        httpx.Client(transport=Wrapping()) as client,
    ):
        client.get(API)
    assert len(cassette.sent) == 1
    with use_cassette(tmp_path / "c.json"), httpx.Client(transport=Wrapping()) as client:
        assert client.get(API).status_code == 200


def test_an_application_in_the_same_process_is_recorded(record, tmp_path):
    def app(environ, start_response):
        start_response("200 OK", [("content-type", "text/plain")])
        return [environ["PATH_INFO"].encode()]

    for options in (record, {}):
        transport = httpx.WSGITransport(app=app)
        with use_cassette(tmp_path / "c.json", **options), httpx.Client(transport=transport) as client:
            assert client.get(f"{API}/here").text == "/here"


FORGOTTEN = """
import sys, urllib.request
from ellmer_harness import use_cassette
from ellmer_harness.interception import client_patching

options = {"routes": {"https://api.example.com": sys.argv[1]}, "mode": "rewrite", "recorded_from": "test-server"}
known = {*sys.modules}
with use_cassette(sys.argv[2], **options):
    urllib.request.urlopen("https://api.example.com/a").close()
for name in [name for name in sys.modules if name not in known and name.startswith("ellmer_harness.")]:
    del sys.modules[name]  # as pytest's `pytester` does after an inner run
import requests
with use_cassette(sys.argv[2], **options) as cassette:
    requests.get("https://api.example.com/b")
    print(len(cassette.sent), cassette.exchanges[0].status)
"""


def test_modules_that_were_forgotten_and_imported_again_share_their_state(server, tmp_path):
    command = [sys.executable, "-c", FORGOTTEN, server.url, str(tmp_path / "a.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "1 200\n", done.stderr


def test_a_request_after_one_whose_answer_was_not_read_is_intercepted(server, record, tmp_path):
    def ask():
        with use_cassette(tmp_path / "c.json", **record), closing(connection):
            connection.request("GET", "/first")
            connection.close()
            connection.request("GET", "/second")
            assert connection.getresponse().read()

    connection = http.client.HTTPSConnection("api.example.com", timeout=5)
    with pytest.raises(NotIntercepted, match=r"1 of 2 requests .*\n +GET https://api\.example\.com/first\n"):
        ask()


def test_a_recording_beside_a_client_that_is_not_recorded_is_told_to_lack_its_requests(
    server, record, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pycurl", ModuleType("pycurl"))
    told = []
    for options in (record, {}):
        with use_cassette(tmp_path / "c.json", **options) as cassette:
            httpx.get("https://api.example.com/a")
        told.append("\n".join(table([("test_a", verdict(cassette))])))
    recorded, replayed = told

    assert "(without the requests of pycurl, if there were any: they are not recorded)" in recorded
    assert "pycurl" not in replayed


@pytest.mark.parametrize("read", [500, 499])
def test_a_stream_that_a_client_of_aiohttp_leaves_can_be_left_again(read, server, record, tmp_path):
    async def ask():
        async with aiohttp.ClientSession() as session, session.get(f"{API}/x") as answer:
            return await answer.content.readexactly(read)

    server.chunked([b"a" * 250, b"b" * 250, server.over], "text/plain")
    with use_cassette(tmp_path / "c.json", **record):
        first = asyncio.run(ask())
    with use_cassette(tmp_path / "c.json"):
        assert asyncio.run(ask()) == first
