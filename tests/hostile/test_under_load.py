"""Servers under load: half-sent requests of many clients, a stop and a restart while clients ask, and threads and event loops that share
one client's connections.
"""

import asyncio
import gc
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Semaphore

import httpx
import pytest

import ellmer_core as ec
from ellmer_conformance.hostile.provider import HostileProvider
from ellmer_conformance.server import StrictServer
from ellmer_harness.serving import _Handler, serving

pytestmark = pytest.mark.invariants


def chat_at(url, **options):
    options = {"timeout": ec.Timeouts(connect=5, idle=10, total=20), "max_tries": 1, "echo": "none"} | options
    return ec.chat_openai_completions(base_url=f"{url}/v1", api_key="k", model="gpt-4.1", **options)


def test_half_sent_requests_of_many_clients_do_not_stop_others():
    with StrictServer() as server, ExitStack() as opened:
        for number in range(200):
            client = opened.enter_context(socket.create_connection((server.host, server.port), timeout=10))
            client.sendall(
                b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "[: 10 + number % 50]
            )
        assert str(chat_at(server.origin).chat("Hi"))


def asked(url):
    return str(chat_at(url).chat("Hi"))


def streamed(url):
    return "".join(chat_at(url).stream("Hi"))


def attacked(url):
    """Asks a hostile provider, which resets the connection within its answer."""
    with suppress(ec.IncompleteResponseError):
        streamed(f"{url}/c/cut-call-reset/{time.monotonic_ns()}")
    return asked(f"{url}/c/nothing/1")


def page_of(url):
    return httpx.get(url, timeout=20).text


def descriptors():
    gc.collect()
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@contextmanager
def strict(port, **options):
    with StrictServer(port=port, **options) as server:
        yield server.origin, server.port


@contextmanager
def behind_a_proxy(model, port):
    """Restarts the upstream of a proxy, which stays."""
    with StrictServer(port=port) as upstream:
        if not port:
            model["proxy"] = model["open"].enter_context(StrictServer(mode="proxy", upstream=upstream.origin))
        yield model["proxy"].origin, upstream.port


@contextmanager
def of_a_cassette(cassette, port):
    with serving(cassette, port=port) as server:
        yield f"{server.url}/x", server.server_port


RESTARTED = {
    "strict server": (lambda model, _, port: strict(port), asked),
    "strict server, streamed": (lambda model, _, port: strict(port), streamed),
    "proxy": (lambda model, _, port: strict(port, mode="proxy", upstream=model["api"].origin), asked),
    "proxy, streamed": (
        lambda model, _, port: strict(port, mode="proxy", upstream=model["api"].origin),
        streamed,
    ),
    "upstream of a proxy": (lambda model, _, port: behind_a_proxy(model, port), asked),
    "hostile provider": (lambda model, _, port: strict(port, handler=HostileProvider(7)), attacked),
    "a cassette's server": (lambda _, cassette, port: of_a_cassette(cassette, port), page_of),
}
#: What a client may be told while a server is not there.
NOT_THERE = ec.ConnectError, ec.IncompleteResponseError, ec.ServerError, httpx.TransportError


def again_asked(ask, url):
    """Asks once more; a proxy may have connections to the upstream that is not there anymore."""
    with suppress(*NOT_THERE):
        return ask(url)


def restarted_under_load(start, ask, times=3, threads=4):
    """Restarts a server while clients ask. Returns the answers of each, and raises an error that is not of a missing server."""
    stopped, again = Event(), Semaphore(0)

    def ask_on(url):
        answers = 0
        while not stopped.is_set():
            with suppress(*NOT_THERE):
                answers += bool(ask(url))
                again.release()
        return answers

    with ThreadPoolExecutor(threads) as pool:
        with start(0) as (url, port):
            asking = [pool.submit(ask_on, url) for _ in range(threads)]
            assert again.acquire(timeout=30)
        for _ in range(times):
            with start(port):
                assert any(again_asked(ask, url) for _ in range(20))
        stopped.set()
    return [each.result() for each in asking]


@pytest.mark.parametrize("name", RESTARTED)
def test_a_restart_under_load_leaves_answers_or_errors(name, cassette, capfd, record_property):
    start, ask = RESTARTED[name]
    before = descriptors()
    with ExitStack() as opened:
        model = {"open": opened, "api": opened.enter_context(StrictServer())}
        answers = restarted_under_load(lambda port: start(model, cassette, port), ask)
    record_property("cases", 3)

    assert sum(answers) > 0
    assert descriptors() <= before + 1, "a server that ended has no connections"
    assert "Traceback" not in capfd.readouterr().err  # of clients that were left


def test_threads_and_event_loops_share_one_client():
    with StrictServer() as server:
        shared = chat_at(server.origin)

        def blocking(number):
            return str(shared.fork().chat(f"Say {number}"))

        def concurrent(number):
            async def several():
                chats = [shared.fork() for _ in range(5)]
                return await asyncio.gather(*(each.chat_async(f"Say {number}") for each in chats))

            return [str(each) for each in asyncio.run(several())]

        with ThreadPoolExecutor(8) as pool:
            plain = list(pool.map(blocking, range(40)))
            many = list(pool.map(concurrent, range(8)))
    assert all(plain)
    assert all(each and all(each) for each in many)


@pytest.fixture
def cassette(tmp_path):
    body = {"string": "hello"}
    answer = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": body}
    request = {"method": "GET", "uri": "https://api.test/x", "headers": {}, "body": None}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"version": 1, "interactions": [{"request": request, "response": answer}]}))
    return path


def test_half_sent_requests_neither_stop_a_cassettes_server_nor_keep_it_open(cassette, monkeypatch):
    monkeypatch.setattr(_Handler, "timeout", 1.0)
    with ExitStack() as opened, serving(cassette) as server:
        place = server.server_name, server.server_port
        clients = [opened.enter_context(socket.create_connection(place, timeout=10)) for _ in range(100)]
        for number, client in enumerate(clients):
            client.sendall(b"GET /x HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "[: 4 + number % 40])
        assert httpx.get(f"{server.url}/x").text == "hello"
        assert clients[0].recv(100) == b""  # it is left after its time
        began = time.monotonic()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "begin", [b"GET /x HTTP/1.1\r\nx: ", b"POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 9999\r\n\r\n"]
)
def test_a_request_that_drips_is_left_by_a_cassettes_server(cassette, monkeypatch, begin):
    monkeypatch.setattr(_Handler, "timeout", 0.3)
    with serving(cassette) as server:
        place = server.server_name, server.server_port
        with socket.create_connection(place, timeout=10) as client, suppress(ConnectionError):
            client.sendall(begin)
            while True:  # each byte comes in time
                client.sendall(b"a")
                time.sleep(0.02)
        assert httpx.get(f"{server.url}/x").text == "hello"
