"""gRPC: recorded calls between a client and a server are replayed without the server."""

import asyncio
import contextlib
import itertools
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from ellmer_harness import Blocked, Match, Miss, SecretFound, use_cassette
from ellmer_harness.faults import Cut, Pass, ReadTimeout, Status
from ellmer_harness.interception.client_patching import LateImports
from ellmer_harness.interception.clients import grpc_clients, grpc_conversations

API = "grpc://api.example.com:443"
TARGET = "dns:///api.example.com:443"


def city(name):
    """Returns a protobuf message with one text."""
    return b"\n" + bytes([len(name)]) + name.encode()


def answers(requests, context):
    """A server of cities: an answer for each, with metadata, and errors with details."""
    sent = dict(context.invocation_metadata())
    context.send_initial_metadata(
        [("served-by", "7"), ("token", "s3cr3t-9f8e7d6c5b"), ("key-bin", b"\x00\xff")]
    )
    context.set_trailing_metadata([("cost", "1"), ("cost", "2"), ("echo", sent.get("x-tenant", "nobody"))])
    for request in requests:
        if request == city("Atlantis"):
            context.abort(grpc.StatusCode.NOT_FOUND, "no city – here")
        if request == city("Slow"):
            context.add_callback(lambda: None)
            while context.is_active():
                pass
        for n in range(3 if request == city("Many") else 1):
            yield city(request[2:].decode() + f" #{n}")


