"""vcrpy's suites run unchanged, and this engine plays and records them. Each test runs with vcrpy's own engine, too."""

import asyncio
import gzip
import http.client
import json
import urllib.request
from contextlib import suppress
from pathlib import Path

import aiohttp
import httpx
import pytest
import requests
import tornado.httpclient
import urllib3
import vcr as vcrpy
import yaml
from vcr.errors import CannotOverwriteExistingCassetteException

from ellmer_harness import HarnessError, Miss, SecretFound, Unused, use_cassette
from ellmer_harness.faults import Cut, Pass, Reset, Status
from ellmer_harness.format.serializer import Serializer
from ellmer_harness.pytest import vcr_engine
from ellmer_harness.pytest.vcr_engine import inject, install, uninstall, wrapper_of

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]
SECRET = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
TRY = 9


@pytest.fixture
def engine():
    install()
    yield vcrpy
    uninstall()


@pytest.fixture(params=["vcrpy", "ours"])
def vcr(request):
    """Runs each test with both engines, so that the second can be no other than the first."""
    if request.param == "ours":
        request.getfixturevalue("engine")
    return vcrpy


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "c.yaml")


def of_httpx(method, url, body=None):
    return httpx.request(method, url, content=body, headers={"x-mine": "1"}).content


def of_requests(method, url, body=None):
    return requests.request(method, url, data=body, headers={"x-mine": "1"}, timeout=TRY).content


def of_urllib3(method, url, body=None):
    with urllib3.PoolManager() as pool:
        return pool.request(method, url, body=body, headers={"x-mine": "1"}).data


def of_http_client(method, url, body=None):
    host = url.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=TRY)
    connection.request(method, url.removeprefix(f"http://{host}"), body, {"x-mine": "1"})
    answer = connection.getresponse().read()
    connection.close()
    return answer


def of_urllib(method, url, body=None):
    asked = urllib.request.Request(url, body, {"x-mine": "1"}, method=method)
    with urllib.request.urlopen(asked, timeout=TRY) as answer:
        return answer.read()


def of_aiohttp(method, url, body=None):
    async def ask():
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, url, data=body, headers={"x-mine": "1"}) as answer,
        ):
            return await answer.read()

    return asyncio.run(ask())


CLIENTS = [of_httpx, of_requests, of_urllib3, of_http_client, of_urllib, of_aiohttp]
clients = pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)


def yaml_of(path):
    return yaml.safe_load(Path(path).read_text(encoding="utf-8"))["interactions"]


def plain(interactions):
    """Returns interactions with names of answers' headers in lower case: aiohttp changes some."""
    for each in interactions:
        headers = each["response"]["headers"]
        each["response"]["headers"] = {name.lower(): values for name, values in headers.items()}
    return interactions


# --- Files -----------------------------------------------------------------------------------------------


@clients
@pytest.mark.parametrize("coded", [False, True], ids=["plain", "gzip"])
def test_the_files_are_the_same_and_each_plays_the_others(server, tmp_path, ask, coded):
    body = gzip.compress(b'{"a": 1}', mtime=0) if coded else b'{"a": 1}'
    fields = ("Content-Encoding: gzip",) if coded else ("X-Two: 1", "X-Two: 2")
    files, got = {}, {}
    for side in ("theirs", "ours"):
        server.whole(body, "application/json", *fields)
        if side == "ours":
            install()
        try:
            with vcrpy.use_cassette(str(tmp_path / side)):
                got[side] = ask("POST", f"{server.url}/x?a=1", b"n=1")
        finally:
            uninstall()
        files[side] = plain(yaml_of(tmp_path / side))

    assert (got["ours"], files["ours"]) == (got["theirs"], files["theirs"])
    with vcrpy.use_cassette(str(tmp_path / "ours"), record_mode="none") as cassette:
        assert ask("POST", f"{server.url}/x?a=1", b"n=1") == got["ours"]
    install()
    try:
        with vcrpy.use_cassette(str(tmp_path / "theirs"), record_mode="none") as cassette:
            wrapper = wrapper_of(cassette)
            assert ask("POST", f"{server.url}/x?a=1", b"n=1") == got["ours"]
    finally:
        uninstall()
    assert (wrapper.played, cassette.play_count, cassette.all_played) == (1, 1, True)


