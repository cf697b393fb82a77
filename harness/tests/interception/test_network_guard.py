"""While a cassette replays, no connection bypasses it. Before and after, connections are allowed."""

import asyncio
import contextlib
import socket
import threading
import urllib.request

import grpc
import httpx
import pytest

from ellmer_harness import Blocked, Miss, use_cassette

API = "https://api.example.com"


@pytest.fixture
def path(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(API)
    return tmp_path / "c.json"


def by_urllib(server):
    urllib.request.urlopen(server.url).close()


def by_name(_server):
    socket.getaddrinfo("example.com", 80)


def by_address(_server):
    socket.getnameinfo(("93.184.216.34", 80), 0)


def by_datagram(_server):
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("127.0.0.1", 9))


def in_a_loop(server):
    host, port = server.url.removeprefix("http://").split(":")

    async def main():
        await asyncio.open_connection(host, port)

    asyncio.run(main())


def in_a_thread(server):
    errors = []

    def work():
        try:
            by_urllib(server)
        except BaseException as error:  # noqa: BLE001  # to be raised where the test can see it
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    raise errors[0]


@pytest.mark.parametrize("way", [by_urllib, by_name, by_address, by_datagram, in_a_loop, in_a_thread])
def test_no_way_past_a_replaying_cassette(server, path, way):
    def carelessly():
        httpx.get(API)
        with contextlib.suppress(
            Exception
        ):  # a block is no Exception that code could take for a network error
            way(server)

    with pytest.raises(Blocked, match="does not go through httpx"), use_cassette(path) as tape:
        carelessly()
    assert tape.verdict.state == "missed"


def test_nothing_is_blocked_while_recording_or_without_a_cassette(server, record, path, tmp_path):
    by_urllib(server)
    with use_cassette(tmp_path / "new.json", **record):
        httpx.get(API)
        by_urllib(server)
    by_urllib(server)


def test_local_sockets_and_allowed_hosts_pass(server, path):
    with use_cassette(path, allow_hosts=["localhost"]):
        httpx.get(API)
        by_urllib(server)
        assert httpx.get(server.url.replace("127.0.0.1", "localhost")).status_code == 200
        with socket.create_server(("", 0)):
            pass
        for end in socket.socketpair():
            end.close()
        asyncio.run(asyncio.sleep(0))


def test_calls_of_grpc_are_misses(path):
    with grpc.insecure_channel("127.0.0.1:9") as channel:
        ask = channel.unary_unary("/service/Method")
        with pytest.raises(Miss, match=r"grpc://127\.0\.0\.1:9/service/Method is not in"), use_cassette(path):
            ask(b"x", timeout=0.1)
        with pytest.raises(grpc.RpcError):
            ask(b"x", timeout=0.1)
