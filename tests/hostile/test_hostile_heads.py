"""Answers whose HTTP never ends or lies: heads, interim answers, chunks, trailers and lengths, on a socket. Each ends in time, with an
error of ours or with the complete answer.
"""

import asyncio
import json
import socket
import time
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

import ellmer_core as ec

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
    "a head, byte by byte": lambda: slowly(HEAD + b"x: " + b"y" * 10_000),
    "a chunk's extension without an end": lambda: endless(CHUNKED + b"5;", b"y"),
    "a chunk's size without an end": lambda: endless(CHUNKED, b"0"),
    "a chunk's size, byte by byte": lambda: slowly(CHUNKED + b"0" * 10_000),
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


def asked(url, way):
    options = {"timeout": ec.Timeouts(connect=1, idle=1, total=1), "max_tries": 1, "echo": "none"}
    chat = ec.chat_openai_completions(base_url=url, api_key="k", model="m", **options)
    if way == "blocking":
        return str(chat.chat("Hi"))
    if way == "stream":
        return "".join(chat.stream("Hi"))
    return str(asyncio.run(chat.chat_async("Hi")))


@pytest.mark.parametrize("way", ["blocking", "stream", "async"])
@pytest.mark.parametrize("pieces", FAILS.values(), ids=FAILS)
def test_what_has_no_end_or_lies_is_an_error_in_time(pieces, way):
    with answering(pieces()) as url:
        began = time.monotonic()
        with pytest.raises(ec.EllmerError):
            asked(url, way)
        assert time.monotonic() - began < 4
