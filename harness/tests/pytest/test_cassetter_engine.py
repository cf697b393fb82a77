"""cassetter's suites run unchanged, and this engine plays and records them. What one engine records, the other plays.

cassetter's plugin takes the fixture and the options of other plugins, so it is installed only where `nox -s cassetter` runs these tests.
"""

import asyncio
import json
import subprocess
import sys
import threading
from contextlib import contextmanager

import aiohttp
import httpx
import pytest
import requests

cassetter = pytest.importorskip("cassetter")
engine = pytest.importorskip("ellmer_harness.pytest.cassetter_engine")
from ellmer_harness import Miss  # noqa: E402  # the tests are skipped before
from ellmer_harness.faults import Reset, Status  # noqa: E402  # likewise

pytest_plugins = ["pytester"]
TRY = 9
SIDES = ["theirs", "ours"]


@contextmanager
def playing(side):
    """Plays cassetter's cassettes with its engine or with this package's."""
    if side == "ours":
        engine.install()
    try:
        yield
    finally:
        engine.uninstall()


@pytest.fixture(params=SIDES)
def records(request):
    """The engine that records."""
    return request.param


@pytest.fixture(params=SIDES)
def plays(request):
    """The engine that plays."""
    return request.param


# --- HTTP ------------------------------------------------------------------------------------------------


def of_httpx(url):
    return httpx.post(url, json={"a": 1}).content


def of_requests(url):
    return requests.post(url, json={"a": 1}, timeout=TRY).content


def of_aiohttp(url):
    async def ask():
        async with aiohttp.ClientSession() as session, session.post(url, json={"a": 1}) as answer:
            return await answer.read()

    return asyncio.run(ask())


@pytest.fixture(params=["yaml", "toml"])
def path(tmp_path, request):
    """A cassette in each form."""
    return tmp_path / f"c.{request.param}"


@pytest.mark.parametrize("ask", [of_httpx, of_requests, of_aiohttp], ids=lambda ask: ask.__name__)
def test_each_plays_what_the_other_records(server, path, records, plays, ask):
    server.whole(b'{"caf\xc3\xa9": [1, null]}')
    with playing(records), cassetter.use_cassette(path):
        live = ask(f"{server.url}/x?token=t0k3n")
    assert b"t0k3n" not in path.read_bytes()
    with (
        playing(plays),
        cassetter.use_cassette(path, record_mode="none", match_on=["method", "uri", "json_body"]) as cassette,
    ):
        assert json.loads(ask(f"{server.url}/x?token=other")) == json.loads(live)
        wrapper = engine.wrapper_of(cassette)
    assert (cassette.play_count, cassette.all_played, len(server.requests)) == (1, True, 1)
    assert (wrapper.played if plays == "ours" else wrapper) == (1 if plays == "ours" else None)


def test_files_are_the_same(server, tmp_path):
    files = {}
    for side in SIDES:
        with playing(side), cassetter.use_cassette(tmp_path / side):
            of_httpx(server.url)
            of_requests(server.url)
        files[side] = [
            line for line in (tmp_path / side).read_text().splitlines() if "recorded_at" not in line
        ]
    assert files["ours"] == files["theirs"]


def test_a_miss_is_cassetters_exception_and_says_what_differs(server, tmp_path, plays):
    with cassetter.use_cassette(tmp_path / "c.yaml"):
        of_httpx(f"{server.url}/a")
    with (
        playing(plays),
        cassetter.use_cassette(tmp_path / "c.yaml", record_mode="none"),
        pytest.raises(cassetter.NoMatchError) as caught,
    ):
        of_httpx(f"{server.url}/b")
    assert len(server.requests) == 1
    if plays == "ours":
        assert isinstance(caught.value, Miss)
        assert "/a" in str(caught.value)
        assert "/b" in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "reached"),
    [("once", 1), ("new_episodes", 1), ("none", 1), ("all", 2), ("rewrite", 2), ("verify", 2)],
)
def test_modes(server, tmp_path, plays, mode, reached):
    with cassetter.use_cassette(tmp_path / "c.yaml"):
        of_httpx(server.url)
    with playing(plays), cassetter.use_cassette(tmp_path / "c.yaml", record_mode=mode) as cassette:
        of_httpx(server.url)
    assert len(server.requests) == reached
    assert len(cassette.interactions) == 1


def test_verify_compares_with_the_live_answer(server, tmp_path, plays):
    server.whole(b"old", "text/plain")
    with cassetter.use_cassette(tmp_path / "c.yaml"):
        of_httpx(server.url)
    server.whole(b"new", "text/plain")
    with (
        playing(plays),
        cassetter.use_cassette(tmp_path / "c.yaml", record_mode="verify"),
        pytest.raises(cassetter.ResponseMismatchError, match="old"),
    ):
        of_httpx(server.url)


