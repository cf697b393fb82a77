"""While a cassette replays, no connection bypasses it. Before and after, connections are allowed."""

import asyncio
import contextlib
import ctypes
import http.server
import io
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.request

import grpc
import httpx
import pytest

from ellmer_harness import Blocked, Miss, use_cassette

API = "https://api.example.com"


@pytest.fixture
def path(server, record, tmp_path):
    """A cassette with an answer of a distant server, and one of a server on this machine."""
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(API)
        httpx.get(f"{server.url}/local")
    return tmp_path / "c.json"


def ask(server):
    """Sends the recorded requests."""
    httpx.get(API)
    httpx.get(f"{server.url}/local")


def by_urllib(server):
    urllib.request.urlopen(server.url).close()


def by_name(_server):
    socket.getaddrinfo("example.com", 80)


def by_address(_server):
    socket.getnameinfo(("93.184.216.34", 80), 0)


def by_datagram(_server):
    with socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("192.0.2.1", 9))


def by_reverse_lookup(_server):
    socket.gethostbyaddr("192.0.2.1")


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


@pytest.mark.parametrize(
    "way", [by_urllib, by_name, by_address, by_datagram, by_reverse_lookup, in_a_loop, in_a_thread]
)
def test_no_way_past_a_replaying_cassette(server, path, way):
    def carelessly():
        ask(server)
        with contextlib.suppress(Exception):  # a caught block is raised again when the cassette closes
            way(server)

    told = "is not in cassette" if way in {by_urllib, in_a_thread} else "does not go through any library"
    with pytest.raises(Miss, match=told), use_cassette(path) as cassette:
        carelessly()
    assert cassette.verdict.state == "missed"


def test_nothing_is_blocked_while_recording_or_without_a_cassette(server, record, path, tmp_path):
    by_urllib(server)
    with use_cassette(tmp_path / "new.json", **record):
        httpx.get(API)
        by_urllib(server)
    by_urllib(server)


def test_local_sockets_and_allowed_hosts_pass(server, path):
    with use_cassette(path, allow_hosts=["localhost"], allow_unused=True):
        ask(server)
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


def test_names_and_addresses_of_this_machine_pass(server, path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with use_cassette(path):
        ask(server)
        for name in ("localhost", "127.0.0.1", "::1", socket.gethostname()):
            with contextlib.suppress(socket.herror, socket.gaierror):
                socket.getaddrinfo(name, 80)
                socket.gethostbyaddr(name)
        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as other:  # looks its own address up
            threading.Thread(target=other.handle_request, daemon=True).start()
            urllib.request.urlopen(f"http://127.0.0.1:{other.server_port}/").close()


CURL = shutil.which("curl")
CHILD = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=10)"
CHILDREN = {
    "curl": lambda url: ["curl", "-sS", "--max-time", "10", url],
    "python": lambda url: [sys.executable, "-c", CHILD, url],
}


@pytest.mark.parametrize("environment", [None, {"A": "1"}], ids=["inherited", "given"])
@pytest.mark.parametrize("child", [*CHILDREN])
@pytest.mark.parametrize(
    "host", ["http://api.example.com/x", "https://api.example.com/x", ""], ids=["http", "https", "local"]
)
def test_a_child_process_is_blocked_and_named(server, path, child, environment, host):
    if child == "curl" and not CURL:
        pytest.skip("there is no curl")
    asked = len(server.requests)
    env = environment and {**os.environ, **environment}
    url = host or server.url

    def run():
        with use_cassette(path):
            ask(server)
            assert (
                subprocess.run(CHILDREN[child](url), env=env, check=False, capture_output=True).returncode
                or child == "curl"
            )

    with pytest.raises(Blocked, match=r"a request \((GET|CONNECT) .* while cassette .* replays") as blocked:
        run()
    assert (host.split("/")[2] if host else server.url[7:]) in str(blocked.value)
    assert len(server.requests) == asked


@pytest.mark.parametrize("child", [*CHILDREN])
def test_a_child_process_reaches_other_servers_of_this_machine(server, path, record, tmp_path, child):
    if child == "curl" and not CURL:
        pytest.skip("there is no curl")
    with use_cassette(tmp_path / "distant.json", **record):
        httpx.get(API)
    asked = len(server.requests)
    with use_cassette(tmp_path / "distant.json"):
        httpx.get(API)
        subprocess.run(CHILDREN[child](server.url), check=True, capture_output=True)

    assert len(server.requests) == asked + 1


