"""Protobuf messages without a schema: they are readable, and restored to the same bytes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_harness.format import binary_messages, protobuf


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b"", {}),
        (b"\n\x05Paris", {"1": "Paris"}),
        (b"\x08\x96\x01", {"1": 150}),
        (b"\x08" + b"\xff" * 9 + b"\x01", {"1": 2**64 - 1}),
        (b"\n\x01a\n\x01b\x10\x07", {"1": ["a", "b"], "2": 7}),
        (b"\x1a\x07\n\x05Paris", {"3": {"1": "Paris"}}),
        (b"\n\x0c\n\nhelloworld", {"1": {"1": "helloworld"}}),
        (b"\x11" + struct.pack("<d", 48.85), {"2": {"double": 48.85}}),
        (b"\x15" + struct.pack("<f", 0.5), {"2": {"float": 0.5}}),
        (b"\x11" + struct.pack("<q", -1), {"2": {"fixed64": 2**64 - 1}}),
        (b"\x15" + struct.pack("<I", 3), {"2": {"fixed32": 3}}),
        (b"\x12\x02\xff\xfe", {"2": {"base64": "//4="}}),
        (b"\n\x00", {"1": ""}),
        (b"\n\x05Pari", None),
        (b"\x08", None),
        (b"\x0b\x0c", None),
        (b"\x08\x96\x80\x00", None),  # a number that is longer than it has to be
        (b"\n\x01a\x10\x07\n\x01b", None),  # a repeated field in two places
    ],
)
def test_fields_are_read_by_their_numbers(data, form):
    assert protobuf.parse(data) == form
    assert form is None or protobuf.write(form) == data


def test_depth_is_limited():
    data = b""
    for _ in range(3000):
        data = b"\n" + protobuf._as_varint(len(data)) + data
    form = protobuf.parse(data)
    assert protobuf.write(form) == data
    assert str(form).count("{") < 50


@given(
    st.binary(max_size=80)
    | st.lists(st.sampled_from([b"\n", b"\x05", b"\x12\x01a", b"x", b"\x80"])).map(b"".join)
)
def test_every_message_is_the_same_bytes_again(data):
    assert binary_messages.message(binary_messages.form(data)) == data


@given(st.text(max_size=60))
def test_texts_are_texts(text):
    form = binary_messages.form(text.encode())
    assert binary_messages.message(form) == text.encode()
