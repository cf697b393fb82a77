"""Pages of other origins, rebound names, frames and other users' sessions, against each server of the project on a port: the chat app as
`live_browser()` serves it and in a program's own server, the strict server, and a cassette's.
"""

import asyncio
import http.client
import json
import select
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest

pytest.importorskip("shinychat", reason="The chat app is an extra: ellmer-core[shiny].")
import httpx
import uvicorn
from websockets.exceptions import ConnectionClosed, InvalidMessage, InvalidStatus
from websockets.sync.client import connect

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_core.live.browser import HeadInTime, OnlyFromHere, event_loop
from ellmer_harness import use_cassette
from ellmer_harness.serving import serving as serving_cassette

pytestmark = pytest.mark.invariants

REBOUND = "rebound.attacker.example"
ELSEWHERE = [
    "https://evil.example",
    "http://127.0.0.1:1",
    "null",
    f"http://{REBOUND}",
    "http://localhost.evil.example",
]


@contextmanager
def served(app, **options):
    """Runs an app on a free port, in the event loop of all chat apps. A session that is given up at the end leaves its socket open, so
    a busy machine gets the time to end them.
    """
    server = uvicorn.Server(
        uvicorn.Config(app, **{"port": 0, "log_level": "error", "timeout_graceful_shutdown": 20} | options)
    )
    up, started = threading.Event(), server.startup

    async def startup(sockets=None):
        await started(sockets)
        up.set()

    server.startup = startup
    running = asyncio.run_coroutine_threadsafe(server.serve(), event_loop())
    assert up.wait(20)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        running.result()


@pytest.fixture(scope="module")
def model():
    with StrictServer() as server:
        yield server


def chat_of(model):
    return ec.chat_openai_completions(
        base_url=f"{model.origin}/v1", api_key="k", model="gpt-4.1", echo="none"
    )


@pytest.fixture(scope="module", params=["live_browser", "a server of its own"])
def app(request, model):
    own = ec.chat_app(chat_of(model))
    live = request.param == "live_browser"
    with served(OnlyFromHere(own), http=HeadInTime) if live else served(own) as port:
        yield port


@pytest.fixture
def resolver(monkeypatch):
    """Has a name of the internet lead to this machine, as an attacker's name server does."""
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: real("127.0.0.1" if host == REBOUND else host, *rest, **more),
    )


def opened(port, headers=None, **options):
    """Opens the WebSocket of a page and returns what it is told first."""
    url = f"ws://{options.pop('host', '127.0.0.1')}:{port}/websocket/"
    with connect(url, additional_headers=headers, proxy=None, **options) as page:
        page.send(json.dumps({"method": "init", "data": {".clientdata_url_search": ""}}))
        return json.loads(page.recv(timeout=20))


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_no_page_of_another_origin_opens_the_websocket(app, origin):
    with pytest.raises(InvalidStatus) as refused:
        opened(app, origin=origin)
    assert refused.value.response.status_code == 403


def test_the_page_itself_opens_it(app):
    assert "sessionId" in opened(app, origin=f"http://127.0.0.1:{app}")["config"]
    assert "sessionId" in opened(app)["config"]


@pytest.mark.slow
def test_a_restart_under_load_leaves_pages_or_errors(model, capfd):
    """Each thread opens pages and their WebSockets, while the app ends and begins again on the same port."""
    stopped, pages = threading.Event(), []

    def ask(port):
        while not stopped.is_set():
            with suppress(httpx.TransportError, OSError, ConnectionClosed, EOFError, InvalidMessage):
                pages.append(httpx.get(f"http://127.0.0.1:{port}/", timeout=20).status_code)
                opened(port, open_timeout=20)

    with ThreadPoolExecutor(2) as pool:
        with served(ec.chat_app(chat_of(model))) as port:
            asking = [pool.submit(ask, port) for _ in range(2)]
            assert "sessionId" in opened(port)["config"]
        with served(ec.chat_app(chat_of(model)), port=port):
            assert "sessionId" in opened(port)["config"]
            stopped.set()
            for each in asking:
                each.result(timeout=60)

    assert {*pages} == {200}
    assert "Traceback" not in capfd.readouterr().err