def test_bodies_that_vcrpy_kept_compressed_are_decompressed_by_the_client(engine, path):
    stored = {
        "request": {"method": "GET", "uri": "http://x.test/", "body": None, "headers": {}},
        "response": {
            "status": {"code": 200, "message": None},
            "headers": {
                "content-encoding": ["gzip"],
                "transfer-encoding": ["chunked"],
                "content-length": ["9"],
            },
            "body": {"string": gzip.compress(b"ok")},
        },
    }
    Path(path).write_text(yaml.dump({"version": 1, "interactions": [stored]}), encoding="utf-8")
    for ask in (of_httpx, of_requests, of_urllib3, of_aiohttp):
        with engine.use_cassette(path, record_mode="none"):
            assert ask("GET", "http://x.test/") == b"ok"


def test_a_coding_whose_body_was_recorded_decompressed_is_kept(vcr, path):
    stored = {
        "request": {"method": "GET", "uri": "http://x.test/", "body": None, "headers": {}},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Encoding": ["gzip"]},
            "body": {"string": '{"a": 1}'},
        },
    }
    Path(path).write_text(yaml.dump({"version": 1, "interactions": [stored]}), encoding="utf-8")
    with vcr.use_cassette(path, record_mode="none"):
        answer = requests.get("http://x.test/", timeout=TRY)
    assert (answer.headers["content-encoding"], answer.json()) == ("gzip", {"a": 1})


def unread_by_httpx(url):
    with httpx.stream("GET", url) as answer:
        next(answer.iter_raw(1))


def unread_by_requests(url):
    with requests.get(url, stream=True, timeout=TRY) as answer:
        next(answer.iter_content(1))


def unread_by_urllib(url):
    urllib.request.urlopen(url, timeout=TRY).close()


def unread_by_httpx_async(url):
    async def ask():
        async with httpx.AsyncClient() as client, client.stream("GET", url) as answer:
            async for _ in answer.aiter_raw(1):
                break

    asyncio.run(ask())


@pytest.mark.parametrize(
    "ask", [unread_by_httpx, unread_by_requests, unread_by_urllib, unread_by_httpx_async]
)
@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_what_the_client_leaves_unread_is_recorded(vcr, server, path, ask, chunked):
    body = b"0123456789" * 20_000
    server.chunked([body[:70_000], body[70_000:]]) if chunked else server.whole(body, "text/plain")
    with vcr.use_cassette(path):
        ask(f"{server.url}/x")
    with vcr.use_cassette(path, record_mode="none"):
        assert of_httpx("GET", f"{server.url}/x") == body


def test_what_the_client_reads_after_the_cassette_is_closed_is_recorded(vcr, server, path):
    body = b"0123456789" * 20_000
    for _ in range(3):
        server.chunked([body[:70_000], body[70_000:]], "text/plain")
    client, chunks = httpx.Client(), []
    with vcr.use_cassette(path):
        unread = client.send(client.build_request("GET", f"{server.url}/none"), stream=True)
        begun = client.send(client.build_request("GET", f"{server.url}/begun"), stream=True)
        stream = begun.iter_raw()
        chunks.append(next(stream))
        of_requests = requests.get(f"{server.url}/requests", stream=True, timeout=TRY)
    assert unread.read() == b"".join([*chunks, *stream]) == of_requests.content == body
    client.close()
    with vcr.use_cassette(path, record_mode="none"):
        assert {of_httpx("GET", f"{server.url}/{each}") for each in ("none", "begun", "requests")} == {body}


def test_what_an_async_client_reads_after_the_cassette_is_closed_is_recorded(vcr, server, path):
    body = b"0123456789" * 20_000
    server.chunked([body[:70_000], body[70_000:]], "text/plain")

    async def ask():
        async with httpx.AsyncClient() as client:
            with vcr.use_cassette(path):
                answer = await client.send(client.build_request("GET", server.url), stream=True)
            return await answer.aread()

    assert asyncio.run(ask()) == body
    with vcr.use_cassette(path, record_mode="none"):
        assert of_httpx("GET", server.url) == body


