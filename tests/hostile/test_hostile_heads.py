"""Answers whose HTTP never ends or lies: heads, interim answers, chunks, trailers and lengths, on a socket. Each ends in time, with an
error of ours or with the complete answer.
"""

import asyncio
import json
import socket
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from threading import Thread

import httpx
import pytest

import ellmer_core as ec

pytestmark = pytest.mark.invariants

WHOLE = json.dumps(
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
LENGTH = b"content-length: %d\r\n\r\n" % len(WHOLE)
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def endless(begin, unit):
    """Yields bytes without an end."""
    yield begin
    while True:
        yield unit * (64 * 1024 // len(unit))


def slowly(data):
    """Yields a byte every few milliseconds, and never all."""
    for at in range(len(data)):
        time.sleep(0.02)
        yield data[at : at + 1]


FAILS = {
    "100,000 headers": lambda: [HEAD, b"".join(b"x-%d: y\r\n" % n for n in range(100_000)), LENGTH, WHOLE],
    "a header of 10 MB": lambda: [HEAD, b"x: ", b"y" * 10_000_000, b"\r\n", LENGTH, WHOLE],
    "a header without an end": lambda: endless(HEAD + b"x: ", b"y"),
    "headers without an end": lambda: endless(HEAD, b"x: y\r\n"),
    "a reason without an end": lambda: endless(b"HTTP/1.1 200 ", b"y"),
    "interim answers without an end": lambda: endless(b"", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"),
    "100 without an end": lambda: endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "another protocol": lambda: [
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"
    ],
    "a head, byte by byte": lambda: slowly(HEAD + b"x: " + b"y" * 250),
    "a chunk's extension without an end": lambda: endless(CHUNKED + b"5;", b"y"),
    "a chunk's size without an end": lambda: endless(CHUNKED, b"0"),
    "a chunk's size, byte by byte": lambda: slowly(CHUNKED + b"0" * 250),
    "chunks of one byte without an end": lambda: endless(CHUNKED, b"1\r\n \r\n"),
    "chunks with long extensions": lambda: endless(CHUNKED, b"1;" + b"e" * 10_000 + b"\r\n \r\n"),
    "trailers without an end": lambda: endless(
        CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(WHOLE), WHOLE), b"x: y\r\n"
    ),
    "a chunk that is larger than all": lambda: [CHUNKED + b"FFFFFFFFFFFFFFFF\r\n" + WHOLE],
    "a chunk of negative size": lambda: [CHUNKED + b"-5\r\n" + WHOLE],
    "a length that is too long": lambda: [HEAD + b"content-length: 1000\r\n\r\n" + WHOLE],
    "a length that is too short": lambda: [HEAD + b"content-length: 10\r\n\r\n" + WHOLE],
    "a negative length": lambda: [HEAD + b"content-length: -1\r\n\r\n" + WHOLE],
    "two lengths": lambda: [HEAD + b"content-length: 1\r\n" + LENGTH + WHOLE],
    "a length of many digits": lambda: [HEAD + b"content-length: " + b"9" * 60_000 + b"\r\n\r\n" + WHOLE],
    "no head": lambda: [WHOLE],
    "a header with NUL": lambda: [HEAD + b"x: a\0b\r\n" + LENGTH + WHOLE],
    "no status": lambda: [b"HTTP/1.1\r\n\r\n"],
    "gzip within gzip": lambda: [HEAD + b"content-encoding: gzip, gzip\r\n" + LENGTH + WHOLE],
    "a time to wait of many digits": lambda: [
        b"HTTP/1.1 429 x\r\nretry-after: " + b"9" * 60_000 + b"\r\n\r\n"
    ],
    "a time to wait that is infinite": lambda: [
        b"HTTP/1.1 503 x\r\nretry-after: 1e999\r\nretry-after-ms: nan\r\n\r\n"
    ],
}


@contextmanager
def answering(pieces):
    """Runs a server that reads a request and sends these pieces, until the client leaves."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with suppress(OSError):
                client, _ = listening.accept()
                with client, suppress(OSError):
                    client.recv(65536)
                    for piece in pieces:
                        client.sendall(piece)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join(5)
        assert not thread.is_alive()  # the connection was closed


def asked(
    url, way, chat=ec.chat_openai_completions, key="k", chat_async=lambda chat: chat.chat_async("Hi"), **more
):
    options = {"timeout": ec.Timeouts(connect=1, idle=1, total=1), "max_tries": 1, "echo": "none"} | more
    chat = chat(base_url=url, api_key=key, model="m", **options)
    if way == "blocking":
        return str(chat.chat("Hi"))
    if way == "stream":
        return "".join(chat.stream("Hi"))
    return str(asyncio.run(chat_async(chat)))


@pytest.mark.parametrize("way", ["blocking", "stream", "async"])
@pytest.mark.parametrize("pieces", FAILS.values(), ids=FAILS)
def test_what_has_no_end_or_lies_is_an_error_in_time(pieces, way):
    with answering(pieces()) as url:
        began = time.monotonic()
        with pytest.raises(ec.EllmerError):
            asked(url, way)
        assert time.monotonic() - began < 4


@pytest.mark.parametrize("way", ["blocking", "stream", "async"])
@pytest.mark.parametrize("pieces", FAILS.values(), ids=FAILS)
def test_the_caller_s_own_client_ends_in_time_too(pieces, way):
    in_async = httpx.AsyncClient()

    async def chat_async(chat):
        async with in_async:  # closed in the loop that opened its connections
            return await chat.chat_async("Hi")

    with httpx.Client() as blocking, answering(pieces()) as url:
        began = time.monotonic()
        with pytest.raises(ec.EllmerError):
            asked(url, way, client=(blocking, in_async), chat_async=chat_async)
        assert time.monotonic() - began < 4


def test_the_caller_s_own_client_ends_in_time_on_a_connection_that_is_used_again():
    again = threading.Event()

    def pieces():
        yield HEAD + LENGTH + WHOLE
        again.wait(5)
        time.sleep(0.2)  # the second request has come
        yield from slowly(HEAD + b"x: " + b"y" * 150)

    limits = ec.Timeouts(total=1)
    with httpx.Client() as own, answering(pieces()) as url:
        options = {"client": own, "timeout": limits, "max_tries": 1, "echo": "none"}
        chat = ec.chat_openai_completions(base_url=url, api_key="k", model="m", **options)
        assert str(chat.chat("Hi")) == "Hi"
        again.set()
        began = time.monotonic()
        with pytest.raises(ec.RequestTimeoutError, match="total"):
            chat.chat("Hi")
        assert time.monotonic() - began < 2.5


KEY = "sk-proj-Ab3dE7gH9kL2mN5pQ8rT1uW4xY7f3A"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
QUOTED = {
    "the status line": b"HTTP/1.1 %s\r\n\r\n",
    "the version": b"%s 200 OK\r\n\r\n",
    "the reason": b"HTTP/1.1 500 %s\r\ncontent-length: 0\r\n\r\n",
    "a header with NUL": HEAD + b"x: %s\0\r\n\r\n",
    "the name of a header": HEAD + b"%s : x\r\n\r\n",
    "the encoding": HEAD + b"content-encoding: %s\r\n\r\n{}",
    "the length": HEAD + b"content-length: %s\r\n\r\n",
    "the transfer encoding": HEAD + b"transfer-encoding: %s\r\n\r\n",
    "the size of a chunk": CHUNKED + b"%s\r\n",
    "the time to wait": b"HTTP/1.1 429 x\r\nretry-after: %s\r\ncontent-length: 0\r\n\r\n",
    "where it moved": b"HTTP/1.1 302 x\r\nlocation: https://%s\r\ncontent-length: 0\r\n\r\n",
    "half of an object": HEAD + b'connection: close\r\n\r\n{"a": %s',
    "half of an event": EVENTS + b"data: {%s\n\n",
    "a line of an event": EVENTS + b"%s\n\nevent: %s\ndata: {\n\n",
}
CHATS = ec.chat_openai_completions, ec.chat_openai, ec.chat_anthropic, ec.chat_google_gemini, ec.chat_ollama


@pytest.mark.parametrize("way", ["blocking", "stream", "async"])
@pytest.mark.parametrize("answer", QUOTED.values(), ids=QUOTED)
def test_no_error_quotes_a_key_in_what_cannot_be_read(answer, way):
    for chat in CHATS:
        with answering([answer.replace(b"%s", KEY.encode())]) as url, pytest.raises(ec.EllmerError) as raised:
            asked(url, way, chat, KEY)
        error, told = raised.value, "".join(traceback.format_exception(raised.value))
        while error is not None:
            told += f"{error!r} {vars(error)} {error.args}"
            error = error.__cause__ or error.__context__
        assert KEY.lower() not in told.lower()