def test_hooks_and_hosts_that_are_passed_by(server, tmp_path, plays):
    def skipped(request):
        if request.uri.endswith("/skip"):
            raise cassetter.SkipRecording
        request.headers["x-hook"] = ["1"]
        return request

    with (
        playing(plays),
        cassetter.use_cassette(tmp_path / "c.yaml", before_record_request=skipped) as cassette,
    ):
        of_httpx(f"{server.url}/skip")
        of_httpx(f"{server.url}/kept")
    assert [each.request.headers["x-hook"] for each in cassette.interactions] == [["1"]]
    with playing(plays), cassetter.use_cassette(tmp_path / "d.yaml", ignore_localhost=True) as cassette:
        of_httpx(server.url)
    assert not cassette.interactions
    with playing(plays), cassetter.use_cassette(tmp_path / "e.yaml", intercept=["aiohttp"]) as cassette:
        of_httpx(server.url)
        of_aiohttp(server.url)
    assert len(cassette.interactions) == 1


def test_faults(server, tmp_path):
    with cassetter.use_cassette(tmp_path / "c.yaml"):
        live = of_httpx(server.url)
    with playing("ours"), cassetter.use_cassette(tmp_path / "c.yaml", record_mode="none") as cassette:
        engine.inject(cassette, Status(503), Reset())
        assert httpx.post(server.url, json={"a": 1}).status_code == 503
        with pytest.raises(httpx.ReadError):
            of_httpx(server.url)
        assert of_httpx(server.url) == live
    assert (cassette.play_count, len(server.requests)) == (1, 1)


def test_an_unknown_client_is_refused(tmp_path, plays):
    with (
        playing(plays),
        pytest.raises(ValueError, match="nobody"),
        cassetter.use_cassette(tmp_path / "c", intercept=["nobody"]),
    ):
        pass


# --- WebSockets ------------------------------------------------------------------------------------------


