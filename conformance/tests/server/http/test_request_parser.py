"""Requests from bytes in any chunks, new and repeated."""

from dataclasses import dataclass, field

import pytest

from ellmer_conformance.server.http.connection import Reader
from ellmer_conformance.server.http.messages import HttpRequest, KnownRequests
from ellmer_core.base.budget import SERVER


@dataclass
class Told:
    """A receiver that stores its calls."""

    requests: list[HttpRequest] = field(default_factory=list)
    large: list[HttpRequest] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)
    waiting: int = 0

    def came(self, request):
        self.requests.append(request)

    def waits(self):
        self.waiting += 1

    def too_large(self, request):
        self.large.append(request)

    def nonsense(self, status, message):
        assert message
        self.troubles.append(status)


def raw(body=b"{}", target="/v1/messages", version="1.1", **headers):
    fields = {"host": "localhost", "content-length": str(len(body)), **headers}
    lines = [f"POST {target} HTTP/{version}", *(f"{k}: {v}" for k, v in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read(*pieces, known=None):
    told = Told()
    reader = Reader(told, known)
    for piece in pieces:
        reader.feed(piece)
    return told


def test_a_request_is_the_same_in_one_piece_and_byte_by_byte():
    data = raw(b'{"a": 1}')
    whole, bytewise = read(data), read(*(data[i : i + 1] for i in range(len(data))))
    assert whole.requests == bytewise.requests
    assert whole.requests[0].body == b'{"a": 1}'
    assert whole.requests[0].target == "/v1/messages"
    assert whole.requests[0].host == "localhost"


def test_a_request_that_is_known_is_not_read_again():
    known, data = KnownRequests(), raw()
    first = read(data, known=known).requests
    again = read(data, data, raw(b"[]"), data, known=known).requests
    assert again[0] is again[1] is again[3] is first[0]
    assert again[2].body == b"[]"


@pytest.mark.parametrize(
    "data",
    [
        raw(version="1.0"),
        raw(connection="close"),
        raw(expect="100-continue"),
        raw() + raw(),
        raw()[:-1],
        raw(upgrade="h2c", connection="upgrade"),
    ],
    ids=["1.0", "closes", "expects", "two at once", "half", "upgrades"],
)
def test_what_says_something_of_the_connection_is_not_remembered(data):
    known = KnownRequests()
    read(data, known=known)
    assert known.find(data) is None


def test_of_a_long_request_the_head_is_remembered():
    known, data = KnownRequests(), raw(b"x" * 20_000)
    first = read(data, known=known).requests
    (again,) = read(data, known=known).requests
    assert [again._replace(head=b"")] == first
    assert again.head in data.replace(b"20000", b"")


@pytest.mark.parametrize(
    "data",
    [
        raw(b'{"a": 1}'),
        raw(b"{}" * 5000),
        raw(b"[]", target="/v1/chat"),
        raw(b""),
        raw(b"{}", accept="*/*"),
        raw(b"{}").replace(b"content-length", b"Content-Length"),
        raw(b"{}").replace(b"content-length: 2", b"content-length: 1"),
        raw(b"{}").replace(b"content-length: 2", b"content-length: 3"),
        raw(b"{}").replace(b"content-length: 2", b"content-length: 02"),
        raw(b"{}").replace(b"content-length: 2", b"content-length: 2\r\ncontent-length: 2"),
        raw(b"{}").replace(b"content-length: 2", b"content-length: 2\r\ncontent-length: 4"),
        raw(b"{}").replace(b"content-length: 2\r\n", b""),
        raw(b"{}", **{"transfer-encoding": "chunked"}),
        raw(b"\r\ncontent-length: 2\r\n\r\n{}"),
        raw(b"{}").replace(b"content-length: 2\r\n", b"\r\ncontent-length: 2\r\n\r\n"),
        raw(b"{}") * 2,
        raw(b"{}")[:-1],
    ],
)
def test_a_request_is_read_as_if_its_head_were_not_known(data):
    known = KnownRequests()
    read(raw(b"[1, 2, 3]"), known=known)
    found, told = read(data, known=known), read(data)
    assert without_heads(found) == told.requests
    assert found.troubles == told.troubles
    again = read(data, known=known)
    assert without_heads(again) == told.requests


def without_heads(told):
    """The requests without the bytes by which a known head is found."""
    return [request._replace(head=b"") for request in told.requests]


def test_bytes_that_are_known_may_be_the_inside_of_another_request():
    known, inner = KnownRequests(), raw()
    read(inner, known=known)
    outer = raw(inner)
    told = read(outer[: -len(inner)], inner, known=known)
    assert [request.body for request in told.requests] == [inner]


def test_after_a_request_that_ends_the_connection_nothing_is_recognized():
    known = KnownRequests()
    read(raw(), known=known)
    told = read(raw(connection="close"), raw(), known=known)
    assert len(told.requests) == 1
    assert told.troubles == [400]


def test_the_oldest_are_forgotten():
    known = KnownRequests()
    came = read(*(raw(str(number).encode()) for number in range(1500)), known=known).requests
    assert len(known) == 1024
    assert known.find(raw(b"1499")) is came[1499]
    assert known.find(raw(b"0")) is not came[0]


def test_without_a_memory_nothing_is_kept():
    told = read(raw(), raw())
    assert told.requests[0] == told.requests[1]
    assert told.requests[0] is not told.requests[1]


def test_a_header_that_comes_twice_has_both_values():
    head, end, _ = raw(b"").partition(b"\r\n\r\n")
    assert read(head + b"\r\nx-a: 1\r\nX-A: 2" + end).requests[0].headers["x-a"] == "1, 2"


def test_absurd_sizes_and_nonsense_are_told():
    assert read(raw(**{"content-length": str(SERVER.received + 1)})).large[0].target == "/v1/messages"
    assert read(raw(**{"x-long": "a" * 70_000})).troubles[0] == 431
    assert read(b"\x16\x03\x01\x02\x00").troubles == [400]
    assert read(raw(expect="100-continue")).waiting == 1
