"""Requests from elsewhere, many requests, and forks: the live app answers only its own page, the server's memory stays flat, and a
fork has connections of its own.
"""

import gc
import json
import os
import resource
import sys
import tracemalloc
from functools import lru_cache
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import pytest

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.connection import Connection
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.http.routes import parse_route
from ellmer_conformance.server.journal import Journal
from ellmer_conformance.server.judging.verdict_cache import Beginnings
from ellmer_core.base.budget import Budget, memory_of
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
    """Returns the bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def question(number, text="x" * 2_000):
    body = json.dumps(
        {"model": "gpt-4.1", "messages": [{"role": "user", "content": f"{number} {text}"}]}
    ).encode()
    return f"/c/any/{number}/v1/chat/completions", body


def asked(kind, number, text=""):
    """Returns a request of a kind, with a text in each place where one may stand."""
    said = f"{number} {text}"
    words = {"type": "string", "description": said}
    schema = {"type": "object", "properties": {"city": words}, "required": ["city"], "title": said}
    tool = {"type": "function", "function": {"name": "weather", "description": said, "parameters": schema}}
    user = [{"role": "user", "content": "What is the weather in Paris?"}]
    openai = {"model": "gpt-4.1", "messages": user}
    target, body = {
        "chat": ("chat/completions", {"model": "gpt-4.1", "messages": [{"role": "user", "content": said}]}),
        "tools": ("chat/completions", openai | {"tools": [tool]}),
        "tools and a question": (
            "chat/completions",
            {"model": "gpt-4.1", "messages": [{"role": "user", "content": said}], "tools": [tool]},
        ),
        "model": ("chat/completions", openai | {"model": said}),
        "refused": ("chat/completions", {"model": "gpt-4.1", "messages": said}),
        "responses": ("responses", {"model": "gpt-4.1", "instructions": said, "input": said, "store": False}),
        "anthropic": (
            "messages",
            {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": said, "messages": user},
        ),
        "vectors": (
            "embeddings",
            {
                "model": "text-embedding-3-large",
                "input": said + "".join(f" w{number}x{n}" for n in range(50)),
            },
        ),
        "image": ("images/generations", {"model": "gpt-image-1", "prompt": said}),
        "speech": ("audio/speech", {"model": "gpt-4o-mini-tts", "voice": "alloy", "input": said}),
        "moderation": ("moderations", {"input": said}),
    }[kind]
    return f"/v1/{target}", json.dumps(body).encode()


KINDS = (
    *("chat", "tools", "tools and a question", "model", "refused", "responses", "anthropic"),
    *("vectors", "image", "speech", "moderation"),
)


def posted(engine, target, body):
    headers = {"host": "127.0.0.1", "authorization": "Bearer k", "content-type": "application/json"}
    return engine.answer(HttpRequest("POST", target, headers, body))


MARK = "mark-of-this-test"


def bytes_kept():
    """Returns the bytes of all texts of this process that have the mark, from all containers."""
    gc.collect()
    seen, size, left = set(), 0, gc.get_objects()
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        if isinstance(each, str | bytes):
            size += len(each) if (MARK if isinstance(each, str) else MARK.encode()) in each else 0
        else:
            left += gc.get_referents(each)
    return size


@pytest.mark.slow
def test_no_cache_of_the_server_keeps_long_texts(record_property):
    """60 requests of 300 KB with tools took 180 MB: caches kept their texts."""
    engine, times = Engine({}, journal=Journal(size=1024)), 4
    for kind in KINDS:
        for number in range(times):
            posted(engine, *asked(kind, number, f"{MARK} {chr(97 + number)}" + " word" * 55_000))
    record_property("cases", times * len(KINDS))

    assert bytes_kept() < 14 * 275_000  # of the last requests, not of all 44


def test_no_cache_of_the_server_keeps_many_numbers(record_property):
    """90 requests of 500 bytes for vectors took 500 MB: a number in a tuple needs 36 bytes, and a word has 3072."""
    engine = Engine({}, journal=Journal(size=1024))
    posted(engine, *asked("vectors", 0))
    before = sys.getallocatedblocks()
    for number in range(1, 11):
        posted(engine, *asked("vectors", number))
    gc.collect()
    record_property("cases", 10)

    assert sys.getallocatedblocks() - before < 50_000


def test_what_is_said_for_long_is_no_long_sound():
    answers = [posted(Engine({}), *asked("speech", 1, "a " * count)) for count in (2_000, 40_000)]
    assert len(answers[1].body) < 1.1 * len(answers[0].body)


@pytest.fixture
def few_are_remembered(monkeypatch):
    """The report, the caches and the places in the scripts are full after 1,024 requests."""
    monkeypatch.setattr("ellmer_conformance.server.engine._CONVERSATIONS", 1_000)
    monkeypatch.setattr("ellmer_conformance.server.http.routes._remembered", lru_cache(1_000)(parse_route))


@pytest.mark.skipif(not SCALE, reason="nox -s invariants")
def test_the_memory_of_the_server_is_flat(record_property, few_are_remembered):
    count, full = 5_000 * SCALE, 2_000  # `nox -s invariants -- 20`: 100,000
    engine = Engine({}, journal=Journal(entries=1_000))
    for number in range(full):
        assert posted(engine, *question(number)).status == 200
    gc.collect()
    before = sys.getallocatedblocks()
    for number in range(full, count):
        posted(engine, *question(number))
    gc.collect()
    record_property("cases", count)

    assert (
        sys.getallocatedblocks() - before < (count - full) / 20
    )  # a value that is kept of each request needs one block or more


@pytest.mark.skipif(not SCALE or not Path("/proc/self/statm").exists(), reason="nox -s invariants, on Linux")
def test_the_memory_of_the_server_is_flat_over_http(record_property, few_are_remembered):
    """New connections, and connections that are used again."""
    count, full = 5_000 * SCALE, 2_000
    with StrictServer() as server:
        server.engine.journal.entries = 1_000
        ask_over_http(server, 0, full)
        gc.collect()
        before, resident_before = sys.getallocatedblocks(), resident()
        ask_over_http(server, full, count)
        gc.collect()
        record_property("cases", count)

        assert sys.getallocatedblocks() - before < (count - full) / 20
        assert resident() - resident_before < 3 * 1024 * 1024


def ask_over_http(server, first, last):
    """Asks one request after the other; each fiftieth has a connection of its own."""
    connection = HTTPConnection(server.host, server.port)
    for number in range(first, last):
        target, body = question(number)
        connection.request(
            "POST", target, body, {"authorization": "Bearer k", "content-type": "application/json"}
        )
        assert connection.getresponse().read()
        if number % 50 == 0:
            connection.close()
    connection.close()


SMALL = {
    "empty lists": b"[],",
    "empty objects": b"{},",
    "numbers": b"99999,",
    "messages": b'{"role":"user","content":"a"},',
}


@pytest.mark.parametrize("unit", SMALL.values(), ids=SMALL)
def test_the_memory_of_parsed_values_is_not_underestimated(unit):
    text = b"[" + unit * 10_000 + b"0]"
    tracemalloc.start()
    try:
        values = json.loads(text)
        needed = tracemalloc.get_traced_memory()[0] + len(text)
    finally:
        tracemalloc.stop()

    assert len(values) == 10_001
    assert needed / 2 < memory_of(text) < needed * 8


@pytest.mark.slow
@pytest.mark.parametrize("unit", SMALL.values(), ids=SMALL)
def test_what_the_server_keeps_is_bounded_by_the_memory_that_it_needs(unit, record_property):
    """A value of three bytes needs seventy in memory: 100 MB of such requests needed 2.5 GB."""
    journal, conversations = Journal(size=1024 * 1024), Beginnings()
    engine = Engine({}, journal=journal)
    for number in range(12):
        target, body = question(number, "")
        posted(engine, target, body.replace(b"[", b"[" + unit * (9_000 // len(unit))))
        conversations.keep("any", b"%d " % number + unit * (4_000_000 // len(unit)), number)
    record_property("cases", 12)

    kept = sum(memory_of(json.dumps(entry.request.body).encode()) for entry in journal.all()[0])
    assert kept < 1024 * 1024 + 9_000 * 70
    assert (
        sum(
            conversations.of("any", b"%d " % number + unit * (4_000_000 // len(unit))) is not None
            for number in range(12)
        )
        < 4
    )


@pytest.mark.slow
def test_what_clients_store_on_the_server_is_bounded(monkeypatch, record_property):
    monkeypatch.setattr("ellmer_conformance.server.services.STORED", Budget(unpacked=8 * 1024 * 1024))
    engine = Engine({}, journal=Journal(size=1024))
    before = resident()
    for number in range(30):
        head = {
            "host": "127.0.0.1",
            "authorization": "Bearer k",
            "content-type": "multipart/form-data; boundary=b",
        }
        part = b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n'
        body = (
            part % (b'file"; filename="a.jsonl', b"x" * 1_000_000)
            + part % (b"purpose", b"batch")
            + b"--b--\r\n"
        )
        for place in ("one", str(number)):
            reply = engine.answer(HttpRequest("POST", f"/c/any/{place}/v1/files", head, body))
            assert reply.status == 200
        target, asked = question(number, "x" * 500_000)
        posted(engine, target, asked[:-1] + b',"store":true}')
    record_property("cases", 90)
    listed = engine.answer(
        HttpRequest("GET", "/c/any/one/v1/files", {"host": "127.0.0.1", "authorization": "Bearer k"})
    )

    assert json.loads(listed.body)["data"]  # the newest is there
    assert resident() - before < 40 * 1024 * 1024


def test_what_is_received_is_copied_before_it_is_kept():
    """100,000 requests over HTTP took 67 MB more when the bytes were kept that asyncio shrinks from 256 KB."""
    kept, connection = [], object.__new__(Connection)
    connection._closing, connection._socket = False, None
    connection._reader = SimpleNamespace(feed=kept.append)
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
