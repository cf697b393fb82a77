"""WebSockets: recorded conversations between a client and a server are replayed without the server."""

import asyncio
import contextlib
import json
import re
import struct
import threading
from socket import SHUT_RDWR, SO_LINGER, SOL_SOCKET, create_server

import aiohttp
import pytest
import websockets.asyncio.client
import websockets.exceptions
import websockets.sync.client
from websockets.sync.server import serve
from websockets.utils import accept_key

from ellmer_harness import Blocked, Miss, SecretFound, use_cassette

API = "wss://api.example.com"


def realtime(connection):
    """A server that counts its messages, answers each with two, and closes on request."""
    connection.send(json.dumps({"type": "session.created"}, separators=(",", ":")))
    for message in connection:
        if message == "bye":
            connection.close(4001, "as you wish")
            return
        if isinstance(message, str) and message.startswith("close "):
            code, _, reason = message.removeprefix("close ").partition(" ")
            connection.close(int(code) or None, reason)
            return
        if message == "drop":
            connection.socket.shutdown(SHUT_RDWR)
            return
        connection.send(message if isinstance(message, bytes) else f"you said {message}")
        connection.send(json.dumps({"type": "done", "n": len(message)}))


def refusing(connection, request):
    return connection.respond(401, "no key\n") if request.path == "/refused" else None


@pytest.fixture
def real():
    with serve(realtime, "127.0.0.1", 0, process_request=refusing, subprotocols=["realtime"]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {API: f"http://127.0.0.1:{server.socket.getsockname()[1]}"}
        server.shutdown()


def with_websockets(says, path="/x"):
    async def talk():
        heard = []
        async with websockets.asyncio.client.connect(
            API + path, subprotocols=["realtime"], additional_headers={"Authorization": "Bearer 1"}
        ) as socket:
            heard.append(socket.subprotocol)
            heard.append(await socket.recv())
            for message in says:
                await socket.send(message)
                if message == "bye":
                    with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                        await socket.recv()
                    return [*heard, closed.value.rcvd.code, closed.value.rcvd.reason]
                heard += [await socket.recv(), await socket.recv()]
        return heard

    return asyncio.run(talk())


def blocking(says, path="/x"):
    heard = []
    with websockets.sync.client.connect(API + path, subprotocols=["realtime"]) as socket:
        heard += [socket.subprotocol, socket.recv()]
        for message in says:
            socket.send(message)
            if message == "bye":
                with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                    socket.recv()
                return [*heard, closed.value.rcvd.code, closed.value.rcvd.reason]
            heard += [socket.recv(), socket.recv()]
    return heard


def with_aiohttp(says, path="/x"):
    async def talk():
        heard = []
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(API + path, protocols=["realtime"]) as socket,
        ):
            heard += [socket.protocol, (await socket.receive()).data]
            for message in says:
                await (socket.send_bytes if isinstance(message, bytes) else socket.send_str)(message)
                if message == "bye":
                    last = await socket.receive()
                    return [*heard, last.data, last.extra]
                heard += [(await socket.receive()).data, (await socket.receive()).data]
        return heard

    return asyncio.run(talk())


@pytest.fixture(params=[with_websockets, blocking, with_aiohttp], ids=["websockets", "blocking", "aiohttp"])
def talk(request):
    return request.param


@pytest.mark.parametrize("says", [["hello", b"\x00\xff", '{"a": 1}'], ["hello", "bye"], []])
def test_a_conversation_plays_without_its_server(says, talk, real, tmp_path):
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        expected = talk(says)
    with use_cassette(tmp_path / "c.json") as cassette:
        assert talk(says) == expected
    assert (cassette.sent[0].url, cassette.exchanges[0].status) == (f"{API}/x", 101)


def closed_for_websockets(url, message):
    async def talk():
        async with websockets.asyncio.client.connect(url, subprotocols=["realtime"]) as socket:
            await socket.recv()
            await socket.send(message)
            with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                await socket.recv()
        return type(closed.value), str(closed.value), socket.close_code, socket.close_reason

    return asyncio.run(talk())


def closed_for_blocking(url, message):
    with websockets.sync.client.connect(url, subprotocols=["realtime"]) as socket:
        socket.recv()
        socket.send(message)
        with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
            socket.recv()
    return type(closed.value), str(closed.value), socket.close_code, socket.close_reason


