"""Any recorded body can be played in any chunks, and stays the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_harness import use_cassette
from ellmer_harness.exchange.reply import Piece, Reply, every_split, framed

SSE = [("content-type", "text/event-stream")]
BODY = 'event: a\ndata: {"x":"ü"}\n\ndata: 2\n\n'.encode()


def sizes(framing, body=BODY, headers=SSE):
    return [
        len(piece.data) for piece in framed(Reply(200, headers=headers, pieces=[Piece(body)]), framing).pieces
    ]


@given(
    st.binary(max_size=60),
    st.sampled_from(["every-byte", "whole", "events", "random:1", "split:7", "random:1 events"]),
)
def test_a_framing_changes_no_byte(body, framing):
    reply = framed(Reply(200, headers=SSE, pieces=[Piece(body)]), framing)
    assert reply.body == body
    assert all(piece.data for piece in reply.pieces)


def test_framings():
    assert sizes("every-byte") == [1] * len(BODY)
    assert sizes("events") == [27, 9]
    assert sizes("every-byte whole") == [len(BODY)]
    assert sizes("split:3") == [3, len(BODY) - 3]
    assert sizes("random:5") == sizes("random:5") != sizes("random:6")
    assert [sizes(name) for name in every_split(4)] == [[k, len(BODY) - k] for k in (1, 2, 3)]
    assert sizes(lambda reply: reply) == [len(BODY)]


def test_line_ends_change_in_event_streams_only():
    crlf = framed(Reply(200, headers=SSE, pieces=[Piece(BODY)]), "crlf")
    assert crlf.body == BODY.replace(b"\n", b"\r\n")
    assert framed(crlf, "lf").body == BODY
    assert sizes("crlf", headers=[("content-type", "application/json")]) == [len(BODY)]
    assert sizes("crlf", headers=[*SSE, ("content-encoding", "gzip")]) == [len(BODY)]


def test_an_unknown_framing_is_an_error():
    with pytest.raises(ValueError, match="'sideways' is not a framing"):
        sizes("sideways")


def test_a_cassette_plays_in_another_framing(http, server, record, tmp_path):
    server.chunked(server.events(1, 2))
    url = "https://api.example.com"
    with use_cassette(tmp_path / "c.json", **record), http.Client() as client:
        body = client.get(url).content
    with use_cassette(tmp_path / "c.json", framing="crlf every-byte"), http.stream("GET", url) as response:
        chunks = list(response.iter_raw())
    assert {len(chunk) for chunk in chunks} == {1}
    assert b"".join(chunks) == body.replace(b"\n", b"\r\n")
