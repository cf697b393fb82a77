"""The strict server between a client and an API, which is another strict server here."""

import asyncio
import gc
import gzip
import json
import socket
import time
import tracemalloc
import warnings
import zlib
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote

import brotli
import httpx
import pytest
import zstandard

from ellmer_conformance.scenarios.script import Answer, Delivery, Failure, Say, Script
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_apis.base import WRONG_KEY
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.proxy import Proxy, keys_of, recorded
from ellmer_core.base.budget import SERVER

LONG = Answer((Say("one two three four five six seven eight nine ten"),))
SCRIPTS = {
    "says": Script((LONG,)),
    "stalls": Script((Delivery(LONG, after=700, ending="stall"),)),
    "resets": Script((Delivery(LONG, after=700, ending="half-close"),)),
    "busy": Script((Failure("rate-limit"),)),
}
CHAT = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}
ORPHAN = CHAT | {"messages": [{"role": "tool", "tool_call_id": "call_1", "content": "5"}]}
KEY = {"authorization": "Bearer sk-very-secret"}


@pytest.fixture(scope="module")
def upstream():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture
def proxy():
    """A proxy for a case of the upstream. Its URL replaces the API's."""
    started = []

    def start(url):
        started.append(StrictServer(mode="proxy", upstream=url).__enter__())
        return started[-1]

    yield start
    for server in started:
        server.__exit__(None, None, None)


@pytest.fixture(scope="module")
def client():
    with httpx.Client(verify=False) as client:
        yield client


def report(client, server):
    return client.get(f"{server.origin}/c/any/-/report").json()["exchanges"]


@pytest.mark.parametrize("stream", [False, True])
def test_what_comes_back_is_the_upstreams(client, upstream, proxy, stream):
    server = proxy(upstream.url("says", f"1{stream}"))
    body = CHAT | {"stream": stream}
    direct = client.post(upstream.url("says", f"2{stream}") + "/v1/chat/completions", json=body, headers=KEY)
    passed = client.post(f"{server.origin}/v1/chat/completions", json=body, headers=KEY)
    assert (passed.status_code, passed.content) == (200, direct.content)
    assert passed.headers["content-type"] == direct.headers["content-type"]
    assert passed.headers["x-request-id"] == direct.headers["x-request-id"]
    noted = report(client, server)[0]
    assert (noted["response"]["body"], noted["response"]["ended"]) == (direct.text, True)
    assert (noted["request"]["body"], noted["client_left_after"], noted["violations"]) == (body, None, [])


@pytest.mark.parametrize(
    ("key", "status"), [({}, 401), ({"authorization": f"Bearer {WRONG_KEY}"}, 401), (KEY, 200)]
)
def test_the_upstream_gets_the_key_and_nobody_else(client, upstream, proxy, key, status):
    server = proxy(upstream.url("says", "key"))
    assert client.post(f"{server.origin}/v1/chat/completions", json=CHAT, headers=key).status_code == status
    assert "very-secret" not in client.get(f"{server.origin}/c/any/report").text


