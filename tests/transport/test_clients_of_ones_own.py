"""A pair of clients for blocking and async calls, a proxy, and a connection for each request at once."""

import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress

import httpx
import pytest
from chats.answers import SSE, answer, streamed
from chats.many import chat_with, provider

import ellmer_core as ec
from ellmer_core import chat_openai_compatible
from ellmer_core.base.budget import TRACE, read_in_time
from ellmer_core.errors import ConnectError, UsageError
from ellmer_core.transport import httpx_clients


def said(*_):
    return {"role": "assistant", "content": "Hello."}


def test_one_client_option_serves_both_kinds_of_calls():
    asked = []

    def note(request):
        asked.append(request.headers["x-mine"])

    async def anote(request):
        note(request)

    blocking = httpx.Client(headers={"x-mine": "blocking"}, event_hooks={"request": [note]})
    concurrent = httpx.AsyncClient(headers={"x-mine": "async"}, event_hooks={"request": [anote]})
    with provider(said) as url:
        chat = chat_openai_compatible(base_url=url, model="m", client=(blocking, concurrent), echo="none")

        async def later():
            async with concurrent:
                await chat.chat_async("Hi")

        with blocking:
            chat.chat("Hi")
            asyncio.run(later())
            assert not blocking.is_closed
    assert asked == ["blocking", "async"]
    with pytest.raises(UsageError, match="or a pair"):
        chat_openai_compatible(base_url=url, model="m", client=(blocking, 5), echo="none")
    with pytest.raises(UsageError, match="cannot be used in an async call"):
        asyncio.run(
            chat_openai_compatible(base_url=url, model="m", client=blocking, echo="none").chat_async("Hi")
        )


def test_requests_go_through_the_proxy(server, reply):
    """A proxy is asked for the whole URL."""
    server.answers(reply([answer()]), reply([answer()]))
    chat = chat_openai_compatible(
        base_url="http://example.invalid/v1", model="m", proxy=server.url, max_tries=1, echo="none"
    )
    assert chat.chat("Hi") == "Hello."
    assert asyncio.run(chat.chat_async("Hi")) == "Hello."
    assert [asked.path for asked in server.asked] == ["http://example.invalid/v1/chat/completions"] * 2


@pytest.mark.parametrize(
    ("more", "words"), [({"proxy": "squid"}, "proxy="), ({"client": httpx.Client()}, "client=")]
)
def test_a_proxy_is_a_url_and_without_a_client(more, words):
    with pytest.raises(UsageError, match=words):
        chat_openai_compatible(base_url="http://x", model="m", echo="none", **{"proxy": "http://p:1", **more})