#: Messages of a page that end its own session, and the code with which it is closed if it is.
MESSAGES = {
    "deep": "[" * 100_000,
    "deep within": '{"method":"init","data":' + "[" * 100_000 + "]" * 100_000 + "}",
    "no JSON": "hello",
    "a number": "1",
    "a list": "[1, 2]",
    "bytes": b"\xff\xfe",
    "no method": "{}",
    "an unknown method": '{"method":"x","args":[],"tag":1}',
    "data that are a list": '{"method":"init","data":[]}',
    "data before the beginning": '{"method":"update","data":{"chat_user_input":"Hi"}}',
    "an unknown type": '{"method":"init","data":{"a:nosuch":1}}',
    "a file of a terabyte": '{"method":"uploadInit","args":[[{"name":"../../x","size":1000000000000}]],"tag":1}',
    "many values": '{"method":"init","data":{"a":[' + "[]," * 200_000 + "[]]}}",
    "large": json.dumps({"method": "init", "data": {"a": "x" * 21_000_000}}),
}


@pytest.mark.filterwarnings("ignore:ERROR. Invalid JSON message")
@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_that_is_anything_ends_its_own_session_at_most(app, message):
    with connect(f"ws://127.0.0.1:{app}/websocket/", proxy=None) as page, suppress(ConnectionClosed):
        page.recv(timeout=20)
        page.send(message)
    assert "sessionId" in opened(app)["config"]


@pytest.mark.parametrize("message", ["many values", "large"])
def test_a_message_that_is_too_much_is_not_read(app, message):
    with connect(f"ws://127.0.0.1:{app}/websocket/", proxy=None) as page:
        page.recv(timeout=20)
        with suppress(ConnectionClosed):
            page.send(MESSAGES[message])
        with pytest.raises(ConnectionClosed) as closed:
            page.recv(timeout=20)
    assert closed.value.rcvd.code == 1009


def test_a_rebound_name_reaches_neither_the_page_nor_its_websocket(app, resolver):
    assert httpx.get(f"http://{REBOUND}:{app}/", trust_env=False).status_code == 403
    with pytest.raises(InvalidStatus):
        opened(app, host=REBOUND, origin=f"http://{REBOUND}:{app}")


def test_a_proxy_that_names_its_host_is_let_through(model):
    with served(ec.chat_app(chat_of(model))) as port:
        forwarded = {"x-forwarded-host": "chat.example.com"}
        assert "config" in opened(port, forwarded, origin="https://chat.example.com")
        with pytest.raises(InvalidStatus):
            opened(port, forwarded, origin="https://evil.example")


def test_no_page_of_ours_is_shown_in_a_frame(app, model):
    for port in (app, model.port):
        page = httpx.get(f"http://127.0.0.1:{port}/", headers={"accept": "text/html"}, trust_env=False)
        assert page.status_code == 200
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert "access-control-allow-origin" not in page.headers


