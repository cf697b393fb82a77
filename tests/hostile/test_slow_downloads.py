"""Downloads from servers that drip: each ends when its time is over, whatever the server sends. And no name of this machine, however it is
spelt, and no second answer of a resolver leads into a private network.
"""

import socket
from contextlib import suppress
from random import Random
from threading import Thread
from time import sleep

import httpx
import pytest

from ellmer_core.base.budget import DOWNLOAD, PRICES
from ellmer_core.contents import downloads
from ellmer_core.contents.downloads import download
from ellmer_core.errors import EllmerError, UsageError
from ellmer_core.models.prices import price_lookup

pytestmark = pytest.mark.invariants

EMPTY = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"  # the head of a gzip
BLOCK = b"\x00\x00\x00\xff\xff"  # a block of it without bytes
#: What a server sends at first, and then again and again.
SERVERS = {
    "a header": (b"HTTP/1.1 200 OK\r\nx: ", b"a"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
    "interim answers": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "a body": (b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b"a"),
    "the extension of a chunk": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", b"a"),
    "bytes that become none": (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + EMPTY, BLOCK),
    "many bytes that become none": (
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + EMPTY,
        BLOCK * 9000,
    ),
    "redirects": (b"HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", None),
    "nothing": (b"", None),
}


@pytest.fixture
def dripping():
    """Returns a function that starts a server, and returns its address."""
    sockets = []

    def serve(name):
        listening = socket.create_server(("127.0.0.1", 0))
        sockets.append(listening)
        Thread(target=accepted, args=(listening, *SERVERS[name]), daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}/"

    yield serve
    for each in sockets:
        each.close()


def accepted(listening, first, again):
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            Thread(target=answered, args=(client, first, again), daemon=True).start()


def answered(client, first, again):
    with suppress(OSError), client:
        client.recv(65536)
        if again is None:
            sleep(0.05)
        client.sendall(first)
        while again is not None:
            client.sendall(again)
            sleep(0.01)
        client.recv(65536)


@pytest.mark.parametrize("own", [True, False], ids=["the library's client", "a client of one's own"])
@pytest.mark.parametrize("name", SERVERS)
def test_a_download_ends_in_time(name, own, dripping, monkeypatch):
    monkeypatch.setattr(downloads, "DOWNLOAD", DOWNLOAD._replace(seconds=0.2))
    with (
        httpx.Client(timeout=30) as client,
        pytest.raises(UsageError, match=r"took longer than 0\.2 seconds"),
    ):
        download(dripping(name), None if own else client, allow_private=True)


@pytest.mark.parametrize("name", SERVERS)
def test_a_table_of_prices_comes_in_time(name, dripping, monkeypatch):
    monkeypatch.setattr(price_lookup, "PRICES", PRICES._replace(seconds=0.2))
    with pytest.raises(UsageError, match="is not a table of prices"):
        price_lookup.refresh_prices(dripping(name))


PRIVATE = [
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "::1",
    "fe80::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
]
PRIVATE += ["0.0.0.0", "100.64.0.1", "224.0.0.1", "fd00::1", "255.255.255.255", "172.16.0.1", "198.18.0.1"]
PUBLIC = ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8"]


def test_a_resolver_that_changes_its_answer_leads_nowhere_else(monkeypatch):
    lots, asked, connected = Random(12), [], []

    def resolved(host, *_, **__):
        found = asked.pop(0) if len(asked) > 1 else asked[0]
        return [(0, 0, 0, "", (each, 0)) for each in found]

    def connect(address, *_, **__):
        connected.append(address[0])
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(socket, "create_connection", connect)
    for number in range(300):
        public, private = [lots.choice(PUBLIC)], [lots.choice(PRIVATE)]
        asked = lots.choice([[public, private], [private], [public + private], [public]])
        connected.clear()
        begin = lots.choice(["http://", "https://", "http://u:p@"])
        name = lots.choice(
            ["a.example", "ａ.example", "A.EXAMPLE.", "127.0.0.1.example", "localhost.example"]
        )
        with suppress(EllmerError):
            download(f"{begin}{name}{lots.choice(['', ':80', '/x?y'])}", None, allow_private=False)
        assert {*connected} <= {*public}, number


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "localhost.", "a.localhost", "ⓛocalhost", "127.0.0.1", "127.0.0.1.", "127.1", "0x7f.1",
     "017700000001", "2130706433", "①②⑦.0.0.1", "127。0。0。1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0", "[::]"],
)  # fmt: skip
def test_a_client_of_one_s_own_is_not_sent_to_this_machine(host):
    asked = []
    answer = httpx.MockTransport(lambda request: asked.append(request) or httpx.Response(200))
    with httpx.Client(transport=answer) as client, suppress(EllmerError):
        download(f"http://{host}/x", client, allow_private=False)
    assert asked == []