class Cities(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.stream_stream_rpc_method_handler(answers)


@pytest.fixture(scope="module")
def real():
    server = grpc.server(ThreadPoolExecutor(20))
    server.add_generic_rpc_handlers([Cities()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield {API: f"http://127.0.0.1:{port}"}
    server.stop(0)


@pytest.fixture
def record(real):
    return {"mode": "rewrite", "routes": real, "recorded_from": "test-server"}


def outcome(call):
    """Returns everything that a blocking client sees of the end of a call."""
    return call.code(), call.details(), [*call.initial_metadata()], [*call.trailing_metadata()]


def blocking(method, says, **options):
    """The answers and the end of a call of a blocking client."""
    with grpc.insecure_channel(TARGET) as channel:
        multi = getattr(channel, method)(f"/cities.Cities/{method}", request_serializer=city)
        said = iter(says) if method.startswith("stream") else says[0]
        try:
            if method.endswith("unary"):
                answer, call = multi.with_call(said, **options)
                return [answer, outcome(call)]
            call = multi(said, **options)
            return [*call, outcome(call)]
        except grpc.RpcError as error:
            return [outcome(error)]


def asynchronous(method, says, **options):
    """The same of a client of `grpc.aio`."""

    async def ask():
        async with grpc.aio.insecure_channel(TARGET) as channel:
            multi = getattr(channel, method)(f"/cities.Cities/{method}", request_serializer=city)
            call = multi(iter(says) if method.startswith("stream") else says[0], **options)
            heard = []
            with contextlib.suppress(grpc.RpcError):
                heard += [await call] if method.endswith("unary") else [one async for one in call]
            ended = await call.code(), await call.details()
            return [*heard, (*ended, [*await call.initial_metadata()], [*await call.trailing_metadata()])]

    return asyncio.run(ask())


KINDS = ["unary_unary", "unary_stream", "stream_unary", "stream_stream"]
clients = pytest.mark.parametrize("ask", [blocking, asynchronous])


@clients
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("says", [["Rome"], ["Atlantis"]])
def test_a_call_plays_without_its_server(ask, kind, says, record, tmp_path):
    says = ["Rome", *says] if kind == "stream_stream" else says
    with use_cassette(tmp_path / "c.json", **record):
        expected = ask(kind, says)
    with use_cassette(tmp_path / "c.json") as cassette:
        played = ask(kind, says)
    masked = [part for part in expected[-1][2] if part[0] != "token"]  # a credential is never written
    assert played == [*expected[:-1], (*expected[-1][:2], masked, expected[-1][3])]
    assert (cassette.sent[0].url, cassette.verdict.state) == (f"{API}/cities.Cities/{kind}", "replayed")


@clients
def test_another_message_is_a_miss_that_names_the_nearest(ask, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        ask("unary_unary", ["Rome"])
    nearest = r"(?s)Nearest recording: #1 of 1.*/protobuf/1: .*Rome.*Paris"
    with pytest.raises(Miss, match=nearest), use_cassette(tmp_path / "c.json"):
        ask("unary_unary", ["Paris"])
    with use_cassette(tmp_path / "c.json", match=Match(ignore=("/protobuf/1",))):
        assert ask("unary_unary", ["Paris"])[0] == city("Rome #0")


@clients
@pytest.mark.parametrize("says", [["Paris", "Rome"], ["Rome"], ["Rome", "Rome", "Rome"]])
def test_another_conversation_is_a_miss(ask, says, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        ask("stream_stream", ["Rome", "Rome"])
    with pytest.raises(Miss, match="another message in the call"), use_cassette(tmp_path / "c.json"):
        assert ask("stream_stream", says)[-1][0] == grpc.StatusCode.INTERNAL


def test_it_reads_as_a_conversation(record, tmp_path):
    with use_cassette(tmp_path / "c.json", keep_headers=["x-tenant*"], **record):
        metadata = [
            ("x-tenant", "acme"),
            ("x-tenant-bin", b"\x01"),
            ("authorization", "Bearer 9f8e7d6c5b4a3928"),
        ]
        blocking("unary_unary", ["Rome"], metadata=metadata)
        blocking("stream_stream", ["Rome"])
    first, second = json.loads((tmp_path / "c.json").read_text())["interactions"]
    assert first["request"] == {
        "method": "POST",
        "uri": f"{API}/cities.Cities/unary_unary",
        "headers": {"content-type": ["application/grpc"], "x-tenant": ["acme"], "x-tenant-bin": ["AQ=="]},
        "body": {"json": {"protobuf": {"1": "Rome"}}},
    }
    status = {"status": "OK", "metadata": {"served-by": ["7"], "key-bin": ["AP8="]}}
    assert first["response"]["body"]["ndjson"] == [
        {"received": {"protobuf": {"1": "Rome #0"}}},
        {**status, "trailing_metadata": {"cost": ["1", "2"], "echo": ["acme"]}},
    ]
    assert second["response"]["body"]["ndjson"][0] == {"sent": {"protobuf": {"1": "Rome"}}}
    assert {"half_closed": True} in second["response"]["body"]["ndjson"]


def test_the_other_ways_to_call(record, tmp_path):
    def ask():
        with grpc.insecure_channel(TARGET) as channel:
            ask = channel.unary_unary("/cities.Cities/Get", request_serializer=city)
            many = channel.stream_unary("/cities.Cities/Sum", request_serializer=city)
            future = ask.future("Paris")
            return [
                ask(request="Rome", timeout=0.5),
                ask("Rome", 5, [("x-a", "b")]),
                (future.result(), future.code()),
                many(iter(["Oslo"])),
                many.future(request_iterator=iter(["Bonn"])).result(),
            ]

    with use_cassette(tmp_path / "c.json", **record):
        expected = ask()
    with use_cassette(tmp_path / "c.json"):
        assert ask() == expected


def test_a_client_that_reads_and_writes_by_turns(record, tmp_path):
    async def talk():
        async with grpc.aio.insecure_channel(TARGET) as channel:
            call = channel.stream_stream("/cities.Cities/Talk", request_serializer=city)()
            heard = []
            for name in ("Rome", "Many"):
                await call.write(name)
                heard.append(await call.read())
            await call.done_writing()
            return [*heard, await call.read(), await call.read(), await call.read() is grpc.aio.EOF]

    with use_cassette(tmp_path / "c.json", **record):
        expected = asyncio.run(talk())
    with use_cassette(tmp_path / "c.json"):
        assert asyncio.run(talk()) == expected
    assert expected[-1]


def test_interceptors_are_in_between_as_ever(record, tmp_path):
    seen = []

    class Blocking(grpc.UnaryUnaryClientInterceptor):
        def intercept_unary_unary(self, proceed, details, request):
            seen.append(details.method)
            return proceed(details, request)

    class Asynchronous(grpc.aio.UnaryUnaryClientInterceptor):
        async def intercept_unary_unary(self, proceed, details, request):
            seen.append(details.method)
            await proceed(details, "Oslo")
            return await proceed(details, request)

    async def ask():
        async with grpc.aio.insecure_channel(TARGET, interceptors=[Asynchronous()]) as channel:
            return await channel.unary_unary("/cities.Cities/Get", request_serializer=city)("Rome")

    for options in (record, {}):
        with (
            use_cassette(tmp_path / "c.json", **options) as cassette,
            grpc.insecure_channel(TARGET) as channel,
        ):
            inner = grpc.intercept_channel(channel, Blocking())
            assert inner.unary_unary("/cities.Cities/Get", request_serializer=city)("Bonn") == city("Bonn #0")
            assert asyncio.run(ask()) == city("Rome #0")
        assert [one.json["protobuf"]["1"] for one in cassette.sent] == ["Bonn", "Oslo", "Rome"]
    assert len(seen) == 4


@clients
def test_a_deadline_is_one_again_at_once(ask, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        assert ask("unary_unary", ["Slow"], timeout=0.05)[-1][0] == grpc.StatusCode.DEADLINE_EXCEEDED
    with use_cassette(tmp_path / "c.json"):
        assert ask("unary_unary", ["Slow"], timeout=3000)[-1][0] == grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_client_that_stops_early(record, tmp_path):
    def ask(many):
        with grpc.insecure_channel(TARGET) as channel:
            call = channel.unary_stream("/cities.Cities/List", request_serializer=city)("Many")
            heard = [*itertools.islice(call, many)]
            call.cancel()
            return heard

    with use_cassette(tmp_path / "c.json", **record):
        expected = ask(1)
    with use_cassette(tmp_path / "c.json"):
        assert ask(1) == expected
    with use_cassette(tmp_path / "c.json"), pytest.raises(grpc.RpcError, match="the recording ends here"):
        ask(5)


def test_a_server_that_is_not_there(tmp_path):
    for options in ({"mode": "rewrite", "recorded_from": "nobody"}, {}):
        with use_cassette(tmp_path / "c.json", **options), grpc.insecure_channel("127.0.0.1:9") as channel:
            with pytest.raises(grpc.RpcError, match="failed to connect") as refused:
                channel.unary_unary("/cities.Cities/Get")(b"x")
            assert refused.value.code() == grpc.StatusCode.UNAVAILABLE


def test_faults(record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        blocking("unary_unary", ["Rome"])
    faults = [Status(429), ReadTimeout(), Cut(after_bytes=3), Pass()]
    with use_cassette(tmp_path / "c.json", faults=faults):
        seen = [blocking("unary_unary", ["Rome"])[-1][0].name for _ in faults]
    assert seen == ["UNAVAILABLE", "DEADLINE_EXCEEDED", "UNAVAILABLE", "OK"]


def test_secrets_are_replaced_inside_of_messages_or_refused(record, tmp_path):
    key, other = "tk-93hf62kd93hf62kd", "another-key-that-is-longer-than-that"
    with use_cassette(tmp_path / "c.json", secrets={"KEY": key}, **record):
        blocking("unary_unary", [key])
    assert key not in (tmp_path / "c.json").read_text()
    with use_cassette(tmp_path / "c.json", secrets={"KEY": other}):
        assert blocking("unary_unary", [other])[0] == city("<KEY> #0")
    token = "ghp_" + "4Kd93hfB62kd93hf7Z2kd93hf62kdA3h2F6s"
    with pytest.raises(SecretFound), use_cassette(tmp_path / "d.json", **record):
        blocking("unary_unary", [token])
    for mask in ({**record, "mask": True}, {}):
        with use_cassette(tmp_path / "d.json", **mask):
            heard = blocking("unary_unary", [token])
    assert heard[0] == city("REDACTED #0")


def test_messages_of_json_and_of_protobufs_that_differ_in_order_only(record, tmp_path):
    class Labels:
        """Writes its map in another order each time, except in deterministic mode."""

        turns = itertools.count()

        def SerializeToString(self, *, deterministic=False):  # noqa: N802  # protobuf's name
            entries = [b"\n\x01a", b"\n\x01b"]
            return b"".join(entries if deterministic or next(self.turns) % 2 else entries[::-1])

    for options in (record, {}, {}):
        with (
            use_cassette(tmp_path / "c.json", **options) as cassette,
            grpc.insecure_channel(TARGET) as channel,
        ):
            channel.unary_unary("/cities.Cities/Get", request_serializer=Labels.SerializeToString)(Labels())
            channel.unary_unary("/cities.Cities/Get")(b'{"a": [1, 2]}')
    assert [one.json for one in cassette.sent] == [
        {"protobuf": {"1": ["a", "b"]}},
        {"json": {"a": [1, 2]}, "style": "spaced"},
    ]


def test_hosts_that_are_let_through(real, tmp_path):
    target = real[API].removeprefix("http://")
    with (
        use_cassette(tmp_path / "c.json", allow_hosts=["localhost"], allow_idle=True),
        grpc.insecure_channel(target) as channel,
    ):
        ask = channel.unary_unary("/cities.Cities/Get", request_serializer=city)
        assert ask("Rome") == city("Rome #0")


def test_a_channel_of_aio_from_before_says_what_to_do(monkeypatch, record, tmp_path):
    monkeypatch.setattr(grpc_clients, "_TARGETS", {})

    async def ask(**options):
        channel = grpc.aio.insecure_channel(TARGET)
        grpc_clients._TARGETS.clear()  # as if no cassette had been open yet
        with use_cassette(tmp_path / "c.json", **options):
            await channel.unary_unary("/a/b")(b"x")

    for options in (record, {}):
        with pytest.raises(Blocked, match="Create the channel inside the cassette"):
            asyncio.run(ask(**options))


def test_a_package_that_is_imported_late(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "imported_late.py").write_text("there = 1")
    seen, late = [], LateImports()
    late.when("imported_late", lambda: seen.append(sys.modules["imported_late"].there))
    import imported_late  # noqa: F401

    late.stop()
    assert seen == [1]
    assert late not in sys.meta_path


@pytest.mark.parametrize(
    "line", ['{"status": "NO_SUCH"}', '{"received": {"base64": "?"}}', "[1]", '{"received": 1}']
)
def test_a_damaged_recording_is_told(line, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        blocking("unary_unary", ["Rome"])
    cassette = json.loads((tmp_path / "c.json").read_text())
    cassette["interactions"][0]["response"]["body"] = {"text": line}
    cassette["interactions"][0]["response"]["stream"] = {}
    (tmp_path / "c.json").write_text(json.dumps(cassette))
    with pytest.raises(Miss, match="cannot be replayed"), use_cassette(tmp_path / "c.json"):
        assert blocking("unary_unary", ["Rome"])[-1][0] == grpc.StatusCode.INTERNAL


class Slowly(grpc_conversations.Noted):
    """Is interrupted at the worst moment: right before it notes the status."""

    def _line(self, status):
        time.sleep(0.05)
        return super()._line(status)


def test_a_cassette_that_is_closed_at_once_waits_for_the_status(monkeypatch, record, tmp_path):
    monkeypatch.setattr(grpc_clients, "Noted", Slowly)
    with use_cassette(tmp_path / "c.json", **record):
        expected = blocking("stream_stream", ["Rome"])
    with use_cassette(tmp_path / "c.json"):
        assert blocking("stream_stream", ["Rome"])[0] == expected[0]


class Leaving:
    """The context of a call whose cancellation gRPC reports after the end of the client's messages."""

    def __init__(self, active):
        self.active = iter(active)

    def is_active(self):
        return next(self.active)


def test_a_client_that_leaves_is_not_taken_for_one_that_says_nothing_more(monkeypatch):
    assert grpc_conversations._has_left(Leaving([True, False, False]))
    monkeypatch.setattr(grpc_conversations, "_CANCEL_WITHIN", 0)
    assert not grpc_conversations._has_left(Leaving(itertools.repeat(True)))


def test_a_call_may_be_cancelled_before_the_client_has_said_what_it_said_then(record, tmp_path):
    def asked(again):
        go = threading.Event()

        def said():
            yield "Paris"
            go.wait(5)
            yield "Rome"

        with grpc.insecure_channel(TARGET) as channel:
            call = channel.stream_stream("/cities.Cities/stream_stream", request_serializer=city)(said())
            first = next(call)
            if again:
                go.set()
                assert next(call) == city("Rome #0")
            call.cancel()
            go.set()
            return first

    with use_cassette(tmp_path / "c.json", **record):
        first = asked(again=True)
    for _ in range(8):
        with use_cassette(tmp_path / "c.json"):
            assert asked(again=False) == first
