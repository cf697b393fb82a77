"""A cassette records and replays for every client, in blocking and async code."""

import asyncio
import contextlib
import dataclasses
import gzip
import inspect
import json
import re
import threading
from unittest import mock

import brotli
import httpx
import pytest
import zstandard

from ellmer_harness import CassetteError, Miss, Refused, use_cassette
from ellmer_harness.exchange.messages import Exchange, Sent

API = "https://api.example.com"
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Grüße ☃"}]}


def ask(http, body=CHAT, **options):
    with http.Client() as client:
        return client.post(f"{API}/v1/chat", json=body, **options)


def test_what_was_recorded_is_replayed_without_a_server(http, server, record, tmp_path):
    path = tmp_path / "chat.json"
    with use_cassette(path, **record) as cassette:
        recorded = ask(http)
    server.listener.close()
    with use_cassette(path) as again:
        replayed = ask(http)

    assert replayed.json() == recorded.json()
    assert replayed.headers == recorded.headers
    assert cassette.sent == again.sent
    assert [e.body for e in cassette.exchanges] == [e.body for e in again.exchanges]
    assert not cassette.exchanges[0].played
    assert again.exchanges[0].played


def test_the_values_of_a_header_are_found_by_its_name_in_any_case():
    headers = [("x-a", "1"), ("content-encoding", "gzip"), ("x-a", "2")]
    exchange = Exchange(Sent("GET", API, {}, b""), 200, headers=headers, chunks=[gzip.compress(b'{"a": 1}')])

    assert [exchange.header(name) for name in ("X-A", "x-a", "x-b")] == ["1, 2", "1, 2", ""]
    assert exchange.json == {"a": 1}


