"""The socket side of the strict server: any bytes over TCP get an answer, and the connection ends."""

import asyncio
import json
import re
import socket
from dataclasses import replace
from queue import Queue

import pytest

from ellmer_conformance.scenarios.script import Answer, Delivery, Say, Script
from ellmer_conformance.server import PortInUse, StrictServer
from ellmer_conformance.server.http.connection import framed
from ellmer_conformance.server.http.messages import HttpRequest, Reply, deliver, is_quick

TEXT = "ten words of text that are sent in several pieces"
HELLO = Answer((Say(TEXT),))
SCRIPTS = {
    "hello": Script((HELLO,)),
    "sliced": Script((Delivery(HELLO, slices=(1, 7, 64)),)),
    "reset": Script((Delivery(HELLO, after=300, ending="reset"),)),
    "half-close": Script((Delivery(HELLO, after=300, ending="half-close"),)),
    "stall": Script((Delivery(HELLO, after=300, ending="stall"),)),
    "slow": Script((Delivery(HELLO, slices=(200,), delay=0.01),)),
}
PATH = "/v1/chat/completions"
AUTH = {"authorization": "Bearer key"}


def body(*, stream: bool = False) -> bytes:
    return json.dumps(
        {"model": "gpt-4.1", "stream": stream, "messages": [{"role": "user", "content": "Hello"}]}
    ).encode()


