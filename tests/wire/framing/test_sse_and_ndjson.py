import json
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.errors import ResponseError
from ellmer_core.wire.framing import JsonDecoder, NdjsonDecoder, SseDecoder, decoder


def events(body, *cuts, make=SseDecoder):
    """Returns the events of `body`, which is fed in pieces that are split at the given places."""
    one = make()
    edges = [0, *sorted(cuts), len(body)]
    found = [event for a, b in pairwise(edges) for event in one.feed(body[a:b])]
    return [*found, *one.flush()]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_ends_a_line(end):
    body = b'event: x\ndata: {"a": 1}\n\n: comment\n\nid: 7\nretry: 9\ndata:{"a":2}   \n\ndata: [DONE]\n\n'.replace(
        b"\n", end
    )
    assert events(body) == [{"a": 1}, {"a": 2}, "[DONE]"]


def test_data_lines_of_one_event_are_joined():
    assert events(b'data: {"a":\ndata: "b"}\n\n') == [{"a": "b"}]


def test_a_byte_order_mark_is_skipped():
    assert events(b'\xef\xbb\xbfdata: {"a": 1}\n\n', 1, 2) == [{"a": 1}]


def test_only_line_ends_end_a_line():
    text = "a\u2028b\u2029c\x85d\x0be\x0cf"
    assert events(f'data: {{"t": "{text}"}}\n\n'.encode().replace(b"\x0b", b"").replace(b"\x0c", b"")) == [
        {"t": "a\u2028b\u2029c\x85def"}
    ]


def test_events_come_as_soon_as_they_are_whole():
    one = SseDecoder()
    assert one.feed(b'data: {"a": 1}\n') == []
    assert one.feed(b"\n") == [{"a": 1}]
    assert one.feed(b'data: {"b": 2}\r\r') == [{"b": 2}]


def test_an_event_that_is_not_json_is_quoted():
    with pytest.raises(ResponseError, match=r"is not JSON .*: <html>nonsense</html>"):
        events(b"data: <html>nonsense</html>\n\n")


@pytest.mark.parametrize(
    "rest",
    [
        b'data: {"b": 2',
        b'data: {"b":\ndata: 2',
        b'data: {"b": 2\n',
        b"data: [DON",
        b"data: 12",
        b"dat",
        b'{"b"',
    ],
)
def test_half_an_event_is_no_event(rest):
    assert events(b'data: {"a": 1}\n\n' + rest) == [{"a": 1}]


def test_an_error_by_name_is_an_error():
    body = b'event: error\ndata: %b\n\nevent: done\ndata: {"a": 1}\n\n'
    assert events(body % b'{"message": "m"}') == [{"error": {"message": "m"}}, {"a": 1}]
    assert events(body % b"upstream died") == [{"error": "upstream died"}, {"a": 1}]
    for whole in ({"error": {"message": "m"}}, {"type": "error", "error": {}}):
        assert events(body % json.dumps(whole).encode()) == [whole, {"a": 1}]


def test_the_last_event_may_lack_its_empty_line():
    assert events(b'data: {"a": 1}\n\ndata: [DONE]') == [{"a": 1}, "[DONE]"]


def test_bare_json_after_a_stream_is_an_event_too():
    error = (
        json.dumps({"error": {"code": 503, "message": "overloaded"}}, indent=2).replace("\n", "\r\n").encode()
    )
    assert events(b'data: {"a": 1}\r\n\r\n' + error) == [
        {"a": 1},
        {"error": {"code": 503, "message": "overloaded"}},
    ]


def test_a_json_array_instead_of_a_stream():
    body = b'[{"a": 1}\n,\r\n{"b": 2}]'
    assert events(body, 5) == events(body, 5, make=JsonDecoder) == [{"a": 1}, {"b": 2}]


def test_newline_delimited_json():
    body = '{"a": "ü"}\n{"b": 2}\r\n\n{"c"'.encode()
    assert events(body, 7, make=NdjsonDecoder) == [{"a": "ü"}, {"b": 2}]
    assert events(b'{"a": 1}', make=NdjsonDecoder) == [{"a": 1}]
    with pytest.raises(ResponseError, match="nope"):
        events(b"nope\n", make=NdjsonDecoder)


def test_a_json_document_cut_short_is_an_error():
    with pytest.raises(ResponseError):
        events(b'{"a": ', make=lambda: decoder("json"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    max_leaves=5,
)


@given(
    st.lists(st.dictionaries(st.text(), values), max_size=5), st.data(), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_cuts_change_nothing(sent, data, end):
    lines = [f"data: {json.dumps(event, ensure_ascii=data.draw(st.booleans()))}\n\n" for event in sent]
    body = "".join([": hello\n\n", *lines]).replace("\n", end).encode("utf-8", "replace")
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=8))
    assert events(body, *cuts) == events(body)
    assert len(events(body)) == len(sent)


@given(st.binary(max_size=60))
def test_no_bytes_crash_it(body):
    try:
        events(body)
        events(b"data: " + body + b"\n\n")
    except ResponseError:
        pass


EVENTS = [
    b'data: {"a": 1}',
    b"data: [1]",
    b"data: [DONE]",
    b'data: {"a": 1}\xc2\xa0',
    b"data: x",
    b"event: error",
    b"data:",
]
ENDS = [b"\n\n", b"\n", b"\r\n\r\n", b""]


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from(ENDS)).map(b"".join), max_size=6))
def test_a_chunk_that_is_one_event_is_read_as_its_bytes_are(chunks):
    def read(chunks):
        decoder, found = SseDecoder(), []
        with suppress(ResponseError):
            for chunk in chunks:
                found += decoder.feed(chunk)
            found += decoder.flush()
        return found, str(decoder.failure)

    assert read(chunks) == read([bytes([code]) for code in b"".join(chunks)])