def test_a_route_is_invisible_to_client_and_cassette(http, server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        response = ask(http)

    assert str(response.request.url) == f"{API}/v1/chat"
    assert cassette.sent[0].url == f"{API}/v1/chat"
    assert "127.0.0.1" not in (tmp_path / "c.json").read_text()
    assert server.requests[0][1]["host"] == server.url.removeprefix("http://")


def test_a_route_needs_a_whole_host(server, tmp_path):
    from ellmer_harness.cassette.cassette import target

    assert target("https://api.example.com.evil/x", server.routes) == "https://api.example.com.evil/x"
    assert target("https://api.example.com?x=1", server.routes) == f"{server.url}?x=1"


def test_blocking_and_async_streams_keep_their_chunks(http, server, record, tmp_path):
    chunks = [b"data: \xe2", b"\x98\x83\r", b"\n\r\n", *server.events({"i": 1})]
    server.chunked(chunks)

    def blocking():
        with http.Client() as client, client.stream("POST", API, json={}) as response:
            return list(response.iter_raw())

    async def later():
        async with http.AsyncClient() as client, client.stream("POST", API, json={}) as response:
            return [chunk async for chunk in response.aiter_raw()]

    with use_cassette(tmp_path / "s.json", **record):
        assert blocking() == chunks
    with use_cassette(tmp_path / "s.json"):
        assert blocking() == chunks
    with use_cassette(tmp_path / "s.json"):
        assert asyncio.run(later()) == chunks


def test_an_async_stream_is_recorded_the_same(http, server, record, tmp_path):
    async def later():
        async with http.AsyncClient() as client, client.stream("POST", API, json={}) as response:
            return [chunk async for chunk in response.aiter_raw()]

    server.chunked(server.events(1, 2))
    with use_cassette(tmp_path / "s.json", **record) as cassette:
        assert asyncio.run(later()) == server.events(1, 2)
    assert cassette.exchanges[0].ended == "eof"
    assert '"sizes": "events"' in (tmp_path / "s.json").read_text()


def test_the_client_sees_the_first_token_before_the_last_is_sent(http, server, record, tmp_path):
    seen = threading.Event()
    first, last = server.events("first", "last")
    server.chunked([first, seen, last])  # the server waits until the client has the first chunk

    with (
        use_cassette(tmp_path / "s.json", **record),
        http.Client() as client,
        client.stream("POST", API) as response,
    ):
        chunks = response.iter_raw()
        assert next(chunks) == first
        seen.set()
        assert next(chunks) == last


def test_an_endless_stream_is_recorded_as_far_as_it_was_read(http, server, record, tmp_path):
    path = tmp_path / "endless.json"
    server.chunked([*server.events(1, 2, 3), server.over], end=False)

    def first(number):
        with http.Client() as client, client.stream("POST", API) as response:
            chunks = response.iter_raw()
            return [next(chunks) for _ in range(number)]

    with use_cassette(path, **record) as cassette:
        assert first(2) == server.events(1, 2)
    assert cassette.exchanges[0].ended == "closed"
    with use_cassette(path):
        assert first(2) == server.events(1, 2)
    with pytest.raises(Miss, match="ends here because the client stopped"), use_cassette(path):
        first(3)


def test_recording_twice_changes_nothing(server, record, tmp_path):
    path, texts = tmp_path / "c.json", []
    for _ in range(2):
        server.chunked(server.events({"a": 1}), "text/event-stream", "date: now", "set-cookie: a=b")
        server.whole(b"x" * 500_000, "text/plain")  # arrives in as many pieces as the kernel likes
        with use_cassette(path, **record):
            ask(httpx)
            ask(httpx, {"other": 1})
            ask(httpx, {"another": 1})
        texts.append(path.read_bytes())

    assert texts[0] == texts[1]
    assert b"date" not in texts[0]
    assert b"sizes" not in texts[0]
    assert b"cookie" not in texts[0]


def test_provenance_is_in_the_cassette(server, record, tmp_path):
    with use_cassette(
        tmp_path / "l.json", mode="rewrite", routes=server.routes, metadata={"case": "x"}
    ) as cassette:
        ask(httpx)
    ours = cassette_metadata(tmp_path / "l.json")
    assert ours["ellmer_harness"].keys() == {"format", "recorded_from", "recorded_at", "recorded_with"}
    assert ours["case"] == "x"

    with use_cassette(tmp_path / "s.json", **record):
        ask(httpx)
    assert cassette_metadata(tmp_path / "s.json")["ellmer_harness"] == {
        "format": 1,
        "recorded_from": "test-server",
    }
    with use_cassette(tmp_path / "s.json") as again:
        ask(httpx)
    assert (cassette.recorded_from, again.recorded_from) == ("live", "test-server")


def cassette_metadata(path):
    return json.loads(path.read_text())["metadata"]


def test_the_transports_are_left_as_they_were(http, server, record, tmp_path):
    before = http.HTTPTransport.handle_request, http.AsyncHTTPTransport.handle_async_request
    with use_cassette(tmp_path / "c.json", **record):
        assert http.HTTPTransport.handle_request is not before[0]
        ask(http)
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(CassetteError):
        use_cassette(tmp_path / "broken.json").__enter__()
    with pytest.raises(Refused), use_cassette(tmp_path / "d.json", **record, judge=lambda _: ["no"]):
        ask(http)
    assert before == (http.HTTPTransport.handle_request, http.AsyncHTTPTransport.handle_async_request)


def test_a_patch_that_outlives_a_cassette_does_no_harm(http, server, record, tmp_path):
    patch = mock.patch.object(http.HTTPTransport, "handle_request", return_value=None)
    original = http.HTTPTransport.handle_request
    cassette = use_cassette(tmp_path / "a.json", **record)
    with cassette:
        ask(http)
        patch.start()
    patch.stop()  # puts back what it found: our wrapper, of a cassette that is closed
    try:
        with use_cassette(tmp_path / "b.json", **record) as second:
            assert ask(http).status_code == 200
        assert len(second.sent) == 1
        with http.Client() as client:
            assert client.get(server.url).status_code == 200
    finally:
        http.HTTPTransport.handle_request = original


def test_cassettes_nest_and_the_inner_one_counts(http, server, record, tmp_path):
    with use_cassette(tmp_path / "outer.json", **record) as outer:
        ask(http)
        with use_cassette(tmp_path / "inner.json", **record) as inner:
            ask(http)
            ask(http)
        ask(http)
    assert (len(outer.sent), len(inner.sent)) == (2, 2)


def test_a_thread_without_context_among_several_cassettes_is_told(http, server, record, tmp_path):
    def lost():
        with contextlib.suppress(Miss):
            ask(http)

    def run():
        ask(http)
        with use_cassette(tmp_path / "b.json", **record):
            ask(http)
            thread = threading.Thread(target=lost)
            thread.start()
            thread.join()

    told = r"thread or task without a cassette of its own.*a\.json.*b\.json"
    with pytest.raises(Miss, match=told), use_cassette(tmp_path / "a.json", **record):
        run()


def test_a_recording_that_may_ask_for_nothing_leaves_an_empty_cassette(tmp_path):
    path = tmp_path / "idle.json"
    with use_cassette(path, mode="rewrite", recorded_from="local", allow_idle=True):
        pass

    with use_cassette(path, allow_idle=True) as cassette:
        pass

    assert cassette.recorded_from == "local"
    assert cassette.unused() == []


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_compressed_answers_arrive_as_they_came(http, server, record, tmp_path, coding):
    compress = {"gzip": gzip.compress, "br": brotli.compress, "zstd": zstandard.compress}[coding]
    server.whole(compress(b'{"say":"hi"}'), "application/json", f"content-encoding: {coding}")
    with use_cassette(tmp_path / "c.json", **record, accept_encoding=None) as cassette:
        recorded = ask(http)
    assert server.requests[0][1]["accept-encoding"] != "identity"
    with use_cassette(tmp_path / "c.json") as again:
        response = ask(http)
    assert response.content == recorded.content
    assert response.headers["content-encoding"] == coding
    assert cassette.exchanges[0].body == again.exchanges[0].body
    assert again.exchanges[0].json == {"say": "hi"}


def test_recording_asks_for_plain_bodies(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record) as cassette:
        ask(httpx)
    assert server.requests[0][1]["accept-encoding"] == "identity"
    assert "gzip" in cassette.sent[0].headers["accept-encoding"], "what the client built is what is told"


def test_a_redirect_is_two_exchanges(http, server, record, tmp_path):
    server.whole({}, "application/json", f"location: {API}/there", status="307 Temporary Redirect")
    with use_cassette(tmp_path / "c.json", **record):
        recorded = ask(http, follow_redirects=True)
    with use_cassette(tmp_path / "c.json") as cassette:
        assert ask(http, follow_redirects=True).json() == recorded.json()
    assert [sent.url for sent in cassette.sent] == [f"{API}/v1/chat", f"{API}/there"]


def test_an_upload_in_pieces_is_kept_whole(http, server, record, tmp_path):
    def upload():
        with http.Client() as client:
            return client.put(API, content=(part for part in (b"a", b"b"))).json()

    with use_cassette(tmp_path / "c.json", **record):
        expected = upload()
    with use_cassette(tmp_path / "c.json") as cassette:
        assert upload() == expected
    assert cassette.sent[0].body == b"ab"


def test_as_a_decorator_each_call_has_the_cassette_anew(server, record, tmp_path):
    @use_cassette(tmp_path / "c.json", **record | {"mode": "record"})
    def ask(n):
        return httpx.post(f"{API}/x", json={"n": n}).json()

    @use_cassette(tmp_path / "c.json")
    async def ask_async():
        async with httpx.AsyncClient() as client:
            return (await client.post(f"{API}/x", json={"n": 1})).json()

    @use_cassette(tmp_path / "c.json")
    def asked():
        yield httpx.post(f"{API}/x", json={"n": 1}).json()

    assert ask(1) == ask(1) == asyncio.run(ask_async()) == next(asked())
    assert ask.__name__ == "ask"
    assert len(server.requests) == 1


def test_a_request_is_looked_up_and_written_as_it_is_normalized(server, record, tmp_path):
    def without_id(sent):
        return dataclasses.replace(sent, body=re.sub(rb"id-\d+", b"id", sent.body))

    with use_cassette(tmp_path / "c.json", **record, normalize=without_id):
        httpx.post(API, json={"id": "id-17"})
    assert b"id-17" in server.requests[0][2]
    assert '"id": "id"' in (tmp_path / "c.json").read_text()
    with use_cassette(tmp_path / "c.json", normalize=without_id) as cassette:
        httpx.post(API, json={"id": "id-18"})
    assert cassette.sent[0].json == {"id": "id-18"}


def test_a_hook_changes_what_is_saved_or_leaves_it_out(server, record, tmp_path):
    def hook(interaction):
        if interaction["request"]["uri"].endswith("/ping"):
            return None
        interaction["response"]["body"] = {"string": interaction["response"]["body"]["string"].upper()}
        return interaction

    with use_cassette(tmp_path / "c.json", **record, before_save=hook):
        httpx.get(f"{API}/ping")
        httpx.post(API, content=b"abc")
    with use_cassette(tmp_path / "c.json"):
        assert httpx.post(API, content=b"abc").content == b'{"ECHO": "ABC"}'


def test_a_name_and_password_in_a_url_do_not_lead_past_a_route(server, record, tmp_path):
    """The request would go to the real server, with its password."""
    server.whole({"a": 1})
    with use_cassette(tmp_path / "c.json", **record):
        assert httpx.get("https://user:hunter3x@api.example.com/x").json() == {"a": 1}
    assert len(server.requests) == 1
    assert "hunter3x" not in (tmp_path / "c.json").read_text("utf-8")
    with use_cassette(tmp_path / "c.json"):
        assert httpx.get("https://user:other@api.example.com/x").json() == {"a": 1}


def test_a_recording_that_could_not_be_written_is_not_called_recorded(server, record, tmp_path):
    (tmp_path / "folder").write_text("a file where the folder should be")

    def run():
        with use_cassette(tmp_path / "folder" / "c.json", **record) as cassette:
            cassettes.append(cassette)
            httpx.get("https://api.example.com/x")

    cassettes = []
    server.whole({"a": 1})
    with pytest.raises(CassetteError, match="could not be written"):
        run()
    assert cassettes[0].verdict.state == "failed"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"record_mode": "once"}, r"use_cassette\(\): Here, vcrpy's record_mode is mode= \(once is 'record'"),
        ({"filter_headers": ["x"]}, "vcrpy's filter_headers is not needed: only listed headers are written"),
        ({"match_on": ["uri"]}, "vcrpy's match_on is match="),
        ({"before_record_response": len}, "before_save="),
    ],
)
def test_an_option_of_vcrpy_is_answered_with_ours(options, says, tmp_path):
    with pytest.raises(TypeError, match=says):
        use_cassette(tmp_path / "c.json", **options)


def test_a_decorator_without_a_path_or_of_a_class_says_so(tmp_path):
    for wrong in (lambda: use_cassette(test_a_decorator_without_a_path_or_of_a_class_says_so), use_cassette):
        with pytest.raises(TypeError, match=r"needs the path of the cassette: @use_cassette\('name.json'\)"):
            wrong()
    with pytest.raises(TypeError, match="Suite is a class: mark it with"):
        use_cassette(tmp_path / "c.json")(type("Suite", (), {}))


def test_help_shows_the_parameters_that_it_takes():
    shown, constructor = (inspect.signature(each) for each in (use_cassette, use_cassette.__new__))
    assert [*shown.parameters][:2] == ["path", "mode"]
    assert [*constructor.parameters] == ["cls", *shown.parameters]
