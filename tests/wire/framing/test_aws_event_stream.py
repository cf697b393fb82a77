"""AWS event stream frames: any chunks give the same events, and damage is detected."""

import json
import time
from binascii import crc32
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.errors import ResponseError
from ellmer_core.wire.aws_event_stream import EventStreamDecoder


def header(name, kind, value):
    return bytes([len(name)]) + name.encode() + bytes([kind]) + value


def text(name, value):
    return header(name, 7, pack(">H", len(value.encode())) + value.encode())


def frame(payload, *headers):
    """A frame, written from the specification."""
    head = b"".join(headers)
    prelude = pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + pack(">I", crc32(prelude)) + head + payload
    return body + pack(">I", crc32(body))


def event(kind, value):
    headers = (
        text(":event-type", kind),
        text(":content-type", "application/json"),
        text(":message-type", "event"),
    )
    return frame(json.dumps(value).encode(), *headers)


def decoded(data, cuts=()):
    decoder, events, start = EventStreamDecoder(), [], 0
    for end in [*sorted(cuts), len(data)]:
        events += decoder.feed(data[start:end])
        start = end
    return events + decoder.flush()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
events = st.lists(
    st.tuples(st.text(max_size=20), st.dictionaries(st.text(), json_values, max_size=3)), max_size=5
)


@given(events=events, data=st.data())
def test_a_chunk_may_end_anywhere(events, data):
    stream = b"".join(event(kind, value) for kind, value in events)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))

    assert decoded(stream, cuts) == [{kind: value} for kind, value in events]


@given(at=st.integers(0), bit=st.integers(0, 7))
def test_a_flipped_bit_never_passes_for_an_event(at, bit):
    stream = bytearray(event("contentBlockDelta", {"delta": {"text": "hi"}}))
    stream[at % len(stream)] ^= 1 << bit

    with pytest.raises(ResponseError, match="damaged"):
        decoded(bytes(stream))


@given(end=st.integers(0))
def test_half_a_frame_is_no_event(end):
    first, second = event("messageStart", {"role": "assistant"}), event("messageStop", {})

    assert decoded(first + second[: end % len(second)]) == [{"messageStart": {"role": "assistant"}}]


def test_events_before_the_damage_are_handed_over_first():
    broken = bytearray(event("messageStop", {}))
    broken[-1] ^= 1
    decoder = EventStreamDecoder()

    assert decoder.feed(event("messageStart", {}) + bytes(broken)) == [{"messageStart": {}}]
    with pytest.raises(ResponseError, match="damaged"):
        decoder.feed(b"")
    with pytest.raises(ResponseError, match="damaged"):
        decoder.flush()


def test_every_type_of_header_is_stepped_over():
    odd = (
        header("true", 0, b""),
        header("false", 1, b""),
        header("byte", 2, b"\x01"),
        header("short", 3, bytes(2)),
        header("integer", 4, bytes(4)),
        header("long", 5, bytes(8)),
        header("bytes", 6, pack(">H", 3) + b"\xff\xfe\xfd"),
        header("time", 8, bytes(8)),
        header("uuid", 9, bytes(16)),
    )

    assert decoded(frame(b"{}", *odd, text(":event-type", "metadata"))) == [{"metadata": {}}]


@pytest.mark.parametrize("broken", [header("x", 77, b""), b"\x09ab"])
def test_headers_that_make_no_sense_are_said_to_be(broken):
    with pytest.raises(ResponseError, match="header"):
        decoded(frame(b"{}", broken))


def test_an_exception_is_not_an_event():
    headers = text(":message-type", "exception"), text(":exception-type", "throttlingException")

    assert decoded(frame(b'{"message":"slow down"}', *headers)) == [
        {":exception": {"type": "throttlingException", "message": "slow down"}}
    ]


def test_an_error_of_the_stream_itself_is_in_its_headers():
    said = text(":error-code", "InternalFailure"), text(":error-message", "gone")

    assert decoded(frame(b"", text(":message-type", "error"), *said)) == [
        {":exception": {"type": "InternalFailure", "message": "gone"}}
    ]


def test_a_payload_that_is_not_json_is_quoted():
    with pytest.raises(ResponseError, match=r"not JSON.*<html>"):
        decoded(frame(b"<html>", text(":event-type", "x")))


FLAG = header("", 0, b"")  # two bytes
HOSTILE = {
    "many headers": frame(b"{}", FLAG * 200_000),
    "a cut value": frame(b"{}", text(":event-type", "x"), header("y", 7, pack(">H", 900) + b"z")),
    "a cut name": frame(b"{}", b"\xffname"),
    "an unknown type": frame(b"{}", header("x", 10, b"")),
    "no text": frame(b"{}", header(":event-type", 7, pack(">H", 1) + b"\xff")),
    "small values": frame(b'{"a": [' + b"[]," * 3_000_000 + b"0]}", text(":event-type", "x")),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_frame_is_an_error_and_what_came_before_counts(data):
    decoder = EventStreamDecoder()
    before = event("contentBlockDelta", {"delta": {"text": "word"}})

    assert decoder.feed(before + data) == [{"contentBlockDelta": {"delta": {"text": "word"}}}]
    assert isinstance(decoder.failure, ResponseError)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_small_frames_and_small_chunks_take_linear_time(size):
    def seconds(count):
        stream = event("x", {}) * count
        decoder, began, found = EventStreamDecoder(), time.process_time(), 0
        for at in range(0, len(stream), size):
            found += len(decoder.feed(stream[at : at + size]))
        assert found == count
        return time.process_time() - began

    few, many = (min(seconds(count) for _ in range(3)) for count in (200, 1600))
    assert many < 20 * few + 0.02


def test_a_long_frame_in_small_chunks_takes_linear_time():
    def seconds(length):
        stream = event("x", {"a": "a" * length})
        decoder, began = EventStreamDecoder(), time.process_time()
        found = [each for at in range(0, len(stream), 64) for each in decoder.feed(stream[at : at + 64])]
        assert len(found) == 1
        return time.process_time() - began

    few, many = (min(seconds(length) for _ in range(3)) for length in (100_000, 800_000))
    assert many < 20 * few + 0.02