def closed_for_aiohttp(url, message):
    async def talk():
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, protocols=["realtime"]) as socket,
        ):
            await socket.receive()
            await socket.send_str(message)
            last = await socket.receive()
        return last, socket.close_code

    return asyncio.run(talk())


@pytest.mark.parametrize("client", [closed_for_websockets, closed_for_blocking, closed_for_aiohttp])
@pytest.mark.parametrize(
    "message",
    [
        "close 0",
        "drop",
        *(f"close {code} why é" for code in (1000, 1001, 1003, 1008, 1009, 1011, 1013, 4000, 4999)),
    ],
)
def test_each_way_in_which_a_server_closes(client, message, real, tmp_path):
    expected = client(real[API].replace("http", "ws"), message)
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        assert client(API, message) == expected
    with use_cassette(tmp_path / "c.json"):
        assert client(API, message) == expected


def test_it_reads_as_a_conversation(real, tmp_path):
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        with_websockets(['{"a":1}', "bye"])
    [interaction] = json.loads((tmp_path / "c.json").read_text())["interactions"]
    assert interaction["response"]["body"]["ndjson"] == [
        {"received": {"type": "session.created"}},
        {"sent": {"a": 1}},
        {"received": 'you said {"a":1}'},
        {"received": {"type": "done", "n": 7}, "style": "spaced"},
        {"sent": "bye"},
        {"closed": 4001, "reason": "as you wish"},
    ]


def test_another_message_is_a_miss(talk, real, tmp_path):
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        talk(['{"a": 1}'])
    with use_cassette(tmp_path / "c.json"):
        talk(['{ "a":1 }'])  # the same value
    with (
        pytest.raises(Miss, match="another message"),
        use_cassette(tmp_path / "c.json"),
        contextlib.suppress(Exception),  # what the client makes of it is its own business
    ):
        talk(['{"a": 2}'])


def test_another_address_is_a_miss(talk, real, tmp_path):
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        talk([])
    with pytest.raises(Miss, match="is not in cassette"), use_cassette(tmp_path / "c.json"):
        talk([], "/y")


def test_a_refusal_is_one_again(real, tmp_path):
    for options in ({"mode": "rewrite", "routes": real, "recorded_from": "test-server"}, {}):
        with use_cassette(tmp_path / "c.json", **options) as cassette:
            with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
                with_websockets([], "/refused")
            assert (refused.value.response.status_code, refused.value.response.body) == (401, b"no key\n")
    assert cassette.verdict.state == "replayed"


def test_a_secret_in_a_message_is_refused(real, tmp_path):
    secret = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
    with (
        pytest.raises(SecretFound, match="response/body"),
        use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"),
    ):
        with_websockets([json.dumps({"client_secret": secret})])
    assert not (tmp_path / "c.json").exists()


def test_nothing_else_gets_past_the_guard(real, tmp_path):
    with use_cassette(tmp_path / "c.json", mode="rewrite", routes=real, recorded_from="test-server"):
        with_websockets([])
    url = real[API].replace("http", "ws")
    with (
        pytest.raises((Blocked, Miss)),
        use_cassette(tmp_path / "c.json"),
        websockets.sync.client.connect(url),
    ):
        pass


def odd_server(listening, ends):
    """Serves connections whose path says how the server ends them: with which bytes, and with what answer to a close message."""
    while True:
        connection, _ = listening.accept()
        with connection:
            head = connection.recv(4000).decode()
            sent, answer = ends[head.split()[1].strip("/")]
            if not sent.startswith(b"\x81"):
                connection.sendall(sent)
                continue
            key = re.search(r"(?i)sec-websocket-key: (\S+)", head)[1]
            chosen = "other" if sent == NOT_OFFERED else "two"
            accept = f"sec-websocket-accept: {accept_key(key)}\r\nsec-websocket-protocol: {chosen}\r\nx-id: 7"
            start = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade"
            connection.sendall(f"{start}\r\n{accept}\r\n\r\n".encode() + sent)
            if answer is not None:
                connection.recv(4000)
                connection.sendall(answer)


