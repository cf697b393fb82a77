"""k bytes need c·k memory and a bounded time: what follows the end of compressed data, compressed data without an end, many members,
and answers with many small values."""

import gzip
import json
import random
import time
import tracemalloc
import zlib

import httpx
import pytest
from chats.scripted import talk

import ellmer_core as ec
from ellmer_core.base.budget import CLIENT, UNLIMITED
from ellmer_core.errors import ResponseError
from ellmer_core.transport.http_exchange import Unpacker

pytestmark = pytest.mark.invariants

SSE = {"content-type": "text/event-stream", "content-encoding": "gzip"}
STREAM = (
    b'data: {"choices": [{"delta": {"content": "word"}}]}\n\n'
    b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)


class Chunks(httpx.SyncByteStream):
    """A chunk that is repeated, and fails the test if too much is read."""

    def __init__(self, first, chunk, most):
        self.first, self.chunk, self.left = first, chunk, most

    def __iter__(self):
        yield self.first
        while True:
            self.left -= 1
            assert self.left, "nobody stops reading"
            yield self.chunk


def seconds(work):
    """Returns the seconds of the processor that `work()` takes, the least of three."""
    took = []
    for _ in range(3):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


# After the end of the compressed data -----------------------------------------------------------------------


def unpacked(body, size, bound=UNLIMITED):
    """Returns what an `Unpacker` makes of a body that arrives in chunks of a size."""
    unpacker, out = Unpacker("gzip", bound), []
    for at in range(0, len(body), size):
        out.append(unpacker.feed(body[at : at + size], None))
        while unpacker.pending:
            out.append(unpacker.feed(b"", None))
    return b"".join(out), unpacker.oversized


@pytest.mark.parametrize(
    "after", [b"\0", b"x", gzip.compress(b"y", mtime=0)], ids=["zeros", "noise", "members"]
)
def test_bytes_after_the_end_take_linear_time(after):
    whole = gzip.compress(b"word", mtime=0)
    assert unpacked(whole + after * 10, 1) == (b"word", False)

    few, many = (
        seconds(lambda size=size: unpacked(whole + after * (size // len(after)), 64))
        for size in (400_000, 1_600_000)
    )

    assert many < 8 * few + 0.05  # four times as many; a quadratic time is 16 times as long


def test_a_large_chunk_takes_linear_time():
    noise = random.Random(0).randbytes(1_000_000)
    packed = gzip.compress(noise * 40, 1, mtime=0)  # 40 MB

    assert (
        seconds(lambda: unpacked(packed, len(packed))) < 3 * seconds(lambda: unpacked(packed, 50_000)) + 0.2
    )


# Without an end ---------------------------------------------------------------------------------------------

EMPTY_BLOCK = b"\0\0\0\xff\xff"  # of deflate: five bytes that become none


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("begins", [b"", STREAM[:50]], ids=["nothing", "a beginning"])
def test_compressed_bytes_that_become_none_are_counted(kind, begins):
    engine = zlib.compressobj(wbits=31)
    first = engine.compress(begins) + engine.flush(zlib.Z_FULL_FLUSH)
    stream = Chunks(first, EMPTY_BLOCK * 200, 200)
    chat = talk(
        httpx.Response(200, stream=stream, headers=SSE | {"content-type": kind}),
        limits=ec.Limits(answer=50_000),
    )

    with pytest.raises(ResponseError, match=r"larger than 50,000 bytes \(limit: answer\)"):
        chat.chat("Hi")


def test_bytes_after_the_end_are_counted():
    stream = Chunks(
        gzip.compress(STREAM.replace(b"[DONE]", b"{}").replace(b'"stop"', b"null")), b"x" * 1000, 200
    )
    chat = talk(httpx.Response(200, stream=stream, headers=SSE), limits=ec.Limits(answer=50_000))

    with pytest.raises(ResponseError, match="limit: answer"):
        list(chat.stream("Hi"))
    assert chat.last_turn().text == "word"


@pytest.mark.parametrize("bound", [0, 20, 200, 1000, 5000])
def test_the_limit_does_not_depend_on_the_cuts(bound):
    noise = random.Random(0).randbytes(2000)
    body = gzip.compress(noise, mtime=0) + b"x" * 1000

    assert len({unpacked(body, size, bound) for size in (1, 7, 100, len(body))}) == 1


# Many small values ------------------------------------------------------------------------------------------

SMALL = {"lists": b"[],", "objects": b"{},", "numbers": b"1.5,", "texts": b'"ab",', "names": b'{"a":0},'}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("value", SMALL.values(), ids=SMALL)
def test_many_small_values_need_no_memory(value, streamed, monkeypatch):
    monkeypatch.setattr(
        "ellmer_core.wire.shared.json_objects.CLIENT", CLIENT._replace(values=CLIENT.values // 10)
    )
    values = value * (3_000_000 // len(value)) + b"0"
    event = b'{"choices": [], "more": [' + values + b"]}"
    body, kind = (
        (b"data: " + event + b"\n\n", "text/event-stream") if streamed else (event, "application/json")
    )
    chat = talk(httpx.Response(200, stream=httpx.ByteStream(body), headers={"content-type": kind}))
    del values, event
    tracemalloc.start()

    with pytest.raises(ResponseError, match="more than 400,000 values"):
        list(chat.stream("Hi")) if streamed else chat.chat("Hi")

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(body)


@pytest.mark.parametrize("value", ["[],", "{},"])
def test_a_call_with_many_small_values_does_not_run(value):
    text = '{"a": [' + value * 3_000_000 + "0]}"
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
    answers = iter(({"role": "assistant", "tool_calls": [call]}, {"role": "assistant", "content": "ok"}))
    called = []
    chat = talk(
        lambda _: httpx.Response(200, json={"choices": [{"message": next(answers), "finish_reason": "stop"}]})
    )

    def f(a: list[str]) -> str:
        called.append(a)
        return "done"

    chat.register_tool(f)

    assert str(chat.chat("Hi")) == "ok"
    assert called == []


def test_a_large_answer_with_ordinary_values_is_read():
    text = json.dumps(
        {"choices": [{"message": {"content": 'a, "b": [c] {' * 2_000_000}, "finish_reason": "stop"}]}
    )
    chat = talk(httpx.Response(200, content=text.encode(), headers={"content-type": "application/json"}))

    assert len(str(chat.chat("Hi"))) == 13 * 2_000_000