def test_the_environment_of_this_process_stays_the_same(server, path):
    before = dict(os.environ)
    with use_cassette(path):
        ask(server)
        assert dict(os.environ) == before
        assert "http_proxy" not in urllib.request.getproxies()
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.environ.get('http_proxy'))"],
        check=True,
        capture_output=True,
    )
    assert child.stdout.strip() in {b"None", b""}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no table of a process's connections")
def test_a_connection_past_the_guards_is_found_at_the_end(server, path):
    """A socket of C, which no hook sees."""
    libc = ctypes.CDLL(None, use_errno=True)
    port = int(server.url.rpartition(":")[2])
    address = struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", port, socket.inet_aton("127.0.0.1"))

    def run():
        with use_cassette(path):
            ask(server)
            number = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
            numbers.append(number)
            assert libc.connect(number, address, len(address)) == 0

    numbers = []
    with pytest.raises(Blocked, match=rf"a connection to 127\.0\.0\.1:{port} while cassette"):
        run()
    os.close(numbers[0])


def test_a_block_is_an_ordinary_exception(server, path):
    def run():
        with use_cassette(path):
            ask(server)
            with contextlib.suppress(Exception):
                by_name(server)

    assert issubclass(Blocked, Exception)
    with pytest.raises(Blocked, match=r"socket\.getaddrinfo to example\.com"):
        run()


def test_tornado_fails_at_once(server, path):
    tornado = pytest.importorskip("tornado.httpclient")

    async def main():
        client = tornado.AsyncHTTPClient(force_instance=True)
        with pytest.raises(Miss):
            await asyncio.wait_for(client.fetch("http://api.example.com/"), 10)
        client.close()

    def run():
        with use_cassette(path):
            ask(server)
            asyncio.run(main())

    with pytest.raises(Miss, match=r"GET http://api\.example\.com/ is not in cassette"):
        run()


def by_pycurl(url, no_proxy=None):
    pycurl = pytest.importorskip("pycurl")
    answer, curl = io.BytesIO(), pycurl.Curl()
    try:
        for option, value in ((curl.URL, url), (curl.WRITEDATA, answer), (curl.TIMEOUT, 10)):
            curl.setopt(option, value)
        if no_proxy:
            curl.setopt(curl.NOPROXY, no_proxy)
        curl.perform()
    finally:
        curl.close()
    return answer.getvalue()


@pytest.mark.parametrize("url", ["{}/local", "http://api.example.com/", "https://api.example.com/"])
def test_pycurl_is_refused_while_the_server_is_up(server, path, url):
    def carelessly():
        ask(server)
        with contextlib.suppress(Exception):  # pycurl.error for https: the proxy refuses the tunnel
            by_pycurl(url.format(server.url))

    pytest.importorskip("pycurl")
    arrived = len(server.requests)
    with pytest.raises(Blocked, match="does not go through any library"), use_cassette(path) as cassette:
        carelessly()
    assert cassette.verdict.state == "missed"
    assert len(server.requests) == arrived


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the tables of libraries are those of Linux")


@LINUX
def test_pycurl_without_the_proxy_is_refused_while_the_server_is_up(server, path):
    """The program tells libcurl to use no proxy, and closes the connection before the cassette."""
    pycurl = pytest.importorskip("pycurl")

    def run():
        with use_cassette(path) as cassette:
            ask(server)
            with pytest.raises(pycurl.error, match="Failed to connect"):
                by_pycurl(f"{server.url}/local", no_proxy="*")
        return cassette

    arrived = len(server.requests)
    with pytest.raises(Blocked, match=r"a connection to 127\.0\.0\.1:\d+ while cassette"):
        run()
    assert len(server.requests) == arrived
    assert by_pycurl(f"{server.url}/local", no_proxy="*")
    assert len(server.requests) == arrived + 1


@LINUX
def test_the_sockets_of_uvloop_are_refused_and_others_of_this_machine_pass(server, path, record, tmp_path):
    uvloop = pytest.importorskip("uvloop")

    async def main():
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"GET /local HTTP/1.0\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()

    def run():
        with use_cassette(path):
            ask(server)
            with pytest.raises(ConnectionRefusedError):
                uvloop.run(main())

    with pytest.raises(Blocked, match=r"a connection to 127\.0\.0\.1:\d+ while cassette"):
        run()
    with use_cassette(tmp_path / "distant.json", **record):
        httpx.get(API)
    with use_cassette(tmp_path / "distant.json"):
        httpx.get(API)
        uvloop.run(main())
    uvloop.run(main())
