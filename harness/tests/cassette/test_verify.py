"""Mode `verify`, which finds differences, and `cassette.replace`, which makes them."""

import httpx
import pytest

from ellmer_harness import Drift, Miss, use_cassette
from ellmer_harness.cassette.verify_mode import drift
from ellmer_harness.exchange.reply import Piece, Reply

API = "https://api.example.com"
ANSWER = {"id": "a", "choices": [{"text": "Hi", "stop": None}], "usage": {"in": 1}}


@pytest.fixture
def path(server, record, tmp_path):
    server.whole(ANSWER)
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(f"{API}/chat", json={"a": 1}, headers={"authorization": "Bearer live"})
    return tmp_path / "c.json"


def verified(server, path, ask=None):
    with use_cassette(path, mode="verify", routes=server.routes) as cassette:
        answer = httpx.post(f"{API}/chat", json={"a": 1}, headers={"authorization": "Bearer live"}).json()
    assert answer == ANSWER  # what was recorded, whatever the server says
    return cassette


def test_other_values_are_no_drift(server, path):
    server.whole({"id": "b", "choices": [{"text": "Ho", "stop": "end"}, {"text": ""}], "usage": {"in": 2}})
    verified(server, path)
    [_, (_, headers, body)] = server.requests
    assert (headers["authorization"], body) == ("bearer live", b'{"a":1}')


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({**ANSWER, "usage": {}}, "- /usage/in: it is missing now"),
        ({**ANSWER, "model": "x"}, r"\+ /model: it is new"),
        (
            {**ANSWER, "choices": [{"text": 1, "stop": None}]},
            r"~ /choices/\*/text: recorded a text, now a number",
        ),
        ({**ANSWER, "id": {}}, "~ /id: recorded a text, now an object"),
    ],
)
def test_other_fields_are(answer, told, server, path):
    server.whole(answer)
    with pytest.raises(Drift, match=told):
        verified(server, path)


def test_another_status_is(server, path):
    server.whole({}, status="404 Not Found")
    with pytest.raises(Drift, match="status: recorded 200, now 404"):
        verified(server, path)


def test_no_answer_is(server, path):
    server.raw()
    with pytest.raises(Drift, match="no answer: RemoteDisconnected"):
        verified(server, path)


def test_streams_are_compared_by_their_events(server, record, tmp_path):
    first = [{"type": "delta", "text": "a"}, {"type": "delta", "text": "b"}, {"type": "stop"}]
    server.chunked(server.events(*first))
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(API)
    for events, told in (
        ([*first[1:]], ""),
        ([first[0]], "- /event stop"),
        ([*first, {"type": "ping"}], r"\+ /event ping"),
    ):
        server.chunked(server.events(*events))
        with use_cassette(tmp_path / "c.json", mode="verify", routes=server.routes) as cassette:
            httpx.get(API)
            drifted = pytest.raises(Drift, match=told) if told else None
            if drifted:
                with drifted:
                    cassette.live_check.close("it")
                cassette.live_check = None


def test_what_was_not_recorded_is_a_miss_there_too(server, path):
    with pytest.raises(Miss), use_cassette(path, mode="verify", routes=server.routes):
        httpx.post(f"{API}/chat", json={"a": 2})


def test_an_answer_is_replaced_by_hand(path):
    with use_cassette(path, on_repeat="last") as cassette:
        cassette.replace("*/chat", status=503, headers={"Retry-After": "1"}, times=1)
        cassette.replace(lambda sent: sent.method == "GET", body={"new": True})
        first = httpx.post(f"{API}/chat", json={"a": 1})
        assert (first.status_code, first.headers["retry-after"], first.json()) == (503, "1", ANSWER)
        assert httpx.post(f"{API}/chat", json={"a": 1}).status_code == 200
        made = httpx.get(f"{API}/never/recorded")
    assert (made.status_code, made.json()) == (200, {"new": True})
    assert len(cassette.sent) == 3


def test_a_replaced_answer_counts_as_played(path):
    with use_cassette(path) as cassette:
        cassette.replace(body="plain")
        assert httpx.post(f"{API}/chat", json={"a": 1}).text == "plain"
    assert cassette.verdict.state == "replayed"


@pytest.mark.parametrize(
    ("recorded", "live", "lines"),
    [
        (b"OK", b"KO", []),
        (b"", b"OK", []),
        (b"OK", b"", []),
        (b"OK", b"3", ["~ /: recorded a text, now a number"]),
    ],
)
def test_a_body_that_is_no_json_is_a_text_and_an_empty_one_anything(recorded, live, lines):
    replies = (Reply(200, "OK", [("content-type", "text/plain")], [Piece(body)]) for body in (recorded, live))
    assert list(drift(*replies)) == lines