def test_a_key_in_the_query_goes_through_and_is_not_kept(client, upstream, proxy):
    server = proxy(upstream.url("says", "gemini"))
    path = "/v1beta/models/gemini-3.5-flash:generateContent?key=very-secret"
    body = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
    assert client.post(server.origin + path, json=body).status_code == 200
    assert "very-secret" not in client.get(f"{server.origin}/c/any/report").text
    wrong = client.post(server.origin + path.replace("very-secret", WRONG_KEY), json=body)
    assert (wrong.status_code, wrong.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_a_stream_comes_through_as_it_is_sent_and_its_abandonment_goes_up(client, upstream, proxy):
    server = proxy(upstream.url("stalls", "1"))
    url, body = f"{server.origin}/v1/chat/completions", CHAT | {"stream": True}
    with client.stream("POST", url, json=body, headers=KEY) as reply:
        came = b""
        for chunk in reply.iter_raw():  # the upstream never ends
            came += chunk
            if len(came) == 700:
                break
    noted = [e["client_left_after"] for e in awaited(lambda: report(client, server))]
    assert noted == [700]

    def above():
        """Returns where clients left upstream, after a round trip."""
        report(client, server)
        return [e.left for e in upstream.engine.journal.of("stalls", "1") if e.left is not None]

    assert awaited(above) == [700]


def awaited(look):
    """Waits for a value. Each check is a round trip."""
    for _ in range(10_000):
        if found := look():
            return found
    raise AssertionError("it never came")


def test_every_request_is_judged_and_the_upstream_decides(client, upstream, proxy):
    server = proxy(upstream.url("says", "judged"))
    reply = client.post(f"{server.origin}/v1/chat/completions", json=ORPHAN, headers=KEY)
    assert reply.status_code == 400
    assert "PAIR-002" in reply.headers["x-conformance-violations"]
    [noted] = report(client, server)
    assert noted["violations"][0]["pointer"] == "/messages/0"
    assert noted["violations"][0]["provider"]["message"]


def test_an_upstream_that_breaks_off_breaks_the_reply(client, upstream, proxy):
    server = proxy(upstream.url("resets", "1"))
    with pytest.raises(httpx.RemoteProtocolError):
        client.post(f"{server.origin}/v1/chat/completions", json=CHAT | {"stream": True}, headers=KEY)
    [noted] = report(client, server)
    assert (noted["response"]["ended"], noted["client_left_after"]) == (False, None)


def test_limits_and_retry_headers_come_through(client, upstream, proxy):
    server = proxy(upstream.url("busy", "1"))
    reply = client.post(f"{server.origin}/v1/chat/completions", json=CHAT, headers=KEY)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")


def test_no_upstream_is_a_502_that_says_so(client, proxy):
    with socket.socket() as bound:  # nobody listens there, and no other test gets the port
        bound.bind(("127.0.0.1", 0))
        server = proxy(f"http://127.0.0.1:{bound.getsockname()[1]}")
        reply = client.post(f"{server.origin}/v1/chat/completions", json=CHAT, headers=KEY)
    assert (reply.status_code, "did not answer" in reply.json()["error"]["message"]) == (502, True)
    assert [noted["response"]["status"] for noted in report(client, server)] == [502]


class Squeezed(BaseHTTPRequestHandler):
    """An API with compression, which reports its requests."""

    def do_GET(self):
        body = gzip.compress(json.dumps({"path": self.path, "host": self.headers["host"]}).encode())
        self.send_response(200)
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.send_header("set-cookie", "session=very-secret")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_other_paths_and_encodings_come_through(client, proxy):
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Squeezed)
    Thread(target=upstream.serve_forever, daemon=True).start()
    try:
        server = proxy(f"http://127.0.0.1:{upstream.server_port}/v1")
        reply = client.get(f"{server.origin}/v1/models?limit=2")
        assert reply.json() == {"path": "/v1/models?limit=2", "host": f"127.0.0.1:{upstream.server_port}"}
        assert (reply.headers["content-encoding"], "set-cookie" in reply.headers) == ("gzip", True)
        [noted] = report(client, server)
        assert json.loads(noted["response"]["body"]) == reply.json()
        assert "very-secret" not in json.dumps(noted)
    finally:
        upstream.shutdown()
        upstream.server_close()


@pytest.mark.parametrize("given", [{"mode": "proxy"}, {"upstream": "http://127.0.0.1:1"}])
def test_proxy_and_upstream_need_each_other(given):
    with pytest.raises(ValueError, match="upstream"):
        StrictServer(**given)