def test_headers_in_pairs_play_as_those_in_a_mapping(vcr, path):
    """vcrpy records pairs with tornado."""
    pairs = [["Content-Type", ["text/plain"]], ["X-Two", ["1", "2"]]]
    answer = {"status": {"code": 200, "message": "OK"}, "headers": pairs, "body": {"string": "ok"}}
    asked = {"method": "GET", "uri": "http://x.test/", "body": None, "headers": {}}
    Path(path).write_text(
        yaml.dump({"interactions": [{"request": asked, "response": answer}]}), encoding="utf-8"
    )

    async def ask():
        return await tornado.httpclient.AsyncHTTPClient(force_instance=True).fetch("http://x.test/")

    with vcr.use_cassette(path, record_mode="none"):
        answered = asyncio.run(ask())
    assert (answered.body, answered.headers.get_list("X-Two")) == (b"ok", ["1", "2"])


# --- Modes, misses and attributes ------------------------------------------------------------------------


@clients
def test_a_miss_is_vcrpys_exception_and_says_what_differs(vcr, server, path, ask, request):
    with vcr.use_cassette(path, match_on=["method", "uri", "body"]):
        ask("POST", f"{server.url}/x", b"city=Paris")
    with (
        vcr.use_cassette(path, match_on=["method", "uri", "body"]) as cassette,
        pytest.raises(CannotOverwriteExistingCassetteException) as caught,
    ):
        ask("POST", f"{server.url}/x", b"city=Rome")
    assert caught.value.cassette is cassette
    assert caught.value.reason == "no_match"
    assert len(server.requests) == 1
    if "ours" in request.node.name:
        assert isinstance(caught.value, Miss)
        assert "/city: [-Paris-]{+Rome+}" in str(caught.value)


@clients
@pytest.mark.parametrize("mode", ["once", "new_episodes", "none", "all"])
def test_modes(vcr, server, path, ask, mode):
    with vcr.use_cassette(path):
        ask("GET", f"{server.url}/old")
    with vcr.use_cassette(path, record_mode=mode) as cassette:
        ask("GET", f"{server.url}/old")
        if mode in {"new_episodes", "all"}:
            ask("GET", f"{server.url}/new")
        else:
            with pytest.raises(CannotOverwriteExistingCassetteException):
                ask("GET", f"{server.url}/new")
    assert len(server.requests) == {"new_episodes": 2, "all": 3}.get(mode, 1)
    assert [each["request"]["uri"][-3:] for each in yaml_of(path)] == (
        ["old", "new"] if mode in {"new_episodes", "all"} else ["old"]
    )
    assert cassette.play_count == (0 if mode == "all" else 1)
    assert cassette.write_protected == (mode in {"once", "none"})


def test_attributes(vcr, server, path):
    with vcr.use_cassette(path) as cassette:
        of_httpx("GET", f"{server.url}/a")
        of_httpx("GET", f"{server.url}/b")
        assert (cassette.dirty, cassette.rewound, len(cassette)) == (True, False, 2)
    with vcr.use_cassette(path, record_mode="none") as cassette:
        of_httpx("GET", f"{server.url}/b")
        assert (dict(cassette.play_counts), cassette.play_count, cassette.all_played) == ({1: 1}, 1, False)
        with pytest.raises(CannotOverwriteExistingCassetteException) as caught:
            of_httpx("GET", f"{server.url}/b")
        assert caught.value.reason == "already_played"
        cassette.rewind()
        of_httpx("GET", f"{server.url}/b")
        assert [each.path for each in cassette.requests] == ["/a", "/b"]
        assert [each["status"]["code"] for each in cassette.responses] == [200, 200]
        assert cassette.find_requests_with_most_matches(cassette.requests[0])[0][0].path == "/a"
        assert cassette.responses_of(cassette.requests[0])[0]["body"]["string"] == b'{"echo": ""}'


def test_equal_requests_get_their_answers_in_order(vcr, server, path):
    for number in (1, 2):
        server.whole({"n": number})
    with vcr.use_cassette(path):
        first = [of_requests("GET", server.url) for _ in range(2)]
    with vcr.use_cassette(path, record_mode="none"):
        assert [of_requests("GET", server.url) for _ in range(2)] == first
    with vcr.use_cassette(path, record_mode="none", allow_playback_repeats=True):
        assert [of_requests("GET", server.url) for _ in range(3)] == [first[0]] * 3