def raw(
    target: str, content: bytes = b"", *, method: str = "POST", version: str = "1.1", **headers: str
) -> bytes:
    fields = {"host": "localhost", **AUTH, "content-length": str(len(content)), **headers}
    lines = [f"{method} {target} HTTP/{version}", *(f"{k.replace('_', '-')}: {v}" for k, v in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture
def client(server):
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        yield connection


def read_response(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Returns one response with its content length."""
    head, data = b"", b""
    while b"\r\n\r\n" not in head:
        received = connection.recv(65536)
        assert received, f"the connection ended after {head!r}"
        head += received
    head, _, data = head.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    while len(data) < int(headers.get("content-length", 0)):
        data += connection.recv(65536)
    return int(status.split()[1]), headers, data


def read_all(connection: socket.socket) -> bytes:
    received = b""
    while data := connection.recv(65536):
        received += data
    return received


def unchunked(data: bytes) -> bytes:
    """Returns the body of a chunked response, which must be whole."""
    found, rest = b"", data.partition(b"\r\n\r\n")[2]
    while True:
        size, _, rest = rest.partition(b"\r\n")
        if int(size, 16) == 0:
            assert rest == b"\r\n"
            return found
        found, rest = found + rest[: int(size, 16)], rest[int(size, 16) + 2 :]


def test_requests_share_a_connection(client):
    for _ in range(3):
        client.sendall(raw(PATH, body()))
        status, _, data = read_response(client)
        assert (status, json.loads(data)["object"]) == (200, "chat.completion")


def test_pipelined_requests_are_answered_in_order(client):
    client.sendall(raw(PATH, body()) + raw("/v1/nowhere") + raw("/", method="GET", connection="close"))
    received = read_all(client)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"404", b"200"]


def test_a_chunked_request_body_is_read(client):
    content = body()
    head = raw(PATH, transfer_encoding="chunked").replace(b"content-length: 0\r\n", b"")
    client.sendall(head + b"%x\r\n%b\r\n" % (20, content[:20]))
    client.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(content) - 20, content[20:]))
    assert read_response(client)[0] == 200


def test_a_client_may_wait_for_100_continue(client):
    content = body()
    client.sendall(raw(PATH, expect="100-continue").replace(b"length: 0", b"length: %d" % len(content)))
    assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(content)
    assert read_response(client)[0] == 200


def test_a_body_of_absurd_size_is_refused_before_it_comes(client):
    client.sendall(raw(PATH, expect="100-continue").replace(b"length: 0", b"length: 99999999999"))
    status, headers, data = read_response(client)
    assert (status, headers["connection"]) == (413, "close")
    assert "exceeds the maximum size" in json.loads(data)["error"]["message"]


def test_headers_of_absurd_size_are_refused(client):
    client.sendall(raw(PATH, body(), x_long="x" * 70_000))
    assert read_response(client)[0] == 431


@pytest.mark.parametrize(
    "nonsense", [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"POST / HTTP/1.1\r\nno colon\r\n\r\n"]
)
def test_what_is_not_http_gets_a_400(client, nonsense):
    client.sendall(nonsense)
    received = read_all(client)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"This is not HTTP/1.1" in received


def test_head_has_the_headers_of_get_and_no_body(client):
    client.sendall(raw("/", method="HEAD"))
    client.sendall(raw("/", method="GET", connection="close"))
    bodiless, _, rest = read_all(client).partition(b"HTTP/1.1 200 OK\r\n")[2].partition(b"\r\n\r\n")
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length" in bodiless


def test_http_1_0_gets_a_stream_without_chunks(client):
    client.sendall(raw("/c/hello/1" + PATH, body(stream=True), version="1.0"))
    head, _, data = read_all(client).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert data.startswith(b"data: {")
    assert data.endswith(b"data: [DONE]\n\n")


def test_a_client_that_half_closes_still_gets_its_reply(client):
    client.sendall(raw("/c/slow/1" + PATH, body(stream=True)))
    client.shutdown(socket.SHUT_WR)
    assert unchunked(read_all(client)).endswith(b"data: [DONE]\n\n")


def test_slices_change_the_writes_and_not_the_bytes(server, client):
    whole, sliced = (
        raw(f"/c/{case}/same{PATH}", body(stream=True), connection="close") for case in ("hello", "sliced")
    )
    client.sendall(sliced)
    received = read_all(client)
    assert received.partition(b"\r\n\r\n")[2].startswith(b'1\r\nd\r\n7\r\nata: {"\r\n40\r\n')
    with socket.create_connection((server.host, server.port), timeout=5) as other:
        other.sendall(whole)
        assert len(unchunked(received)) == len(unchunked(read_all(other)))


def test_a_reset_breaks_the_connection(client):
    client.sendall(raw("/c/reset/1" + PATH, body(stream=True)))
    with pytest.raises(ConnectionResetError):
        read_all(client)


def test_a_half_close_ends_the_stream_before_its_end(client):
    client.sendall(raw("/c/half-close/1" + PATH, body(stream=True)))
    received = read_all(client)
    assert b"data: {" in received
    assert not received.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("stream", [True, False])
def test_a_stall_sends_a_part_and_nothing_more(client, stream):
    client.sendall(raw(f"/c/stall/{stream}{PATH}", body(stream=stream)))
    received = b""
    while received.partition(b"\r\n\r\n")[2].count(b"chatcmpl-") < 1:
        received += client.recv(65536)
    client.settimeout(0.1)
    with pytest.raises(TimeoutError):
        read_all(client)


def test_a_client_that_leaves_disturbs_nobody(server):
    for _ in range(5):
        with socket.create_connection((server.host, server.port), timeout=5) as leaving:
            leaving.sendall(raw("/c/stall/2" + PATH, body(stream=True))[:-3])
    with socket.create_connection((server.host, server.port), timeout=5) as client:
        client.sendall(raw(PATH, body()))
        assert read_response(client)[0] == 200


class Long:
    """Answers with gigabytes, and notes how much was written when a client left."""

    def __init__(self):
        self.left = Queue()

    def answer(self, _request):
        writes = (b"x" * 65536,) * 200_000
        return Reply(200, [], writes, length=65536 * 200_000, left=self.left.put)


def test_a_long_answer_ends_when_the_client_leaves():
    handler = Long()
    with StrictServer(handler=handler) as server:
        for _ in range(5):
            with socket.create_connection((server.host, server.port), timeout=5) as client:
                client.sendall(raw("/"))
                client.recv(2**20)
            assert handler.left.get(timeout=10) < 2**30


def test_200_streams_at_once_all_complete(server):
    async def one(number: int) -> bytes:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(raw(f"/c/slow/crowd-{number}{PATH}", body(stream=True), connection="close"))
        received = await reader.read()
        writer.close()
        await writer.wait_closed()
        return unchunked(received)

    async def everyone() -> list[bytes]:
        return await asyncio.gather(*(one(number) for number in range(200)))

    bodies = asyncio.run(everyone())
    assert len(set(bodies)) == 1, "a nonce leaked into a reply"
    assert bodies[0].endswith(b"data: [DONE]\n\n")
    text = "".join(
        json.loads(line[6:])["choices"][0]["delta"].get("content", "")
        for line in bodies[0].decode().splitlines()
        if line.startswith("data: {")
    )
    assert text == TEXT


def test_a_port_in_use_is_said_so(server):
    with (
        pytest.raises(PortInUse, match=f"port {server.port} on 127.0.0.1 is in use"),
        StrictServer(port=server.port),
    ):
        pass


def test_a_server_stops_with_clients_connected():
    with StrictServer(SCRIPTS) as server:
        client = socket.create_connection((server.host, server.port), timeout=5)
        client.sendall(raw("/c/stall/1" + PATH, body(stream=True)))
        assert client.recv(10)
    with client, pytest.raises(OSError):  # noqa: PT012 - the reset may come with either call
        while client.recv(65536):
            pass
        raise ConnectionResetError


def test_only_a_short_stream_without_pauses_is_one_write():
    plain_stream = Reply(200, (), (b"data: 1\n\n", b"data: 2\n\n"))
    assert is_quick(plain_stream)
    assert not is_quick(replace(plain_stream, writes=(b"x" * 70_000,)))
    for paced in (
        Delivery(HELLO, slices=(3,)),
        Delivery(HELLO, delay=0.01),
        Delivery(HELLO, after=4, ending="stall"),
    ):
        assert not is_quick(deliver(plain_stream, paced))
    assert (
        framed(plain_stream, HttpRequest("POST", PATH, {}))
        == b"9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"
    )
