"""k bytes need c·k memory and a bounded time: a chunk that is large, or becomes large when it is unpacked, is read in pieces."""

import gzip
import json
import time
import tracemalloc

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.errors import RequestTimeoutError, ResponseError

pytestmark = pytest.mark.invariants

SSE = {"content-type": "text/event-stream"}
EVENT = b"data: " + json.dumps({"choices": [{"delta": {"content": "word "}}]}).encode() + b"\n\n"
END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def chat_with(body, packed=False, **options):
    headers = SSE | ({"content-encoding": "gzip"} if packed else {})
    sent = gzip.compress(body, mtime=0) if packed else body

    class Whole(httpx.SyncByteStream):
        def __iter__(self):
            yield sent

    client = httpx.Client(
        transport=httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=Whole()))
    )
    return ec.chat_openai_completions(api_key="k", model="m", client=client, echo="none", **options)


@pytest.mark.parametrize("packed", [False, True])
def test_the_total_timeout_ends_the_processing_of_one_long_chunk(packed):
    chat = chat_with(EVENT * 20_000 + END, packed, timeout=ec.Timeouts(total=0.3), max_tries=1)
    seen = []

    def read():
        for piece in chat.stream("Hi"):
            seen.append(piece)
            time.sleep(0.001)

    with pytest.raises(RequestTimeoutError, match="timeout: total"):
        read()

    assert 0 < len(seen) < 20_000


@pytest.mark.parametrize("packed", [False, True])
def test_one_long_chunk_is_read_to_its_end(packed):
    chat = chat_with(EVENT * 5_000 + END, packed)

    assert "".join(chat.stream("Hi")) == "word " * 5_000


def peak(work):
    """Returns the most bytes that were allocated during `work()`."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_in_one_chunk_needs_no_memory_of_its_own_size():
    def read(size):
        chat = chat_with(b": " + b" " * size + b"\n\n" + EVENT + END, packed=True, max_tries=1)
        with pytest.raises(ResponseError, match="limit: answer"):
            list(chat.stream("Hi"))

    assert peak(lambda: read(110_000_000)) < 250_000_000


@pytest.mark.parametrize("packed", [False, True])
def test_many_small_events_in_one_chunk_need_little_memory(packed):
    body = b": x\n\n" * 200_000 + EVENT + END  # a megabyte

    assert peak(lambda: "".join(chat_with(body, packed).stream("Hi"))) < 6_000_000