def test_requests_that_are_not_used_are_dropped(vcr, server, path):
    with vcr.use_cassette(path):
        of_httpx("GET", f"{server.url}/a")
        of_httpx("GET", f"{server.url}/b")
    with vcr.use_cassette(path, drop_unused_requests=True):
        of_httpx("GET", f"{server.url}/b")
    assert [each["request"]["uri"] for each in yaml_of(path)] == [f"{server.url}/b"]


@pytest.mark.parametrize("kept", [True, False])
def test_record_on_exception(vcr, server, path, kept, tmp_path):
    @vcr.use_cassette(path, record_on_exception=kept)
    def fails():
        of_httpx("GET", server.url)
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert (tmp_path / "c.yaml").exists() is kept


@clients
def test_faults(engine, server, path, ask):
    """POST, because clients repeat a GET themselves."""
    with engine.use_cassette(path):
        live = [ask("POST", f"{server.url}/{place}", b"n=1") for place in "xy"]
    with engine.use_cassette(path, record_mode="none") as cassette:
        inject(cassette, Reset(), Cut(after_bytes=3), Pass(), Reset())
        for place, got in (("x", None), ("x", None), ("x", live[0]), ("y", None), ("y", live[1])):
            if got is None:
                with pytest.raises(Exception) as caught:
                    ask("POST", f"{server.url}/{place}", b"n=1")
                assert not isinstance(caught.value, Miss | CannotOverwriteExistingCassetteException)
            else:
                assert ask("POST", f"{server.url}/{place}", b"n=1") == got
    assert (cassette.play_count, cassette.all_played, len(server.requests)) == (2, True, 2)


def test_faults_of_the_status_and_within_a_stream(engine, server, path):
    server.chunked(server.events({"n": 1}, {"n": 2}, {"n": 3}))
    with engine.use_cassette(path):
        live = of_httpx("GET", server.url)
    with engine.use_cassette(path, record_mode="none") as cassette, httpx.Client() as client:
        inject(cassette, Status(429, headers={"retry-after": "2"}), Cut(after_event=2))
        refused = client.get(server.url)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
        with client.stream("GET", server.url) as answer:
            chunks = answer.iter_raw()
            assert live.startswith(next(chunks))
            with pytest.raises(httpx.RemoteProtocolError):
                b"".join(chunks)
        assert of_httpx("GET", server.url) == live
    with pytest.raises(HarnessError, match="need an open cassette"):
        inject(cassette, Status(500))


# --- Filters and hooks -----------------------------------------------------------------------------------


@clients
def test_filters(vcr, server, path, ask):
    mine = vcr.VCR(
        filter_headers=["x-mine", ("user-agent", "me")],
        filter_query_parameters=["key"],
        filter_post_data_parameters=["password"],
        match_on=["method", "uri", "body"],
    )
    for _ in range(2):
        with mine.use_cassette(path) as cassette:
            ask("POST", f"{server.url}/x?key=1&a=2", b"password=p&b=3")
    assert (len(server.requests), cassette.all_played) == (1, True)
    asked = yaml_of(path)[0]["request"]
    assert asked["uri"] == f"{server.url}/x?a=2"
    assert asked["body"] == "b=3"
    assert "x-mine" not in {name.lower() for name in asked["headers"]}
    assert server.requests[0][1]["x-mine"] == "1"


@clients
def test_hooks(vcr, server, path, ask):
    def request(it):
        it.uri = it.uri.replace("/secret", "/plain")
        return None if it.path == "/left-out" else it

    def response(it):
        it["body"]["string"] = b'{"hidden": 1}'
        return it

    for _ in range(2):
        with vcr.use_cassette(
            path, before_record_request=request, before_record_response=response
        ) as cassette:
            got = ask("GET", f"{server.url}/secret")
            assert json.loads(ask("GET", f"{server.url}/left-out")) == {"echo": ""}
    assert (json.loads(got), cassette.play_count) == ({"hidden": 1}, 1)
    assert [each["request"]["uri"] for each in yaml_of(path)] == [f"{server.url}/plain"]
    assert len(server.requests) == 3