async def _reads_all(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def _drips(client, begin, rest, seconds):
    """Sends bytes one by one. Returns what the server answers, and `b""` if it closes the connection."""
    client.sendall(begin)
    for letter in rest:
        try:
            client.sendall(bytes([letter]))
        except OSError:
            return b""
        if select.select([client], [], [], seconds)[0]:
            return client.recv(1000)
    return client.recv(1000)


POST = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 30\r\n\r\n"


@pytest.mark.parametrize(
    ("before", "begin", "rest", "answers"),
    [
        (b"", b"GET / HTTP/1.1\r\nx: ", b"x" * 400, False),
        (b"", b"", b"G" * 400, False),
        (POST + b"x" * 30, b"GET / HTTP/1.1\r\nx: ", b"x" * 400, False),
        (b"", POST, b"x" * 30, True),
    ],
    ids=["a head", "a line", "a second head", "a body"],
)
def test_a_head_that_drips_is_left_and_a_body_is_read(monkeypatch, before, begin, rest, answers):
    monkeypatch.setattr(HeadInTime, "seconds", 1.0)
    with (
        served(_reads_all, http=HeadInTime) as port,
        closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as client,
    ):
        if before:
            client.sendall(before)
            with client.makefile("rb") as answer:
                assert any(line == b"\r\n" for line in answer)
                assert answer.read(2) == b"ok"
        got = _drips(client, begin, rest, 0.05)

    assert bool(got) == answers


def test_a_rebound_name_reads_no_page_of_the_strict_server(model, resolver):
    chat_of(model).chat("A secret")
    for path in ("/", "/journal", "/reports", "/c/any/1/report"):
        there = httpx.get(f"http://{REBOUND}:{model.port}{path}", trust_env=False)
        assert there.status_code in {403, 404}, path
        assert "A secret" not in there.text
    assert "A secret" in httpx.get(f"{model.origin}/journal", trust_env=False).text


@pytest.fixture(scope="module")
def cassette(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "c.json"
    with use_cassette(path, mode="record", allow_hosts=()):
        chat_of(model).chat("A secret")
    with serving_cassette(path) as server:
        yield server


def test_a_rebound_name_reads_no_cassette(cassette):
    for host, status in (
        (REBOUND, 403),
        (f"{REBOUND}:1", 403),
        ("[::1", 403),
        ("127.0.0.1", 404),
        ("localhost", 404),
    ):
        with closing(http.client.HTTPConnection("127.0.0.1", cassette.server_port, timeout=20)) as client:
            client.request("POST", "/v1/other", b"{}", {"host": host})
            assert client.getresponse().status == status, host


@pytest.mark.parametrize(
    "body",
    [
        b"content-length: -1\r\n\r\n",
        b"content-length: 99999999999\r\n\r\n",
        b"content-length: x\r\n\r\n",
        b"transfer-encoding: chunked\r\n\r\nFFFFFFFFFF\r\n",
        b"transfer-encoding: chunked\r\n\r\n-5\r\n",
        b"transfer-encoding: chunked\r\n\r\nx\r\n",
        b"transfer-encoding: chunked\r\n\r\n0\r\n" + b"x: y\r\n" * 200,
    ],
)
def test_a_body_that_lies_is_refused_by_a_cassette(cassette, body):
    with closing(socket.create_connection(("127.0.0.1", cassette.server_port), timeout=10)) as client:
        client.sendall(b"POST /v1 HTTP/1.1\r\nhost: 127.0.0.1\r\n" + body)
        assert client.recv(100).startswith(b"HTTP/1.1 400")


@pytest.fixture(scope="module")
def users(model):
    app = ec.chat_app(chat_of(model), user_header="X-User")
    with served(app) as port:
        yield port


def test_nobody_is_in_the_session_of_somebody_else(users):
    url = f"ws://127.0.0.1:{users}/websocket/"
    with connect(url, additional_headers={"X-User": "ann"}, proxy=None) as ann:
        ann.send(json.dumps({"method": "init", "data": {".clientdata_url_search": ""}}))
        session = json.loads(ann.recv(timeout=20))["config"]["sessionId"]
        asked = f"http://127.0.0.1:{users}/session/{session}/download/x"
        answers = {
            name: httpx.get(asked, headers={"X-User": name}, trust_env=False).status_code
            for name in ("ann", "bob")
        }
    assert answers == {"ann": 404, "bob": 403}
    other = httpx.get(asked.replace(session, "0" * 64), headers={"X-User": "bob"}, trust_env=False)
    assert other.status_code == 404


def told(page, until, seconds=20):
    """Returns what a page is told, until some text is in it."""
    found = ""
    while until not in found:
        found += str(page.recv(timeout=seconds))
    return found


def test_what_a_user_says_is_on_no_page_of_another(users):
    def page_of(user):
        options = {"additional_headers": {"X-User": user}, "proxy": None}
        page = opened.enter_context(connect(f"ws://127.0.0.1:{users}/websocket/", **options))
        page.send(json.dumps({"method": "init", "data": {".clientdata_url_search": ""}}))
        return page

    with ExitStack() as opened:
        ann, bob, again = map(page_of, ("ann", "bob", "ann"))
        told(bob, "ellmer-status")
        ann.send(
            json.dumps(
                {
                    "method": "update",
                    "data": {"chat_user_input": {"text": "My PIN is 7311", "attachments": []}},
                }
            )
        )
        assert "7311" in told(again, "7311"), "it is on the other page of the same user"
        with pytest.raises(TimeoutError):
            assert "7311" not in told(bob, "7311", 2)


@pytest.mark.parametrize(
    "headers",
    [[], [("X-User", "")], [("X-User", "bob"), ("X-User", "ann")], [("x-user", "bob"), ("X-User", "ann")]],
)
def test_a_user_whom_the_proxy_has_not_named_alone_is_nobody(users, headers):
    with pytest.raises(InvalidStatus):
        opened(users, headers)