@pytest.mark.slow
def test_a_bomb_is_not_unpacked_for_the_report():
    body = gzip.compress(b"{" + b" " * 200_000_000, mtime=0)
    response = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(body))
    tracemalloc.start()
    try:
        kept = recorded(response, body, ended=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(kept.body) == SERVER.unpacked
    assert peak < 4 * SERVER.unpacked


@pytest.mark.parametrize(
    "after", [b"\0", b"x", gzip.compress(b"", mtime=0)], ids=["zeros", "noise", "members"]
)
def test_bytes_after_the_end_of_gzip_are_not_kept(after):
    def seconds(count):
        body = gzip.compress(b"{}", mtime=0) + after * (count // len(after))
        response = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(body))
        began = time.process_time()
        assert recorded(response, body, ended=True).body == b"{}"
        return time.process_time() - began

    assert seconds(1_000_000) < 0.5  # with a copy for each piece of them, it takes seconds


QUOTED_KEY = "sk-proj-Ab3/dE7gH9kL2mN5pQ8rT1uW4xY7f3A"
QUOTING = {
    "a body": b'HTTP/1.1 401 x\r\nconnection: close\r\n\r\n{"error": "%s"}',
    "a header": b"HTTP/1.1 200 x\r\nx-request-id: %s\r\nconnection: close\r\n\r\n{}",
    "an event": b"HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {%s\n\n",
    "a status line": b"HTTP/1.1 %s\r\n\r\n",
    "a name that cannot be read": b"HTTP/1.1 200 x\r\n%s : x\r\n\r\n",
}
KEY_FORMS = {
    "as it is": QUOTED_KEY,
    "in upper case": QUOTED_KEY.upper(),
    "in a URL": QUOTED_KEY.replace("/", "%2F"),
    "in JSON": QUOTED_KEY.replace("/", "\\/"),
    "in Base64": b64encode(QUOTED_KEY.encode()).decode(),
    "in hexadecimal": QUOTED_KEY.encode().hex(),
    "backwards": QUOTED_KEY[::-1],
    "with each letter escaped": "".join(f"&#{ord(letter)};" for letter in QUOTED_KEY),
    "in Base64 with its scheme": b64encode(f"Bearer {QUOTED_KEY}".encode()).decode(),
    "in Base64 behind a colon": b64encode(f":{QUOTED_KEY}".encode()).decode(),
}


@pytest.mark.parametrize("form", KEY_FORMS.values(), ids=KEY_FORMS)
@pytest.mark.parametrize("answer", QUOTING.values(), ids=QUOTING)
def test_no_report_has_the_key_that_an_upstream_quotes(answer, form):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def upstream():
            for _ in range(2):
                connection, _ = listening.accept()
                with connection:
                    asked = b""
                    while b'"messages"' not in asked:  # unread bytes would reset the connection
                        asked += connection.recv(65536)
                    connection.sendall(answer.replace(b"%s", form.encode()))

        Thread(target=upstream, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with StrictServer(mode="proxy", upstream=url) as server, httpx.Client(trust_env=False) as client:
            for path, headers in (
                ("", {"x-api-key": QUOTED_KEY}),
                (f"?key={quote(QUOTED_KEY, safe='')}", {}),
            ):
                client.post(f"{server.origin}/v1/chat/completions{path}", json=CHAT, headers=headers)
            report = client.get(f"{server.origin}/journal").text
    assert report.count('"status": ') >= 2
    assert form not in report
    assert QUOTED_KEY not in report


@pytest.mark.parametrize(
    ("sent", "quoted"),
    [
        ({"headers": {"cookie": f"sid={QUOTED_KEY}; lang=en"}}, QUOTED_KEY),
        ({"headers": {"cookie": f'a="{QUOTED_KEY}"'}}, QUOTED_KEY),
        ({"auth": ("account", QUOTED_KEY)}, QUOTED_KEY),
        ({"headers": {"x-goog-user": f"{QUOTED_KEY},other"}}, QUOTED_KEY),
        ({"params": {"code": QUOTED_KEY}}, QUOTED_KEY),
        ({"params": {"sid": QUOTED_KEY}}, QUOTED_KEY),
    ],
)
def test_a_key_in_any_place_of_a_request_is_replaced(sent, quoted):
    class Upstream(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.dumps({"error": {"message": f"bad {quoted}"}}).encode()
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        Thread(target=upstream.serve_forever, args=[0.01], daemon=True).start()
        url = f"http://127.0.0.1:{upstream.server_address[1]}"
        with StrictServer(mode="proxy", upstream=url) as server, httpx.Client(trust_env=False) as client:
            answer = client.post(f"{server.origin}/v1/chat/completions", json=CHAT, **sent)
            report = client.get(f"{server.origin}/journal").text
        upstream.shutdown()
    assert quoted in answer.text
    assert "bad [key]" in report
    assert quoted not in report


def test_a_request_of_many_words_costs_no_more_searches():
    words = " ".join(f"{number:08d}" for number in range(7000))
    headers = {"x-words": words, "authorization": f"Bearer {QUOTED_KEY}"}
    found = keys_of(HttpRequest("POST", "/v1/chat/completions", headers, b"{}"))
    assert len(found) < 1000
    assert QUOTED_KEY.encode() in found


class Cut(httpx.AsyncBaseTransport):
    """An upstream whose answer comes in the pieces of `self.pieces`."""

    def __init__(self, coding):
        self.coding, self.pieces = coding, []

    async def handle_async_request(self, request):
        async def pieces():
            for piece in self.pieces:
                yield piece

        headers = {"content-type": "text/event-stream", "content-encoding": self.coding}
        return httpx.Response(401, headers=headers, content=pieces())


STREAM = f'data: {{"a": "{QUOTED_KEY}"}}\r\n\r\ndata: [DONE]\r\n\r\n'.encode()
CODED = {
    "identity": STREAM,
    "gzip": gzip.compress(STREAM, mtime=0),
    "deflate": zlib.compress(STREAM),
    "br": brotli.compress(STREAM),
    "zstd": zstandard.compress(STREAM),
}


@pytest.mark.invariants
@pytest.mark.parametrize("coding", CODED)
def test_the_report_does_not_depend_on_how_the_bytes_were_cut(coding):
    body, headers = CODED[coding], {"authorization": f"Bearer {QUOTED_KEY}"}
    splits = [
        [body],
        [bytes([each]) for each in body],
        *([body[:at], body[at:]] for at in range(1, len(body))),
    ]
    upstream = Cut(coding)
    with StrictServer(mode="proxy", upstream="http://upstream.example") as server:
        server._proxy._client = httpx.AsyncClient(transport=upstream)
        with httpx.Client(trust_env=False) as client:
            for upstream.pieces in splits:
                url = f"{server.origin}/v1/chat/completions"
                with client.stream("POST", url, json=CHAT, headers=headers) as answer:
                    assert b"".join(answer.iter_raw()) == body
            journal = client.get(f"{server.origin}/journal").json()
    reports = {json.dumps(entry["response"]) for entry in journal["requests"]}
    assert len(journal["requests"]) == len(splits)
    assert len(reports) == 1
    assert '{\\"a\\": \\"[key]\\"}' in reports.pop()


def test_as_much_of_a_long_answer_is_kept_however_it_is_cut(monkeypatch):
    monkeypatch.setattr("ellmer_conformance.server.proxy.SERVER", SERVER._replace(received=1000))
    upstream, kept = Cut("identity"), set()
    with StrictServer(mode="proxy", upstream="http://upstream.example") as server:
        server._proxy._client = httpx.AsyncClient(transport=upstream)
        for size in (1, 7, 999, 1000, 1001, 5000):
            upstream.pieces = [b"x" * min(size, 5000 - at) for at in range(0, 5000, size)]
            answer = httpx.post(f"{server.origin}/v1/chat/completions", json=CHAT, trust_env=False)
            assert len(answer.content) == 5000
        kept = {len(entry.answer.body) for entry in server.requests}
    assert kept == {1000}


async def stopped_after(turns, origin):
    """Stops a proxy while it asks its upstream, and leaves the request a moment later, as the server does."""
    proxy = Proxy(Engine({}), origin)
    request = HttpRequest("POST", "/v1/chat/completions", {"host": "x"}, json.dumps(CHAT).encode())
    asking = asyncio.ensure_future(proxy.answer(request))
    for _ in range(turns):
        await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(asking.cancel)
    await proxy.aclose()


def test_a_stop_closes_a_connection_that_is_just_made(upstream):
    with warnings.catch_warnings(record=True) as left_open:
        for turns in range(1, 40):
            asyncio.run(stopped_after(turns, upstream.origin))
        gc.collect()
    assert [str(each.message) for each in left_open if each.category is ResourceWarning] == []