@clients
@pytest.mark.parametrize("option", [{"ignore_localhost": True}, {"ignore_hosts": ["127.0.0.1"]}], ids=str)
def test_ignored_hosts_are_asked_and_not_recorded(vcr, server, path, ask, option):
    with vcr.use_cassette(path, record_mode="none", **option):
        assert json.loads(ask("GET", server.url)) == {"echo": ""}
    assert not Path(path).exists()


def test_hooks_of_interactions_and_sensitive_data(vcr, server, path):
    seen = []
    options = {
        "filter_sensitive_data": [("<KEY>", "s3cret")],
        "before_save_interaction": lambda request, response: seen.append(request.uri) or (request, response),
    }
    for _ in range(2):
        with vcr.use_cassette(path, **options) as cassette:
            of_requests("POST", f"{server.url}/x?key=s3cret", b"s3cret")
    assert "s3cret" not in Path(path).read_text(encoding="utf-8")
    assert (len(seen), cassette.all_played) == (1, True)


# --- Matchers, serializers, persisters, patches ----------------------------------------------------------


@clients
def test_matchers_of_the_suite(vcr, server, path, ask):
    mine = vcr.VCR()
    mine.register_matcher("city", lambda a, b: b"Paris" in a.body and b"Paris" in b.body)
    with mine.use_cassette(path, match_on=["method", "city"]):
        ask("POST", f"{server.url}/x", b"Paris 1")
    with mine.use_cassette(path, match_on=["method", "city"], record_mode="none") as cassette:
        ask("POST", f"{server.url}/y", b"Paris 2")
    assert cassette.all_played


@clients
@pytest.mark.parametrize(
    "part", ["method", "scheme", "host", "port", "path", "query", "body", "raw_body", "headers"]
)
def test_vcrpys_matchers(vcr, server, path, ask, part):
    for _ in range(2):
        with vcr.use_cassette(path, match_on=[part]) as cassette:
            ask("POST", f"{server.url}/x?a=1", b"b=1")
    assert (len(server.requests), cassette.all_played) == (1, True)


@pytest.mark.parametrize("match_on", [[*vcrpy.VCR().match_on], ["method", "uri"], ["path", "query"]], ids=str)
def test_a_request_is_compared_only_with_recordings_that_its_matchers_allow(engine, server, path, match_on):
    compared = []
    mine = engine.VCR()
    mine.register_matcher("noted", lambda recorded, _: compared.append(recorded.path) or True)
    with mine.use_cassette(path, match_on=match_on):
        for number in range(30):
            of_httpx("GET", f"{server.url}/{number % 10}?n={number}")
    with mine.use_cassette(path, match_on=[*match_on, "noted"], record_mode="none") as cassette:
        of_httpx("GET", f"{server.url}/7?n=17")
        of_httpx("GET", f"{server.url}/7?n=7")
    assert (len(cassette), cassette.play_count, set(compared)) == (30, 2, {"/7"})
    assert len(compared) < 30


def test_serializers_and_persisters_of_the_suite(vcr, server):
    kept = {}

    class Reprs:
        @staticmethod
        def serialize(values):
            return repr(values)

        @staticmethod
        def deserialize(text):
            import ast

            return ast.literal_eval(text)

    class Memory:
        @staticmethod
        def load_cassette(path, serializer):
            if path not in kept:
                raise vcrpy.persisters.filesystem.CassetteNotFoundError
            return vcrpy.serialize.deserialize(kept[path], serializer)

        @staticmethod
        def save_cassette(path, values, serializer):
            kept[path] = vcrpy.serialize.serialize(values, serializer)

    mine = vcr.VCR(serializer="reprs")
    mine.register_serializer("reprs", Reprs)
    mine.register_persister(Memory)
    for _ in range(2):
        with mine.use_cassette("a name") as cassette:
            of_httpx("GET", server.url)
    assert cassette.all_played
    assert kept["a name"].startswith("{")


def test_files_in_our_format_if_the_suite_asks_for_it(vcr, server, tmp_path):
    mine = vcr.VCR(serializer="ellmer")
    mine.register_serializer("ellmer", Serializer(tmp_path / "blobs"))
    for _ in range(2):
        with mine.use_cassette(str(tmp_path / "c.json"), match_on=["method", "uri", "body"]) as cassette:
            got = of_requests("POST", server.url, b'{"a": 1}')
    assert cassette.all_played
    with use_cassette(tmp_path / "c.json"):
        assert of_requests("POST", server.url, b'{"a": 1}') == got
    assert json.loads((tmp_path / "c.json").read_text())["metadata"]["ellmer_harness"]["format"] == 1