NOT_OFFERED = b"\x81\x01b"
ENDS = {  # each begins with a proper message
    "unknown": (b"\x81\x01a\x83\x01x", b""),
    "compressed": (b"\x81\x01a\xc1\x01x", b""),
    "continued": (b"\x81\x01a\x80\x01x", b""),
    "low": (b"\x81\x01a\x88\x02\x03\xe7", b""),
    "text": (b"\x81\x01a\x81\x02\xff\xfe", b""),
    "reason": (b"\x81\x01a\x88\x03\x03\xe8\xff", b""),
    "half": (b"\x81\x01a\x81\x05he", None),
    "echo": (b"\x81\x01a", b"\x88\x08\x0f\xa2enough"),
    "other": (b"\x81\x01a", b"\x88\x09\x03\xe8ok then"),
    "silent": (b"\x81\x01a", b""),
    "dropped": (b"", b""),
    "garbage": (b"hello\r\n\r\n", b""),
    "not-offered": (NOT_OFFERED, None),
    "around": (
        b"HTTP/1.1 302 Found\r\nlocation: /around\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        b"",
    ),
}


def ending_of_websockets(url, closes):
    async def talk():
        heard = []
        try:
            async with websockets.asyncio.client.connect(
                url, subprotocols=["one", "two"], proxy=None
            ) as socket:
                heard += [socket.subprotocol, socket.response.headers["x-id"], await socket.recv()]
                if closes:
                    await socket.close(4002, "enough")
                heard.append(await socket.recv())
        except websockets.exceptions.WebSocketException as error:
            cause = type(error.__cause__), str(error.__cause__)
            return [
                *heard,
                type(error),
                str(error),
                getattr(error, "rcvd", 0),
                getattr(error, "sent", 0),
                cause,
            ]

    return asyncio.run(talk())


def ending_of_aiohttp(url, closes):
    async def talk():
        heard = []
        async with aiohttp.ClientSession() as session:
            try:
                async with session.ws_connect(url, protocols=["one", "two"]) as socket:
                    heard += [socket.protocol, (await socket.receive()).data]
                    if closes:
                        await socket.close(code=4002, message=b"enough")
                    last = await socket.receive()
                    return [*heard, last.type, str(last.data), last.extra, socket.close_code]
            except aiohttp.ClientError as error:
                return [*heard, type(error), re.sub(r"127\.0\.0\.1:\d+", "here", str(error))]

    return asyncio.run(talk())


@pytest.fixture(scope="module")
def odd():
    with create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=odd_server, args=(listening, ENDS), daemon=True).start()
        yield {API: f"http://127.0.0.1:{listening.getsockname()[1]}"}


@pytest.mark.parametrize("client", [ending_of_websockets, ending_of_aiohttp])
@pytest.mark.parametrize("end", ENDS)
def test_a_server_that_breaks_the_protocol_or_does_not_echo(client, end, odd, tmp_path):
    closes = end in ("echo", "other", "silent")
    expected = client(f"{odd[API].replace('http', 'ws')}/{end}", closes)
    options = {"routes": odd, "recorded_from": "test-server", "keep_headers": ["x-id"]}
    with use_cassette(tmp_path / "c.json", mode="rewrite", **options):
        assert client(f"{API}/{end}", closes) == expected
    with use_cassette(tmp_path / "c.json", keep_headers=["x-id"]):
        assert client(f"{API}/{end}", closes) == expected


def test_a_reset_is_one_again(tmp_path):
    """The server ends the connection by a reset after the client has answered its only message."""

    def serve(listening):
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                key = re.search(r"(?i)sec-websocket-key: (\S+)", connection.recv(4000).decode())[1]
                start = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade"
                connection.sendall(f"{start}\r\nsec-websocket-accept: {accept_key(key)}\r\n\r\n".encode())
                connection.recv(4000)
                connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))

    def talk(url):
        with websockets.sync.client.connect(url, proxy=None) as client:
            client.send("a")
            with pytest.raises(websockets.exceptions.ConnectionClosedError) as closed:
                client.recv()
            return type(closed.value.__cause__), str(closed.value)

    with create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        here = f"127.0.0.1:{listening.getsockname()[1]}"
        expected = talk(f"ws://{here}/")
        assert expected[0] is ConnectionResetError
        with use_cassette(
            tmp_path / "c.json", mode="rewrite", routes={API: f"http://{here}"}, recorded_from="it"
        ):
            assert talk(f"{API}/") == expected
    with use_cassette(tmp_path / "c.json"):
        assert talk(f"{API}/") == expected
