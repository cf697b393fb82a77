"""Requests from elsewhere, many requests, and forks: the live app answers only its own page, the server's memory stays flat, and a
fork has connections of its own.
"""

import gc
import json
import os
import resource
from pathlib import Path
from types import SimpleNamespace

import pytest

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.connection import Connection
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.journal import Journal
from ellmer_core.live.browser import _from_here

SCALE = int(os.environ.get("INVARIANTS", "0"))


@pytest.mark.parametrize(
    ("host", "origin", "ours"),
    [
        ("127.0.0.1:8000", "", True),
        ("localhost:8000", "http://localhost:8000", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8000", True),
        ("127.0.0.1:8000", "https://evil.example", False),  # a WebSocket of another page
        ("127.0.0.1:8000", "http://127.0.0.1:9000", False),  # another app of this machine
        ("127.0.0.1:8000", "null", False),  # a sandboxed frame
        ("rebound.evil.example:8000", "http://rebound.evil.example:8000", False),  # DNS rebinding
        ("127.0.0.1.evil.example:8000", "", False),
        ("localhost.evil.example", "", False),
        ("evil.example@127.0.0.1:8000", "http://evil.example", False),
        ("", "", False),
    ],
)
def test_only_pages_of_its_own_address_reach_the_live_app(host, origin, ours):
    headers = {b"host": host.encode()} | ({b"origin": origin.encode()} if origin else {})

    assert _from_here(headers) is ours


def resident():
    """Returns the bytes of this process in memory. (`tracemalloc` makes 20,000 requests take several minutes.)"""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not SCALE or not Path("/proc/self/statm").exists(), reason="nox -s invariants, on Linux")
def test_the_memory_of_the_server_is_flat(record_property):
    count = 10_000 * SCALE  # `nox -s invariants -- 10`: 100,000
    engine = Engine({}, journal=Journal(entries=1_000))

    def ask(number):
        body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": f"{number} {'x' * 2_000}"}]}
        headers = {"host": "127.0.0.1", "authorization": "Bearer k", "content-type": "application/json"}
        target = f"/c/any/{number}/v1/chat/completions"
        reply = engine.answer(HttpRequest("POST", target, headers, json.dumps(body).encode()))
        assert reply.status == 200

    full = 4_000 * SCALE  # the report and the caches hold some 1,000 requests each
    for number in range(full):
        ask(number)
    before = resident()
    for number in range(full, count):
        ask(number)
    grown = resident() - before
    record_property("cases", count)

    assert grown < 6 * 1024 * 1024  # 1 KB for each request


def test_what_is_received_is_copied_before_it_is_kept():
    """100,000 requests over HTTP took 67 MB more when the bytes were kept that asyncio shrinks from 256 KB."""
    kept, connection = [], object.__new__(Connection)
    connection._closing, connection._reader = False, SimpleNamespace(feed=kept.append)
    received = b"POST / HTTP/1.1"

    connection.data_received(received)

    assert kept == [received]
    assert kept[0] is not received


def test_a_fork_uses_no_connection_of_its_parent():
    with StrictServer() as server:
        chat = ec.chat_openai_completions(
            base_url=f"{server.origin}/v1", api_key="k", model="gpt-4.1", echo="none"
        )
        chat.chat("One")
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                try:
                    told = str(chat.chat("Two"))
                    os._exit(0 if told else 3)
                finally:
                    os._exit(4)
            children.append(child)
        assert str(chat.chat("Three"))
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