def test_json_files(vcr, server, tmp_path):
    for _ in range(2):
        with vcr.use_cassette(str(tmp_path / "c.json"), serializer="json") as cassette:
            of_requests("GET", server.url)
    assert cassette.all_played
    assert json.loads((tmp_path / "c.json").read_text())["version"] == 1


def test_patches_of_the_suite(vcr, path):
    class Library:
        value = 1

    with vcr.use_cassette(path, custom_patches=((Library, "value", 2),)):
        assert Library.value == 2
    assert Library.value == 1


def test_clients_that_are_left_out(vcr, server, path, tmp_path):
    with vcr.use_cassette(path, record_mode="none", skip_patchers=["httpx"]):
        assert json.loads(of_httpx("GET", server.url)) == {"echo": ""}
        with pytest.raises(CannotOverwriteExistingCassetteException):
            of_urllib("GET", server.url)
    assert not (tmp_path / "c.yaml").exists()


# --- Ways to open one ------------------------------------------------------------------------------------


def test_decorators(vcr, server, tmp_path):
    mine = vcr.VCR(cassette_library_dir=str(tmp_path), path_transformer=vcr.VCR.ensure_suffix(".yaml"))

    @mine.use_cassette
    def named():
        return of_httpx("GET", f"{server.url}/named")

    @mine.use_cassette(func_path_generator=lambda function: f"{tmp_path}/of-{function.__name__}")
    def generated():
        return of_httpx("GET", f"{server.url}/generated")

    @mine.use_cassette("given", inject_cassette=True)
    def given(cassette, word):
        of_httpx("GET", f"{server.url}/given")
        return cassette.play_count, word

    @mine.use_cassette("awaited")
    async def awaited():
        async with httpx.AsyncClient() as client:
            return (await client.get(f"{server.url}/awaited")).content

    @mine.use_cassette("yields")
    def yields():
        yield of_httpx("GET", f"{server.url}/yields")

    for times in range(2):
        assert named() == generated() == asyncio.run(awaited()) == next(iter([*yields()])) == b'{"echo": ""}'
        assert given("word") == (times, "word")
    assert len(server.requests) == 5
    assert {each.name for each in tmp_path.iterdir()} == {
        "named.yaml",
        "of-generated.yaml",
        "given.yaml",
        "awaited.yaml",
        "yields.yaml",
    }


def test_its_class_opens_one(vcr, server, path):
    for _ in range(2):
        with vcr.cassette.Cassette.use(path=path) as cassette:
            of_httpx("GET", server.url)
    assert cassette.all_played


def test_its_class_decorates_a_function(vcr, server, path):
    @vcr.cassette.Cassette.use(path=path, inject=True)
    def asks(cassette):
        of_httpx("GET", server.url)
        return cassette.play_count

    @vcr.cassette.Cassette.use(path=path)
    async def awaits():
        async with httpx.AsyncClient() as client:
            return (await client.get(server.url)).content

    assert [asks(), asks(), asyncio.run(awaits())] == [0, 1, b'{"echo": ""}']
    assert len(server.requests) == 1


def test_the_inner_one_of_two_is_asked_in_threads_too(vcr, server, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with (
        vcr.use_cassette(str(tmp_path / "outer")) as outer,
        vcr.use_cassette(str(tmp_path / "inner")) as inner,
        ThreadPoolExecutor(1) as pool,
    ):
        pool.submit(of_requests, "GET", server.url).result()
        of_httpx("GET", server.url)
    assert (len(outer), len(inner)) == (0, 2)


def test_redirects_and_cookies(vcr, server, path):
    async def of_session():
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session,
            session.get(f"{server.url}/a", params={"q": "1"}) as answer,
        ):
            return await answer.json(), len(answer.history), [each.key for each in session.cookie_jar]

    server.whole({}, "application/json", "location: /b", "set-cookie: a=1", status="302 Found")
    with vcr.use_cassette(path):
        recorded = asyncio.run(of_session())
    with vcr.use_cassette(path, record_mode="none", match_on=["method", "uri"]) as cassette:
        assert asyncio.run(of_session()) == recorded == ({"echo": ""}, 1, ["a"])
    assert cassette.all_played


