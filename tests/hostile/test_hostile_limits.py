"""Data without an end, or with excessive growth, is stopped at a named limit."""

import gzip
import os
import time
import tracemalloc
import zlib

import httpx
import pytest
from chats.scripted import talk

import ellmer_core as ec
from ellmer_core.errors import ResponseError, UsageError
from ellmer_core.wire.shared.endings_and_errors import error_of


class Endless(httpx.SyncByteStream):
    """Continues without end, and fails the test if too much is read."""

    def __init__(self, chunk, most):
        self.chunk, self.left = chunk, most

    def __iter__(self):
        while True:
            self.left -= 1
            assert self.left, "nobody stops reading"
            yield self.chunk


# Limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_without_an_end_is_left_at_the_limit(kind):
    stream = Endless(b"x" * 1000, 200)
    chat = talk(
        httpx.Response(200, stream=stream, headers={"content-type": kind}), limits=ec.Limits(answer=50_000)
    )

    with pytest.raises(ResponseError, match=r"larger than 50,000 bytes \(limit: answer\)"):
        chat.chat("Hi")


def test_a_stream_of_events_without_an_end_is_left_at_the_limit():
    event = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    response = httpx.Response(200, stream=Endless(event, 200), headers={"content-type": "text/event-stream"})
    chat = talk(response, limits=ec.Limits(events=100))

    with pytest.raises(ResponseError, match=r"more than 100 events \(limit: events\)"):
        list(chat.stream("Hi"))
    assert chat.last_turn().text == "a" * 100


def test_the_body_of_an_error_is_read_so_far_and_no_further():
    chat = talk(httpx.Response(500, stream=Endless(b"x" * 1000, 200)), limits=ec.Limits(error=10_000))

    with pytest.raises(ec.ServerError, match="xxx"):
        chat.chat("Hi")


def test_a_small_answer_does_not_become_a_large_one():
    bomb = gzip.compress(b" " * 50_000_000)
    response = httpx.Response(
        200,
        stream=httpx.ByteStream(bomb),
        headers={"content-encoding": "gzip", "content-type": "application/json"},
    )
    chat = talk(response, limits=ec.Limits(answer=1_000_000))

    with pytest.raises(ResponseError, match="limit: answer"):
        chat.chat("Hi")


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate, gzip"])
def test_a_packing_that_was_not_asked_for_is_not_opened(encoding):
    body = zlib.compress(gzip.compress(b"{}"))
    response = httpx.Response(200, stream=httpx.ByteStream(body), headers={"content-encoding": encoding})

    with pytest.raises(ResponseError, match="was not requested"):
        talk(response).chat("Hi")


def test_an_answer_that_drips_is_left_after_the_whole_time(monkeypatch):
    clock = iter(range(0, 10**9, 100))
    monkeypatch.setattr("ellmer_core.transport.http_exchange.time.monotonic", lambda: next(clock))
    options = {"stream": Endless(b": \n\n", 200), "headers": {"content-type": "text/event-stream"}}
    chat = talk(httpx.Response(200, **options), timeouts=ec.Timeouts())

    with pytest.raises(ec.RequestTimeoutError, match="timeout: total"):
        list(chat.stream("Hi"))


# Pages of errors --------------------------------------------------------------------------------------------

PAGE = 160_000
PAGES = {
    "open tags": "<html>" + "<" * PAGE,
    "open scripts": "<html>" + "<script" * (PAGE // 7),
    "scripts that end": "<html>" + "<script></script>" * (PAGE // 17),
    "a long comment": "<html><!--" + "-" * PAGE,
    "entities": "<html>" + "&#" * (PAGE // 2),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_of_an_error_is_read_in_time_that_grows_as_it_does(page):
    began = time.process_time()
    error_of(502, {"content-type": "text/html"}, page.encode())
    assert time.process_time() - began < 10  # today 60 s and more; a hundredth of a second when mended


def test_the_words_of_a_page_are_kept():
    page = b"<html><script>if (a<b) x()</script><style>p{}</style><h1>502&nbsp;Bad</h1> <p>Gateway</p></html>"
    assert error_of(502, {}, page).message == "502 Bad Gateway"


# Schemas and files ------------------------------------------------------------------------------------------


def test_references_to_references_are_not_written_out():
    from ellmer_core.schemas.type_functions import arguments_of

    defs = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcdefgh"}}
        for n in range(20)
    }
    defs["d20"] = {"type": "string"}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}
    tracemalloc.start()
    arguments_of(schema)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000_000


def test_a_device_or_a_pipe_is_no_image(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path, "a\x00b"):
        with pytest.raises(UsageError):
            ec.content_image_file(path)
