"""Failures are recorded as they happen, and injected as they would happen."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time

import httpx
import pytest

from ellmer_harness import Miss, Unused, use_cassette
from ellmer_harness.faults import (
    ConnectError,
    ConnectTimeout,
    Corrupt,
    Cut,
    Duplicate,
    ErrorEvent,
    Pass,
    PoolTimeout,
    ReadTimeout,
    Reset,
    Slow,
    Stall,
    Status,
    WriteTimeout,
)

API = "https://api.example.com"
EVENTS = [b'data: {"i":0}\n\n', b'data: {"i":1}\n\n', b'data: {"i":2}\n\n']


def read(http, patience=5.0):
    """Returns everything that a client gets: the chunks, then the exception that ended them."""
    chunks = []
    try:
        with http.Client(timeout=patience) as client, client.stream("POST", API, json={}) as response:
            chunks.extend(response.iter_raw())
    except http.TransportError as error:
        return chunks, type(error).__name__, str(error)
    return chunks, None, None


def read_async(http):
    async def main():
        chunks = []
        try:
            async with http.AsyncClient() as client, client.stream("POST", API, json={}) as response:
                async for chunk in response.aiter_raw():
                    chunks.append(chunk)  # noqa: PERF401  # the chunks before the failure count
        except http.TransportError as error:
            return chunks, type(error).__name__, str(error)
        return chunks, None, None

    return asyncio.run(main())


def chunks_then(*ending):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    frames = [b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS[:2]]
    return [head, *frames, *ending]


def short(*ending):
    return [b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nhalf", *ending]


HAPPENINGS = {
    "reset before an answer": lambda server: [server.RESET],
    "closed before an answer": lambda server: [],
    "no answer in time": lambda server: [server.over],
    "no HTTP": lambda server: [b"SSH-2.0-OpenSSH\r\n\r\n"],
    "closed in mid-stream": lambda server: chunks_then(),
    "no chunk in time": lambda server: chunks_then(server.over),
    "a broken chunk": lambda server: chunks_then(b"zz\r\n"),
    "short body": lambda server: short(),
}


@pytest.mark.parametrize("happening", HAPPENINGS)
def test_a_failure_is_recorded_as_it_happens_and_replayed(http, server, record, tmp_path, happening):
    def again():
        server.raw(*HAPPENINGS[happening](server))

    again()
    patience = 0.1 if "in time" in happening else 5.0
    with use_cassette(tmp_path / "live.json", mode="live", routes=server.routes):
        direct = read(http, patience)
    again()
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        recorded = read(http, patience)
    with use_cassette(tmp_path / "c.json") as replay:
        replayed = read(http)

    assert direct[1], "this is meant to fail"
    assert replayed == recorded == direct
    assert cassette.exchanges[0].ended == replay.exchanges[0].ended == "error"
    assert cassette.exchanges[0].failure.error == replay.exchanges[0].failure.error == direct[1]


def test_a_reset_in_mid_stream_is_recorded(http, server, record, tmp_path):
    # The kernel may drop what the client had not read yet: how many chunks came is not ours to say.
    server.raw(*chunks_then(server.RESET))
    with use_cassette(tmp_path / "c.json", **record):
        recorded = read(http)
    assert recorded[1] == "ReadError"
    with use_cassette(tmp_path / "c.json"):
        assert read(http) == recorded


def test_failures_are_recorded_async_too(http, server, record, tmp_path):
    server.raw(*chunks_then())
    with use_cassette(tmp_path / "c.json", **record):
        recorded = read_async(http)
    assert recorded[:2] == (EVENTS[:2], "RemoteProtocolError")
    with use_cassette(tmp_path / "c.json"):
        assert read_async(http) == recorded


def test_a_refused_connection_is_recorded(http, record, tmp_path):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    closed = record | {"routes": {API: f"http://127.0.0.1:{port}"}}
    with use_cassette(tmp_path / "c.json", **closed):
        recorded = read(http)
    with use_cassette(tmp_path / "c.json"):
        assert read(http) == recorded
    assert recorded[1] == "ConnectError"


def test_a_connection_that_does_not_come_about_is_recorded(http, record, tmp_path):
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):  # fills the queue, so that the kernel drops whoever comes next
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        full = record | {"routes": {API: f"http://127.0.0.1:{listener.getsockname()[1]}"}}
        with use_cassette(tmp_path / "c.json", **full):
            recorded = read(http, patience=0.1)
    with use_cassette(tmp_path / "c.json"):
        assert read(http) == recorded
    assert recorded[1] == "ConnectTimeout"


@pytest.fixture
def path(server, record, tmp_path):
    """A good recording of a stream of three events."""
    server.chunked(EVENTS)
    with use_cassette(tmp_path / "good.json", **record):
        read(httpx)
    return tmp_path / "good.json"


INJECTED = {
    ReadTimeout(): ([], "ReadTimeout"),
    Reset(): ([], "ReadError"),
    Cut(): ([], "RemoteProtocolError"),
    ConnectError(): ([], "ConnectError"),
    ConnectTimeout(): ([], "ConnectTimeout"),
    WriteTimeout(): ([], "WriteTimeout"),
    PoolTimeout(): ([], "PoolTimeout"),
    ReadTimeout(after_event=0): ([], "ReadTimeout"),
    ReadTimeout(after_event=2): (EVENTS[:2], "ReadTimeout"),
    Reset(after_event=1): (EVENTS[:1], "ReadError"),
    Reset(after_bytes=3): ([b"dat"], "ReadError"),
    Cut(after_bytes=18): ([EVENTS[0], b"dat"], "RemoteProtocolError"),
    Cut(after_event=-1): (EVENTS[:2], "RemoteProtocolError"),
    Cut(after_event=-1, clean=True): (EVENTS[:2], None),
    Cut(after_event=99, clean=True): (EVENTS, None),
    Duplicate(1): ([EVENTS[0], EVENTS[1], EVENTS[1], EVENTS[2]], None),
    Duplicate(-1): ([*EVENTS, EVENTS[2]], None),
    Stall(60.0, after_event=1): (EVENTS[:1], "ReadTimeout"),
    Stall(0.1, after_event=1): (EVENTS, None),
    Slow(60.0): ([], "ReadTimeout"),
    Slow(0.1): (EVENTS, None),
}


@pytest.mark.parametrize(("fault", "expected"), INJECTED.items(), ids=str)
def test_a_fault_is_injected(http, path, fault, expected):
    with use_cassette(path, faults=[fault], allow_unused=True):
        assert read(http)[:2] == expected
    with use_cassette(path, faults=[fault], allow_unused=True):
        assert read_async(http)[:2] == expected


def test_injected_failures_read_like_real_ones(http, server, record, path, tmp_path):
    for number, (real, fault) in enumerate(
        [
            ([server.RESET], Reset()),
            ([], Cut()),
            ([server.over], ReadTimeout()),
            (chunks_then(), Cut(after_event=2)),
            (chunks_then(server.over), ReadTimeout(after_event=2)),
        ]
    ):
        server.raw(*real)
        with use_cassette(tmp_path / f"{number}.json", **record):
            happened = read(http, patience=0.1 if server.over in real else 5.0)
        with use_cassette(path, faults=[fault], allow_unused=True):
            assert read(http) == happened


def test_a_status_with_headers_comes_before_the_recording(http, path):
    faults = [
        Status(429, headers={"Retry-After": "2"}, body={"error": "slow down"}),
        Status(529),
        Status(500),
    ]
    with use_cassette(path, faults=faults) as cassette, http.Client() as client:
        busy = client.post(API, json={})
        assert (busy.status_code, busy.headers["retry-after"], busy.json()) == (
            429,
            "2",
            {"error": "slow down"},
        )
        assert [client.post(API, json={}).status_code for _ in range(3)] == [529, 500, 200]
    assert [exchange.status for exchange in cassette.exchanges] == [429, 529, 500, 200]


def test_a_retry_gets_the_recording_that_did_not_arrive(http, path):
    with use_cassette(path, faults=[Cut(after_event=1), Stall(60.0, after_event=2)]):
        assert read(http)[1] == "RemoteProtocolError"
        assert read(http)[1] == "ReadTimeout"
        assert read(http)[0] == EVENTS
    with use_cassette(path, faults=[Cut(after_event=1)]):
        read(http)  # no retry: the recording was used all the same
    with pytest.raises(Miss), use_cassette(path, faults=[Slow(0.1)]):
        assert [read(http), read(http)]  # the first arrived whole, if slowly
    with pytest.raises(Unused), use_cassette(path, faults=[Status(500)]):
        read(http)


def test_a_retry_gets_the_first_of_equal_recordings(http, server, record, tmp_path):
    for number in range(3):
        server.whole({"n": number})
    with use_cassette(tmp_path / "c.json", **record):
        for _ in range(3):
            http.post(API, json={"a": 1, "b": 2})

    headers = {"content-type": "application/json"}
    for body in ('{"a":1,"b":2}', '{"b":2,"a":1}'):  # found by its bytes, found by its value
        with (
            use_cassette(tmp_path / "c.json", faults=[Cut(after_bytes=3)]),
            http.Client(headers=headers) as client,
        ):
            broken = client.send(client.build_request("POST", API, content=body), stream=True)
            answers = [client.post(API, content=body).json()["n"]]
            with pytest.raises(http.RemoteProtocolError):
                broken.read()
            answers += [client.post(API, content=body).json()["n"] for _ in range(2)]
        assert answers == [1, 0, 2]


def test_faults_befall_the_requests_they_are_meant_for(http, path):
    stops = [Pass(), Status(503, times=2), Status(418, when=lambda sent: sent.json == {"tea": True})]
    with use_cassette(path, faults=stops, on_repeat="last") as cassette, http.Client() as client:
        for body in ({}, {"tea": True}, {}, {"tea": True}, {}):
            client.post(API, json=body)
    assert [exchange.status for exchange in cassette.exchanges] == [200, 503, 503, 418, 200]


def test_faults_in_a_tuple_come_together(http, path):
    with use_cassette(path, faults=[(Slow(1.5), Cut(after_event=2))]) as cassette:
        assert read(http)[:2] == (EVENTS[:2], "RemoteProtocolError")
    assert cassette.clock.now == pytest.approx(3.0)


def test_a_corrupt_event_is_the_same_every_time(http, path):
    seen = []
    for seed in (1, 1, 2):
        with use_cassette(path, faults=[Corrupt(1, seed=seed)]):
            seen.append(b"".join(read(http)[0]))
    assert seen[0] == seen[1] != seen[2]
    assert seen[0].startswith(EVENTS[0])
    assert seen[0].endswith(EVENTS[2])
    assert sum(a != b for a, b in zip(seen[0], b"".join(EVENTS), strict=True)) == 1


def test_an_error_event_ends_the_stream(http, path):
    with use_cassette(path, faults=[ErrorEvent({"type": "overloaded"}, after_event=1)]):
        chunks, error, _ = read(http)
    assert (chunks, error) == ([EVENTS[0], b'event: error\ndata: {"type": "overloaded"}\n\n'], None)
    with use_cassette(path, faults=[ErrorEvent({"error": 1}, event=None, after_event=1)]):
        assert read(http)[0][1] == b'data: {"error": 1}\n\n'


def test_waiting_takes_no_time_and_is_counted(http, path):
    before = time.perf_counter()
    with (
        use_cassette(path, faults=[Stall(3600.0, after_event=1)]) as cassette,
        http.Client(timeout=None) as client,
    ):
        assert len(list(client.stream("POST", API, json={}).__enter__().iter_raw())) == 3
    assert cassette.clock.now == 3600
    assert time.perf_counter() - before < 60


def test_recorded_gaps_count_when_asked(http, server, path, tmp_path):
    text = json.loads(path.read_text())
    text["interactions"][0]["response"]["stream"]["ms"] = "10 9000 10"
    (tmp_path / "timed.json").write_text(json.dumps(text))
    with use_cassette(tmp_path / "timed.json") as cassette:
        assert read(http)[0] == EVENTS
    assert cassette.clock.now == 0
    with use_cassette(tmp_path / "timed.json", delays="virtual") as cassette:
        assert read(http)[:2] == (EVENTS[:1], "ReadTimeout")


def test_a_live_recording_keeps_the_gaps(http, server, record, tmp_path, monkeypatch):
    server.chunked(EVENTS)
    ticks = itertools.count(step=0.25)
    monkeypatch.setattr("ellmer_harness.interception.open_cassettes.time.perf_counter", lambda: next(ticks))
    with use_cassette(tmp_path / "c.json", **record | {"recorded_from": "live"}):
        read(http)
    stream = json.loads((tmp_path / "c.json").read_text())["interactions"][0]["response"]["stream"]
    assert stream == {"sizes": "events", "ms": "250 250 250"}
    slept = []
    test, sleep = threading.get_ident(), time.sleep  # threads of other tests may sleep, too
    monkeypatch.setattr(
        "ellmer_harness.interception.clients.httpx_transports.time.sleep",
        lambda seconds: slept.append(seconds) if threading.get_ident() == test else sleep(seconds),
    )
    with use_cassette(tmp_path / "c.json", delays="real"):
        assert read(http)[0] == EVENTS
    assert slept == [0.25, 0.25, 0.25]