def test_what_aiohttp_plays_or_records_can_be_read_after_it_is_closed(vcr, server, path):
    async def ask():
        async with aiohttp.ClientSession() as session:
            async with session.get(server.url) as answer:
                chunks = [chunk async for chunk in answer.content.iter_any()]
            return b"".join(chunks), await answer.json()

    for mode in ("once", "none"):
        with vcr.use_cassette(path, record_mode=mode):
            assert asyncio.run(ask()) == (b'{"echo": ""}', {"echo": ""})


def test_what_aiohttp_leaves_unread_is_recorded_and_can_be_read_after_it_is_closed(vcr, server, path):
    body = b"0123456789" * 20_000
    server.chunked([body[:70_000], body[70_000:]], "text/plain")

    async def ask():
        async with aiohttp.ClientSession() as session:
            async with session.get(server.url) as answer:
                pass
            return (await answer.text()).encode()

    with vcr.use_cassette(path):
        assert asyncio.run(ask()) == body
    with vcr.use_cassette(path, record_mode="none"):
        assert of_httpx("GET", server.url) == body


# --- Strict ----------------------------------------------------------------------------------------------


@pytest.fixture
def strict():
    install(strict=True)
    yield vcrpy
    uninstall()


def test_strict_refuses_secrets(strict, server, path, tmp_path):
    with pytest.raises(SecretFound), strict.use_cassette(path):
        httpx.post(server.url, json={"client_secret": SECRET})
    assert not (tmp_path / "c.yaml").exists()


def test_strict_names_unused_recordings_and_misses_that_were_swallowed(strict, server, path):
    with strict.use_cassette(path):
        of_httpx("GET", f"{server.url}/a")
    with pytest.raises(Unused, match="/a"), strict.use_cassette(path, record_mode="none"):
        pass
    with (
        pytest.raises(Miss),
        strict.use_cassette(path, record_mode="none"),
        suppress(CannotOverwriteExistingCassetteException),
    ):
        of_httpx("GET", f"{server.url}/b")


# --- Suites ----------------------------------------------------------------------------------------------

ENGINE = ("-p", "ellmer_harness.pytest.vcr_engine")
SUITE = """
    import httpx, pytest

    @pytest.fixture{scope}
    def vcr_config():
        return {{"filter_headers": ["x-mine"], "match_on": ["method", "uri", "body"]}}

    @pytest.mark.vcr
    def test_a():
        assert httpx.post("{url}/x", json={{"n": 1}}).json() == {{"echo": '{{"n":1}}'}}

    class TestB:
        @pytest.mark.vcr(match_on=["path"])
        @pytest.mark.parametrize("n", ["1/2"])
        def test_b(self, n):
            httpx.get(f"{url}/{{n}}")
"""


@pytest.mark.parametrize("plugin", [("-p", "pytest_recording.plugin"), ()], ids=["pytest-recording", "none"])
def test_a_suite_with_one_line(suite, pytester, server, plugin, monkeypatch):
    if not plugin:
        monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    ran = suite(SUITE.format(url=server.url, scope=""), *ENGINE, *plugin, "--record-mode=once")
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["vcrpy's cassettes, by ellmer_harness: * 2 recorded*"])
    files = sorted(str(each.relative_to(pytester.path)) for each in pytester.path.rglob("*.yaml"))
    assert files == ["cassettes/test_it/TestB.test_b[1-2].yaml", "cassettes/test_it/test_a.yaml"]
    suite(None, *ENGINE, *plugin, "--block-network").assert_outcomes(passed=2)
    assert len(server.requests) == 2


def test_what_is_marked_and_not_recorded_fails_and_reaches_nobody(suite, server, monkeypatch):
    monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    ran = suite(SUITE.format(url=server.url, scope=""), *ENGINE)
    ran.assert_outcomes(failed=2)
    ran.stdout.fnmatch_lines(["*NotRecorded: Can't play back this request*"])
    assert not server.requests


