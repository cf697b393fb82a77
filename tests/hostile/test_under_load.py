"""Servers under load: half-sent requests of many clients, a stop and a restart while clients ask, and threads and event loops that share
one client's connections.
"""

import asyncio
import gc
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from threading import Event

import httpx
import pytest

import ellmer_core as ec
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


def test_a_restart_under_load_leaves_answers_or_errors():
    stopped, errors = Event(), []

    def ask(url):
        answers = 0
        while not stopped.is_set():
            try:
                answers += bool(str(chat_at(url).chat("Hi")))
            except ec.ConnectError:
                errors.append("connection")
        return answers

    with ThreadPoolExecutor(4) as pool:
        with StrictServer() as first:
            url, port = first.origin, first.port
            asking = [pool.submit(ask, url) for _ in range(4)]
            assert str(chat_at(url).chat("Hi"))
        for _ in range(3):
            with StrictServer(port=port):
                assert str(chat_at(url).chat("Hi"))
        stopped.set()
    gc.collect()
    assert all(each.result() for each in asking)  # each thread got answers, and no other error


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


def test_a_restart_of_a_cassettes_server_under_load_leaves_answers_or_errors(cassette, capfd):
    stopped = Event()

    def ask(url):
        answers = 0
        with httpx.Client() as client:
            while not stopped.is_set():
                with suppress(httpx.TransportError):
                    answers += client.get(url).text == "hello"
        return answers

    with ThreadPoolExecutor(4) as pool:
        with serving(cassette) as first:
            url, port = f"{first.url}/x", first.server_port
            asking = [pool.submit(ask, url) for _ in range(4)]
            assert httpx.get(url).text == "hello"
        for _ in range(3):
            with serving(cassette, port=port):
                assert httpx.get(url).text == "hello"
        stopped.set()
    assert all(each.result() for each in asking)
    assert "Traceback" not in capfd.readouterr().err  # of clients that were left