def test_the_proxies_of_the_environment_are_used(server, reply, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("NO_PROXY", "")
    server.answers(reply([answer()]))
    chat = chat_openai_compatible(base_url="http://example.invalid", model="m", max_tries=1, echo="none")
    assert chat.chat("Hi") == "Hello."


@pytest.mark.parametrize(
    ("no", "url", "used"),
    [
        ("", "https://api.example.com/v1", "http://p:2"),
        ("", "http://api.example.com/v1", "socks5://p:3"),
        ("localhost,127.0.0.1", "https://api.example.com", "http://p:2"),
        ("example.com", "https://api.example.com", None),
        (".example.com", "https://api.example.com", None),
        ("*.example.com", "https://api.example.com", None),
        ("https://api.example.com", "https://api.example.com", None),
        ("ple.com", "https://api.example.com", "http://p:2"),
        ("a.test, api.example.com:8443", "https://api.example.com:8443", None),
        ("api.example.com:8443", "https://api.example.com", "http://p:2"),
        ("::1", "https://[::1]/v1", None),
        ("*", "https://api.example.com", None),
    ],
)
def test_the_environment_says_which_hosts_have_no_proxy(no, url, used):
    proxies = {"https": "p:2", "all": "socks5://p:3", "no": no}
    assert httpx_clients.proxy_of(httpx.URL(url), proxies) == used


def test_connections_are_used_again_one_after_the_other(server, reply, make):
    server.answers(*[reply([answer()])] * 3)
    chat = make()
    for _ in range(3):
        chat.chat("Hi", echo="none")
    assert len({asked.connection for asked in server.asked}) == 1


def test_many_at_once_have_a_connection_each_and_leave_it_to_others():
    barrier = threading.Barrier(5)

    def together(_):
        barrier.wait(10)
        return said()

    with provider(together) as url, chat_with(url) as chat:
        for _ in range(2):
            forks = [chat.fork() for _ in range(5)]
            threads = [
                threading.Thread(target=fork.chat, args=("Hi",), kwargs={"echo": "none"}) for fork in forks
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        transport = chat._connection.blocking()._transport
        assert sum(map(len, transport._stacks.free.values())) == 5


def test_what_was_lent_goes_back_also_after_a_failure(server, reply, make):
    server.answers(reply(streamed({"content": "a"})[:1], headers=SSE, end="cut"), reply([answer()]))
    chat = make()
    with pytest.raises(Exception, match="stopped before its end"):
        list(chat.stream("Hi"))
    assert chat.chat("Hi", echo="none") == "Hello."
    lost = httpx_clients.Pools(httpx.create_ssl_context, {}, read_in_time, TRACE)
    with pytest.raises(httpx.ConnectError):
        lost.handle_request(httpx.Request("GET", "http://127.0.0.1:9"))
    assert sum(map(len, lost._stacks.free.values())) == 1
    lost.close()
    assert not lost._stacks.free


def test_certificates_are_read_for_https_only(monkeypatch):
    real = httpx.create_ssl_context()
    read = []
    contexts = []
    monkeypatch.setattr(httpx_clients, "_pool", lambda *_, **options: contexts.append(options["verify"]))
    pools = httpx_clients.Pools(lambda: [read.append("certificates"), real][1], {}, read_in_time, TRACE)
    for url in ("http://a", "https://a"):
        pools._stacks.taken(httpx.URL(url))

    plain, secure = contexts
    assert read == ["certificates"]
    assert secure is real
    assert (plain.verify_mode, plain.cert_store_stats()["x509_ca"]) == (ssl.CERT_REQUIRED, 0)


def test_connections_that_are_old_or_too_many_are_closed(monkeypatch):
    closed = []

    class Kept:
        def close(self):
            closed.append(self)

    now = [0.0]
    monkeypatch.setattr(httpx_clients.time, "monotonic", lambda: now[0])
    stacks = httpx_clients._Stacks(lambda **_: Kept(), ssl.create_default_context, {})
    made = [stacks.taken(httpx.URL("http://a"))[1] for _ in range(httpx_clients.KEPT + 1)]
    place = ("http", "a", "None")
    assert [old for pool in made for old in stacks.returned(place, pool)] == [made[0]]
    now[0] = httpx_clients.IDLE + 1
    newest = stacks.taken(httpx.URL("http://a"))[1]
    assert newest is made[-1]
    assert stacks.returned(place, newest) == made[1:-1]


def test_a_server_that_is_not_there(make):
    chat = chat_openai_compatible(base_url="http://127.0.0.1:9", model="m", max_tries=1, echo="none")
    with pytest.raises(ConnectError):
        chat.chat("Hi")


def test_the_time_of_an_answer_ends_a_head_behind_a_proxy_of_the_environment(monkeypatch):
    ended = threading.Event()

    def slowly(listening):
        client, _ = listening.accept()
        with client, suppress(OSError):
            client.sendall(b"HTTP/1.1 200 OK\r\nx: ")
            while not ended.wait(0.02):
                client.sendall(b"y")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=slowly, args=(listening,), daemon=True)
        thread.start()
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{listening.getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", "")
        limits = ec.Timeouts(connect=1, idle=1, total=1)
        chat = chat_openai_compatible(
            base_url="http://example.invalid", model="m", max_tries=1, echo="none", timeout=limits
        )
        began = time.monotonic()
        with pytest.raises(ec.RequestTimeoutError, match="total"):
            chat.chat("Hi")
        ended.set()
    assert time.monotonic() - began < 4


def test_reads_are_timed_also_with_an_httpx_that_lets_nobody_at_its_connections(monkeypatch):
    def extensions():
        pools = httpx_clients.Pools(httpx.create_ssl_context, {}, read_in_time, TRACE)
        return pools._stacks.taken(httpx.URL("http://a"))[1].extensions

    assert extensions() == {}  # each connection is timed from its beginning
    monkeypatch.setattr(httpx.HTTPTransport, "__init__", lambda self, **_: vars(self).update(_pool=None))
    assert extensions() == TRACE