def test_cassettes_of_pytest_vcr_are_found_and_paths_of_marks_are_played(
    suite, pytester, server, monkeypatch
):
    monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    (pytester.path / "cassettes").mkdir()
    with vcrpy.use_cassette(str(pytester.path / "cassettes/test_a.yaml")):
        of_httpx("GET", f"{server.url}/a")
    with vcrpy.use_cassette(str(pytester.path / "more.yaml")):
        of_httpx("GET", f"{server.url}/more")
    code = f"""
        import httpx, pytest

        @pytest.mark.vcr("{pytester.path}/more.yaml")
        def test_a(vcr):
            httpx.get("{server.url}/a")
            httpx.get("{server.url}/more")
            assert vcr.play_count == 2
    """
    suite(code, *ENGINE).assert_outcomes(passed=1)
    assert len(server.requests) == 2


def test_the_hook_of_pytest_recording_and_a_name_with_its_suffix(suite, server, pytester, monkeypatch):
    monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    hook = "\ndef pytest_recording_configure(config, vcr):\n    vcr.match_on = ['method']\n"
    (pytester.path / "conftest.py").write_text((pytester.path / "conftest.py").read_text() + hook)
    code = f"""
        import httpx, pytest

        @pytest.mark.default_cassette("named.yaml")
        @pytest.mark.vcr
        def test_it(vcr):
            assert vcr._match_on[0].__name__ == "method" and len(vcr._match_on) == 1
            httpx.get("{server.url}")
    """
    suite(code, *ENGINE, "--record-mode=once").assert_outcomes(passed=1)
    assert [path.name for path in (pytester.path / "cassettes/test_it").iterdir()] == ["named.yaml"]


def test_the_folder_of_the_suite_and_the_options_of_both_plugins(suite, server, pytester, monkeypatch):
    monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    code = f"""
        import httpx, pytest, socket

        @pytest.fixture(scope="module")
        def vcr_cassette_dir():
            return "recordings"

        @pytest.mark.vcr
        def test_marked():
            httpx.get("{server.url}")

        def test_free():
            with socket.socket() as one:
                one.connect(("127.0.0.1", {server.listener.getsockname()[1]}))
    """
    suite(code, *ENGINE, "--vcr-record=once").assert_outcomes(passed=2)
    assert [each.name for each in (pytester.path / "recordings").iterdir()] == ["test_marked.yaml"]
    for options, reached in (
        (("--disable-recording",), 1),
        (("--disable-vcr",), 1),
        (("--record-mode=none",), 0),
        (("--block-network", "--allowed-hosts=10.*,127.*"), 0),
    ):
        server.requests.clear()
        suite(None, *ENGINE, *options).assert_outcomes(passed=2)
        assert len(server.requests) == reached
    suite(None, *ENGINE, "--block-network").assert_outcomes(passed=1, failed=1)


def test_blocked_networks(suite, server, monkeypatch):
    monkeypatch.setattr(vcr_engine.vcr_marks, "find_spec", lambda _: None)
    code = f"""
        import httpx, pytest, socket

        @pytest.mark.block_network
        def test_blocked():
            with socket.socket() as one, pytest.raises(RuntimeError, match="127.0.0.1"):
                one.connect(("127.0.0.1", {server.listener.getsockname()[1]}))

        @pytest.mark.block_network(allowed_hosts=["127.*"])
        def test_allowed():
            httpx.get("{server.url}")
    """
    suite(code, *ENGINE).assert_outcomes(passed=2)


def test_a_mark_that_nobody_takes_stops_the_run(suite, server):
    ran = suite(SUITE.format(url=server.url, scope=""), "-o", "markers=vcr")
    ran.stderr.fnmatch_lines(["*is marked `vcr`, but no plugin handles this mark*vcr_engine*"])
    assert not server.requests


def test_it_is_loaded_before_pytest_recording_without_a_warning(suite):
    code = "def test_a(): pass"
    ran = suite(code, *ENGINE, "-p", "pytest_recording.plugin", "-W", "error", process=True)
    ran.assert_outcomes(passed=1)


def test_an_answer_in_the_form_of_old_vcrpy_is_read():
    old = {"status_code": 404, "content": "no", "headers": {"X-A": ["1"]}, "http_version": "HTTP/1.1"}
    reply = vcr_engine._reply(old, httpx, "GET")
    assert (reply.status, reply.body) == (404, b"no")