@pytest.fixture
def echo():
    serving = pytest.importorskip("websockets.sync.server")

    def talk(client):
        for message in client:
            client.send(message)
            if message == "bye":
                client.close(4000, "done")
                return

    server = serving.serve(talk, "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/x"
    server.shutdown()


async def talk_with(url, *messages):
    import websockets

    got = []
    async with websockets.connect(url) as client:
        for message in messages:
            await client.send(message)
            got.append(await client.recv())
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await client.recv()
    return [*got, (closed.value.rcvd.code, closed.value.rcvd.reason)]


@pytest.mark.parametrize("strict", [False, True], ids=["any", "strict"])
def test_websockets(echo, tmp_path, records, plays, strict):
    options = {"intercept": ["websockets"], "match_on": ["method", "uri", "body"] if strict else None}
    said = ("hi", b"\x00\x01", '{"a": 1}', "bye")
    with playing(records), cassetter.use_cassette(tmp_path / "c.yaml", **options):
        live = asyncio.run(talk_with(echo, *said))
    with (
        playing(plays),
        cassetter.use_cassette(tmp_path / "c.yaml", record_mode="none", **options) as cassette,
    ):
        assert asyncio.run(talk_with(echo, *said)) == live == [*said, (4000, "done")]
        wrapper = engine.wrapper_of(cassette)
    assert cassette.all_played
    assert (wrapper.played if plays == "ours" else wrapper) == (1 if plays == "ours" else None)


def test_other_messages_over_websockets(echo, tmp_path):
    with cassetter.use_cassette(tmp_path / "c.yaml", intercept=["websockets"]):
        live = asyncio.run(talk_with(echo, "hi", "bye"))
    with (
        playing("ours"),
        cassetter.use_cassette(tmp_path / "c.yaml", record_mode="none", intercept=["websockets"]),
    ):
        assert asyncio.run(talk_with(echo, "HI", "bye")) == live
    strict = {"intercept": ["websockets"], "match_on": ["method", "uri", "body"]}
    with (
        playing("ours"),
        cassetter.use_cassette(tmp_path / "c.yaml", record_mode="none", **strict) as cassette,
    ):
        with pytest.raises(Exception, match="not in the cassette"):
            asyncio.run(talk_with(echo, "HI", "bye"))
        assert "hi" in str(engine.wrapper_of(cassette).misses[0])


# --- gRPC ------------------------------------------------------------------------------------------------


class Text:
    """A message with one field of text, as protobuf writes it."""

    def __init__(self, value=""):
        self.value = value

    def SerializeToString(self, **_):  # noqa: N802  # protobuf's name
        data = self.value.encode()
        return b"\x0a" + bytes([len(data)]) + data

    @staticmethod
    def FromString(data):  # noqa: N802  # likewise
        return Text(data[2:].decode())


async def texts(*values):
    for value in values:
        yield Text(value)


def handler():
    grpc = pytest.importorskip("grpc")

    class Echo(grpc.GenericRpcHandler):
        def service(self, details):
            kind = details.method.rpartition("/")[2]
            make = getattr(grpc, f"{kind}_rpc_method_handler")
            return make(getattr(self, kind), Text.FromString, Text.SerializeToString)

        async def unary_unary(self, request, _):
            return Text(request.value + "!")

        async def unary_stream(self, request, _):
            for number in range(3):
                yield Text(f"{request.value}{number}")

        async def stream_unary(self, requests, _):
            return Text("".join([each.value async for each in requests]))

        async def stream_stream(self, requests, _):
            async for each in requests:
                yield Text(each.value * 2)

    return Echo()


async def calls(port, said="a"):
    import grpc.aio

    forms = {"request_serializer": Text.SerializeToString, "response_deserializer": Text.FromString}
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        one = await channel.unary_unary("/e.E/unary_unary", **forms)(Text(said), metadata=[("x-a", "1")])
        two = channel.unary_stream("/e.E/unary_stream", **forms)(Text("b"))
        three = await channel.stream_unary("/e.E/stream_unary", **forms)(texts("c", said))
        four = channel.stream_stream("/e.E/stream_stream", **forms)(texts("d", "e"))
        return [
            one.value,
            [each.value async for each in two],
            three.value,
            [each.value async for each in four],
        ]


async def recorded_and_played(path, records, plays, strict, said):
    import grpc.aio

    options = {"intercept": ["grpc"], "match_on": ["method", "uri", "body"] if strict else None}
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with playing(records), cassetter.use_cassette(path, **options):
        live = await calls(port)
    await server.stop(0)
    with playing(plays), cassetter.use_cassette(path, record_mode="none", **options) as cassette:
        played = await calls(port, said)
        wrapper = engine.wrapper_of(cassette)
    assert cassette.all_played
    assert (wrapper.played if plays == "ours" else wrapper) == (4 if plays == "ours" else None)
    return live, played


@pytest.mark.parametrize("strict", [False, True], ids=["any", "strict"])
def test_grpc(tmp_path, records, plays, strict):
    pytest.importorskip("grpc")
    live, played = asyncio.run(recorded_and_played(tmp_path / "c.yaml", records, plays, strict, "a"))
    assert played == live == ["a!", ["b0", "b1", "b2"], "ca", ["dd", "ee"]]


@pytest.mark.parametrize("strict", [False, True], ids=["any", "strict"])
def test_other_requests_of_grpc(tmp_path, plays, strict):
    pytest.importorskip("grpc")
    running = recorded_and_played(tmp_path / "c.yaml", "theirs", plays, strict, "other")
    if strict:
        with pytest.raises(cassetter.NoMatchError):
            asyncio.run(running)
    else:
        live, played = asyncio.run(running)
        assert played == live


def test_without_grpcio():
    code = "import sys; sys.modules['grpc'] = None; import ellmer_harness.pytest.cassetter_engine"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- Suites ----------------------------------------------------------------------------------------------


SUITE = """
    import httpx, pytest
    from cassetter import Cassette

    @pytest.fixture(scope="module")
    def vcr_config():
        return {{"record_mode": "once"}}

    @pytest.mark.vcr
    def test_one(cassette, vcr):
        assert isinstance(cassette, Cassette) and vcr is cassette
        httpx.get("{url}/a")
        assert len(cassette.interactions) == 1

    @pytest.mark.default_cassette("named.toml")
    @pytest.mark.vcr(match_on=["method", "uri", "body"])
    def test_two():
        httpx.get("{url}/b")
"""


def test_a_suite_with_one_line(suite, server, pytester):
    options = ("-p", "cassetter.pytest_plugin", "-p", "ellmer_harness.pytest.cassetter_engine")
    ran = suite(SUITE.format(url=server.url), *options, process=True)
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(
        ["*cassetter's cassettes, by ellmer_harness: 2 cassettes, 0 replayed, 2 recorded, 0 passed on"]
    )
    assert sorted(path.name for path in (pytester.path / "cassettes/test_it").iterdir()) == [
        "named.toml",
        "test_one.yaml",
    ]
    ran = suite(None, *options, "--record-mode=none", process=True)
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["*2 cassettes, 2 replayed, 0 recorded, 0 passed on"])
    assert len(server.requests) == 2
